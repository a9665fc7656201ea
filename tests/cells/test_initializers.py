from itertools import islice

import keras
import numpy as np
import pytest
from keras import ops

from keras_tagging.cells import GRUCell
from keras_tagging.cells.initializers import (
    gaussian,
    gaussian_table,
    per_gate,
)
from keras_tagging.utils.seeds import seeds

pytestmark = pytest.mark.one_backend


@pytest.mark.parametrize("shape", [(16, 20_000), (400, 800), (10_000, 32)])
def test_gaussian_has_the_papers_standard_deviation(shape):
    values = ops.convert_to_numpy(gaussian(1)(shape)).astype("float64").ravel()
    sigma = 0.1 / np.sqrt(shape[0])
    # of 320,000 draws; the bounds are five standard errors wide
    error = 5 / np.sqrt(values.size)
    assert values.std() == pytest.approx(sigma, rel=error / np.sqrt(2))
    assert abs(values.mean()) < sigma * error
    # not truncated: the normal distribution's share beyond two and three sigma
    for bound, share in [(2, 0.0455), (3, 0.0027)]:
        assert (abs(values) > bound * sigma).mean() == pytest.approx(share, rel=0.2)


def test_gaussian_of_each_gate_has_the_fan_in_of_the_whole_kernel():
    kernel = ops.convert_to_numpy(per_gate(gaussian(1), 4)((100, 4 * 200)))
    blocks = np.split(kernel, 4, axis=1)
    for i, block in enumerate(blocks):
        assert block.std() == pytest.approx(0.01, rel=0.03)
        assert all(abs(block - other).max() > 0.01 for other in blocks[:i])


def test_gaussian_table_has_a_fan_in_of_one():
    values = ops.convert_to_numpy(gaussian_table(1)((40_000, 8)))
    assert values.std() == pytest.approx(0.1, rel=0.01)


def test_gaussian_is_repeatable_by_seed():
    one, again, other = (ops.convert_to_numpy(gaussian(s)((3, 4))) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert abs(one - other).max() > 1e-3


def test_seeds_repeat_and_differ():
    first = list(islice(seeds(7), 200))
    assert first == list(islice(seeds(7), 200))
    others = [seed for s in (0, 6, 8, 10**6) for seed in islice(seeds(s), 200)]
    assert len({*first, *others}) == 1000
    assert all(type(seed) is int and 0 <= seed < 2**30 for seed in first + others)


class Scaled(keras.initializers.Initializer):
    """Of a user, without `get_config`: Keras' own of the base class is empty."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, shape, dtype=None):
        return ops.full(shape, self.scale, dtype)


def test_an_initializer_that_does_not_say_what_it_is():
    cell = GRUCell(2, kernel_initializer=Scaled(0.5), recurrent_initializer=Scaled(2))
    cell.build((None, 3))
    assert (ops.convert_to_numpy(cell.kernel) == 0.5).all()
    assert (ops.convert_to_numpy(cell.recurrent_kernel) == 2).all()
