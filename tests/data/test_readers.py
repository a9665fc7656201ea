import gzip
import io
import json
import os
import re
import sys
import unicodedata

import pytest

from keras_tagging.data import (
    FORMATS,
    CorpusError,
    Sentence,
    detect_format,
    read,
    write,
)

# Writers of every format, made for these tests: (tokens, tags) pairs to text.


def by_row(row, separator="\n"):
    def render(sentences):
        return "".join(
            "".join(
                row(i, w, t) + separator
                for i, (w, t) in enumerate(zip(*s, strict=True), 1)
            )
            + "\n"
            for s in sentences
        )

    return render


def by_line(line):
    return lambda sentences: "".join(line(*s) + "\n" for s in sentences)


def auto_lines(words, tags):
    leaves = [f"(<L {t} P Q {w} {t}_1>) " for w, t in zip(words, tags, strict=True)]
    node = f"(<T S 0 {len(leaves)}> {''.join(leaves)})"
    return f"ID=x.1 PARSER=GOLD NUMPARSE=1\n{node}"


def mrg_lines(words, tags):
    leaves = "\n".join(f"  ({t} {w})" for w, t in zip(words, tags, strict=True))
    return f"( (S (-NONE- *-1)\n{leaves}))"


def pos_lines(words, tags):
    items = [f"{w}/{t}" for w, t in zip(words, tags, strict=True)]
    return f"[ {items[0]} ]\n{' '.join(items[1:])}\n\n======"


def atis_line(words, tags):
    return f"BOS {''.join(w + ' ' for w in words)}EOS\t{' '.join(['O', *tags, 'O'])}"


def ctf_lines(sentences):
    def part(index, text):
        return f"{index}:1 |# {text.replace('|', '#|')} "

    return "".join(
        f"{number} |S0 {part(i, word)} |S2 {part(i % 2, tag)}\n"
        for number, sentence in enumerate(sentences)
        for i, (word, tag) in enumerate(zip(*sentence, strict=True))
    )


def csv_rows(sentences):
    rows = "".join(
        f'{number},"{word}",{tag}\n'
        for number, sentence in enumerate(sentences)
        for word, tag in zip(*sentence, strict=True)
    )
    return f"sentence,token,tag\n{rows}"


def conllx_row(i, word, tag):
    return f"{i}\t{word}\tL\t{tag}\tX\t_\t{i - 1}\td\t_\t_"


RENDER = {
    "conll": by_row(lambda i, w, t: f"{w}\tP\t{t}"),
    "conllu": by_row(conllx_row),
    "conllx": by_row(conllx_row),
    "pipe": by_line(lambda *s: " ".join(f"{w}|P|{t}" for w, t in zip(*s, strict=True))),
    "auto": by_line(auto_lines),
    "mrg": by_line(mrg_lines),
    "pos": by_line(pos_lines),
    "atis": by_line(atis_line),
    "ctf": ctf_lines,
    "jsonl": by_line(
        lambda w, t: json.dumps({"tokens": w, "tags": t}, ensure_ascii=False)
    ),
    "csv": csv_rows,
    "text": by_line(lambda words, tags: " ".join(words)),
    "tokens": by_row(lambda i, w, t: w),
}
UNTAGGED = ("text", "tokens")
BLOCKS = ("conll", "csv", "conllu", "conllx", "tokens", "auto", "mrg", "pos", "ctf")
# CoNLL-X, which cannot be told from CoNLL-U
RECOGNISED = {"conllx": "conllu"}
SMALL = [(["The", "cat", "sat"], ["D", "N", "V"]), (["Go", "!"], ["V", "."])]
ODD = [
    "a\u00a0b",
    "\u200b",
    "\u2028",
    "x\u0085y",
    "\ufeff",
    "\u3000",
    "\x1c",
    "#",
    "a|b",
]
WORDS = {
    "plain": SMALL[0][0],
    "odd": ["first", *ODD, "\u00a0", "last"],
    "combining": ["cafe\u0301", "\u1e9b\u0323", "\ud55c", "\u1112\u1161\u11ab"],
    "10000 tokens": [f"w{i}" for i in range(10_000)],
    "100000 characters": ["a", "x" * 100_000, "\u00e9" * 100_000, "b"],
}


