"""Cells and layers write their configuration alike."""

import keras

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
