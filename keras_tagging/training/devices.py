"""Data-parallel training: the devices of a machine share each batch.

Keras does it with JAX. On TensorFlow, Keras 3 weighs the devices of a
`tf.distribute.MirroredStrategy` alike, however many tokens each has, so that the loss
of a batch of sentences of different lengths is not that of one device; on PyTorch it
has no such training.
"""

import keras


def share_batches(count: int) -> None:
    """Have the first devices of this machine share the batches of all models.

    Call it before a model is built. Each device computes a part of the sentences of a
    batch, which have the same padded length; the weights are those of one device.

    Args:
        count: the number of devices.

    Raises:
        ValueError: if the backend is not JAX, or the machine has fewer devices.
    """
    backend = keras.backend.backend()
    if backend != "jax":
        raise ValueError(
            f"{count} devices share batches with JAX only, and the backend is "
            f"{backend}: set the environment variable KERAS_BACKEND=jax"
        )
    here = keras.distribution.list_devices()
    if not 1 <= count <= len(here):
        kind = here[0].partition(":")[0]
        raise ValueError(
            f"{count} devices, but this machine has {len(here)} ({kind}): give 1 to "
            f"{len(here)}"
            + (
                f", or have JAX divide the CPU by the environment variable "
                f"XLA_FLAGS=--xla_force_host_platform_device_count={count}"
                if kind == "cpu"
                else ""
            )
        )
    keras.distribution.set_distribution(
        keras.distribution.DataParallel(devices=here[:count])
    )


def devices_of_batches() -> int:
    """The number of devices that share a batch: 1 unless Keras was told otherwise."""
    distribution = keras.distribution.distribution()
    if isinstance(distribution, keras.distribution.DataParallel):
        return distribution.num_model_replicas
    return 1