def test_every_format_is_tested():
    assert RENDER.keys() == FORMATS.keys()


@pytest.mark.parametrize("disguise", ["", "bom", "crlf", "bom, crlf and gzip"])
@pytest.mark.parametrize("format", FORMATS)
def test_one_output_row_per_input_token(tmp_path, format, disguise):
    for name, words in WORDS.items():
        if not name[0].isdigit() or not disguise:
            check_rows(tmp_path, format, words, disguise)


def check_rows(tmp_path, format, words, disguise):
    tags = [f"T{i % 7}" for i in range(len(words))]
    sentences = [SMALL[1], (words, tags), *SMALL]
    data = RENDER[format](sentences).encode()
    if "crlf" in disguise:
        data = data.replace(b"\n", b"\r\n")
    if "bom" in disguise:
        data = b"\xef\xbb\xbf" + data
    path = tmp_path / ("corpus.gz" if "gzip" in disguise else "corpus")
    path.write_bytes(gzip.compress(data) if "gzip" in disguise else data)
    result = list(read(path, format))
    assert [s.tokens for s in result] == [
        [unicodedata.normalize("NFC", word) for word in words] for words, _ in sentences
    ]
    expected = [None if format in UNTAGGED else tags for _, tags in sentences]
    assert [s.tags for s in result] == expected


@pytest.mark.parametrize("format", FORMATS)
def test_empty_sentences(format):
    sentences = [SMALL[0], ([], []), ([], []), SMALL[1], ([], [])]
    if format in BLOCKS:
        data = RENDER[format]([SMALL[0]]) + "\n \n\t\n" + RENDER[format]([SMALL[1]])
        expected = [3, 2]
    else:
        data, expected = RENDER[format](sentences), [3, 0, 0, 2, 0]
    assert [len(s) for s in read(io.StringIO(data), format)] == expected
    assert list(read(io.BytesIO(b""), format)) == []
    cut = RENDER[format](SMALL).rstrip("\n")
    assert [len(s) for s in read(io.StringIO(cut), format)] == [3, 2]
    if format not in BLOCKS:
        assert [len(s) for s in read(io.BytesIO(b"\n\r\n \n"), format)] == [0, 0, 0]


@pytest.mark.parametrize("format", FORMATS)
def test_format_is_recognised(tmp_path, format):
    path = tmp_path / "corpus"
    for copies in (1, 100):
        path.write_text(RENDER[format](SMALL * copies), "utf-8")
        assert detect_format(path) == RECOGNISED.get(format, format)
        sentences = list(read(path))
        assert [len(s) for s in sentences] == [3, 2] * copies
        assert sentences == list(read(path, format))


CONTENT = {
    "a D\nb N\nc V\n\nd N\n": "conll",
    "# 1\na\tD\n": "conll",
    "# text\n1-2\tab" + "\t_" * 8 + "\n": "conllu",
    "one sentence\n": "text",
    "": "text",
    '{\n"tokens": []}': "jsonl",
    "a|b|N/N c|d|N\nnever mind\n": "pipe",
    "\n( (S (NP x)))": "mrg",
    "(ROOT\n  (S (NP x)))": "mrg",
    "\n======\n[ a/DT b/NN ]\n": "pos",
    "[ a b ]\n": "text",
    # control characters do not make it binary
    "a\tN\n\0b\tN\nc\x07\tN\nd\x1a\xe9\x0c\tN\n": "conll",
}


@pytest.mark.parametrize("content", CONTENT)
def test_further_formats_recognised(tmp_path, content):
    path = tmp_path / "corpus"
    path.write_text(content, "latin-1")
    assert detect_format(path) == CONTENT[content]


def test_a_name_tells_that_rows_are_columns(tmp_path):
    path = tmp_path / "x.IOB.gz"
    for content in ("Ada B-P\nis here O\n! O\n", "Ada\nis O\n", "Ada B-P\n", "Ada\n"):
        path.write_bytes(gzip.compress(content.encode()))
        expected = "tokens" if content == "Ada\n" else "conll"
        assert detect_format(path, default="text") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\nc d\n", "pass format='text' for sentences, format='conll' for tokens"),
        ("a b\n" * 10 + "c\n", "corpus: lines have the same number"),
        ("a\nb\n", "pass format='text' for sentences, format='tokens' for tokens"),
        ("<?xml version='1.0'?>", "this is XML; convert it"),
    ],
)
def test_formats_not_recognised(tmp_path, content, message):
    path = tmp_path / "corpus"
    path.write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=re.escape(message)):
        detect_format(path)


