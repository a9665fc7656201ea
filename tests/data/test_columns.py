"""Columns of CoNLL that are not what they are taken for."""

import gzip
import io
import re

import pytest

from keras_tagging.data import CorpusError, Sentence, detect_format, read, write
from keras_tagging.data.records import MalformedSentence
from keras_tagging.utils import limits


def read_all(text, format, **options):
    return list(read(io.BytesIO(text.encode()), format, **options))


def skipping(text, format, **options):
    """Tokens of what is read, and the messages for what is not."""
    messages = []
    sentences = read_all(text, format, errors="skip", skipped=messages, **options)
    return [sentence.tokens for sentence in sentences], messages


# Documents, and formats taken for others

CONLL_2003 = """\
-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

-DOCSTART- -X- -X- O
Peter NNP B-NP B-PER

-DOCSTART-

"""


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_document_marks(tmp_path, separator):
    text = CONLL_2003.replace(" ", separator)
    expected = [["EU", "rejects"], ["Peter"]]
    for format in ("conll", None):
        assert [s.tokens for s in read_all(text, format)] == expected
    assert [s.tags for s in read_all(text, "conll")] == [["B-ORG", "O"], ["B-PER"]]
    path = tmp_path / "tokens"
    path.write_text("-DOCSTART-\n\na\nb\n\n-DOCSTART-\n\nc\nd\n\ne\n", "utf-8")
    assert [s.tokens for s in read(path)] == [["a", "b"], ["c", "d"], ["e"]]
    assert detect_format(path) == "tokens"


def test_document_marks_that_are_none():
    good = "a\tN\n\n"
    found, [message] = skipping(f"{good}a\tN\n-DOCSTART-\tO\n\n{good}", "conll")
    assert found == [["a"]] * 2
    assert ":4: the document mark -DOCSTART- is inside a sentence; " in message
    text = "-DOCSTART-\tO\n\n-DOCSTART-x\tO\n"
    assert skipping(text, "conll") == ([["-DOCSTART-x"]], [])
    kept = [["-DOCSTART-"], ["-DOCSTART-x"]]
    assert skipping(text, "conll", comments=False) == (kept, [])
    with pytest.raises(ValueError, match="cannot be a CoNLL row: write 'jsonl'"):
        write([Sentence(["a", "-DOCSTART-"], ["N", "N"])], io.StringIO())


# Columns that are not what they are taken for


def refusal(text, format=None, **options):
    with pytest.raises(CorpusError) as caught:
        read_all(text, format, **options)
    assert not isinstance(caught.value, MalformedSentence)  # which "skip" leaves out
    return str(caught.value)


@pytest.mark.parametrize("format", ["conll", None])
@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_values_between_commas(format, separator):
    text = "Laura,B-PER\nruns,O\n.,O\n\nBob,B-PER\n".replace(",", separator)
    told = refusal(text, format)
    assert "<stream>:1: the rows have a single column, with" in told
    assert f"pass separator={separator!r}, or format='tokens'" in told
    [first, _] = read_all(text, "conll", separator=separator)
    assert (first.tokens, first.tags) == (["Laura", "runs", "."], ["B-PER", "O", "O"])
    assert read_all(text, "tokens")[1].tokens == [f"Bob{separator}B-PER"]


def test_words_with_commas_are_words():
    text = "1,000\nor\n2,000\n\n,\n\na,b\n"
    for format in ("conll", "tokens", None):
        assert len(read_all(text, format)) == 3


def test_positions_of_words_are_no_words():
    text = "1\tThe\tthe\tD\tX\n2\tdog\tdog\tN\tX\n\n1\tc\tc\tV\tX\n"
    for source in (text, text.replace("\t", " "), text.replace("\n\n", "\n")):
        told = refusal(source, "conll")
        assert "<stream>:1: column 1 has the positions of words; pass token_" in told
    assert read_all(text, "conll", token_column=1)[0].tokens == ["The", "dog"]
    counted = "1\tCD\n2\tCD\n3\tCD\n"  # of two columns these are words
    assert read_all(counted, "conll")[0].tokens == ["1", "2", "3"]


IDENTIFIED = "".join(f"s{i // 5}\tw{i % 7}\tN\n" for i in range(300))


@pytest.mark.parametrize("comment", ["", "# a comment\n"])
def test_sentences_that_a_column_numbers(comment):
    for text in (IDENTIFIED, IDENTIFIED.replace("s", ""), IDENTIFIED + "\n\n"):
        options = {"token_column": 1, "sentence_column": 0}
        found = read_all(comment + text, "conll", **options)
        assert [len(sentence) for sentence in found] == [5] * 60
        assert found[1].tokens == ["w5", "w6", "w0", "w1", "w2"]


def test_the_column_of_sentences_is_there():
    told = refusal(IDENTIFIED, "conll", sentence_column=0)
    assert "is the column of the words; pass token_column= with theirs" in told
    assert "sentence_column=3, but the rows have 3 columns" in refusal(
        IDENTIFIED, "conll", sentence_column=3
    )


def test_rows_of_too_many_columns(monkeypatch):
    monkeypatch.setattr(limits, "COLUMNS", 10)
    text = "a\tN\n\n" * 3 + "\t".join("b" * 30) + "\n"
    found, [message] = skipping(text, "conll")
    assert found == [["a"]] * 3
    assert message.startswith("<stream>:7: over 10 columns where the file has 2; mend")
    [message] = skipping("\t".join("b" * 30) + "\n", "conll")[1]
    assert message.startswith("<stream>:1: over 10 columns where the file has 10; mend")


CUT = "# sent_id = 1\n1\ta\ta\tD\tX\n2\tb\tb\tN\tX\n\n1\tc\tc\tV\tX\n"


@pytest.mark.parametrize("name", ["x.conllu", "x.CONLLU.gz"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_damaged_treebank_is_no_other_format(tmp_path, name, separator):
    path = tmp_path / name
    data = CUT.replace("\t", separator).encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    columns = 5 if separator == "\t" else 1
    what = rf"{re.escape(name)}:2: {columns} tab-separated columns where CoNLL-U has 10"
    with pytest.raises(CorpusError, match=what):
        list(read(path))
    path = tmp_path / "x.conll"  # may well have five columns
    path.write_text(CUT, "utf-8")
    assert [s.tags for s in read(path, token_column=1)] == [["X", "X"], ["X"]]
