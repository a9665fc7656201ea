"""Labels of several columns that agree."""

import json

import numpy as np
import pytest

from keras_tagging import Sentence
from keras_tagging.data.lemmas.rules import LemmaRules
from keras_tagging.encoding.label_columns import ColumnRules, LabelColumn

COLUMNS = {
    "upos": LabelColumn("upos", ["NOUN", "VERB"]),
    "xpos": LabelColumn("xpos", ["NN", "NNS", "VBP"]),
    "lemma": LabelColumn("lemma", [";|", ";|-"], scripts=True),
}


def sentence(*rows):
    tokens, *columns = map(list, zip(*rows, strict=True))
    names = ("pos", "xpos", "lemma")
    return Sentence(tokens, None, dict(zip(names, columns, strict=True)))


TRAIN = [
    sentence(("dogs", "NOUN", "NNS", "dog"), ("bark", "VERB", "VBP", "bark")),
    sentence(("cats", "NOUN", "NNS", "cat"), ("bark", "NOUN", "NN", "bark")),
    sentence(("trees", "NOUN", "NNS", "tree"), ("it's", "NOUN", "NN", "it's")),
]
RULES = ColumnRules.learnt(TRAIN, [*COLUMNS.values()])


def chosen(rules, upos, xpos, lemma=(0.4, 0.6), token="barks"):
    rows = {"upos": upos, "xpos": xpos, "lemma": lemma}
    rows = {name: np.array([row]) for name, row in rows.items()}
    best = {k: [COLUMNS[k].labels[row[0].argmax()]] for k, row in rows.items()}
    return rules.chosen([token], best, rows, COLUMNS)


def test_contradicting_labels_become_the_most_probable_pair_of_training():
    found = chosen(RULES, [0.4, 0.6], [0.5, 0.1, 0.4])
    assert found["upos"] == (["VERB"], [0.6]) and found["xpos"] == (["VBP"], [0.4])
    found = chosen(RULES, [0.45, 0.55], [0.7, 0.1, 0.2])
    assert found["upos"] == (["NOUN"], [0.45]) and found["xpos"] == (["NN"], [0.7])


def test_labels_that_training_has_together_stay():
    found = chosen(RULES, [0.9, 0.1], [0.1, 0.5, 0.4])
    assert (found["upos"][0], found["xpos"][0]) == (["NOUN"], ["NNS"])


def test_curly_quotes_are_read_as_straight_ones():
    assert RULES.marks == "\u2019\u2018"
    found = chosen(RULES, [0.9, 0.1], [0.8, 0.1, 0.1], token="it\u2019s")
    assert found["lemma"][0] == ["it's"]


def test_rules_are_saved_as_json():
    config = json.loads(json.dumps(RULES.config()))
    assert ColumnRules.restored(config, [*COLUMNS.values()]) == RULES
    assert ColumnRules.restored(None, [*COLUMNS.values()]) is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("seen", {"upos": {}}),
        ("seen", {"upos lemma": {}}),
        ("seen", {"upos xpos": {"NN": [1]}}),
        ("lemmas", {}),
        ("lemmas", {**RULES.config()["lemmas"], "words": {"NN": {"a": []}}}),
        ("lemmas", {**RULES.config()["lemmas"], "columns": ["heads"]}),
        ("lemmas", {**RULES.config()["lemmas"], "listed": [1]}),
        ("marks", "abc"),
        ("more", 1),
    ],
)
def test_rules_of_a_damaged_model_are_refused(part, value):
    config = {**RULES.config(), part: value}
    with pytest.raises(ValueError, match="has rules of"):
        ColumnRules.restored(config, [*COLUMNS.values()])


def test_columns_without_a_name_have_no_rules():
    assert ColumnRules.learnt(TRAIN, [LabelColumn(None, ["A", "B"])]) is None


def test_the_lemma_of_a_repeated_word_is_made_once(monkeypatch):
    made = []

    def lemma(_, form, script, labels, ranked):
        made.append(form)
        if form == "rats":
            return "rat", script
        return next(((x, x) for x, _ in ranked(["|", "|-"])), ("", script))

    monkeypatch.setattr(LemmaRules, "chosen", lemma)
    rules = ColumnRules.restored(RULES.config(), [*COLUMNS.values()])
    best = {"upos": ["NOUN"] * 4, "xpos": ["NNS"] * 4, "lemma": [";|"] * 4}
    scripts = np.array([[0.6, 0.4], [0.6, 0.4], [0.9, 0.1], [0.1, 0.9]])
    rows = {"upos": np.ones((4, 2)), "xpos": np.ones((4, 3)), "lemma": scripts}
    words = ["rats", "rats", "mice", "mice"]
    found = rules.chosen(words, best, rows, COLUMNS, values=False)
    # the lemma of a word that depends on its probabilities is not kept
    assert found["lemma"] == (["rat", "rat", ";|", ";|-"], None)
    assert made == ["rats", "mice", "mice"]
