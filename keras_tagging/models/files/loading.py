"""Models from their files, which may come from a stranger."""

import io
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import keras
import numpy as np

from keras_tagging.models.files.checks import check_model_file, weights_within
from keras_tagging.models.files.run_folder import METADATA, model_file
from keras_tagging.models.files.saving import write_metadata
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.named_models import find_model


def load(path: str | Path) -> keras.Model:
    """Load a model saved by `model.save`, or an installed one by its name.

    A folder stands for its `model.keras`. A path that exists goes before a name.
    `keras_tagging.load` reads the folder of a pipeline too.

    The file is checked before Keras reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model.
        OSError: if the file cannot be opened.
    """
    path = model_file(find_model(path))
    return read(path, path.read_bytes())


def complete(out: Path) -> None:
    """Write the missing metadata of a model, which contains them, after a kill."""
    model = load(out)
    with replacing(out / METADATA) as partial:
        write_metadata(model, partial)


def read(path, content: bytes):
    """The model in the bytes of a file: see `load`.

    Args:
        path: of the file; errors name it.
        content: the bytes.

    Raises:
        ValueError: if they are damaged or hold another model; it names the path.
    """
    # keras.saving takes no bytes, and a path may lead to another file after the check
    from keras.src.saving.saving_lib import load_model

    with _naming(path):
        stream = io.BytesIO(content)
        size = check_model_file(stream)
        with warnings.catch_warnings(), weights_within(size):
            # a model of half precision has no state of its optimizer
            warnings.filterwarnings("ignore", "Skipping variable loading for opt")
            model = load_model(stream)
        check_numbers(model)
        return model


@contextmanager
def _naming(path):
    """Errors are one line with the path, and the remedy."""
    try:
        yield
    # A damaged or malicious file can raise anything.
    except Exception as error:
        remedy = "; copy the file again from where it was saved, or train the model "
        remedy += "again"
        # the file is whole, and needs another package, or an older one
        if any(words in str(error) for words in ("install", "no longer")):
            remedy = ""
        raise ValueError(f"{path}: {_reason(error)}{remedy}") from error


def check_numbers(model: keras.Model) -> None:
    """Refuse a model whose answers would be nonsense, such as one that has diverged."""
    for variable in model.weights:
        if not np.isfinite(keras.ops.convert_to_numpy(variable)).all():
            raise ValueError("has weights that are no numbers, but NaN or infinite")


def _reason(error: Exception) -> str:
    """An error in one short line, with its type if the text alone says little."""
    text = " ".join(str(error).split())
    text = text if len(text) <= 300 else f"{text[:297]}..."
    if isinstance(error, zipfile.BadZipFile):
        return f"is damaged, cut short or no .keras file ({text})"
    return text if type(error) is ValueError else f"{type(error).__name__}: {text}"
