"""Text files that are damaged, or made to hang a reader or to fill the memory."""

import gzip
import io
import itertools
import json
import re
import time
import tracemalloc
from contextlib import suppress

import pytest
from data.test_columns import read_all, skipping
from data.test_readers import RENDER
from hostile.harness import within

from keras_tagging.data import (
    FORMATS,
    CorpusError,
    Sentence,
    detect_format,
    read,
    write,
)
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.lines import CHUNK
from keras_tagging.data.readers import recognise
from keras_tagging.utils import limits

CONLLU = "1\t{0}\tl\t{1}\tX\t_\t0\troot\t_\t_\n\n"


# with a blank line behind each sentence
ONE = {"csv": "{0},N\n\n", "ctf": "{1} |S0 1:1 |# {0} |S2 1:1 |# N\n\n"}


def corpus(format, words):
    if format not in ONE:
        return RENDER[format]([([word], ["N"]) for word in words])
    header = "token,tag\n" if format == "csv" else ""
    return header + "".join(ONE[format].format(w, i) for i, w in enumerate(words))


# The ends of lines


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_carriage_returns_alone(tmp_path, format, is_compressed):
    words = [f"w{i}" for i in range(200)]
    data = corpus(format, words).replace("\n", "\r").encode()
    path = tmp_path / ("corpus.gz" if is_compressed else "corpus")
    path.write_bytes(gzip.compress(data) if is_compressed else data)
    assert [s.tokens for s in read(path, format)] == [[word] for word in words]
    if format not in ("conllx", "pos", "text", "tokens"):  # which these fit as well
        assert detect_format(path) == format
    assert [s.tokens for s in read(path, format, encoding="latin-1")][3] == ["w3"]
    path = tmp_path / "wide"
    path.write_bytes(data.decode().encode("utf-16"))
    assert len(list(read(path, format, encoding="utf-16"))) == 200


def test_carriage_returns_in_a_large_file():
    count = 3 * CHUNK // 100
    text = "".join(f"w{i:0100}\tN\r\r" for i in range(count))
    assert len(read_all(text, "conll")) == count
    with pytest.raises(CorpusError, match=f":{2 * count + 2}: 3 columns where"):
        read_all(text + "a\tN\rb\tN\tN\r", "conll")


def test_carriage_returns_a_byte_at_a_time():
    for encoding in ("utf-16", "utf-8", "utf-8-sig"):
        data = "\u00e9 b\rc\r".encode(encoding)
        chunks = (data[i : i + 1] for i in range(len(data)))
        found = list(read(chunks, "text", encoding=encoding))
        assert [s.tokens for s in found] == [["\u00e9", "b"], ["c"]]


def test_a_carriage_return_inside_a_line_is_text():
    assert skipping("a\rb\tN\nc\r\tN\r\n", "conll") == ([["a\rb", "c\r"]], [])


def test_line_feeds_where_carriage_returns_end_lines(monkeypatch):
    # The first feed comes later than anyone looks for it.
    monkeypatch.setattr(limits, "SENTENCE_CHARACTERS", 100)
    chunks, skipped = iter([b"a b\r" * 60, b"c\nd\r", b"e\r"]), []
    found = list(read(chunks, "text", errors="skip", skipped=skipped))
    assert [s.tokens for s in found] == [["a", "b"]] * 60 + [["e"]]
    assert re.fullmatch(".*:61: a line feed in a file .*; end all .*", skipped[0])
    assert len(skipped) == 1


# Encodings

NO_TEXT = ["rot13", "undefined", "idna", "unicode_escape", "bz2", "none", "a\0b", 7]


@pytest.mark.parametrize("encoding", NO_TEXT)
def test_what_is_no_encoding_of_text(tmp_path, encoding):
    path = tmp_path / "corpus"
    path.write_text("a\tN\n")
    for reader in (read, read_blocks, detect_format):
        with pytest.raises(ValueError, match=r"^encoding=.* is not .*: try utf-8, lat"):
            reader(path, encoding=encoding)
    with pytest.raises(ValueError, match="^encoding="):  # not only once it is iterated
        read(path, "conll", encoding=encoding)


