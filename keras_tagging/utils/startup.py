"""Quiet import of TensorFlow, only when it is needed."""

import os
import sys


def start_keras() -> None:
    """Import TensorFlow without its start-up messages.

    TensorFlow writes some of them before it reads its settings, so no setting can
    silence these.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "tensorflow" in sys.modules:
        return
    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and prints messages
        tf.get_logger().setLevel("ERROR")  # it warns about many networks in a process
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)
