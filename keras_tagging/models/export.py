"""Files that take words: SavedModels for TensorFlow, ONNX files for ONNX Runtime."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import keras
import tensorflow as tf

from keras_tagging.models.jackknife import PREDICTED
from keras_tagging.models.metadata import write_metadata
from keras_tagging.utils.atomic import naming, replacing
from keras_tagging.utils.suggestions import check_known

FORMATS = ("tf_saved_model", "onnx")


def export(
    model,
    path,
    *,
    format: str = "tf_saved_model",
    top_k: int = 5,
    verbose: bool = False,
) -> None:
    """Writes a tagger or a parser as a SavedModel, or as an ONNX file.

    Its signature `serving_default` takes `tokens` `(batch, time)` strings, `lengths`
    `(batch,)` int32, and one further `(batch, time)` string tensor for every column
    of the features. Whatever stands beyond a sentence's length is ignored; a length
    that is negative, or beyond the width of `tokens`, is an error. A tagger gives

    * `tags` `(batch, time)`: the best tag, "" in the padding,
    * `probabilities` `(batch, time)`: its probability, 0 in the padding,
    * `top_tags`, `top_probabilities` `(batch, time, k)`: the k most probable, best
      first.

    A parser gives `heads` `(batch, time)` int32, 0 for ROOT and -1 in the padding, and
    `deprels` `(batch, time)`, "" in the padding; arcs that were lifted for training
    (`nonprojective="lift"`) stay as they were learnt. It takes no tags if it reads
    those of its own tagger.

    Of a CRF, `tags` are the best path and all probabilities are marginals; of a beam,
    they are the path it found, and probabilities are those after the labels before.
    So a tag of the path need not be the first of `top_tags`.

    The tokens should be in Unicode NFC, as `tag` makes them: TensorFlow cannot. On
    the JAX and PyTorch backends the export is done by a TensorFlow subprocess.

    An ONNX file has the same inputs and outputs, and for a tagger
    `all_probabilities` `(batch, time, num_tags)`, in the order of `tags`. ONNX Runtime
    runs it with onnxruntime-extensions; `keras_tagging.runtime` does so. It computes in
    float32, whatever the model does. A token that is no UTF-8, or has a U+0000, counts
    as U+FFFD. `metadata.json` is not beside it: the file says itself what it is.

    Args:
        model: a fitted `Tagger` or `Parser`.
        path: the folder, or the file `NAME.onnx`; if it holds a SavedModel, or an ONNX
            file, that is removed when the new one has been written beside it.
        format: "tf_saved_model" or "onnx".
        top_k: k, at most the number of tags; of a tagger.
        verbose: whether Keras prints the endpoint of a SavedModel.

    Raises:
        ValueError: if there is no such format, `path` exists and is no SavedModel, or
            no file that ends in .onnx, `top_k` is below 1, or ONNX cannot have what the
            model computes.
        ImportError: if the package onnx is needed and not installed.
    """
    path = Path(path)
    check_known("format", format, FORMATS)
    if top_k < 1:
        raise ValueError(f"top_k={top_k}: at least one tag must come out")
    if format == "onnx":
        _export_onnx(model, path, top_k)
        return
    empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not empty and not (path / "saved_model.pb").exists():
        raise ValueError(f"{path} exists and is no SavedModel: choose another folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
        written = Path(folder) / "saved_model"
        if keras.backend.backend() == "tensorflow":
            try:
                _write(model, written, top_k, verbose)
            except tf.errors.ResourceExhaustedError as error:  # a full disk, too
                raise OSError(f"{path} cannot be written: {error.message}") from error
        else:
            _write_in_subprocess(model, written, top_k)
        with naming(path, written / "metadata.json"):
            write_metadata(model, written / "metadata.json")
        if path.exists():
            os.replace(path, Path(folder) / "old")  # whole: a kill leaves no half of it
        os.replace(written, path)


def _export_onnx(model, path, top_k):
    if path.suffix != ".onnx" or path.is_dir():
        raise ValueError(f"{path}: the file name of an ONNX file ends in .onnx")
    with replacing(path) as partial:
        if keras.backend.backend() != "tensorflow":
            _write_in_subprocess(model, partial, top_k, "onnx")
            return
        try:
            from keras_tagging.onnx.model_file import onnx_model
        except ModuleNotFoundError as error:
            if error.name != "onnx":
                raise
            raise ImportError(
                "ONNX files are written with the package onnx: "
                "pip install 'keras-tagging[onnx]'"
            ) from None
        partial.write_bytes(onnx_model(model, top_k).SerializeToString())


def _write(model, path, top_k, verbose):
    answer = model.serving(top_k)
    tagger = getattr(model, "tagger", None)  # whose tags the parser reads
    predicted = tagger and tagger.serving(1)
    features = model.features
    names = ["tokens", *model.input_columns]

    def serve(lengths, **strings):
        given = tf.shape(strings["tokens"])
        tf.debugging.assert_non_negative(lengths, "lengths must not be negative")
        tf.debugging.assert_less_equal(
            lengths, given[1], "lengths must not exceed the width of tokens"
        )
        tf.debugging.assert_equal(
            tf.shape(lengths)[0], given[0], "one length a row of tokens"
        )
        # a recurrent loop needs at least one row and one step
        rows, steps = tf.maximum(given[0], 1), tf.maximum(given[1], 1)
        pad = [[0, rows - given[0]], [0, steps - given[1]]]
        real = tf.sequence_mask(tf.pad(lengths, pad[:1]), steps)
        strings = {k: tf.where(real, tf.pad(v, pad), "") for k, v in strings.items()}
        if tagger:
            tags = predicted(_ids(tagger.features, strings, real), real)
            strings[PREDICTED] = tags["tags"]
        answers = answer(_ids(features, strings, real), real)
        # what was given, without the row and the step that were added
        return {k: v[: given[0], : given[1]] for k, v in answers.items()}

    strings = {k: tf.TensorSpec((None, None), tf.string, name=k) for k in names}
    lengths = tf.TensorSpec((None,), tf.int32, name="lengths")
    served = tf.function(serve)
    served.get_concrete_function(lengths, **strings)  # fixes the signature
    archive = keras.export.ExportArchive()
    for part in filter(None, (model, tagger)):
        for tracked in (*part.served_layers, *part.features.tables.values()):
            archive.track(tracked)
    archive.add_endpoint("serve", served)
    archive.write_out(str(path), verbose=verbose)


def _ids(features, strings, real):
    return features(strings) * tf.cast(real[:, :, None], tf.int32)


def _write_in_subprocess(model, path, top_k, format="tf_saved_model"):
    # the tables and the graph are TensorFlow's; a process has one Keras backend
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "model.keras"
        model.save(saved)
        code = (
            "import sys, keras_tagging as kt; path, out, k, format = sys.argv[1:]; "
            "kt.load(path).export(out, top_k=int(k), format=format)"
        )
        given = map(str, (saved, path, top_k, format))
        command = [sys.executable, "-c", code, *given]
        environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the export in TensorFlow failed:\n{done.stderr.strip()}")