BINARY = {
    "archive": (gzip.compress(b"train-1.conll".ljust(512, b"\0") * 50), ""),
    "x.conll": ("a\tD\nb\tN\n".encode("utf-16"), ".*encoding='utf-16' if"),
    "y.conll": ("a\tD\nb\tN\n".encode("utf-16-le"), ".*encoding='utf-16-le' if"),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_data_is_told(tmp_path, name):
    path, (data, told) = tmp_path / name, BINARY[name]
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=f"{name}: this is binary.*; unpack it{told}"):
        detect_format(path)


@pytest.mark.parametrize("content", ["", "one\n", "a b\nc d\n", "a\nb c\nd e f\n"])
def test_the_format_in_doubt(tmp_path, content):
    path = tmp_path / "corpus"
    path.write_text(content, "utf-8")
    assert detect_format(path, default="conllu") == "conllu"
    path.write_text('{"tokens": []}\n', "utf-8")
    assert detect_format(path, default="conllu") == "jsonl"


@pytest.mark.parametrize("format", FORMATS)
def test_undecodable_lines(tmp_path, format):
    path = tmp_path / "corpus"
    bad = ["The", "caf\u00e9", "sat"], SMALL[0][1]
    data = RENDER[format]([SMALL[0], bad, SMALL[1]])
    line = data[: data.index("\u00e9")].count("\n") + 1
    path.write_bytes(data.encode("latin-1"))
    told = rf":{line}: byte \d+ .* utf-8: 0xe9; .* or pass encoding=.* 'cp1252'"
    with pytest.raises(CorpusError, match=told):
        list(read(path, format))
    with pytest.warns(UserWarning, match="^1 malformed sentence left out; the first"):
        left = list(read(path, format, errors="skip"))
    assert [s.tokens for s in left] == [SMALL[0][0], SMALL[1][0]]
    assert [s.tokens for s in read(path, format, encoding="latin-1")][1] == bad[0]
    path.write_text(data, "utf-16")
    assert [s.tokens for s in read(path, format, encoding="utf-16")][1] == bad[0]
    with pytest.raises(CorpusError, match="cannot be read: .*check"):
        path.write_bytes(data.encode("utf-16")[:-1])
        list(read(path, format, encoding="utf-16"))
    path.write_bytes(data.replace("\u00e9", "\x81").encode("latin-1"))
    with pytest.raises(CorpusError, match=r": 0x81; .* or pass encoding=.* 'latin-1'"):
        list(read(path, format, encoding="cp1252"))


def test_a_damaged_gzip_file(tmp_path):
    text = RENDER["conll"](SMALL).encode()
    content = gzip.compress(text, mtime=0)
    path = tmp_path / "corpus.gz"
    end = "cannot be read: its compressed data is damaged, or its name is wrong; copy"
    cases = [
        (text, end),
        (content[:-9], "cannot be read: Compressed file ended before"),
    ]
    for place in (len(content) // 2, -6):  # in the text; in its checksum
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        cases.append((damaged, end))
    for data, message in cases:
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=f"^{path}: {message}"):
            list(read(path, "conll"))
    with gzip.open(path) as stream, pytest.raises(CorpusError, match=rf":\d+: {end}"):
        list(read(stream, "conll"))


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip", "A.TGZ", "a.tar"])
def test_an_archive_is_no_corpus_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(CorpusError, match=f"{name}: is an archive; unpack it"):
        read(tmp_path / name)


