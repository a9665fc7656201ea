"""Entities of one corpus on the sentences of another one."""

import pytest

from keras_tagging import Corpus, Sentence, load_corpus
from keras_tagging.corpora.entities import (
    add_entities,
    with_entities,
    with_named_entities,
)


def joined(words, tagged):
    """The column of each sentence; both are texts of `word|tag` with a sentence a line.

    In `words` the bar separates the words of a token.
    """
    sentences = [Sentence(line.split()) for line in words.splitlines()]
    pairs = [[x.split("|") for x in line.split()] for line in tagged.splitlines()]
    others = [Sentence([w for w, _ in row], [t for _, t in row]) for row in pairs]
    return [" ".join(s.columns["ner"]) for s in with_entities(sentences, others)]


def test_a_corpus_of_entities_has_their_column():
    """As the tagger of entities of a pipeline learns it."""
    tagged = [Sentence(["Ada"], ["B-PER"]), Sentence([], [])]
    one, two = with_named_entities(tagged)
    assert one.columns == {"ner": one.tags} and two.columns == {"ner": []}
    upos = [Sentence(["Ada"], ["PROPN"])]
    assert with_named_entities(upos) == upos
    both = [Sentence(["Ada"], ["B-PER"], {"ner": ["O"]})]
    assert with_named_entities(both) == both


@pytest.mark.parametrize(
    "words, tagged, expected",
    [
        ("Ada saw New York", "Ada|B-P saw|O New|B-L York|I-L", "B-P O B-L I-L"),
        # two of one type beside each other; IOBES
        ("a b c", "a|B-P b|I-P c|B-P", "B-P I-P B-P"),
        ("a b c d", "a|B-P b|E-P c|S-P d|O", "B-P I-P B-P O"),
        # other words: those that an entity touches have it
        ("Fudruckers !", "Fudrucker|B-O s|I-O !|O", "B-O O"),
        ("a Inter- b", "a|O Inter|B-O -|O b|B-L", "O B-O B-L"),
        ("ab", "a|B-P b|B-L", "B-P"),
        ("a b c", "ab|B-P c|O", "B-P I-P O"),
        # other sentences
        ("a b\nc\n\nd", "a|O b|B-P c|I-P\nd|O", "O B-P\nB-P\n\nO"),
        ("a", "a|O", None),
    ],
)
def test_entities_come_by_their_characters(words, tagged, expected):
    if expected is None:
        with pytest.raises(ValueError, match="its tags, such as 'O', are not those of"):
            joined(words, tagged)
    else:
        assert "\n".join(joined(words, tagged)) == expected


FILES = {
    # the order of the sentences differs
    "t-train.conllu": "# sent_id = x\n1\tIn\t{0}# sent_id = y\n1\tRome\t{0}",
    "e-train.iob2": "# sent_id = y\n# text = Rome\n1\tRome\tB-LOC\n\n"
    "# sent_id = z\n1\tParis\tB-LOC\n2\t!\tO\n\n# sent_id = x\n1\tIn\tO\n",
}
EMPTY = "\t".join("_" * 8) + "\n\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.format(EMPTY))
    return tmp_path


def test_sentences_are_joined_by_their_names(folder):
    corpus = load_corpus(folder / "t-train.conllu")
    assert [s.sent_id for s in corpus.train] == ["x", "y"]
    add_entities(corpus, folder / "e-train.iob2")
    assert [s.columns["ner"] for s in corpus.train] == [["O"], ["B-LOC"]]


def test_empty_sentences_have_no_entities(folder):
    rows = '{"tokens": ["In"], "tags": ["O"]}\n\n{"tokens": ["X"], "tags": ["B-LOC"]}\n'
    (folder / "e.jsonl").write_text(rows)
    corpus = Corpus([Sentence(["In"]), Sentence(["X"])])
    add_entities(corpus, folder / "e.jsonl")
    assert [s.columns["ner"] for s in corpus.train] == [["O"], ["B-LOC"]]


def test_what_does_not_fit_is_named(folder):
    path = folder / "e-train.iob2"
    for name in ("e-train", "e-test"):
        (folder / f"{name}.iob2").write_text(FILES["e-train.iob2"])
    corpus = load_corpus(folder / "t-train.conllu")
    corpus.dev = corpus.train
    add_entities(corpus, path)  # one file for all
    assert corpus.dev == corpus.train
    (folder / "t-train.conllu").unlink()
    with pytest.raises(
        ValueError, match="has no dev sentences, which .*t-train.conllu"
    ):
        add_entities(corpus, folder)
    corpus = Corpus([Sentence(["In", "Oslo"], sent_id="x")])
    what = "iob2, train: the texts differ: at character 3 .* 'InOslo', and .* 'In'"
    with pytest.raises(ValueError, match=what):
        add_entities(corpus, path)
    corpus = Corpus([Sentence(["Oslo"], sent_id="w")])
    with pytest.raises(ValueError, match="the texts differ: at character 1 "):
        add_entities(corpus, path)
