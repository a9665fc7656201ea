"""A session of ONNX Runtime: its errors are lines that name the file."""

from itertools import count
from pathlib import Path

import numpy as np
import onnxruntime

from keras_tagging.runtime.extensions import session_options
from keras_tagging.runtime.token_forms import all_encodable

# Calls of a file, after which ONNX Runtime gives back the memory that it keeps for the
# next: what the largest batches took would stay for ever.
CALLS = 32
SHRINK = "memory.enable_memory_arena_shrinkage"


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
        self.path, options, self._calls = path, session_options(), count(1)
        # no other format, whatever the bytes look like
        options.add_session_config_entry("session.load_model_format", "ONNX")
        try:
            super().__init__(
                content,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,  # which is printed, and to the same provider
                read_config_from_model=0,
            )
        except Exception as error:  # classes of the library, all of Exception
            raise ValueError(f"cannot be run by {_reason(error)}") from error

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
            found = self.run(names, feeds, options)
        except Exception as error:
            raise self.wrong(f"cannot be run by {_reason(error)}") from error
        for name, array in zip(names, found, strict=True):
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise self.wrong(f"gives {name} that are no numbers, but NaN")
        return dict(zip(names, found, strict=True))

    def wrong(self, what: str) -> OSError:
        """The error for a file that does not do what it says.

        It is no `ValueError`, which tells of sentences.
        """
        return OSError(f"{self.path} {what}; export the model again")


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())[:300]
    return f"ONNX Runtime: {text or type(error).__name__}"
