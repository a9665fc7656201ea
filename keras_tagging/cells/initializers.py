"""Independent draws from one initializer: for gates, layers and directions.

A Keras initializer seeded with an integer returns the same values at every call,
so gates, layers or directions that share one would start out equal.
"""

import keras
from keras import ops


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
            config = reseed(keras.initializers.serialize(initializer), gate)
            draw = keras.initializers.deserialize(config)
            blocks.append(draw((*rows, columns // num_gates), dtype=dtype))
        return ops.concatenate(blocks, axis=-1)

    return initialize
