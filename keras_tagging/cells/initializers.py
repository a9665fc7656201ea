"""Initial weights: independent draws from one seed, and those of the papers.

A Keras initializer seeded with an integer returns the same values at every call,
so gates, layers or directions that share one would start out equal.
"""

import keras
from keras import ops


def gaussian(seed=None):
    """Initializer with the normal distribution of standard deviation 0.1/sqrt(fan-in).

    "N(0, 1/sqrt(fan-in)) scaled by a factor of 0.1", for all weights that read no
    previous time step: Wu et al. (2016), section 6.1.2, and Wu et al. (2017), section
    5.1. The fan-in of a matrix is its number of rows.

    Args:
        seed: int; None draws one.
    """
    return keras.initializers.VarianceScaling(
        0.1**2, "fan_in", "untruncated_normal", seed=seed
    )


def gaussian_table(seed=None):
    """The same for a look-up table, whose rows are read one at a time: fan-in 1.

    Departures: the papers do not say what the fan-in of a table is. With its number
    of rows, the vectors of words that are not pretrained would start so small that they
    would hardly differ.

    Args:
        seed: int; None draws one.
    """
    return keras.initializers.RandomNormal(stddev=0.1, seed=seed)


def reseed(config, offset):
    """A copy of a serialised configuration with `offset` added to every seed.

    Unseeded initializers (seed `None`) need no change: each is given a seed of its
    own when it is made.
    """
    if isinstance(config, dict):
        return {
            key: value + offset
            if key == "seed" and isinstance(value, int)
            else reseed(value, offset)
            for key, value in config.items()
        }
    if isinstance(config, (list, tuple)):
        return type(config)(reseed(value, offset) for value in config)
    return config


def reseeded(initializer, offset):
    """A copy of an initializer that draws from another seed.

    One without a configuration is returned as it is: a function, or an initializer of
    the user without `get_config`, which Keras gives an empty one.
    """
    config = getattr(initializer, "get_config", dict)()
    if not config:
        return initializer
    return type(initializer).from_config(reseed(config, offset))


def per_gate(initializer, num_gates):
    """An initializer that draws each gate's block of columns on its own.

    With `"orthogonal"` every gate's square matrix is orthogonal, where Keras makes
    one matrix `(units, num_gates * units)` with orthonormal rows.

    Args:
        initializer: a Keras initializer.
        num_gates: int. The number of blocks the columns are divided into.
    """

    def initialize(shape, dtype=None):
        *rows, columns = shape
        blocks = []
        for gate in range(num_gates):
            draw = reseeded(initializer, gate)
            blocks.append(draw((*rows, columns // num_gates), dtype=dtype))
        return ops.concatenate(blocks, axis=-1)

    return initialize
