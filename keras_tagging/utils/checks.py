"""Settings that check themselves.

The annotation of a field gives its possible values: `bool`, `str`, a `Literal`,
`tuple[int, ...]`, or a number with a `Rule`, all optionally `| None`. `check_fields`,
called by `__post_init__`, refuses any other value and names the field.
"""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

from keras_tagging.utils import limits


def nearest(name, names: Iterable) -> str | None:
    """The one of some names that is most similar to this one, if any is.

    That is `units` for "hidden_units", and `learning_rate` for "lr".
    """
    name, names = str(name)[:99], list(map(str, names))
    for other in names:
        initials = "".join(word[:1] for word in other.split("_"))
        is_short = len(name) > 1 and name in (initials, other[:2])
        if is_short or name.endswith(f"_{other}"):
            return other
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return near[0] if near and len(name) > 2 else None  # "de" is not "en"


def check_known(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise a ValueError that lists the possible names, unless this is one of them."""
    names = list(names)
    if name not in names:
        near = nearest(name, names)
        hint = f"; did you mean {near!r}?" if near else "."
        raise ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")


@dataclass(frozen=True)
class Rule:
    """A condition on a value, and its description for the user."""

    holds: Callable
    text: str


def whole(least: int, most: int) -> Rule:
    """The rule for an integer from `least` to `most`."""
    return Rule(lambda x: least <= x <= most, f"from {least} to {most:,}")


Positive = Annotated[int, Rule(lambda x: x >= 1, "1 or more")]
NonNegative = Annotated[int, Rule(lambda x: x >= 0, "0 or more")]
#: the units of a layer, or the size of an embedding
Units = Annotated[int, whole(1, limits.MODEL_UNITS)]
#: the number of layers, or of other parts of the graph
Parts = Annotated[int, whole(1, limits.MODEL_PARTS)]
PartsOrNone = Annotated[int, whole(0, limits.MODEL_PARTS)]
#: the number of hypotheses, or of steps back in time
Steps = Annotated[int, whole(1, limits.MODEL_STEPS)]
Rate = Annotated[float, Rule(lambda x: 0 <= x < float("inf"), "0 or more")]
Weight = Annotated[float, Rule(lambda x: 0 <= x < 1e6, "0 or more, below 1e6")]
Level = Annotated[float, Rule(lambda x: 0 < x <= 1, "above 0, up to 1")]
Share = Annotated[float, Rule(lambda x: 0 <= x < 1, "from 0, below 1")]
Window = Annotated[
    int,
    Rule(
        lambda x: x == 0 or (x % 2 == 1 and 0 < x <= limits.MODEL_PARTS),
        f"an odd number up to {limits.MODEL_PARTS} or 0",
    ),
]


def check_choice(name: str, value, choices) -> None:
    """Raise a ValueError that lists the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: known are {', '.join(map(repr, choices))}")


def check_fields(settings) -> None:
    """Check every field of a frozen dataclass against its annotation.

    Where the annotation requires it, a list becomes a tuple, a single item a tuple of
    one, and an integer a float.

    Raises:
        ValueError: for an invalid value; the message has the name of the field, the
            possible values and the default.
    """
    hints = get_type_hints(type(settings), include_extras=True)
    for field in fields(settings):
        value = checked(
            field.name, getattr(settings, field.name), hints[field.name], field.default
        )
        object.__setattr__(settings, field.name, value)


class Checked:
    """Base of frozen dataclasses whose fields are checked as `check_fields` does."""

    def __post_init__(self):
        check_fields(self)


def checked(name: str, value, annotation, default):
    """The value, converted to the type of its annotation: see `check_fields`."""
    for base, rules in _alternatives(annotation):
        try:
            return _converted(value, base, rules)
        except TypeError:
            continue
    choices = _choices(annotation)
    near = nearest(value, filter(None, choices))
    hint = f"did you mean {near!r}? " if near else ""
    allowed = f"{'known are' if choices else 'it is'} {possible(annotation)}"
    raise ValueError(f"{name}={value!r}: {allowed}; {hint}the default is {default!r}")


_NAMES = {bool: "True or False", str: "a name", int: "a whole number"}
_NAMES |= {float: "a number", tuple[int, ...]: "whole numbers"}
_NAMES |= {tuple[str, ...]: "names"}


def possible(annotation) -> str:
    """The possible values of an annotation, in words."""
    choices = _choices(annotation)
    texts = [", ".join(map(repr, choices))] if choices else []
    for base, rules in _alternatives(annotation):
        if get_origin(base) is not Literal and base is not NoneType:
            of_rules = " and ".join(rule.text for rule in rules)
            texts.append(of_rules or _NAMES.get(base) or base.__name__)
    return " or ".join(texts)


def _alternatives(annotation) -> list[tuple]:
    """The types of a union, that of `None` included, each with its rules."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return [
        (get_args(kind)[0], get_args(kind)[1:])
        if get_origin(kind) is Annotated
        else (kind, ())
        for kind in (get_args(annotation) if is_union else (annotation,))
    ]


def _choices(annotation) -> list:
    """All values of `Literal` annotations, with `None` last."""
    bases = [base for base, _ in _alternatives(annotation)]
    choices = [x for b in bases if get_origin(b) is Literal for x in get_args(b)]
    return [*choices, None] if choices and NoneType in bases else choices


def _converted(value, base, rules):
    """The value, converted to a type.

    Raises:
        TypeError: if it is not of that type, or breaks a rule.
    """
    # NaN compares false
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    is_number = is_number and abs(value) <= limits.NUMBER
    if get_origin(base) is Literal:
        right = any(value == x and type(value) is type(x) for x in get_args(base))
    elif get_origin(base) is tuple:
        item = get_args(base)[0]
        value = (value,) if type(value) is item else value
        kinds = (int, float) if item is float else (item,)
        right = isinstance(value, list | tuple) and len(value) <= limits.MODEL_PARTS
        right = right and all(type(x) in kinds for x in value)
        value = tuple(map(item, value)) if right else value
    elif base in (int, float):
        right = is_number and (base is float or isinstance(value, Integral))
        value = base(value) if right else value
    else:
        right = isinstance(value, get_origin(base) or base)
    if not right or not all(rule.holds(value) for rule in rules):
        raise TypeError
    return value
