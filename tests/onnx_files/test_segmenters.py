"""A segmenter as an ONNX file, run without Keras: the same sentences."""

import random

import numpy as np
import onnx
import pytest
from conftest import randomize
from onnx_files.odd import changed, describing
from segmenting.test_stream import chunks_of, random_text
from treebanks import LANGUAGES, TINY, spans

import keras_tagging
from keras_tagging import runtime
from keras_tagging.data.sentence import text_of
from keras_tagging.segmenting import segmentation


@pytest.fixture(scope="module")
def path(segmenter, tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "segmenter.onnx"
    segmenter.export(path, format="onnx")
    return path


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_learnt_by_heart_comes_back(path, treebanks, language):
    found = runtime.load(path).segment(text_of(treebanks[language]))
    assert spans(found) == spans(treebanks[language])


# of a native cell of ONNX, and of a Scan: `test_layers` has the others
@pytest.mark.parametrize("encoder", ["bigru", "skip-bilstm"])
def test_encoders_give_the_same_labels(everything, encoder, tmp_path):
    """Random weights, in which any deviation changes where something ends."""
    settings = {**TINY, "encoder": encoder, "num_layers": 2}
    model = keras_tagging.build("segmenter", **settings)
    model.adapt(everything)
    randomize(model)
    path = tmp_path / "segmenter.onnx"
    model.export(path, format="onnx")
    served = runtime.load(path, threads=1)
    assert served.architecture == "segmenter"
    rng = np.random.default_rng(2)
    sizes = [*model.features.sizes.values()]
    ids = rng.integers(1, sizes, (5, 37, 2)).astype("int32")
    for row, length in enumerate((37, 20, 1, 36, 9)):
        ids[row, length:] = 0
    real = ids[..., 0] > 0
    expected, given = model.predict_on_batch(ids), served._run(ids)
    np.testing.assert_allclose(given[real], expected[real], atol=2e-5)
    assert given[real].std() > 0.1
    text = random_text(random.Random(3), 400)
    assert spans(served.segment(text)) == spans(model.segment(text))


def test_threads_and_chunks_change_nothing(path, everything, monkeypatch):
    text = text_of(everything)
    whole = spans(runtime.load(path, threads=1).segment(text))
    monkeypatch.setattr(segmentation, "WINDOW", 40)
    monkeypatch.setattr(segmentation, "SYMBOLS", 200)
    served = runtime.load(path, threads=3)
    assert spans(served.segment(chunks_of(text, random.Random(4)))) == whole
    assert list(served.segment(" \n")) == []
    monkeypatch.setattr(runtime.segmenter, "CALL_SYMBOLS", 90)  # one window, or none
    for served._threads in (1, 3):
        assert spans(served.segment(text)) == whole


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"character": [1]}, "does not list its character"),
        ({"character": ["x"] * 1_000}, "does not read the characters that it lists"),
        ({"multiword": ["du\t"]}, "is no token with its words"),
        ({"usual_multiword": None}, "does not list its usual_multiword"),
        ({"spaces": 1}, "does not say which spaces and how much context"),
        ({"context": -1}, "does not say which spaces and how much context"),
        ({"context": 10**9}, "does not say which spaces and how much context"),
        ({"kind": "tagger"}, "does not say how many tokens make a batch"),
    ],
)
def test_what_a_file_says_of_itself_is_checked(path, tmp_path, changes, message):
    other = changed(path, tmp_path, describing(**changes))
    with pytest.raises(ValueError, match=f"changed.onnx .*{message}"):
        runtime.load(other)


@pytest.mark.parametrize(
    "type, message",
    [
        (onnx.TensorProto.FLOAT, "does not read the characters that it lists"),
        (onnx.TensorProto.INT32, "has other outputs than a segmenter"),
    ],
)
def test_a_file_with_other_outputs(type, message, path, tmp_path):
    def change(made):
        last = made.graph.node.pop()
        ids = onnx.helper.make_node("Cast", ["ids"], list(last.output), to=type)
        made.graph.node.append(ids)  # three axes, but no logits
        made.graph.output[0].type.tensor_type.elem_type = type

    with pytest.raises(ValueError, match=message):
        runtime.load(changed(path, tmp_path, change))
