"""A model or a pipeline, from its file, its folder or its name."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, overload

from keras_tagging.models.files.run_folder import ENSEMBLE, MODEL, model_file
from keras_tagging.pipelines.pipeline import Pipeline
from keras_tagging.runtime.folder import PIPELINE, holds_parts
from keras_tagging.runtime.pipeline import stages
from keras_tagging.utils.named_models import Shipped, find_model
from keras_tagging.utils.startup import start_keras


@overload
def load(path: Shipped, *, safe_mode: bool = ...) -> Pipeline: ...
@overload
def load(path: str | Path, *, safe_mode: bool = ...) -> Any: ...
def load(path: str | Path, *, safe_mode: bool = True) -> Any:
    """Load a model saved by `model.save`, exported as ONNX, or installed by its name.

    Without TensorFlow, the name of an installed model stands for its ONNX files. A
    folder stands for its `model.keras`; one that `Pipeline.save` or `export` has
    written gives the `Pipeline`, and one of `Ensemble.save` the `Ensemble`. A path that
    exists goes before a name. An ONNX file, or a pipeline of them, needs neither
    TensorFlow nor Keras: see `runtime.load`.

    A file is checked before anything reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size. No check can tell that of a
    SavedModel, which is a program.

    Args:
        path: of the file or the folder, or the name.
        safe_mode: False to load the folder of a SavedModel, or of a pipeline of them:
            give it only for one that you have exported, or trust.

    Returns:
        A `Tagger`, `Parser` or `Segmenter`, a `Pipeline`, or what :mod:`runtime
        <keras_tagging.runtime>` has of these, which `annotate` and `evaluate` as they
        do.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model; for a SavedModel in the safe mode.
        ImportError: for ONNX without ONNX Runtime.
        OSError: if the file cannot be opened.
    """
    path = find_model(path, to_run=find_spec("tensorflow") is None)
    if path.suffix == ".onnx":
        from keras_tagging import runtime

        return runtime.load(path)
    refuse_no_model(path)
    has_model = (path / MODEL).is_file()
    if (path / ENSEMBLE).is_file() and not has_model:
        start_keras()
        from keras_tagging.models.ensemble import Ensemble

        return Ensemble.load(path)
    if (path / PIPELINE).is_file() or (holds_parts(path) and not has_model):
        return Pipeline.load(path)
    saved = saved_models(path)
    if saved and not has_model and safe_mode:
        raise ValueError(
            f"{path} holds a SavedModel, which is a program for TensorFlow and can do "
            "anything: export the model as ONNX; or, if you trust the program, open it "
            "in Python with keras_tagging.load(..., safe_mode=False)"
        )
    start_keras()
    if saved and not has_model:
        from keras_tagging.models.files.saved_model import load_saved

        if "" in saved:
            return load_saved(path)
        return Pipeline(**{name: load_saved(x) for name, x in saved.items()})
    from keras_tagging.models.files import loading

    return loading.load(path)


def saved_models(folder: Path) -> dict[str, Path]:
    """The SavedModels of a folder: itself, as "", or the parts of a pipeline."""
    folders = {name: folder / name for name in ("", *stages())}
    return {k: x for k, x in folders.items() if (x / "saved_model.pb").is_file()}


def refuse_no_model(path: Path) -> None:
    """Refuse a path that holds no model, before TensorFlow is imported to load it.

    Raises:
        ValueError: if it is none of what :func:`load` takes.
    """
    lists = any((path / name).is_file() for name in (ENSEMBLE, PIPELINE))
    if not lists and not holds_parts(path) and not saved_models(path):
        model_file(path)
