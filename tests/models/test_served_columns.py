"""Several columns of labels as a SavedModel and as ONNX: what `tag` gives."""

import json
from dataclasses import replace

import numpy as np
import onnx
import pytest
import tensorflow as tf
from conftest import computing_once, random_sentences, random_tagger
from models.columns import NAMES, columned
from onnx_files.odd import request

from keras_tagging import Sentence, runtime

GIVEN = [
    *(s.tokens for s in random_sentences(6, 9)),
    [],
    ["zebra", "the", "\u00e9t\u00e9"] * 3,
]


def built(decoder):
    """Random weights; the chunks of a softmax or CRF are to be consistent."""
    options = {"tags": NAMES, "decoder": decoder, "consistent": False}
    model = random_tagger(columned(random_sentences(30, 1)), **options)
    model.run_eagerly = True
    return model


@pytest.fixture(scope="module")
def model():
    return built("crf")


@pytest.fixture(scope="module")
def onnx_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    model.export(path, format="onnx", top_k=3)
    return path


def check_answers(model, answers):
    """The outputs of a request with all sentences, by their names."""
    with computing_once(model):
        rows, tagged = model.predict(GIVEN), model.tag(GIVEN)
        pairs = model.tag(GIVEN, probabilities=True)
    for name in NAMES:
        top, best = answers[f"top_{name}"], answers[f"top_{name}_probabilities"]
        assert top.shape[2] == best.shape[2] == 3
        for i, tokens in enumerate(GIVEN):
            n = len(tokens)
            assert [*map(text, answers[name][i, :n])] == tagged[i][name]
            p = answers[f"{name}_probabilities"][i]
            expected = [value for _, value in pairs[i][name]]
            np.testing.assert_allclose(p[:n], expected, atol=1e-5)
            order = np.argsort(-rows[i][name], kind="stable")[:, :3]
            ranked = np.take_along_axis(rows[i][name], order, 1)
            np.testing.assert_allclose(best[i, :n], ranked, atol=1e-5)
            names = [[model.tags[name][j] for j in row] for row in order]
            assert [[*map(text, row)] for row in top[i, :n]] == names
            assert not p[n:].any() and set(map(text, answers[name][i, n:])) <= {""}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def test_the_saved_model(tmp_path):
    model = built("softmax")
    model.export(tmp_path / "served", top_k=3)
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    given = request([Sentence(tokens) for tokens in GIVEN])
    tokens = tf.constant(given["tokens"].astype(str))
    answers = serve(tokens=tokens, lengths=tf.constant(given["lengths"]))
    parts = ("{}", "{}_probabilities", "top_{}", "top_{}_probabilities")
    assert set(answers) == {part.format(name) for part in parts for name in NAMES}
    check_answers(model, {name: value.numpy() for name, value in answers.items()})


def test_the_runtime(model, onnx_file, once):
    found = runtime.load(onnx_file)
    assert found.tag(GIVEN) == model.tag(GIVEN)
    assert list(found.tag(iter(GIVEN))) == model.tag(GIVEN)
    pairs = zip(
        found.annotate(map(Sentence, GIVEN)), model.annotate(GIVEN), strict=True
    )
    for ours, theirs in pairs:
        values = [[span.probability for span in s.spans] for s in (ours, theirs)]
        np.testing.assert_allclose(*values, atol=1e-5)
        spans = [replace(span, probability=1.0) for span in ours.spans]
        known = [replace(span, probability=1.0) for span in theirs.spans]
        assert replace(ours, spans=spans) == replace(theirs, spans=known)
    for ours, theirs in zip(found.predict(GIVEN), model.predict(GIVEN), strict=True):
        for name in NAMES:
            np.testing.assert_allclose(ours[name], theirs[name], atol=1e-5)
    for options in ({"probabilities": True}, {"beta": {"xpos": 0.1, "feats": 0.5}}):
        for ours, theirs in zip(
            found.tag(GIVEN, **options), model.tag(GIVEN, **options), strict=True
        ):
            for name in NAMES:
                assert without_p(ours[name]) == without_p(theirs[name])
    with pytest.raises(ValueError, match="unknown column in beta= 'pos'"):
        found.tag(GIVEN, beta={"pos": 0.1})


def without_p(entries):
    """The labels of each token."""
    kinds = {str: lambda e: [e], tuple: lambda e: [e[0]], list: lambda e: [*dict(e)]}
    return [kinds[type(entry)](entry) for entry in entries]


def test_a_file_that_says_something_else(onnx_file, tmp_path):
    for change, message in {
        "tokens": "'tokens' is reserved",
        "pos": "has other outputs than a tagger",
    }.items():
        made = onnx.load(onnx_file)
        [entry] = made.metadata_props
        described = json.loads(entry.value)
        described["tags"][change] = described["tags"].pop("upos")
        entry.value = json.dumps(described)
        other = tmp_path / "other.onnx"
        other.write_bytes(made.SerializeToString())
        with pytest.raises(ValueError, match=message):
            runtime.load(other)
