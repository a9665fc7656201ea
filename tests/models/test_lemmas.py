"""Taggers that learn lemmas: scripts inside, lemmas outside."""

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, exported, random_tagger, reloaded

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.data.lemmas.scripts import lemma_of, script_of
from keras_tagging.models.tagger.figures import unknown_tags

pytestmark = pytest.mark.usefixtures("eagerly")

LEMMAS = {
    "Dogs": "dog",
    "cats": "cat",
    "dog": "dog",
    "Paris": "Paris",
    "went": "go",
    "planned": "plan",
    "a": "a",
}
NAMES = ("upos", "lemma")
OPTIONS = TINY | WORDS_ONLY | {"units": 12}


def sentence(*words, lemmas=None):
    lemmas = lemmas or [LEMMAS[word] for word in words]
    return Sentence(list(words), None, {"pos": [w[-1] for w in words], "lemma": lemmas})


TRAIN = [
    sentence("Dogs", "went", "a", "dog"),
    sentence("cats", "planned", "Paris"),
    sentence("a", "cats"),
]
GOLD = [
    *TRAIN,
    Sentence([], None),
    sentence("Dogs", "mice", lemmas=["dog", "mouse"]),  # a script that is unknown
    sentence("hats", "a", lemmas=["hat", "an"]),
]


@pytest.fixture(scope="module")
def model():
    # without rules, the lemma is that of the best script
    return random_tagger(TRAIN, 3, tags=NAMES, consistent=False)


def test_it_learns_scripts_and_gives_lemmas(model):
    scripts = model.tags["lemma"]
    assert set(scripts) == {script_of(f, x) for f, x in LEMMAS.items()}
    for one, tags, rows in zip(GOLD, model.tag(GOLD), model.predict(GOLD), strict=True):
        best = [scripts[i] for i in rows["lemma"].argmax(-1)]
        assert tags["lemma"] == [*map(lemma_of, one.tokens, best)]


def test_probabilities_and_several_lemmas(model):
    for tags, pairs, several, rows in zip(
        model.tag(GOLD),
        model.tag(GOLD, probabilities=True),
        model.tag(GOLD, beta=1e-9),
        model.predict(GOLD),
        strict=True,
    ):
        assert [lemma for lemma, _ in pairs["lemma"]] == tags["lemma"]
        assert [row[0] for row in several["lemma"]] == pairs["lemma"]
        np.testing.assert_allclose(
            [p for _, p in pairs["lemma"]], rows["lemma"].max(-1)
        )
        for row in several["lemma"]:
            assert len({lemma for lemma, _ in row}) == len(row)


def test_figures_compare_lemmas(model):
    figures = model.evaluate(GOLD, return_dict=True)
    pairs = [
        (gold, lemma)
        for one, tags in zip(GOLD, model.tag(GOLD), strict=True)
        for gold, lemma in zip(one.columns.get("lemma", ()), tags["lemma"], strict=True)
    ]
    right = sum(gold == lemma for gold, lemma in pairs)
    assert 0 < right < len(pairs)
    assert figures["lemma_accuracy"] == right / len(pairs)
    column = model.column("lemma")
    [counts] = column.counts(GOLD, [("accuracy", None)])
    assert counts[:, 1].sum() == right


def test_the_loss_is_that_of_scripts(model):
    scripts = {script: i for i, script in enumerate(model.tags["lemma"])}
    losses = [
        -np.log(row[scripts[script]])
        for one, rows in zip(GOLD, model.predict(GOLD), strict=True)
        for form, lemma, row in zip(
            one.tokens, one.columns.get("lemma", ()), rows["lemma"], strict=True
        )
        if (script := script_of(form, lemma)) in scripts
    ]
    figures = model.evaluate(GOLD, return_dict=True)
    assert figures["lemma_loss"] == pytest.approx(np.mean(losses), rel=1e-5)


def test_unknown_scripts_are_counted(model):
    one = model.column("lemma")
    words = [sentence("mice", "a", lemmas=["mouse", "a"])]
    warning = unknown_tags(one.label_columns[0], one.annotated(words), "lemma")
    assert warning.startswith("1 of 2 gold labels in the column 'lemma'")
    assert not unknown_tags(one.label_columns[0], one.annotated(TRAIN), "lemma")


def test_it_learns_them(tmp_path):
    model = keras_tagging.build(
        "bigru", **OPTIONS, tags="lemma", learning_rate=0.1, decay=None
    )
    model.fit(TRAIN * 2, epochs=6, verbose=0)
    model.run_eagerly = True
    assert model.evaluate(TRAIN, return_dict=True)["lemma_accuracy"] == 1.0
    [found] = model.annotate([Sentence(["went", "cats"])])
    assert found.columns == {"lemma": ["go", "cat"]}
    again = reloaded(model, tmp_path)
    assert again.tag(GOLD) == model.tag(GOLD)


def test_taggers_that_learnt_lemmas_as_they_are(model):
    """Those of earlier versions: their labels are no scripts."""
    config = json.loads(json.dumps(model.get_config()))
    config["vocabularies"]["tags:lemma"] = [
        f"lemma{i}" for i, _ in enumerate(model.tags["lemma"])
    ]
    old = keras_tagging.Tagger.from_config(config)
    [tags] = old.tag([["Dogs"]])
    assert tags["lemma"][0] in old.tags["lemma"]


def test_onnx_gives_lemmas(model, tmp_path):
    loaded = exported(model, tmp_path)
    assert loaded.tags == model.tags
    assert loaded.tag(GOLD) == model.tag(GOLD)
    for one, other in zip(
        loaded.tag(GOLD, beta=1e-9), model.tag(GOLD, beta=1e-9), strict=True
    ):
        for row, twin in zip(one["lemma"], other["lemma"], strict=True):
            assert [x for x, _ in row] == [x for x, _ in twin]
    found = [s.columns.get("lemma", []) for s in loaded.annotate(GOLD)]
    assert found == [tags["lemma"] for tags in model.tag(GOLD)]
    names = ["lemma", "top_lemma", "upos"]
    for one, tags in zip(
        loaded.predict_rows(GOLD, names), model.tag(GOLD), strict=True
    ):
        assert one["lemma"] == tags["lemma"] and one["upos"] == tags["upos"]
        assert [row[0] for row in one["top_lemma"]] == tags["lemma"]


def test_fine_tuning_keeps_scripts(model):
    mice = [sentence("mice", "a", lemmas=["mouse", "a"])]
    assert model.retarget(mice).rules is None
    new = model.retarget(mice, consistent=True)
    assert new.rules is not None
    assert set(new.tags["lemma"]) == {*model.tags["lemma"], script_of("mice", "mouse")}
    found = new.annotate([replace(TRAIN[0], columns={})])
    assert all("lemma" in s.columns for s in found)
