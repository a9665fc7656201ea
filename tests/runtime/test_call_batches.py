"""The batches in which a file is called are the cheapest ones."""

import random
from itertools import combinations

import numpy as np
import pytest

from keras_tagging.runtime.models import STEP, call_batches

pytestmark = pytest.mark.one_backend
rng = random.Random(0)
SOME = [[rng.randint(0, 12) for _ in range(rng.randint(0, 9))] for _ in range(60)]


def cost(batches, lengths):
    return sum(max(lengths[batch]) * (STEP + len(batch)) for batch in batches)


def cheapest(lengths, most):
    """The least cost of all ways to cut the sorted lengths."""
    order = np.sort(lengths[lengths > 0])
    if not len(order):
        return 0
    found = []
    for count in range(len(order)):
        for cuts in combinations(range(1, len(order)), count):
            batches = np.split(order, cuts)
            if all(len(x) == 1 or x[-1] * len(x) <= most for x in batches):
                found.append(sum(x[-1] * (STEP + len(x)) for x in batches))
    return min(found)


@pytest.mark.parametrize("most", [1, 10, 24, 1000])
def test_no_other_cuts_are_cheaper(most):
    for lengths in SOME:
        lengths = np.array(lengths, "int32")
        batches = call_batches(lengths, most)
        assert sorted(i for x in batches for i in x) == [*np.flatnonzero(lengths)]
        for batch in batches:
            assert len(batch) == 1 or max(lengths[batch]) * len(batch) <= most
        assert cost(batches, lengths) == cheapest(lengths, most)


def test_the_order_is_that_of_lengths_and_then_of_sentences():
    lengths = np.array([5, 3, 0, 5, 3, 200], "int32")
    batches = call_batches(lengths, 64)
    assert [x.tolist() for x in batches] == [[1, 4, 0, 3], [5]]
