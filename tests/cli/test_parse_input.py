"""What `parse` reads and writes, with a parser that needs no training."""

import io
import itertools
import json
import os
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from data.test_conllu import line as row

from keras_tagging import Parser
from keras_tagging.cli.loading import Lines, with_columns
from keras_tagging.data import Sentence

TWO = row("1", "a", "2", "det") + row("2", "b\u00e9", "0", "root") + "\n"
CONLLU = {
    "comments": "# sent_id = 1\n# text = a b\u00e9\n" + TWO + "# alone\n\n" + TWO,
    "range and empty node": row("1-2", "ab") + row("1", "a") + row("1.1", "z", "1")
    + row("2", "b") + "\n\n",
    "no heads": row("1", "a", "", "") + row("2", "b", "x", "y"),
    "carriage returns": TWO.replace("\n", "\r\n") + TWO,
    "byte order mark": "\ufeff# c\n" + TWO + TWO.rstrip("\n"),
    "blank lines first": "\n \n" + TWO,
}  # fmt: skip


def parsed_by_hand(text):
    """Every word gets the word before it as its head, and its number as label."""
    lines = []
    for line in text.split("\n"):
        cells = line.split("\t")
        if len(cells) == 10 and cells[0].isdigit():
            cells[6:8] = str(int(cells[0]) - 1), f"label{cells[0]}"
        lines.append("\t".join(cells))
    return "\n".join(lines)


def parse_by_hand(sentences):
    for sentence in sentences:
        numbers = range(len(sentence))
        tree = {"head": list(map(str, numbers))}
        tree["deprel"] = [f"label{number + 1}" for number in numbers]
        yield replace(sentence, columns={**sentence.columns, **tree})


@pytest.fixture
def parser(monkeypatch):
    """A parser of the words alone."""
    made = SimpleNamespace(
        input_columns=(),
        missing_column="",
        kind="parser",
        parse=parse_by_hand,
        gives=("head", "deprel"),
        beam_width=1,
    )
    where = "keras_tagging.cli.tasks.load_model"
    monkeypatch.setattr(where, lambda run, width, command, threads: made)
    return made


@pytest.mark.parametrize("source", ["file", "stdin", "named"])
@pytest.mark.parametrize("name", CONLLU)
def test_all_but_the_trees_is_kept(program_bytes, parser, tmp_path, name, source):
    path = tmp_path / "given"
    data = CONLLU[name].encode()
    path.write_bytes(data)
    args = {"file": [path], "stdin": [], "named": ["-", "--format", "conllx"]}[source]
    code, out, err = program_bytes("parse", "x", *args, stdin=data)
    assert code == 0
    assert out == parsed_by_hand(CONLLU[name]).encode()
    told = f"{path} is read as conllu; use --format to change this\n"
    assert err.decode() == (told if source == "file" else "")


@pytest.mark.parametrize("name", ["a.conllu", "A.CONLLU", "a.conllu.txt", "a.txt"])
def test_a_name_that_says_the_format_needs_no_note(program, parser, tmp_path, name):
    path, text = tmp_path / name, CONLLU["comments"]
    path.write_text(text)
    code, out, err = program("parse", "x", path)
    assert (code, out) == (0, parsed_by_hand(text))
    assert ("is read as conllu" in err) == (name == "a.txt")
    path.write_text("one line\n\n")
    _, _, err = program("parse", "x", path)
    assert ("is read as text" in err) == (not name.endswith(".txt"))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_the_encoding_is_kept(program_bytes, parser, tmp_path, encoding):
    path = tmp_path / "given.conllu"
    path.write_bytes(TWO.encode(encoding))
    option = ["--option", f"encoding={encoding}"]
    code, out, _ = program_bytes("parse", "x", path, *option)
    assert (code, out) == (0, parsed_by_hand(TWO).encode(encoding))


def test_a_pipe_is_read_once(program, parser, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = CONLLU["comments"] * 300
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    code, out, _ = program("parse", "x", tmp_path / "pipe")
    writer.join()
    assert (code, out) == (0, parsed_by_hand(text))


ROWS = "1\ta\t_\t_\t_\t_\t0\tlabel1\t_\t_\n2\tb\t_\t_\t_\t_\t1\tlabel2\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("a b\n\na b\n", [], f"{ROWS}\n{ROWS}"),
        ("# b\na b\n", [], ROWS.replace("\ta\t", "\t#\t") + ROWS),
        ("a\nb\n\na\nb\n", ["--format", "tokens"], ROWS + ROWS),
        ('{"tokens": ["a", "b"], "head": [5, 7]}\n', ["--format", "jsonl"], ROWS),
        ("a\tX\nb\tY\n", ["--format", "conll"], ROWS),
        (
            "a\tX\n",  # which words keep
            ["--format", "conll", "--option", 'columns={"xpos": 1}'],
            "1\ta\t_\t_\tX\t_\t0\tlabel1\t_\t_\n\n",
        ),
    ],
)
def test_other_formats_become_conllu(program, parser, text, args, expected):
    assert program("parse", "x", *args, stdin=text) == (0, expected, "")


def test_what_cannot_be_written_or_read_is_told(failing, parser, tmp_path):
    odd = json.dumps({"tokens": ["a\tb"]})
    assert "tab" in failing("parse", "x", "--format", "jsonl", stdin=odd)
    assert "<stdin>:1" in failing("parse", "x", "--format", "conllu", stdin="a b\n")
    assert "there is no such file" in failing("parse", "x", tmp_path / "no.conllu")
    assert "4 tab-separated columns where" in failing("parse", "x", stdin="1\ta" * 3)
    option = ["--option", "tag=xpos"]
    assert "--option tag" in failing("parse", "x", "--format", "conllu", *option)
    assert "name its --format" in failing("parse", "x", *option)


@pytest.mark.parametrize("text", ["a b\n", TWO.replace("X", "_")])
def test_missing_tags_are_told(failing, parser, text):
    parser.input_columns = ("xpos",)
    parser.missing_column = Parser.missing_column
    message = failing("parse", "x", stdin=text)
    assert "the column 'xpos' (in CoNLL-U XPOS, column 5)" in message
    assert "--tags predicted" in message


def test_tags_may_be_missing_here_and_there():
    parser = SimpleNamespace(input_columns=("pos",), kind="parser", missing_column="")
    untagged = Sentence(["a"], columns={"pos": ["_"]})
    given = [Sentence([]), untagged, Sentence(["a"], columns={"pos": ["X"]})]
    assert list(with_columns(parser, given)) == given
    assert list(with_columns(parser, given[:1])) == given[:1]
    endless = with_columns(parser, itertools.cycle(given))
    assert next(endless) == given[0]
    with pytest.raises(ValueError, match="'pos'"):
        next(with_columns(parser, itertools.repeat(untagged)))


@pytest.mark.parametrize(
    ("text", "is_conllu"),
    [
        (TWO, True),
        ("# newdoc\n\n#\n" + TWO, True),
        ("\ufeff" + TWO, True),
        ("1-2" + TWO[1:], True),
        ("# a comment\nand text\n", False),
        ("1\ta\tX\n", False),
        ("# damaged\n1\ta\tX\t_\t_\n", True),
        (("# c\n" + TWO).replace("\n", "\r"), True),
        ("# c\rno row\n" + TWO, True),
        ("# only comments\n" * 300, False),
        ("one\ttwo" + 8 * "\tx", False),
        ("", False),
    ],
)
def test_streams_are_recognised_and_whole(text, is_conllu):
    lines = Lines(io.BytesIO(text.encode()), "name")
    assert lines.are_conllu() == is_conllu
    assert b"".join(lines) == text.encode()
