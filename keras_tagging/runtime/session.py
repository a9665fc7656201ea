"""Sessions of ONNX Runtime with its extensions; their errors are lines with a path."""

import ctypes
import hashlib
import os
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np

from keras_tagging.runtime.token_forms import all_encodable
from keras_tagging.utils import limits
from keras_tagging.utils.startup import install_line, require

require("onnxruntime", "runtime")
import onnxruntime  # noqa: E402

# Calls of a file, after which ONNX Runtime gives back the memory that it keeps for the
# next: what the largest batches took would stay for ever.
CALLS = 32
SHRINK = "memory.enable_memory_arena_shrinkage"
CPU = ["CPUExecutionProvider"]


class Session(onnxruntime.InferenceSession):
    """A file that has been checked.

    Args:
        path: of the file, for messages.
        content: of the file.

    Raises:
        ValueError: if ONNX Runtime refuses it.
    """

    #: whether all outputs are there, also those that no service gives
    has_all = True

    def __init__(self, path: Path, content: bytes):
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.path, options, self._calls = path, session_options(), count(1)
        # no other format, whatever the bytes look like
        options.add_session_config_entry("session.load_model_format", "ONNX")
        try:
            super().__init__(
                content,
                options,
                providers=CPU,
                enable_fallback=0,  # which is printed, and to the same provider
                read_config_from_model=0,
            )
        except Exception as error:  # classes of the library, all of Exception
            raise ValueError(f"cannot be run by {_reason(error)}") from error
        self._model_bytes = b""  # else it keeps the content for another provider

    @staticmethod
    def strings(texts: list[str]) -> list[str]:
        """Texts as the file takes them."""
        return all_encodable(texts)

    def answers(self, names: list[str], feeds: dict) -> dict[str, np.ndarray]:
        """Outputs by name.

        Raises:
            OSError: if the file cannot be run, or gives numbers that are none.
        """
        options = None
        if next(self._calls) % CALLS == 0:
            options = onnxruntime.RunOptions()
            options.add_run_config_entry(SHRINK, "cpu:0")
        try:
            arrays = self.run(names, feeds, options)
        except Exception as error:
            raise self.wrong(f"cannot be run by {_reason(error)}") from error
        for name, array in zip(names, arrays, strict=True):
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise self.wrong(f"gives {name} that are no numbers, but NaN")
        return dict(zip(names, arrays, strict=True))

    def wrong(self, what: str) -> OSError:
        """The error for a file that does not do what it says.

        It is no `ValueError`, which tells of sentences.
        """
        return OSError(f"{self.path} {what}; export the model again")


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())[:300]
    return f"ONNX Runtime: {text or type(error).__name__}"


@cache
def library() -> str:
    """The path of the library, which is loaded.

    TensorFlow hands the names in its libraries to those that are loaded later, and both
    have RE2, in different versions: the pattern `[a-e]` would then match nothing. So
    the library is told to find its own names first. Its Python package is not
    imported, which takes a second.

    Raises:
        ImportError: if it is not installed.
    """
    package = find_spec("onnxruntime_extensions")
    files = [
        str(path)
        for folder in (package and package.submodule_search_locations) or ()
        for path in sorted(Path(folder).glob("_extensions_pydll*"))
        if path.suffix in (".so", ".pyd", ".dylib")
    ]
    if not files:
        remedy = install_line("runtime")
        raise ImportError(f"ONNX files need onnxruntime-extensions: {remedy}")
    ctypes.CDLL(files[0], mode=getattr(os, "RTLD_DEEPBIND", 0) | os.RTLD_LOCAL)
    return files[0]


def session_options(threads: int = 1):
    """Options of ONNX Runtime for sessions with these operations.

    Args:
        threads: that one operation is shared among.

    Raises:
        ImportError: if its extensions are not installed.
    """
    limit_memory()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.register_custom_ops_library(library())
    options.log_severity_level = 4  # errors are raised, not printed
    options.intra_op_num_threads = threads
    # a pattern is kept for each shape of a batch: memory would grow with their number
    options.enable_mem_pattern = False
    # threads that wait would keep busy the cores that others need
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


@cache
def limit_memory() -> None:
    """Has ONNX Runtime refuse arrays beyond `limits.ONNX_MEMORY` in all.

    A file of some bytes may ask for an array of any size.
    """
    memory = onnxruntime.OrtMemoryInfo(
        "Cpu",
        onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
        0,
        onnxruntime.OrtMemType.DEFAULT,
    )
    # It grows by powers of two: where it grew by what is asked for, it had pieces that
    # no later batch fits. The rest are defaults.
    arena = onnxruntime.OrtArenaCfg(limits.ONNX_MEMORY, 0, -1, -1)
    onnxruntime.create_and_register_allocator(memory, arena)


@cache
def check_strings() -> None:
    """Refuses a process in which the library finds the names of another one.

    Raises:
        ImportError: with the remedy.
    """
    session = onnxruntime.InferenceSession(PROBE, session_options(), providers=CPU)
    [answer] = session.run(None, {"x": np.array(["abc"], object)})
    if answer.tolist() != ["xbc"]:
        raise ImportError(
            "onnxruntime-extensions does not work beside a library that this process "
            "has loaded before, such as TensorFlow: import keras_tagging.runtime first"
        )


# An ONNX model that replaces [a] by x: onnx, which would write it, need not be there.
PROBE = (
    b'\x08\t:n\n1\n\x01x\n\x01p\n\x01r\x12\x01y"\x12StringRegexReplace:\x0fai.onnx'
    b".contrib\x12\x01g*\x0c\x08\x01\x10\x082\x03[a]B\x01p*\n\x08\x01\x10\x082\x01xB\x01rZ"
    b"\r\n\x01x\x12\x08\n\x06\x08\x08\x12\x02\n\x00b\r\n\x01y\x12\x08\n\x06\x08\x08\x12"
    b"\x02\n\x00B\x04\n\x00\x10\x14B\x13\n\x0fai.onnx.contrib\x10\x01"
)
