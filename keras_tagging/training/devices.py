"""Data-parallel training: devices share each batch, of a machine or of several.

Keras does it with JAX. On TensorFlow, Keras 3 weighs the devices of a
`tf.distribute.MirroredStrategy` alike, however many tokens each has, so that the loss
of a batch of sentences of different lengths is not that of one device; on PyTorch it
has no such training.
"""

import hashlib
import json
import os

import keras
import numpy as np

#: how many processes train together; Keras reads them, too
PROCESSES = "KERAS_DISTRIBUTION_NUM_PROCESSES"


def share_batches(count: int) -> None:
    """Have devices share the batches of all models.

    Call it before a model is built. Each device computes a part of the sentences of a
    batch, which have the same padded length; the weights are those of one device.

    Several processes, on one machine or on several, train together if each has the
    environment variables of `keras.distribution.initialize`, or has called it. All run
    the same program on the same corpus, with the same seed, and each writes to a folder
    of its own.

    Args:
        count: the number of devices: the first ones of this machine, or all those of
            all processes together.

    Raises:
        ValueError: if the backend is not JAX, or there are fewer devices, or some are
            left out that belong to other processes.
    """
    if keras.backend.backend() != "jax":
        raise ValueError("devices share batches with JAX only: set KERAS_BACKEND=jax")
    import jax

    if int(os.environ.get(PROCESSES, 1)) > 1 and not jax.distributed.is_initialized():
        keras.distribution.initialize()  # waits for the other processes
    here = keras.distribution.list_devices()
    processes, _ = place()
    if not (len(here) if processes > 1 else 1) <= count <= len(here):
        raise ValueError(
            f"{count} devices, but this run of {processes} has {len(here)}; XLA_FLAGS="
            f"--xla_force_host_platform_device_count={count} divides the CPU"
        )
    # the batches are divided among processes by own_rows
    keras.distribution.set_distribution(
        keras.distribution.DataParallel(devices=here[:count], auto_shard_dataset=False)
    )


def devices_of_batches() -> int:
    """The number of devices that share a batch: 1 unless Keras is set up otherwise."""
    distribution = keras.distribution.distribution()
    if isinstance(distribution, keras.distribution.DataParallel):
        return distribution.num_model_replicas
    return 1


def place() -> tuple[int, int]:
    """How many processes share the batches, and the number of this one, from 0."""
    if keras.backend.backend() != "jax":
        return 1, 0
    import jax

    return jax.process_count(), jax.process_index()


def own_rows(array: np.ndarray) -> np.ndarray:
    """The rows of an array of a batch that the devices of this process compute.

    Args:
        array: `(batch, ...)`; the devices of all processes divide the batch.
    """
    processes, number = place()
    size = len(array) // processes
    return array[number * size : (number + 1) * size]


def check_alike(run: dict) -> None:
    """Refuse to train together with processes that do something else.

    They would wait for each other, or end with weights of which nobody knows what they
    have seen.

    Args:
        run: what identifies the run, for JSON.

    Raises:
        ValueError: if another process has another run.
    """
    if place()[0] == 1:
        return
    from jax.experimental.multihost_utils import process_allgather

    text = json.dumps(run, sort_keys=True, default=str)
    digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), "int32")
    if (process_allgather(digest) != digest).any():
        raise ValueError(
            "the processes that share batches have different runs: give all of them "
            "the same corpus, settings, seed and first epoch"
        )
