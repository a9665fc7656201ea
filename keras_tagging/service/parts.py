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
    """Whether sentences are run in parts; a text is not, until it is cut into them."""
    if items and isinstance(items[0], str):
        return False
    return sum(map(len, items)) > limits.SERVICE_PART_TOKENS


def parts(items: Sequence) -> Iterator[tuple[Lane, list]]:
    """The parts of a request, in its order.

    Args:
        items: sentences, or a text.
    """
    if not is_large(items):
        yield Lane.SMALL, [*items]
        return
    most, part, tokens = limits.SERVICE_PART_TOKENS, [], 0
    for item in items:
        size = len(item)
        if part and tokens + size > most:
            yield Lane.LARGE, part
            part, tokens = [], 0
        if size > most:
            yield Lane.LONG, [item]
        else:
            part.append(item)
            tokens += size
    if part:
        yield Lane.LARGE, part
