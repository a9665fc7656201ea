"""Trees written into CoNLL-U and CoNLL-X files: all else is kept byte for byte."""

import gzip
import io
import itertools
import re
import unicodedata

import numpy as np
import pytest

from keras_tagging.data import CorpusError, Sentence, lines, read
from keras_tagging.data.conllu import as_conllu, conllu_rows, read_blocks

FIELDS = ("head", "deprel", "xpos")


def row(*cells):
    return "\t".join(cells) + "\n"


def line(number, form="w", head="_", deprel="_"):
    return row(number, form, "l", "U", "X", "F=1|G=2", head, deprel, "0:r", "M=a b")


RANGE = row("1-2", "ab", *"_" * 7, "SpaceAfter=No")
EMPTY_NODE = row("1.1", "z", "z", "V", "V", "_", "_", "_", "2:x", "_")
TWO = line("1", "a", "2", "det") + RANGE.replace("1-2", "2-3") + line("2", "b", "0")
NASTY = {
    "plain": line("1", head="0", deprel="root") + "\n",
    "no final line feed": TWO.rstrip("\n"),
    "no final blank line": TWO,
    "comments": "# text = a\tb\n#\n#x\n" + TWO + "# inside\n" + line("3") + "\n",
    "range and empty nodes": EMPTY_NODE.replace("1.1", "0.1")
    + RANGE
    + line("1")
    + EMPTY_NODE
    + line("2")
    + "\n",
    "blank lines before, between, after": "\n \n\t\n"
    + TWO
    + "\n\n \t \n"
    + TWO
    + "\n\n",
    "comments alone": "# nothing\n\n# here\n",
    "comments between sentences": TWO + "\n# alone\n\n# of the next\n" + TWO + "\n",
    "nothing": "",
    "empty heads": line("1", head="", deprel="") + line("2", head="x", deprel="a b"),
    "strange heads": line("1", head="99", deprel=" ")
    + line("2", head="1", deprel="\r"),
    "combining": "# e\u0301\n" + line("1", "cafe\u0301", "0", "e\u0301") + "\n",
    "odd white space": "".join(
        line(str(i), form, "\u00a0", "\u2028")
        for i, form in enumerate(
            ["\u2028", "a\u0085b", "\x1c", "\x0b", " ", "\ufeff"], 1
        )
    ),
    "CoNLL-X": row("1", "#", "_", "N", "NN", "_", "2", "x", "3", "px")
    + row("2", "b", "_", "N", "NN", "f", "0", "ROOT", "_", "_")
    + "\n",
    "mixed line ends": TWO.replace("\n", "\r\n", 1) + "\r\n" + TWO + "\n",
    "carriage returns": "# a\rb\r\r\n" + TWO.replace("M=a b", "M=a\rb\r\r") + "\r\n",
}
DISGUISES = {
    "as it is": lambda data: data,
    "carriage returns": lambda data: re.sub(rb"\r?\n", b"\r\n", data),
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
}


def rewritten(source, **kwargs):
    """The text with its own heads and relations."""
    texts = []
    for block in read_blocks(source, **kwargs):
        columns = block.sentence.columns
        texts.append(block.with_columns({k: columns.get(k, []) for k in FIELDS[:2]}))
    return "".join(texts)


def replaced(data: bytes, values: list[bytes], xpos=False) -> bytes:
    """The reference: a word's line begins with a number and a tab."""
    values = iter(values)
    lines = []
    for whole in re.split(rb"(?<=\n)", data):
        if re.match(rb"(\xef\xbb\xbf)?[0-9]+\t", whole):
            value, cells = next(values), whole.split(b"\t")
            cells[6], cells[7] = b"h" + value, b"d" + value
            if xpos:
                cells[4] = b"x" + value
            whole = b"\t".join(cells)
        lines.append(whole)
    assert next(values, None) is None
    return b"".join(lines)


def rewritten_with_numbers(path, xpos=False):
    """The text, its words' columns made of running numbers, and those numbers."""
    texts, numbers = [], itertools.count()
    for block in read_blocks(path):
        own = [str(next(numbers)) for _ in block.words]
        names = FIELDS if xpos else FIELDS[:2]
        columns = {k: [k[0] + value for value in own] for k in names}
        texts.append(block.with_columns(columns))
    return "".join(texts).encode(), [b"%d" % i for i in range(next(numbers))]


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("case", NASTY)
def test_nasty_files(tmp_path, case, disguise):
    path = tmp_path / "file"
    data = DISGUISES[disguise](NASTY[case].encode())
    path.write_bytes(data)
    assert rewritten(path).encode() == data
    for xpos in (False, True):
        text, values = rewritten_with_numbers(path, xpos)
        assert text == replaced(data, values, xpos)


@pytest.mark.parametrize("case", NASTY)
def test_blocks_are_the_sentences(case):
    text = NASTY[case]
    blocks = list(read_blocks(io.StringIO(text)))
    assert "".join(itertools.chain(*(block.lines for block in blocks))) == text
    for block in blocks:
        forms = [block.lines[word].split("\t")[1] for word in block.words]
        assert block.sentence.tokens == [
            unicodedata.normalize("NFC", form) for form in forms
        ]
    with_words = [block.sentence for block in blocks if block.words]
    assert [b.sentence for b in blocks[:-1]] == with_words[: len(blocks) - 1]
    if case in ("empty heads", "strange heads", "odd white space"):
        with pytest.raises(CorpusError, match="column 7 is empty|the head is"):
            list(read(io.StringIO(text), "conllu"))
    else:
        assert with_words == list(read(io.StringIO(text), "conllu"))


