import pytest

from keras_tagging import Sentence
from keras_tagging.data import CorpusError
from preparing.phrase_classes import PhraseClasses

LEXICON = """\
 New  York :- NP : newyork:ci
new york city :- NP : newyork:ci
york :- NP : york:st

boston  :- NP : boston:ci
boston :- NP : bos:ap
five p.m. :- NP :  1700:ti
"""


@pytest.fixture
def lexicon(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text(LEXICON, "utf-8")
    return PhraseClasses.read(path)


@pytest.mark.parametrize(
    "words, classes",
    [
        ("from new york city to NEW York", "O B-ci I-ci I-ci O B-ci I-ci"),
        ("boston york new", "B-ap+ci B-st O"),
        ("new york new york york", "B-ci I-ci B-ci I-ci B-st"),
        ("five", "O"),
        ("at five p.m.", "O B-ti I-ti"),
        ("", ""),
    ],
)
def test_the_longest_phrase_from_the_left(lexicon, words, classes):
    assert lexicon.classes_of(words.split()) == classes.split()


def test_annotate_adds_a_column_and_keeps_the_rest(lexicon):
    given = Sentence(["to", "boston"], ["O", "B-toloc"], {"pos": ["P", "N"]})
    [found] = lexicon.annotate([given])
    expected = {"pos": ["P", "N"], "word_class": ["O", "B-ap+ci"]}
    assert found == Sentence(given.tokens, given.tags, expected)
    assert given.columns == {"pos": ["P", "N"]}


@pytest.mark.parametrize(
    "line", ["boston", "boston :- NP", ":- NP : bos:ci", "a :- NP : b"]
)
def test_a_line_that_is_no_entry_is_named(tmp_path, line):
    path = tmp_path / "lexicon.txt"
    path.write_text("york :- NP : york:st\n" + line + "\n", "utf-8")
    with pytest.raises(CorpusError, match=r"lexicon\.txt:2: no entry of a lexicon"):
        PhraseClasses.read(path)


def test_damaged_and_empty_files(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_bytes(b"york :- NP : york:st\nm\xfcnchen :- NP : m:ci\n")
    with pytest.raises(CorpusError, match=r"lexicon\.txt:2"):
        PhraseClasses.read(path)
    path.write_text("\n\n", "utf-8")
    with pytest.raises(CorpusError, match="holds no entry"):
        PhraseClasses.read(path)
    with pytest.raises(CorpusError, match="no such file"):
        PhraseClasses.read(tmp_path / "nothing.txt")
