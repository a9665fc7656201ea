"""Gradients with any backend."""

import keras
import numpy as np
from keras import ops


def gradients(variables, function):
    """Of a scalar by each variable; zeros where it does not depend on it.

    Args:
        variables: of Keras.
        function: computes the scalar anew.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            value = function()
        found = tape.gradient(value, [v.value for v in variables])
    elif backend == "jax":
        import jax

        def of_values(values):
            mapping = list(zip(variables, values, strict=True))
            with keras.StatelessScope(state_mapping=mapping):
                return function()

        found = jax.grad(of_values)([v.value for v in variables])
    else:
        for variable in variables:
            variable.value.grad = None
        function().backward()
        found = [v.value.grad for v in variables]
    return [
        np.zeros(v.shape) if g is None else ops.convert_to_numpy(g)
        for v, g in zip(variables, found, strict=True)
    ]
