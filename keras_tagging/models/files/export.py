"""Export of models that take words, to TensorFlow's or ONNX Runtime's files."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import keras
import tensorflow as tf

from keras_tagging import kinds
from keras_tagging.encoding.batching import ids_of
from keras_tagging.kinds.parsing import PREDICTED
from keras_tagging.models.files.saving import write_metadata
from keras_tagging.runtime.onnx_file import FORMAT, KEY
from keras_tagging.utils.atomic import naming, replacing
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.startup import require

#: exports in a process of its own; an error that a user can mend goes into a file
_EXPORT = """
import json, pickle, sys
import keras_tagging
path, out, options, error_file = sys.argv[1:]
try:
    keras_tagging.load(path).export(out, **json.loads(options))
except (ValueError, OSError) as error:
    with open(error_file, "wb") as file:
        pickle.dump(error, file)
    sys.exit(1)
"""
TITLES = {"tf_saved_model": "SavedModels", "onnx": "ONNX files"}


def export(
    model,
    path,
    *,
    format: str = "tf_saved_model",
    top_k: int = 5,
    int8: bool = False,
    verbose: bool = False,
    words: dict | None = None,
) -> None:
    """Write a tagger or a parser as a SavedModel, or any model as an ONNX file.

    Its signature `serving_default` takes `tokens` `(batch, time)` strings, `lengths`
    `(batch,)` int32, and one further `(batch, time)` string tensor for every column of
    the features. Everything after the end of a sentence is ignored; a length that is
    negative, or larger than the width of `tokens`, is an error. A tagger returns

    * `tags` `(batch, time)`: the best tag, "" in the padding,
    * `probabilities` `(batch, time)`: its probability, 0 in the padding,
    * `top_tags`, `top_probabilities` `(batch, time, k)`: the k most probable, best
      first.

    A tagger of named columns returns these for each: `upos`, `upos_probabilities`,
    `top_upos`, `top_upos_probabilities`.

    A parser returns `heads` `(batch, time)` int32, 0 for ROOT and -1 in the padding,
    and `deprels` `(batch, time)`, "" in the padding. Lifted arcs
    (`nonprojective="lift"`) are not put back. If the parser has its own tagger, the
    signature takes no tags.

    With a CRF, `tags` are the best path, and all probabilities are marginals. With
    constrained chunk tags, `tags` are the best consistent path. With a beam, they are
    its best path, and each probability is the one after the preceding labels of the
    path. So a tag of the path need not be the first of `top_tags`.

    The tokens should be in Unicode NFC; `tag` normalises them, but TensorFlow cannot.
    With the JAX and PyTorch backends, a TensorFlow subprocess does the export.

    An ONNX file has the same inputs and outputs, and for a tagger
    `all_probabilities` `(batch, time, num_tags)`, in the order of `tags`, or
    `all_upos_probabilities` and so on. The input `ranked` of a tagger, one boolean that
    need not be given, is False where the best labels, `top_tags` and so on, are not
    wanted: they are empty then, and the rest takes less time. ONNX Runtime
    runs it with onnxruntime-extensions; `keras_tagging.runtime` does so. It computes in
    float32, whatever the model does. A token that is no UTF-8, or has a U+0000, counts
    as U+FFFD. `metadata.json` is not beside it: the file says itself what it is.

    That of a segmenter takes the `ids` `(windows, time, 2)` of characters and gives
    `logits` `(windows, time, labels)`: what lies around it is Python's.

    Args:
        model: a fitted `Tagger`, `Parser` or `Segmenter`.
        path: the folder, or the file `NAME.onnx`. If it has a SavedModel or is a file
            already, the new one is written beside it before it is removed.
        format: "tf_saved_model" or "onnx".
        top_k: k, limited to the number of tags; for taggers.
        int8: whether LSTM layers of an ONNX file, and what reads them, multiply
            integers of 8 bits, as tables have them: the file is smaller and
            faster, and some of its answers are not those of the model.
        verbose: whether Keras prints the endpoint of a SavedModel.
        words: of a part of a pipeline what its ONNX file reads from `words.npz`, with
            the TensorFlow backend alone: see `runtime.words.words_of`.

    Raises:
        ValueError: if there is no such format, `path` exists and is not a SavedModel,
            or does not end in .onnx, `int8` is for another format
            or a model without LSTM layers, or ONNX cannot compute what the model
            does.
        ImportError: if the package onnx is needed and not installed.
    """
    path = Path(path)
    check_known("format", format, TITLES)
    onnx = format == "onnx"
    if not (kinds.of(model).graph if onnx else getattr(model, "served_layers", ())):
        raise ValueError(
            f"no {TITLES[format]} of a {model.kind}: use .keras or an ONNX file"
        )
    if onnx:
        _export_onnx(model, path, top_k, int8, words)
        return
    if int8:
        raise ValueError('int8 is for format="onnx"')
    empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not empty and not (path / "saved_model.pb").exists():
        raise ValueError(f"{path} is not a SavedModel: choose another folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
        written = Path(folder) / "saved_model"
        if keras.backend.backend() == "tensorflow":
            try:
                _write(model, written, top_k, verbose)
            except tf.errors.ResourceExhaustedError as error:  # also for a full disk
                raise OSError(f"{path} cannot be written: {error.message}") from error
        else:
            _write_in_subprocess(model, written, top_k=top_k)
        with naming(path, written / "metadata.json"):
            about = {"format": FORMAT, "kind": model.kind, **model.described(top_k)}
            about["architecture"] = model.architecture
            write_metadata(model, written / "metadata.json", **{KEY: about})
        if path.exists():
            # atomic, so a kill does not halve it
            os.replace(path, Path(folder) / "old")
        os.replace(written, path)


def _export_onnx(model, path, top_k, int8, words):
    if path.suffix != ".onnx" or path.is_dir():
        raise ValueError(f"{path}: the file name of an ONNX file ends in .onnx")
    require("onnx", "onnx")
    with replacing(path) as partial:
        if keras.backend.backend() != "tensorflow":
            _write_in_subprocess(model, partial, top_k=top_k, int8=int8, format="onnx")
            return
        from keras_tagging.onnx.model_file import onnx_model

        made = onnx_model(model, top_k, int8, words)
        partial.write_bytes(made.SerializeToString())


def _write(model, path, top_k, verbose):
    answer = model.serving(top_k)
    tagger = getattr(model, "tagger", None)  # a parser may read its tags
    predicted = tagger and tagger.serving(1)
    features = model.features
    names = ["tokens", *model.input_columns]

    def serve(lengths, **strings):
        shape = tf.shape(strings["tokens"])
        tf.debugging.assert_non_negative(lengths, "lengths must not be negative")
        tf.debugging.assert_less_equal(
            lengths, shape[1], "lengths must not exceed the width of tokens"
        )
        tf.debugging.assert_equal(
            tf.shape(lengths)[0], shape[0], "one length a row of tokens"
        )
        # a recurrent loop needs at least one row and one step
        rows, steps = tf.maximum(shape[0], 1), tf.maximum(shape[1], 1)
        pad = [[0, rows - shape[0]], [0, steps - shape[1]]]
        real = tf.sequence_mask(tf.pad(lengths, pad[:1]), steps)
        strings = {k: tf.where(real, tf.pad(v, pad), "") for k, v in strings.items()}
        if tagger:
            tags = predicted(padded_ids(tagger.features, strings, real), real)
            strings[PREDICTED] = tags["tags"]
        answers = answer(padded_ids(features, strings, real), real)
        # remove the added row and step
        return {k: v[: shape[0], : shape[1]] for k, v in answers.items()}

    strings = {k: tf.TensorSpec((None, None), tf.string, name=k) for k in names}
    lengths = tf.TensorSpec((None,), tf.int32, name="lengths")
    # nothing here asks a tensor what to do: autograph would only convert it all
    served = tf.function(serve, autograph=False)
    served.get_concrete_function(lengths, **strings)  # fixes the signature
    archive = keras.export.ExportArchive()
    for part in filter(None, (model, tagger)):
        for tracked in (*part.served_layers, *part.features.tables.values()):
            archive.track(tracked)
    archive.add_endpoint("serve", served)
    archive.write_out(str(path), verbose=verbose)


def padded_ids(features, strings, real):
    """The ids that the network reads, 0 in the padding; letters have rows of them."""
    encoded = features(strings)
    ids = ids_of(encoded) * tf.cast(real[:, :, None], tf.int32)
    return {**encoded, "ids": ids} if features.letters else ids


def _write_in_subprocess(model, path, **options):
    # the tables and the graph are TensorFlow's; a process has one Keras backend
    with tempfile.TemporaryDirectory() as folder:
        # an ensemble is a folder
        saved = Path(folder) / ("model" if hasattr(model, "members") else "model.keras")
        model.save(saved)
        error_file = Path(folder) / "error"
        options = json.dumps(options)
        command = [sys.executable, "-c", _EXPORT, saved, path, options, error_file]
        environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if error_file.exists():
            raise pickle.loads(error_file.read_bytes())
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise OSError(f"the export in TensorFlow failed: {last}")
