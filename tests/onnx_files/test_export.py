"""`export(format="onnx")`: the file, its signature, and what is refused."""

import json

import keras
import numpy as np
import onnx
import pytest
from conftest import check_close, exported
from onnx_files.odd import tagger as tiny
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

from keras_tagging import Sentence, runtime
from keras_tagging.onnx.tracing import OPERATIONS
from keras_tagging.utils import limits

COLUMNS = {"columns": ("pos",), "num_layers": 1}


@pytest.fixture(scope="module")
def columns(train_sentences, tmp_path_factory):
    """A tagger with a column, and its file."""
    model = tiny("bigru", train_sentences, **COLUMNS)
    path = tmp_path_factory.mktemp("deep") / "er" / "tagger.onnx"
    model.export(path, format="onnx", top_k=2)
    return model, path


def run(path, **feeds):
    return runtime.load(path).session.run(None, feeds)


def test_signature_and_metadata(columns):
    model, path = columns
    assert [p.name for p in path.parent.iterdir()] == ["tagger.onnx"]
    made = onnx.load(path)
    axes = {
        value.name: [axis.dim_param for axis in value.type.tensor_type.shape.dim]
        for value in (*made.graph.input, *made.graph.output)
    }
    batch = ["batch", "time"]
    assert axes == {
        "tokens": batch,
        "pos": batch,
        "lengths": ["batch"],
        "ranked": [],
        "tags": batch,
        "probabilities": batch,
        "top_tags": [*batch, "k"],
        "top_probabilities": [*batch, "k"],
        "all_probabilities": [*batch, "tag"],
    }
    [prop] = made.metadata_props
    described = json.loads(prop.value)
    assert described["tags"] == model.tags
    assert described["columns"] == ["pos"]
    assert described["architecture"] == "bigru"
    assert described["combining_marks"] == limits.COMBINING_MARKS
    assert set(described) >= {"version", "top_k", "normal_form", "batch_tokens"}


def test_the_model_is_as_before(columns, train_sentences):
    model, path = columns

    def nodes():
        layers = model._flatten_layers()
        return [(len(x._inbound_nodes), len(x._outbound_nodes)) for x in layers]

    before = nodes()
    model.export(path, format="onnx", top_k=2)  # replaces the file
    assert nodes() == before


def test_no_rows_no_tokens_one_token(columns):
    _, path = columns
    for rows, time in ((0, 0), (2, 0), (0, 3), (1, 1)):
        empty = np.full((rows, time), "", object)
        lengths = np.zeros(rows, "int32")
        found = run(path, tokens=empty, pos=empty, lengths=lengths)
        assert [x.shape[:2] for x in found] == [(rows, time)] * 5
        assert not any(found[0].ravel())


@pytest.mark.parametrize(
    "lengths, message",
    [
        ([3], "lengths must not exceed the width of tokens"),
        ([-1], "lengths must not be negative"),
        ([1, 1], "one length a row of tokens"),
        ([], "one length a row of tokens"),
    ],
)
def test_lengths_that_do_not_fit_are_an_error(columns, lengths, message):
    _, path = columns
    tokens = np.array([["a", "b"]], object)
    with pytest.raises(InvalidArgument) as caught:
        run(path, tokens=tokens, pos=tokens, lengths=np.array(lengths, "int32"))
    assert message in str(caught.value)


def test_what_has_no_bytes(columns):
    model, path = columns
    sentence = Sentence(["a\ud800", "\udcff"], None, {"pos": ["\udc80", "x"]})
    assert runtime.load(path).tag([sentence]) == model.tag([sentence])
    raw = np.array([["a\ud800"]], object)  # a request that nobody has made encodable
    with pytest.raises(UnicodeEncodeError):
        run(path, tokens=raw, pos=raw, lengths=np.ones(1, "int32"))


def test_formats_and_names_are_checked(tmp_path, tagger):
    for name, options, message in (
        ("x.onnx", {"format": "onxx"}, "unknown format 'onxx'; did you mean 'onnx'"),
        ("", {}, "the file name of an ONNX file ends in"),
        ("tagger.bin", {}, "the file name of an ONNX file ends in"),
    ):
        with pytest.raises(ValueError, match=message):
            tagger.export(tmp_path / name, **{"format": "onnx"} | options)
    assert not list(tmp_path.iterdir())


def test_an_export_that_fails_leaves_the_old_file(tmp_path, tagger, monkeypatch):
    path = tmp_path / "tagger.onnx"
    path.write_text("old")
    monkeypatch.setitem(OPERATIONS, "NotEqual", None)
    with pytest.raises(ValueError, match="this tagger has NotEqual, which cannot be"):
        tagger.export(path, format="onnx")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_models_of_half_precision_are_computed_in_float32(train_sentences, tmp_path):
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model = tiny("skip-bilstm", train_sentences)
    finally:
        keras.config.set_dtype_policy("float32")
    found = exported(model, tmp_path).predict(train_sentences)
    check_close(found, model.predict(train_sentences), atol=0.05)