def test_streams(tmp_path, monkeypatch):
    data = RENDER["text"](SMALL).replace("cat", "c\u2028\u00e4t").encode()
    path = tmp_path / "corpus"
    path.write_bytes(data.replace(b"\n", b"\r\n"))
    expected = [["The", "c\u2028\u00e4t", "sat"], ["Go", "!"]]

    def words(source, format=None):
        return [s.tokens for s in read(source, format)]

    assert words(io.BytesIO(data)) == words(io.StringIO(data.decode())) == expected
    assert words(path) == words(str(path)) == expected
    with open(path, "rb") as binary, open(path, encoding="utf-8") as text:
        assert words(binary) == words(text) == expected
    wide = io.BytesIO(data.decode().encode("utf-16"))
    assert len(list(read(wide, "text", encoding="utf-16"))) == 2
    assert not wide.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "ascii"))
    assert words("-") == expected
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    with open(reader, "rb") as stream:
        assert words(stream) == expected


@pytest.mark.parametrize("format", FORMATS)
def test_reading_is_lazy(format):
    lines = RENDER[format](SMALL).splitlines(keepends=True) * 10_000
    source = iter(lines)
    sentences = read(source, format)
    assert len(next(sentences)) == 3
    assert len(list(source)) > len(lines) - 200


def test_unknown_names(tmp_path):
    path = tmp_path / "corpus"
    path.write_text("a b\n", "utf-8")
    with pytest.raises(ValueError, match="unknown format 'xml'.* Known: conll, "):
        read(path, "xml")
    with pytest.raises(ValueError, match="option of format 'text' 'tag'.*encoding"):
        read(path, "text", tag="upos")
    wrong = [("auto", "sections", ["23"]), ("conll", "columns", {"pos": 1.0})]
    for format, name, value in [*wrong, ("auto", "unescape", 1)]:
        with pytest.raises(ValueError, match=f"^{name}="):
            list(read(path, format, **{name: value}))
    with pytest.raises(ValueError, match="errors='ignore': known are 'raise', 'skip'"):
        read(path, errors="ignore")
    with pytest.raises(CorpusError, match="there is no such file; check the path"):
        read(tmp_path / "none")
    with pytest.raises(CorpusError, match="is a directory; use load_corpus"):
        read(tmp_path)
    with pytest.raises(ValueError, match="format='pipe': known are 'conll', 'conllu'"):
        write([], io.StringIO(), "pipe")


def test_rows_of_all_sentences_have_the_same_columns():
    stream = io.StringIO()
    one = Sentence(["a"], ["T"], {"pos": ["P"], "chunk": ["C"]})
    other = Sentence(["b"], ["U"], {"chunk": ["D"], "pos": ["Q"]})
    write([Sentence([]), one, Sentence([]), other], stream)
    assert stream.getvalue() == "\na\tP\tC\tT\n\n\nb\tQ\tD\tU\n\n"
    untagged = Sentence(["a"])
    for sentences, message in (
        ([one, Sentence(["b", "c"], ["T"] * 2, {"pos": ["P"] * 2})], "'b c' .* pos, "),
        ([untagged, Sentence(["b"], ["T"])], "columns tags, the first none"),
        ([Sentence(["b"], ["T"]), untagged], "columns none, the first tags"),
    ):
        with pytest.raises(ValueError, match=f"{message}.*write 'jsonl' instead"):
            write(sentences, io.StringIO())
        write(sentences, io.StringIO(), "jsonl")
    stream = io.StringIO()
    write([Sentence(["a"], ["D"]), Sentence(["b c"])], stream, "conllu")
    stream.seek(0)
    assert [s.tags for s in read(stream, "conllu")] == [["D"], None]
    for format in ("conll", "jsonl"):
        with pytest.raises(ValueError, match="a column cannot be called 'tags'"):
            write([Sentence(["a"], ["T"], {"tags": ["U"]})], io.StringIO(), format)


def test_a_preface_hides_no_sentence():
    items = "A|DT|N\nB|NN|N\n"
    for preface in ("# c\n", "# c\n\n", "# c\n#d\n\n", ""):
        found = read(io.StringIO(preface + items), "pipe")
        assert [s.tokens for s in found] == [["A"], ["B"]]
    [_, empty, _] = read(io.StringIO("A|DT|N\n\nB|NN|N\n"), "pipe")
    assert empty.tokens == []


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "corpus.conll"
    write([Sentence(["old"], ["T"])], path)
    new = [Sentence(["new"], ["T"]), Sentence(["a\tb"], ["T"])]
    with pytest.raises(ValueError):
        write(new, path)
    assert path.read_text() == "old\tT\n\n" and len(list(tmp_path.iterdir())) == 1
