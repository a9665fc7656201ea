"""Quiet import of TensorFlow, only when it is needed."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def start_keras(one_thread: bool = False) -> None:
    """Import TensorFlow without its start-up messages.

    TensorFlow writes some of them before it reads its settings, so no setting can
    silence these.

    Args:
        one_thread: whether it computes in one thread. The operations of a recurrent
            network are small: threads that share them mostly wait for each other. An
            environment variable `TF_NUM_INTRAOP_THREADS` counts more.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "tensorflow" in sys.modules:
        return
    with silenced():
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and prints messages
        if one_thread and "TF_NUM_INTRAOP_THREADS" not in os.environ:
            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.get_logger().setLevel("ERROR")  # it warns about many networks in a process


@contextmanager
def silenced() -> Iterator[None]:
    """Drop what is written to standard error during a block, by C++ too."""
    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)
