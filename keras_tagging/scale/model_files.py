"""Find the model that workers load, identify it, and make a pipeline of it."""

import os
from pathlib import Path
from socket import gethostname

from keras_tagging import runtime
from keras_tagging.models.files.run_folder import MODEL
from keras_tagging.runtime.folder import PIPELINE, is_onnx
from keras_tagging.runtime.pipeline import pipeline_of
from keras_tagging.utils.heap import return_large_blocks
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.stored import sha256_of


def model_name(model) -> str:
    """The name by which a worker in another folder finds a model.

    Args:
        model: a path, or the name of an installed model.

    Raises:
        ValueError: if it is neither, or there is no such model.
    """
    if not isinstance(model, str | Path):
        raise ValueError(
            f"{type(model).__name__}: workers load the model themselves, so give the "
            "folder or file that it was saved in, or the name of an installed one"
        )
    fingerprint(model)
    return str(Path(model).resolve()) if Path(model).exists() else str(model)


def fingerprint(model: str | Path) -> str:
    """SHA-256 of a model's file; of a pipeline, of the one that has all checksums.

    Raises:
        ValueError: if there is no such model.
        OSError: if it cannot be read.
    """
    path = find_model(model)
    if path.is_dir():
        names = (PIPELINE, MODEL)
        path = next((path / x for x in names if (path / x).is_file()), path / MODEL)
    if not path.is_file():
        raise ValueError(
            f"{path}: no such model; train writes model.keras in its --out"
        )
    return sha256_of(path)


def load_pipeline(model: str, threads: int, sha256: str):
    """The pipeline of a name, or that of a single model, with so many threads.

    TensorFlow has as many in the whole process, if it has not been started before.

    Raises:
        ValueError: if the model is damaged, of another kind, or not the one meant.
        OSError: if it cannot be read.
    """
    if fingerprint(model) != sha256:
        raise ValueError(
            f"{model}: is another model here, on {gethostname()}, than where the run "
            "was started: copy it to all machines, or use a folder that they all see"
        )
    if is_onnx(Path(model)):
        return_large_blocks()
        try:
            found = runtime.load(model, threads=threads)
        except ImportError as error:
            raise ValueError(str(error)) from error
    else:
        import keras_tagging

        os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
        os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(threads))
        found = keras_tagging.load(model)
    return pipeline_of(found)
