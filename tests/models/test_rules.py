"""Labels that agree and lemmas that are words, by every road to a tagger's answers."""

import pytest
from conftest import exported, random_sentences, random_tagger, reloaded
from models.columns import NAMES, columned

from keras_tagging import Sentence

COLUMNS = (NAMES[0], NAMES[1], "lemma")


def lemma(word):
    return word.lower().removesuffix("s") or word


def lemmatised(sentences):
    return [
        Sentence(s.tokens, None, {**s.columns, "lemma": [*map(lemma, s.tokens)]})
        for s in columned(sentences)
    ]


TRAIN = lemmatised(random_sentences(30, 1))
GIVEN = [s.tokens for s in random_sentences(20, 2)] + [["12,000", "Zebras"], []]


@pytest.fixture(scope="module")
def model():
    built = random_tagger(TRAIN, tags=COLUMNS)  # whose labels mostly do not agree
    rows = [zip(s.columns["pos"], s.columns["lemma"], strict=True) for s in TRAIN]
    built.learn_rules(TRAIN, [(x, label, x) for row in rows for label, x in row])
    assert built.rules.lemmas.listed
    return built


def seen(sentences):
    return {
        pair
        for s in sentences
        for pair in zip(s.columns["pos"], s.columns["xpos"], strict=True)
    }


def test_labels_are_those_of_a_word_of_training(model):
    known = seen(TRAIN)
    assert seen(model.annotate(GIVEN)) <= known
    rules, model.rules = model.rules, None
    try:
        assert not seen(model.annotate(GIVEN)) <= known
    finally:
        model.rules = rules
    [numbers] = model.annotate([["12,000"]])
    assert numbers.columns["lemma"] == ["12,000"]


def test_every_road_gives_the_same(model, tmp_path):
    expected = model.tag(GIVEN)
    again = reloaded(model, tmp_path)
    assert again.rules == model.rules and again.tag(GIVEN) == expected
    served = exported(model, tmp_path)
    assert served.rules == model.rules and served.tag(GIVEN) == expected
    assert list(served.annotate(GIVEN)) == list(model.annotate(GIVEN))
    # as the service asks, in one column alone too
    for name in COLUMNS:
        rows = served.predict_rows([*map(Sentence, GIVEN)], [name])
        assert [row[name] for row in rows] == [row[name] for row in expected]