def test_what_utf_7_can_spell():
    assert read_all("a+AAo-b\n", "text", encoding="utf-7") == [
        Sentence(["a"]),
        Sentence(["b"]),
    ]
    found, [message] = skipping("a\nb +2AA-\nc\n", "text", encoding="utf-7")
    assert found == [["a"], ["c"]]
    assert ":2: the line contains half of a surrogate pair; " in message


# Surrogates and other values

JSON = {
    "surrogate in a token": '{"tokens": ["\\ud800"]}',
    "surrogate in a name": '{"tokens": ["a"], "\\ud800": ["b"]}',
    "nested": '{"tokens": ' + "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "a number": "9" * 5000,
    "no object": "NaN",
    "a head": '{"tokens": ["a"], "head": ["' + "9" * 5000 + '"], "deprel": ["x"]}',
}


@pytest.mark.parametrize("case", JSON)
def test_odd_json(case):
    good = '{"tokens": ["x"], "n": NaN, "m": Infinity, "o": 1e999}\n'
    found, [message] = skipping(good + JSON[case] + "\n" + good, "jsonl")
    assert found == [["x"], ["x"]]
    assert re.fullmatch(r"<stream>:2: [^;]+; [^;]+", message)


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl"])
def test_halves_of_surrogate_pairs_are_not_written(format):
    columns = {"pos": ["\ud800"]}
    for sentence in (Sentence(["a\ud800"]), Sentence(["a"], None, columns)):
        stream = io.StringIO()
        with pytest.raises(ValueError, match="surrogate"):
            write([sentence], stream, format)
        assert stream.getvalue() == ""


@pytest.mark.parametrize("format", FORMATS)
def test_halves_of_surrogate_pairs_in_a_text_stream(format):
    text = corpus(format, ["a", "\ud800", "b"])
    skipped = []
    found = list(read(io.StringIO(text), format, errors="skip", skipped=skipped))
    assert [s.tokens for s in found] == [["a"], ["b"]]
    assert "half of a surrogate pair" in skipped[0] and len(skipped) == 1


# Time. What each string makes a reader look for is not there, or only at the end.

LONG = 15_000
QUADRATIC = {
    "auto": ["(<L ", "(<T ", "(<L a b c d ", "(<L N A A w N {", "(<L a >", "> ", "{ ["],
    "mrg": ["(", "( (", ")", "(a ", "\t", "(TOP"],
    "pos": ["[ ", "/", "a/", "= ", "./. ", "a/N ", "] [ "],
    "ctf": ["1 ", "|", "#|", "#", "|#", "|S0 1:1 ", "|# ", " \t", "1 |S0"],
    "atis": ["BOS ", " EOS", "BOS EOS", "\t", " "],
    "jsonl": ["[", "{", '{"a":', '"', "\\", '"\\u', "[[],"],
    "conllu": ["1", "1-", "1\t", "#", "\t", "1.1\t"],
    "conll": ["#", "# ", "\t", "-DOCSTART-", "-DOCSTART- ", " "],
    "pipe": ["|", "a|b|c ", "| "],
    "text": [" ", "\t", "\u0301", "\u0316\u0301", "\u0f73\u0301", "\u1100\u11a8"],
}
AROUND = [("", ""), ("(<L ", ">)"), ("1 |S0 1:1 ", "|"), ("[ ", " "), ("( (S ", ")")]
AROUND += [("BOS ", " EOS\t"), ('{"tokens": ["', '"]}'), ("1\t", "\t_" * 8)]


