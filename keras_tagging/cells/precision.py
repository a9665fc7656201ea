import keras


def single_precision(dtype):
    """float32 where a dtype or policy computes in half precision, else as given.

    For layers that must not round: label ids, or sums over many paths.
    """
    compute_dtype = keras.dtype_policies.get(dtype).compute_dtype
    return "float32" if compute_dtype in ("float16", "bfloat16") else dtype
