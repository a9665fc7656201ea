"""Cells and layers write their configuration alike."""

from collections.abc import Callable, Mapping
from typing import Any

import keras

#: of the backend, symbolic, an array, or None where a call may leave it out: Keras has
#: no type for them all
Tensor = Any
#: the output of a step, and the new states
Stepped = tuple[Tensor, list[Tensor]]
#: what Keras also takes by its name or configuration: an activation, an initializer
Named = str | Callable[..., Any] | Mapping[str, Any] | None
#: a precision or a policy
Dtype = str | keras.DTypePolicy | None

MODULES = {
    "activation": keras.activations,
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}


def config_of(layer, *names):
    """Attributes of a layer as `get_config` gives them, by their names.

    Those that are called `activation`, `kernel_initializer` and so on are serialised as
    Keras does.
    """
    config = {name: getattr(layer, name) for name in names}
    for name, value in config.items():
        if module := MODULES.get(name.rpartition("_")[2]):
            config[name] = module.serialize(value)
    return config


def single_precision(dtype):
    """float32 where a dtype or policy computes in half precision, else as given.

    For layers that must not round: label ids, or sums over many paths.
    """
    compute_dtype = keras.dtype_policies.get(dtype).compute_dtype
    return "float32" if compute_dtype in ("float16", "bfloat16") else dtype


def dropout_of(layer, rate, name=None, offset=0, noise_shape=None):
    """The dropout layer inside of another one, with its dtype and a seed of its own.

    Args:
        layer: whose `seed` is an int, to which the offset is added, or None.
        rate, name, noise_shape: of the dropout.
    """
    seed = None if layer.seed is None else layer.seed + offset
    return keras.layers.Dropout(
        rate, noise_shape, seed, name=name, dtype=layer.dtype_policy
    )