@pytest.mark.parametrize("format", QUADRATIC)
def test_no_line_takes_long(format):
    for unit, (before, behind) in itertools.product(QUADRATIC[format], AROUND):
        line = before + unit * (LONG // len(unit)) + behind
        start = time.process_time()
        skipping(line, format)
        try:
            recognise([(1, line), (2, "a b")], "name")
        except CorpusError:
            pass
        taken = time.process_time() - start
        # steps in the square of the length would take eight seconds
        assert taken < 3, (before, unit, behind)


# Limits

RUNS = {
    "marks": "e" + "\u0301\u0316" * 25_000,
    "after a letter": "abc" + "\u0301" * 60 + "\u0316" * 60,
    "marks once decomposed": "\u0f40" + "\u0f73\u0301" * 25_000,
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("format", FORMATS)
def test_combining_marks(format, run):
    start = time.process_time()
    found, [message] = skipping(corpus(format, ["a", RUNS[run], "b"]), format)
    assert time.process_time() - start < 0.5
    assert found == [["a"], ["b"]]
    [line] = (
        i
        for i, row in enumerate(corpus(format, ["a", RUNS[run], "b"]).split("\n"), 1)
        if RUNS[run] in row
    )
    what = rf"<stream>:{line}: .* has \d+,?\d+ combining marks in a row; leave at mo"
    assert re.match(what, message) and len(message) < 300


@pytest.mark.parametrize("format", FORMATS)
def test_long_lines(monkeypatch, format):
    monkeypatch.setattr(limits, "SENTENCE_CHARACTERS", 3 * CHUNK)
    words = ["a", "x" * (2 * CHUNK), "b", "y" * (7 * CHUNK), "c", "d"]
    text = corpus(format, words)
    line = text[: text.index("y" * CHUNK)].count("\n") + 1
    expected = [["a"], [words[1]], ["b"], ["c"], ["d"]]
    for source in (text.encode(), text.replace("\n", "\r").encode(), text):
        messages = []
        stream = io.StringIO(text) if source is text else io.BytesIO(source)
        found = list(read(stream, format, errors="skip", skipped=messages))
        assert [s.tokens for s in found] == expected
        what = f"<stream>:{line}: the line has more than 196,608 characters; cut it"
        assert messages == [what]
    last = text[: text.index("y" * CHUNK) + 7 * CHUNK]
    assert skipping(last, format)[1][-1:] == [what]


class Endless(io.RawIOBase):
    """A line of so many bytes that need no memory."""

    def __init__(self, size):
        self.left, self.end = size, b"\n\nb\tN\n"

    def read1(self, size):
        if self.left > 0:
            self.left -= size
            return b"x" * size
        end, self.end = self.end, b""
        return end


def test_a_line_that_no_memory_holds():
    tracemalloc.start()
    skipped = []
    with_limit = read(Endless(1 << 28), "conll", errors="skip", skipped=skipped)
    assert [s.tokens for s in with_limit] == [["b"]]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * limits.SENTENCE_CHARACTERS
    assert skipped == [
        "<stream>:1: the line has more than 10,000,000 characters; cut it"
    ]


END = ": the sentence that begins here has more"
TOKENS = ": a sentence has more than 50 tokens; split it where"
BRACKETS = ": a tree has more than 50 brackets; split it"
TREE = "(<L N A A w N>) "
LARGE = [
    # of rows that never end
    ("conll", "w\tP\tN\n" * 1000, END),
    ("tokens", "w\n" * 1000, END),
    ("conllu", "# c\n" * 1000, END),
    ("mrg", "(\n" * 1000, END),
    ("pos", "w/N\n" * 1000 + "======", END),
    ("ctf", "7 |S0 1:1 |# w |S2 1:1 |# N\n" * 1000, END),
    # of one line
    ("text", "w " * 51, TOKENS),
    ("pipe", "w|P|N " * 51, TOKENS),
    ("jsonl", json.dumps({"tokens": ["w"] * 51}), TOKENS),
    ("atis", f"BOS {'w ' * 51}EOS\tO{' N' * 51} O", TOKENS),
    ("auto", f"(<T S 0 51> {TREE * 51})", TOKENS),
    ("mrg", "(S " * 51, BRACKETS),
    ("mrg", "(S " * 51 + "(N w)" + " )" * 51, BRACKETS),
    ("auto", "(<T S 0 1> " * 51, BRACKETS),
    ("auto", "(<T S 0 1> " * 51 + TREE + " )" * 51, BRACKETS),
]


@pytest.mark.parametrize("format, text, message", LARGE)
def test_more_than_a_sentence_may_have(monkeypatch, format, text, message):
    limit = "TREE_NODES" if message == BRACKETS else "SENTENCE_TOKENS"
    monkeypatch.setattr(limits, limit, 50)
    good = corpus(format, "ab")
    tokens, [told] = skipping(f"{good}{text}\n{good}", format)
    assert tokens == [["a"], ["b"]] * 2 and message in told
    if message == END:
        assert told.startswith(f"<stream>:{good.count(chr(10)) + 1}{END}")


@pytest.mark.parametrize("format", FORMATS)
def test_tokens_that_are_files(monkeypatch, format):
    monkeypatch.setattr(limits, "TOKEN_CHARACTERS", 50)
    found, [message] = skipping(corpus(format, ["a", "w" * 51, "w" * 50]), format)
    assert found == [["a"], ["w" * 50]]
    assert re.search(r":\d+: the token 'w+\.\.\.' has 51 characters; at most", message)


def test_the_start_of_a_file_without_rows(monkeypatch):
    monkeypatch.setattr(limits, "SENTENCE_TOKENS", 50)
    source = iter(["#\n"] * 1000)
    next(read(source, "conll", errors="skip", skipped=[]), None)
    source = iter(["# c\n", "\n"] * 1000 + ["a\tN\n"])
    assert [s.tokens for s in read(source, "conll")] == [["a"]]
    lines = "\n" * 300 + CONLLU.format("a", "N") + "\n" * 300
    blocks = list(read_blocks(io.StringIO(lines)))
    assert max(len(block.lines) for block in blocks) <= 52
    assert "".join(line for block in blocks for line in block.lines) == lines


def test_messages_are_counted_not_kept():
    good = ["a\tN\n", "\n"] * 50
    bad = itertools.chain(good, itertools.repeat("a\n\n", 3000))
    tracemalloc.start()
    with pytest.warns(UserWarning, match="^3000 malformed sentences left out; the fi"):
        assert len(list(read(bad, "conll", errors="skip"))) == 50
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300_000


# Memory, where a line is as long as one may be: those that took most, one a cause

LONGEST = limits.SENTENCE_CHARACTERS - 99
WORST = {
    "auto": lambda: b"(<L N A A w N" + b" {" * (LONGEST // 2),
    "mrg": lambda: b"(" * LONGEST,
    "pipe": lambda: "\u0436 ".encode() * (LONGEST // 3),
    "jsonl": lambda: (
        b'{"tokens": [' + b'{"":[]},' * (LONGEST // 8) + '"\U00010000"]}'.encode()
    ),
    "jsonl of a text": lambda: b'{"text": "' + b"!" * (LONGEST - 20) + b'"}',
    "brat": lambda: b"!" * LONGEST + b"\n" + b"!" * LONGEST,
}
PIECES = b"T1\tX " + b"0 9999000;" * 2000 + b"0 1\n"


@pytest.mark.parametrize("entities", [PIECES, b"T1\tX " + b"0 1;" * 2_400_000])
@pytest.mark.parametrize("shape", WORST)
def test_no_line_takes_600_megabytes(shape, entities, tmp_path):
    path = tmp_path / "input.txt"
    path.write_bytes(WORST[shape]())
    path.with_suffix(".ann").write_bytes(entities)  # which only brat reads
    with within(60, 600), suppress(CorpusError):
        for _ in read(path, shape.split()[0], errors="skip", skipped=[]):
            pass
