"""Ensembles of taggers: means, against NumPy, and their folder."""

import json
from itertools import product

import numpy as np
import pytest
from conftest import TINY, random_sentences, random_tagger
from models.columns import columned
from models.parsers import random_parser

import keras_tagging
from keras_tagging import Ensemble, Sentence
from keras_tagging.metrics.chunks import allowed_transitions

pytestmark = pytest.mark.usefixtures("eagerly")

SENTENCES = [*random_sentences(9, 1, longest=4), Sentence([], [], {"pos": []})]
MORE = [*SENTENCES, Sentence(["Dog"] * 9, ["R"] * 9, {"pos": ["x"] * 9})]


def tagger(name="bigru", sentences=SENTENCES, seed=1, **options):
    return random_tagger(sentences, seed, name, **options)


@pytest.fixture(scope="module")
def members():
    """Of other networks, features, vocabularies and orders of labels."""
    crf = tagger("bilstm-crf", MORE, 2, units=4)
    return [tagger(), crf, tagger(decoder="i-rnn", seed=3)]


@pytest.fixture(scope="module")
def model(members):
    return Ensemble(members)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("ensemble")
    model.save(path)
    return path


def mean_of(members, rows):
    """The mean of rows of probabilities, in the order of the first one's labels."""
    first = members[0].tags
    orders = [[model.tags.index(tag) for tag in first] for model in members]
    return np.mean([r[:, o] for r, o in zip(rows, orders, strict=True)], 0)


# Taggers


def test_probabilities_are_means(members, model, once):
    assert members[0].tags != members[1].tags
    found = model.predict(SENTENCES)
    each = zip(*(one.predict(SENTENCES) for one in members), strict=True)
    for rows, parts, tags, sentence in zip(
        found, each, model.tag(SENTENCES, probabilities=True), SENTENCES, strict=True
    ):
        expected = mean_of(members, parts)
        assert rows.shape == (len(sentence), len(model.tags))
        assert np.allclose(rows, expected, atol=1e-6)
        best = [model.tags[i] for i in expected.argmax(-1)]
        assert [tag for tag, _ in tags] == best
        assert np.allclose([p for _, p in tags], expected.max(-1, initial=0))


def test_figures(model, once):
    figures = model.evaluate(SENTENCES, return_dict=True)
    gold = [tag for s in SENTENCES for tag in s.tags]
    tags = [tag for row in model.tag(SENTENCES) for tag in row]
    right = [a == b for a, b in zip(gold, tags, strict=True)]
    assert figures["accuracy"] == pytest.approx(np.mean(right))
    rows = np.concatenate(model.predict(SENTENCES))
    places = [model.tags.index(tag) for tag in gold]
    loss = -np.log(rows[np.arange(len(rows)), places]).mean()
    assert figures["loss"] == pytest.approx(loss, rel=1e-4)
    assert set(figures) == set(model.figures)
    report = model.report(SENTENCES, per_tag=True, multi_tagging=True)
    assert report.figures["accuracy"] == figures["accuracy"]
    assert len(report.tables["multi_tagging"])
    assert model.counts(SENTENCES, [("accuracy", None)])[0][:, 1].sum() == sum(right)


def test_columns_are_found_by_name():
    sentences = columned(SENTENCES)
    one = tagger(sentences=sentences, tags=("upos", "xpos"))
    other = tagger(sentences=sentences, seed=2, tags=("xpos", "upos"))
    found = Ensemble([one, other]).predict(sentences)
    rows = zip(found, one.predict(sentences), other.predict(sentences), strict=True)
    for row, a, b in rows:
        assert list(row) == ["upos", "xpos"]
        for name in row:
            assert np.allclose(row[name], (a[name] + b[name]) / 2, atol=1e-6)
    [annotated] = Ensemble([one, other]).annotate([sentences[0].tokens])
    assert {"pos", "xpos"} <= set(annotated.columns)


def test_chunks_are_consistent():
    tags = ["B-a", "I-a", "O", "B-b", "I-b"]
    sentences = [Sentence(list("vwxyz"), tags), Sentence(list("vw"), ["O", "B-a"])]
    pair = [tagger(sentences=sentences, seed=s, constrained=True) for s in (1, 5)]
    ensemble = Ensemble(pair)
    start, between, end = allowed_transitions(ensemble.tags)
    free = 0
    words = random_sentences(6, 4, longest=4)
    found = zip(ensemble.predict(words), ensemble.tag(words), strict=True)
    for rows, tagged in found:

        def score(path, rows=rows):
            steps = zip(path, path[1:], strict=False)
            if start[path[0]] and end[path[-1]] and all(between[s] for s in steps):
                return np.log(rows[np.arange(len(path)), path]).sum()
            return -np.inf

        best = max(product(range(len(rows[0])), repeat=len(rows)), key=score)
        assert tagged == [ensemble.tags[i] for i in best]
        free += tuple(rows.argmax(-1)) != best
    assert free  # the most probable labels alone would not do


# What is refused


def test_what_makes_no_ensemble(members):
    other = tagger(sentences=random_sentences(9, 1)[:1])
    cases = {
        "2 to 32 members, not 0": [],
        "2 to 32 members, not 1": members[:1],
        "2 to 32 members, not 33": members[:1] * 33,
        "only taggers, or only biaffine-parsers: not tagger, parser": [
            members[0],
            random_parser(),
        ],
        "taggers differ in the labels of 'tags'": [members[0], other],
        "differ in the labels of 'tags'": [
            members[0],
            tagger(sentences=columned(SENTENCES), tags=("upos",)),
        ],
        "no vocabularies yet": [members[0], keras_tagging.build("bigru", **TINY)],
    }
    for message, given in cases.items():
        with pytest.raises(ValueError, match=message) as raised:
            Ensemble(given)
        assert "\n" not in str(raised.value)


# Files


def test_saved_and_loaded(model, folder):
    loaded = keras_tagging.load(folder)
    assert isinstance(loaded, Ensemble) and loaded.kind == "tagger"
    assert loaded.tag(SENTENCES) == model.tag(SENTENCES)
    with pytest.raises(FileExistsError):
        model.save(folder, overwrite=False)


def test_damaged_folders(folder, tmp_path):
    path = tmp_path / "ensemble.json"
    whole = json.loads((folder / "ensemble.json").read_text())
    files = whole["members"]
    (tmp_path.parent / "outside.keras").write_bytes(b"")
    for name in files:
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    first = next(iter(files))
    many = {f"m{i}.keras": {} for i in range(33)}
    cases = [
        ("has the format '2'", {"format": 2}),
        ("is missing", {"members": {**files, "none.keras": {}}}),
        ("is not the file that", {"members": {**files, first: {"sha256": "0"}}}),
    ]
    one, outside = {first: files[first]}, {"../outside.keras": {}, **files}
    for members in (outside, [*files], one, many):
        cases.append(("does not list the 2 to 32 members", {"members": members}))
    for message, change in cases:
        path.write_text(json.dumps(whole | change))
        with pytest.raises(ValueError, match=message) as raised:
            keras_tagging.load(tmp_path)
        assert str(tmp_path) in str(raised.value) and "\n" not in str(raised.value)
    path.write_text("[" * 10**5)
    with pytest.raises(ValueError, match="is damaged"):
        keras_tagging.load(tmp_path)
    path.write_text(json.dumps(whole))
    (tmp_path / first).unlink()
    (tmp_path / first).symlink_to(tmp_path.parent / "outside.keras")
    with pytest.raises(ValueError, match="leads out of the folder"):
        keras_tagging.load(tmp_path)
