"""Parts of the arrays of an ONNX graph: `x[1:, None, -1]`."""

from typing import Any, NamedTuple

import numpy as np

LAST = np.iinfo("int64").max


class Cut(NamedTuple):
    """A part of an array, from one place to another along an axis."""

    array: Any
    axis: int
    start: int
    end: int

    def is_before(self, other: "Cut", axis: int) -> bool:
        """Whether another one begins where this one ends, along this axis."""
        same = self.array.name == other.array.name
        return same and self.axis == other.axis == axis and self.end == other.start


def item(xp, x, key):
    """`x[key]` of an `Array`: slices, numbers, arrays of places, None and Ellipsis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        axes = [*range(place), None, *range(place + 1 - len(keys), 0)]
    else:
        axes = list(range(len(keys)))
    new = [axis for axis, part in zip(axes, keys, strict=True) if part is None]
    x = xp.expand_dims(x, new) if new else x
    cut, picked = [], []
    for axis, part in zip(axes, keys, strict=True):
        if part is Ellipsis or part is None or _is_whole(part):
            continue
        if isinstance(part, slice):
            step = part.step or 1
            start = part.start if part.start is not None else [0, -1][step < 0]
            end = part.stop if part.stop is not None else [LAST, -LAST][step < 0]
            cut.append((start, end, axis, step))
        else:
            picked.append((part, axis))
    if cut:
        whole = x
        x = xp.node("Slice", x, *(xp.integers(n) for n in zip(*cut, strict=True)))
        [(start, end, axis, step), *others] = cut
        ends = isinstance(start, int) and isinstance(end, int)
        if ends and not others and 0 <= start < end < LAST and step == 1:
            x.cut = Cut(whole, axis, start, end)
    # the last axes first: the others keep their numbers, but for those from behind
    for part, axis in sorted(picked, key=lambda pair: -(pair[1] % LAST)):
        x = xp.node("Gather", x, xp.asarray(part, "int64"), axis=axis)
    return x


def _is_whole(part):
    # no comparison of slices: that would compare arrays, which adds nodes
    ends = (part.start, part.stop, part.step) if isinstance(part, slice) else (0,)
    return all(end is None for end in ends)
