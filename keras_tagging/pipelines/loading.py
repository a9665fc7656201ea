"""A model or a pipeline, from its file, its folder or its name."""

from keras_tagging.models.run_files import MODEL
from keras_tagging.pipelines.pipeline import Pipeline
from keras_tagging.runtime.folder import PIPELINE, holds_parts
from keras_tagging.runtime.pipeline import stages
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.startup import start_keras


def load(path):
    """Load a model saved by `model.save`, exported as ONNX, or installed by its name.

    A folder stands for its `model.keras`; one that `Pipeline.save` or `export` has
    written gives the `Pipeline`. A path that exists goes before a name. An ONNX file,
    or a pipeline of them, needs neither TensorFlow nor Keras: see `runtime.load`.

    A file is checked before anything reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size.

    Returns:
        A `Tagger`, `Parser` or `Segmenter`, a `Pipeline`, or what :mod:`runtime
        <keras_tagging.runtime>` has of these, which `annotate` and `evaluate` as they
        do.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model; for a SavedModel, which is a program.
        ImportError: for ONNX without ONNX Runtime.
        OSError: if the file cannot be opened.
    """
    path = find_model(path)
    if path.suffix == ".onnx":
        from keras_tagging import runtime

        return runtime.load(path)
    has_model = (path / MODEL).is_file()
    if (path / PIPELINE).is_file() or (holds_parts(path) and not has_model):
        return Pipeline.load(path)
    folders = (path, *(path / name for name in stages()))
    if not has_model and any((x / "saved_model.pb").is_file() for x in folders):
        raise ValueError(
            f"{path} holds a SavedModel, which is a program for TensorFlow, and may be "
            'anybody\'s: export with format="onnx" what is to be loaded here'
        )
    start_keras()
    from keras_tagging.models import factory

    return factory.load(path)
