"""The beginning of processes: quiet import of TensorFlow and Keras, when needed.

Names of a room are imported on first use, those with Keras quietly.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

import lazy_loader

#: Keras imports these where they are installed, which takes longer than Keras itself:
#: for scikit-learn's interface to models, arrays of pandas and pictures of models.
UNUSED = ("sklearn", "pandas", "matplotlib", "IPython")


def start_program(one_thread: bool = False) -> None:
    """As `start_keras`, for the program `keras-tagging`, which is to start quickly.

    Keras finds none of the modules that it imports for what the program never uses.
    What imports them afterwards does find them.

    Args:
        one_thread: whether TensorFlow computes in one thread. Else an operation has
            half of the cores: in training, both directions of a layer are computed at
            the same time. An environment variable `TF_NUM_INTRAOP_THREADS` counts more.

    Raises:
        ImportError: if TensorFlow is not installed.
    """
    threads = (1, 1) if one_thread else (max(1, cores() // 2), cores())
    with hidden(UNUSED):
        start_keras(threads)
        with silenced():
            import keras  # noqa: F401


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def end_with_parent() -> None:
    """Have this process of `multiprocessing` end when the one that began it is gone."""
    from multiprocessing import parent_process

    def follow():
        parent_process().join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def require(package: str, extra: str | None = None) -> None:
    """Refuse to go on without a package that is not always installed.

    Args:
        package: its name.
        extra: that of keras-tagging which brings it, if one does.

    Raises:
        ImportError: if it is missing, with the remedy.
    """
    if find_spec(package) is None:
        remedy = install_line(extra) if extra else f"pip install {package}"
        raise ImportError(f"{package} is not installed, and this needs it: {remedy}")


def install_line(extra: str) -> str:
    """The command that installs what an extra brings.

    It names the packages, and not this one, which no index may have, and whose small
    install has no TensorFlow.
    """
    from importlib.metadata import PackageNotFoundError

    try:
        packages = " ".join(f"'{package}'" for package in _packages_of(extra))
    except PackageNotFoundError:  # the code of a clone as it is
        packages = f"'.[{extra}]'    # in the clone of keras_tagging"
    return f"pip install {packages}"


def _packages_of(extra: str) -> Iterator[str]:
    from importlib.metadata import requires

    for row in requires("keras-tagging") or ():
        package, _, marker = row.partition("; extra == ")
        if marker.strip("\"'") == extra:
            nested = package.removeprefix("keras-tagging[").rstrip("]").split(",")
            if package.startswith("keras-tagging["):
                yield from (x for name in nested for x in _packages_of(name))
            else:
                yield package


def start_keras(
    threads: tuple[int, int] | None = None, layers_alone: bool = False
) -> None:
    """Import TensorFlow without its start-up messages.

    TensorFlow writes some of them before it reads its settings, so no setting can
    silence these. It uses oneDNN, which by default it does on processors with AVX-512
    VNNI alone: also on others networks train in half to two thirds of the time. An
    environment variable `TF_ENABLE_ONEDNN_OPTS` counts more.

    Args:
        threads: that share an operation, and operations at a time; None for as many as
            there are cores. The operations of a recurrent network are small: threads
            that share them mostly wait for each other.
        layers_alone: whether only cells and layers are wanted, which on JAX and PyTorch
            need no TensorFlow.

    Raises:
        ImportError: if it is not installed.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    if find_spec("tensorflow") is None:
        keras = sys.modules.get("keras")
        named = os.environ.get("KERAS_BACKEND", "tensorflow")
        backend = keras.backend.backend() if keras else named
        if layers_alone and backend != "tensorflow":
            return
        raise ImportError(
            "TensorFlow is not installed, and this needs it: pip install tensorflow "
            "(keras_tagging.runtime does not need it; cells and layers do not with "
            "KERAS_BACKEND=jax or torch)"
        )
    with silenced():
        import tensorflow as tf

        tf.config.list_physical_devices()  # looks for a GPU, and prints messages
        if threads and "TF_NUM_INTRAOP_THREADS" not in os.environ:
            tf.config.threading.set_intra_op_parallelism_threads(threads[0])
            tf.config.threading.set_inter_op_parallelism_threads(threads[1])
        tf.get_logger().setLevel("ERROR")  # it warns about many networks in a process


@contextmanager
def hidden(names) -> Iterator[None]:
    """During a block these modules seem not to be installed, if not imported before."""
    names = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(names))
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


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


def attach(
    package: str, file: str, light: Sequence[str] = (), layers_alone: bool = False
) -> tuple[Callable, Callable, list[str]]:
    """As `lazy_loader.attach_stub`: Keras and TensorFlow take seconds.

    TensorFlow is imported by `start_keras`, without its start-up messages.

    Args:
        package: the name of the room.
        file: its `__init__.py`; beside it, `__init__.pyi` says where each name is.
        light: the names that need no Keras.
        layers_alone: as for `start_keras`.

    Returns:
        `__getattr__`, `__dir__` and `__all__` of the room.
    """
    imported, listed, names = lazy_loader.attach_stub(package, file)

    def attribute(name: str) -> object:
        if name in names and name not in light:
            start_keras(layers_alone=layers_alone)
        return imported(name)

    return attribute, listed, names
