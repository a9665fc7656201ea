import pytest

from keras_tagging.data.named_columns import (
    annotated,
    check_labelled,
    check_names,
    labels_of,
    output_names,
    with_labels,
)
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.data.surface import Entity, Surface, Token
from keras_tagging.metrics import chunks


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("a b",), "tokens='a b': give a list of words"),
        ((["a", "b"], ["X"]), "2 tokens but 1 tags in the sentence beginning 'a b'"),
        ((["word" * 1000] * 5000, ["X"]), "^.{,200}$"),
    ],
)
def test_malformed_sentences_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sentence(*arguments)


def test_entities_of_a_corpus():
    """Of the column `ner`, or of tags that mark some, as conlleval reads them."""
    words = ["a", "b", "c", "d", "e"]
    tags = ["I-X", "I-X", "B-X", "I-Y", "O"]
    expected = [("X", 0, 2), ("X", 2, 3), ("Y", 3, 4)]
    assert chunks(tags) == expected
    places = [(0, 3), (4, 5), (6, 7)]
    surface = Surface("a-b c d e", [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)], [1] * 5)
    for sentence in (
        Sentence(words, tags, surface=surface),
        Sentence(words, None, {"ner": tags}, surface),
        Sentence(words, ["O", "O", "B-Z", "O", "O"], {"ner": tags}, surface),
    ):
        assert sentence.entities == [
            Entity(first, end, place, label, 1.0, surface.text[slice(*place)])
            for (label, first, end), place in zip(expected, places, strict=True)
        ]
        assert sentence.spans == []
    for tags in (["O"] * 5, ["B-X", "NN", "O", "O", "O"], None):
        assert Sentence(words, tags).entities == []


def test_a_sentence_gives_its_words_with_their_labels():
    surface = Surface("Ann don't", [(0, 3), (4, 9)], [1, 2], start=5)
    columns = {"pos": ["PROPN", "AUX", "PART"], "head": ["2", "0", "9" * 5000]}
    columns["ner"] = ["B-PER", "O", "O"]
    sentence = Sentence(["Ann", "do", "n't"], None, columns, surface)
    first, second, third = sentence
    expected = Token("Ann", upos="PROPN", head=2, entity="PER", characters=(5, 8))
    assert first == expected and second.head == 0
    assert (third.head, third.lemma, third.characters) == (None, None, (9, 14))
    assert str(sentence) == sentence.text == "Ann don't"
    assert sentence.columns["upos"] == sentence.columns.get("upos") == columns["pos"]
    assert "upos" in sentence.columns and "upos" not in Sentence(["a"]).columns
    assert Sentence(["a", "b"]).text == "a b" and [*Sentence([])] == []
    with pytest.raises(KeyError, match="upos"):
        Sentence(["a"]).columns["upos"]


def test_lists_of_words_are_sentences_without_tags():
    given = Sentence(["a"], ["X"])
    assert as_sentence(given) is given
    assert as_sentence(("a", "b")) == Sentence(["a", "b"])
    assert as_sentences(s for s in [given, []]) == [given, Sentence([])]


def test_anything_else_is_refused():
    for item, kind in (("Show me flights", "str"), ({"tokens": ["a"]}, "dict")):
        with pytest.raises(ValueError, match=f"is a {kind}; a sentence is a list of"):
            as_sentences([item])


def test_fingerprint_tells_corpora_apart():
    word = Sentence(["ab"], ["X"])
    corpora = [
        Corpus([word]),
        Corpus([], [word]),
        Corpus([word], [word]),
        Corpus([word, word]),
        Corpus([Sentence(["a", "b"], ["X", "X"])]),
        Corpus([Sentence(["ab"], ["Y"])]),
        Corpus([Sentence(["ab"])]),
        Corpus([Sentence(["ab", "X"])]),
        Corpus([Sentence(["ab"], ["X"], {"pos": ["P"]})]),
        Corpus([Sentence(["ab"], ["X"], {"deprel": ["P"]})]),
        Corpus([Sentence(["\ud800"], ["X"])]),
    ]
    assert len({corpus.fingerprint() for corpus in corpora}) == len(corpora)
    assert Corpus([Sentence(["ab"], ["X"])], name="x").fingerprint() == (
        corpora[0].fingerprint()
    )


def test_fingerprint_of_sentences_read_before_feats_was_a_column():
    before = Sentence(["a"], ["X"], {"pos": ["P"]})
    now = [Sentence(["a"], ["X"], {"feats": [f], "pos": ["P"]}) for f in "GH"]
    assert Corpus(now[:1]).fingerprint() == Corpus([before]).fingerprint()
    read = [Corpus([s]).fingerprint(["feats"]) for s in [before, *now]]
    assert len({*read, Corpus([before]).fingerprint()}) == 3


def test_flat_strings_are_in_nfc():
    assert to_nfc("e\u0301") == "é" and to_nfc("\ud800") == "\ud800"
    sentences = [
        Sentence(["e\u0301", "b"], None, {"pos": ["P", "a\u030a"]}),
        Sentence([], None, {"pos": []}),
        Sentence(["\u212b", "e\xad\u0301\u200b"], None, {"pos": ["Q", "\ufb01"]}),
    ]
    assert flat_strings(sentences) == {"tokens": ["é", "b", "å".upper(), "é"]}
    assert flat_strings(sentences, ["pos"])["pos"] == ["P", "å", "Q", "\ufb01"]
    sentences = [Sentence(["a"], None, {"pos": ["P"]}), Sentence(["b"])]
    with pytest.raises(ValueError, match="sentence 2 has no column 'pos'"):
        flat_strings(sentences, ["pos"])


# Columns of labels by name

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
