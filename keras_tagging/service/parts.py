"""Large requests in parts, so that small ones need not wait for the whole.

The time to parse a sentence grows with the square of its length, and the search cannot
be interrupted: long ones go to a process of their own.
"""

from collections.abc import Iterator, Sequence
from enum import Enum

from keras_tagging.utils import limits


class Lane(Enum):
    """Requests, and parts of them, that wait for each other alone."""

    SMALL = "small"
    LARGE = "large"
    LONG = "long"


def is_large(items: Sequence) -> bool:
    """Whether sentences are run in parts."""
    return sum(map(len, items)) > limits.SERVICE_PART_TOKENS


def parts(items: Sequence) -> Iterator[tuple[Lane, list]]:
    """The parts of a request, in its order.

    Args:
        items: sentences, or texts; each of these is whole until it is cut into
            sentences.
    """
    if items and isinstance(items[0], str):
        most = limits.SERVICE_TOKEN_CHARACTERS * limits.SERVICE_PART_TOKENS
        found = [*_groups(items, most)]
        lane = Lane.LARGE if len(found) > 1 else Lane.SMALL
        yield from ((lane, part) for part in found)
        return
    if not is_large(items):
        yield Lane.SMALL, [*items]
        return
    most = limits.SERVICE_PART_TOKENS
    for part in _groups(items, most):
        yield (Lane.LONG if len(part[0]) > most else Lane.LARGE), part


def _groups(items, most):
    """Those that follow each other, in lists; one that is too long is alone."""
    group, total = [], 0
    for item in items:
        if group and total + len(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += len(item)
    if group:
        yield group
