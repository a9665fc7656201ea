"""Whatever JSON a body is: sentences, or a refusal in one sentence."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds.tagging import OUTPUTS
from keras_tagging.service import (
    binary,
    open_inference,
    plain,
    tensorflow_serving,
    texts,
)
from keras_tagging.service.problems import Problem, an_object
from keras_tagging.service.tensors import Model

OWN = {name: OUTPUTS[name] for name in ("tags", "top_tags")}
MODEL = Model("m", "tagger", "tag", "bigru", [], OWN, 3, 2)
NAMES = st.sampled_from(["tokens", "pos", "lengths", "tags", "x", ""])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.text(max_size=3),
    NAMES,
    st.sampled_from(["BYTES", "INT32", "FP32", "m", "serving_default", "/w=="]),
)
KEYS = st.sampled_from(
    "sentences model columns tokens lengths inputs instances outputs parameters name "
    "shape datatype data b64 binary_data binary_data_size id".split()
)
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
ROWS = st.integers(0, 3).flatmap(
    lambda n: st.lists(
        st.lists(st.text(max_size=2), min_size=n, max_size=n), min_size=1, max_size=3
    )
)


def sound(name, rows):
    """A body that is right, unless it has no tokens."""
    lengths = [len(row) for row in rows]
    if name == "plain":
        return {"model": "m", "sentences": rows, "columns": {}}
    if name == "v1":
        return {"inputs": {"tokens": rows, "lengths": lengths}}
    tokens = {"datatype": "BYTES", "shape": [len(rows), lengths[0]], "data": rows}
    sizes = {"datatype": "INT32", "shape": [len(rows)], "data": lengths}
    inputs = [{"name": "tokens", **tokens}, {"name": "lengths", **sizes}]
    return {"inputs": inputs, "outputs": [{"name": "tags"}], "parameters": {}}


def places(part):
    """Every list or object in a body, with each of its keys."""
    keys = part if isinstance(part, dict) else range(len(part))
    for key in keys:
        yield part, key
        if isinstance(part[key], (dict, list)):
            yield from places(part[key])


@st.composite
def bodies(draw, name):
    """Sound ones, with up to two values that are anything."""
    body = sound(name, draw(ROWS))
    for _ in range(draw(st.integers(0, 2))):
        part, key = draw(st.sampled_from([*places(body)]))
        part[key] = draw(ANY)
    return draw(ANY) if draw(st.integers(0, 9)) == 0 else body


def v2(body, tail, model=MODEL):
    given, names, written = open_inference.read(model, body, tail, 9)
    return given, lambda answers: written(
        [{name: answer[name] for name in names} for answer in answers]
    )


READERS = {
    "plain": lambda body, _: plain.read(MODEL, body, 9),
    "v1": lambda body, _, model=MODEL: tensorflow_serving.read(model, body, 9),
    "v2": v2,
}


@pytest.mark.parametrize("name", READERS)
def test_sentences_or_a_refusal(name):
    understood, refused = [], []

    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(body=bodies(name), tail=st.sampled_from([b"", b"", b"x", b"\0\0\0\0"]))
    def check(body, tail):
        try:
            if name == "plain":
                plain.chosen({"m": MODEL}, an_object(body, ""), "tag")
            found, written = READERS[name](body, memoryview(tail))
        except Problem as problem:
            assert 400 <= problem.status < 500 and "\n" not in problem.message
            refused.append(problem)
            return
        assert all(type(sentence) is Sentence for sentence in found)
        assert 1 <= sum(map(len, found)) <= 9
        answers = [
            {"tags": ["T"] * len(s), "top_tags": [["T", "S"]] * len(s)} for s in found
        ]
        assert written(answers)
        understood.append(body)

    check()
    assert len(understood) > 20 and len(refused) > 20


TEXTS = ["text", "texts", "sentences", "input", "output", "probabilities", "model", "x"]
OUTPUTS_OF_TEXT = texts.TextModel.outputs
PIPELINE = Model("p", "pipeline", "annotate", "", [], OUTPUTS_OF_TEXT, 0, 0, "", True)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(body=st.dictionaries(st.sampled_from(TEXTS), ANY | st.text(), max_size=3))
def test_a_text_or_a_refusal(body):
    try:
        items, output, media_type, _ = texts.read(PIPELINE, body, 9)
    except Problem as problem:
        assert 400 <= problem.status < 500 and "\n" not in problem.message
        return
    probable = body.get("probabilities") is True
    assert items and (output == texts.PROBABLE) == probable
    assert media_type == texts.TYPES["json" if probable else output]
    if "sentences" not in body:
        assert items == body.get("texts", [body.get("text")])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(texts_here=ANY, tensor=st.dictionaries(KEYS, ANY, max_size=4))
def test_texts_of_other_protocols_or_a_refusal(texts_here, tensor):
    tensor = {"name": "text", "datatype": "BYTES", "shape": [1], **tensor}
    for name, body in (
        ("v1", {"instances": texts_here}),
        ("v1", {"inputs": texts_here}),
        ("v2", {"inputs": [tensor]}),
    ):
        try:
            given, _ = READERS[name](body, memoryview(b""), PIPELINE)
        except Problem as problem:
            assert 400 <= problem.status < 500 and "\n" not in problem.message
        else:
            assert given and all(type(text) is str for text in given)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.text(max_size=5), max_size=5))
def test_strings_go_there_and_back(values):
    content = binary.content("BYTES", values)
    reader = binary.Reader(memoryview(content))
    assert reader.take("tokens", "BYTES", len(content)) == values
    reader.end()


@pytest.mark.parametrize("kind", binary.NUMBERS)
def test_numbers_go_there_and_back(kind):
    content = binary.content(kind, [0, 1, 100])
    assert len(content) == 3 * struct.calcsize(binary.NUMBERS[kind])
    reader = binary.Reader(memoryview(content))
    assert reader.take("lengths", kind, len(content)) == [0, 1, 100]
