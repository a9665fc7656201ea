import pytest

from keras_tagging import Sentence
from keras_tagging.data.named_columns import (
    annotated,
    check_labelled,
    check_names,
    labels_of,
    output_names,
    with_labels,
)

COLUMNS = {"pos": ["D", "N"], "xpos": ["_", "_"], "feats": ["_", "_"]}
SENTENCE = Sentence(["a", "b"], ["x", "y"], COLUMNS)


def test_where_labels_stand():
    for name, labels in {
        None: ["x", "y"],
        "tags": ["x", "y"],
        "upos": ["D", "N"],
        "pos": ["D", "N"],
        "feats": ["_", "_"],  # a word may have no features
        "xpos": None,  # but each has a tag
        "ner": None,
    }.items():
        assert labels_of(SENTENCE, name) == labels
    assert labels_of(Sentence([]), "ner") == []
    own = Sentence(["a"], None, {"upos": ["U"], "pos": ["P"]})
    assert labels_of(own, "upos") == ["U"]
    assert with_labels(own, {"upos": ["V"]}).columns == {"upos": ["V"], "pos": ["P"]}


def test_labels_are_put_there():
    found = with_labels(SENTENCE, {"upos": ["A", "B"], "ner": ["O", "O"]})
    assert found.columns == {**COLUMNS, "pos": ["A", "B"], "ner": ["O", "O"]}
    assert found.tags == SENTENCE.tags and SENTENCE.columns == COLUMNS
    assert with_labels(SENTENCE, {"tags": ["1", "2"]}).tags == ["1", "2"]
    # in CoNLL-U the tags are those of UPOS, unless others were asked for
    same = Sentence(["a", "b"], ["D", "N"], COLUMNS)
    found = with_labels(same, {"upos": ["A", "B"], "feats": ["_", "x=y"]})
    assert found.tags == found.columns["pos"] == ["A", "B"]
    assert with_labels(same, {"xpos": ["A", "B"]}).tags == ["D", "N"]
    assert with_labels(same, {"pos": ["A", "B"], "tags": ["1", "2"]}).tags == ["1", "2"]
    assert with_labels(Sentence(["a"]), {"pos": ["A"]}).tags is None


def test_a_sentence_without_labels_is_told():
    check_labelled([SENTENCE, Sentence([])], ["tags", "upos", "feats"])
    with pytest.raises(ValueError, match="sentence 2 has no labels in the column 'xp"):
        check_labelled([Sentence([]), SENTENCE], ["upos", "xpos"])
    with pytest.raises(ValueError, match="sentence 2 has no tags"):
        annotated([SENTENCE, ["b"]])


def test_names():
    check_names(["upos", "xpos", "feats", "lemma_script", "tags"])
    names = ["ner", "ner_probabilities", "top_ner", "top_ner_probabilities"]
    assert [*output_names("ner").values()] == [*names, "all_ner_probabilities"]
    assert [*output_names(None)] == [*output_names(None).values()]
    for names in (["a", "a"], ["a b"], ["a/b"], [""], ["1"], ["é"], ["x" * 41]):
        with pytest.raises(ValueError, match="^tags: "):
            check_names(names)