def test_other_sources_and_encodings(tmp_path):
    text = ("# \u00e9\n" + TWO + "\n") * 2
    plain, packed = tmp_path / "a", tmp_path / "a.gz"
    plain.write_bytes(text.encode().replace(b"\n", b"\r\n"))
    packed.write_bytes(gzip.compress(text.encode()))
    assert rewritten(io.BytesIO(text.encode())) == rewritten(str(packed)) == text
    with open(plain, encoding="utf-8") as stream:  # which would translate line ends
        assert rewritten(stream) == text.replace("\n", "\r\n")
    for encoding in ("latin-1", "utf-16"):
        assert rewritten(io.BytesIO(text.encode(encoding)), encoding=encoding) == text


def test_reading_is_lazy():
    lines = (TWO + "\n").splitlines(keepends=True) * 10_000
    source = iter(lines)
    blocks = read_blocks(source)
    assert next(blocks).words == [0, 2]
    assert len(list(source)) == len(lines) - 4  # not a line more was read


MALFORMED = {
    TWO + "3\tc\td\n": "4: 3 tab-separated columns where CoNLL-U has 10; put `_`",
    TWO + "\n# \ud800\n" + TWO: "5: the line contains half of a surrogate pair; write",
    TWO + line("4"): "4: the word's number is '4', not 3; number the words 1, 2",
    "\n\n" + line("1", ""): "3: column 2 is empty; put `_` where a field is empty",
    TWO + "\n# c\n" + line("1").replace("\tl\t", "\t\t"): "6: column 3 is empty",
}


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_files(text):
    with pytest.raises(CorpusError, match=f"^<stream>:{MALFORMED[text]}"):
        list(read_blocks(io.StringIO(text)))


@pytest.mark.parametrize("reader", [read_blocks, lambda path: read(path, "conllu")])
def test_an_error_closes_the_file(tmp_path, monkeypatch, reader):
    path, opened = tmp_path / "file", []
    path.write_text((line("2") + "\n") * 3, "utf-8")

    def recording(*args):
        opened.append(open(*args))
        return opened[0]

    monkeypatch.setattr(lines, "open", recording, raising=False)
    with pytest.raises(CorpusError) as caught:
        list(reader(path))
    assert opened[0].closed and caught.tb  # and the error's frames are still there


@pytest.mark.parametrize("as_they_are", [True, False])
def test_fields_that_cannot_be_written(as_they_are):
    def write(*fields):
        columns = dict(zip(FIELDS[: len(fields)], fields, strict=True))
        if as_they_are:
            [block] = read_blocks(io.StringIO(TWO))
            return block.with_columns(columns)
        return conllu_rows(["a", "b"], columns)

    for fields in (([0], ["r", "r"]), ([0, 1], ["r"]), ([0, 1], ["r", "r"], ["X"])):
        with pytest.raises(ValueError, match="argument"):
            write(*fields)
    for bad in ("a\tb", "a\n"):
        message = f"^{re.escape(repr(bad))} holds a tab or line feed: CoNLL-U cannot"
        for fields in (
            ([0, 1], ["r", bad]),
            (["0", bad], "rr"),
            ([0, 1], "rr", [bad, "X"]),
        ):
            with pytest.raises(ValueError, match=message):
                write(*fields)
    with pytest.raises(TypeError):
        write(np.array([0.0, 1.0]), ["r", "r"])


def test_as_conllu():
    columns = {"head": ["2", "0"], "deprel": ["a", "root"]}
    sentence = Sentence(["New York", "#"], ["S/N", "N"], columns)
    assert as_conllu(sentence) == (
        "1\tNew York\t_\t_\t_\t_\t2\ta\t_\t_\n2\t#\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )
    columns = {"pos": ["P", ""], "xpos": ["x", "y"], "lemma": ["l", "m"]}
    columns |= {"head": ["0", "1"], "deprel": ["root", "d"]}
    assert as_conllu(Sentence(["a", "b"], None, columns)) == (
        "1\ta\tl\tP\tx\t_\t0\troot\t_\t_\n2\tb\tm\t_\ty\t_\t1\td\t_\t_\n\n"
    )
    assert as_conllu(Sentence([])) == "\n"
    with pytest.raises(ValueError, match="^word 2 is empty: CoNLL-U cannot hold it"):
        as_conllu(Sentence(["a", ""]))


def test_any_field_is_filled_and_nothing_else_changes():
    text = "# c\n" + RANGE + TWO + "\n"
    [block] = read_blocks(io.StringIO(text))
    found = block.with_columns({"upos": ["X", "Y"], "feats": ["A=1", "_"]})
    for line, before in zip(found.splitlines(), text.splitlines(), strict=True):
        cells, old = line.split("\t"), before.split("\t")
        if cells[0] in ("1", "2"):
            assert (cells[3], cells[5]) in (("X", "A=1"), ("Y", "_"))
            old[3], old[5] = cells[3], cells[5]
        assert cells == old
    assert block.with_columns({"pos": ["X", "Y"]}) == block.with_columns(
        {"upos": ["X", "Y"]}
    )
    with pytest.raises(ValueError, match="unknown column of CoNLL-U 'entity'"):
        block.with_columns({"entity": ["a", "b"]})


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_entities_are_in_misc(end):
    rows = [row("1", "a", *"_" * 7, "A=b|NER=B-X"), row("2", "b", *"_" * 8)]
    text = "".join(rows).removesuffix("\n").replace("\n", end or "\n") + end
    [block] = read_blocks(io.StringIO(text, newline=""))
    found = block.with_columns({"ner": ["O", "B-a|b c"]})
    expected = text.replace("A=b|NER=B-X", "A=b")
    expected = expected.removesuffix(f"_{end}") + rf"NER=B-a\pb\sc{end}"
    assert found == expected
    assert block.with_columns({"ner": ["B-X", "O"]}).count("NER=B-X|A=b") == 1
