"""A SavedModel that `export` has written, as the model that it was made of."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import tensorflow as tf

from keras_tagging.models.files.run_folder import METADATA
from keras_tagging.runtime.onnx_file import KEY, model_of
from keras_tagging.utils.stored import read_object

REMEDY = "export the model again"
TYPE = {"O": tf.string, "i": tf.int32}
TYPES = {tf.string: "string", tf.float32: "float", tf.int32: "int32"}


class SavedSession:
    """Stands for a session of ONNX Runtime: see `runtime.session.Session`.

    Args:
        path: of the folder.

    Raises:
        ValueError: if TensorFlow cannot read it, or it does not say what it is.
    """

    #: what a SavedModel does not give: see `kinds.Output`
    has_all = False

    def __init__(self, path: Path):
        self.path = path
        self._about = read_object(path / METADATA, REMEDY).get(KEY)
        try:
            self._loaded = tf.saved_model.load(str(path))  # kept: it owns the variables
            self._serve = self._loaded.signatures["serving_default"]
        except Exception as error:  # a damaged file can raise anything
            raise ValueError(f"cannot be read by TensorFlow ({error})"[:300]) from error

    def get_modelmeta(self):
        metadata = {} if self._about is None else {KEY: json.dumps(self._about)}
        return SimpleNamespace(custom_metadata_map=metadata)

    def get_inputs(self):
        return _values(self._serve.structured_input_signature[1])

    def get_outputs(self):
        return _values(self._serve.structured_outputs)

    def get_overridable_initializers(self):
        return []

    @staticmethod
    def strings(texts: list[str]) -> list[str]:
        """Texts as TensorFlow takes them: with "?" for half a surrogate pair."""
        return [text.encode("utf-8", "replace").decode() for text in texts]

    def answers(self, names: list[str], feeds: dict) -> dict[str, np.ndarray]:
        """Outputs by name.

        Raises:
            ValueError: for one that only an ONNX file has.
            OSError: if it cannot be run.
        """
        if lacking := [n for n in names if n not in self._serve.structured_outputs]:
            raise ValueError(f"{self.path} has no {lacking[0]}: an ONNX file has")
        try:
            tensors = {k: tf.constant(v, TYPE[v.dtype.kind]) for k, v in feeds.items()}
            outputs = self._serve(**tensors)
        except tf.errors.OpError as error:
            raise self.wrong(f"cannot be run ({error.message})") from error
        return {name: _array(outputs[name]) for name in names}

    def wrong(self, what: str) -> OSError:
        """The error for a model that does not do what it says."""
        return OSError(f"{self.path} {what[:300]}; {REMEDY}")


def _values(specs) -> list:
    return [
        SimpleNamespace(
            name=name,
            type=f"tensor({TYPES.get(spec.dtype, spec.dtype.name)})",
            shape=spec.shape,
        )
        for name, spec in specs.items()
    ]


def _array(tensor) -> np.ndarray:
    array = tensor.numpy()
    if array.dtype != object:
        return array
    flat = [value.decode("utf-8", "replace") for value in array.ravel()]
    return np.array(flat, object).reshape(array.shape)


def load_saved(path: Path):
    """The tagger or parser of a folder: it answers as an ONNX file does.

    It gives the labels of each column alone, without the `rules` of the Keras model,
    and no `predict`.

    Raises:
        ValueError: if it is no SavedModel of this package.
    """
    try:
        return model_of(SavedSession(path))
    except ValueError as error:
        raise ValueError(f"{path} {error}; {REMEDY}") from error
