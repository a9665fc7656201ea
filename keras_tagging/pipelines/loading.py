"""A model or a pipeline, from its file, its folder or its name."""

from keras_tagging.models import factory
from keras_tagging.models.run_files import MODEL
from keras_tagging.pipelines.pipeline import Pipeline
from keras_tagging.runtime.folder import PIPELINE, holds_parts
from keras_tagging.utils.named_models import find_model


def load(path):
    """Load a model saved by `model.save`, or an installed one by its name.

    A folder stands for its `model.keras`; one that `Pipeline.save` or `export` has
    written gives the `Pipeline`. A path that exists goes before a name.

    A file is checked before Keras reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model.
        OSError: if the file cannot be opened.
    """
    path = find_model(path)
    has_model = (path / MODEL).is_file()
    if (path / PIPELINE).is_file() or (holds_parts(path) and not has_model):
        return Pipeline.load(path)
    return factory.load(path)
