"""Supertags for other parsers, read back by the rules of their readers."""

import json
import re
from types import SimpleNamespace

import pytest

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.cli import tasks
from keras_tagging.cli.tasks import check_supertags, supertags_of
from keras_tagging.data import read

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

TEXTS = [
    ["She", "reads", "(", "a|b", ")", "."],
    [],
    ["#", "naïve\u00a0x", "[{\u2028", "3/4", "\\/"],
]
WORDS = [
    ["She", "reads", "-LRB-", "a&#124;b", "-RRB-", "."],
    ["#", "naïve_x", "-LSB--LCB-_", "3/4", "\\/"],
]
JSON = "".join(json.dumps({"tokens": tokens}) + "\n" for tokens in TEXTS)
LEFT_OUT = "keras-tagging: warning: 1 sentences without tokens are left out\n"


def read_candc(text, fields=3):
    """As C&C's `parser` reads: comments up to a blank line, then sentences."""
    preface, blank, rows = text.partition("\n\n")
    assert blank and all(line.startswith("#") for line in preface.split("\n"))
    sentences = []
    for line in rows.split("\n")[:-1]:
        items = [item.split("|") for item in line.split(" ")]
        assert all(len(item) == fields and all(item) for item in items)
        sentences.append(items)
    return sentences


def read_rows(text):
    """As the Java port of C&C reads rows of several tags; blanks are those of Java."""
    _, _, rows = text.partition("\n\n")
    assert rows.endswith("\n\n")
    sentences = []
    for block in rows[:-2].split("\n\n"):
        words = [re.split("[ \t\r\x0b\x0c]", row) for row in block.split("\n")]
        for word in words:
            assert len(word) == 3 + 2 * int(word[2])
        sentences.append(words)
    return sentences


def read_easyccg(text):
    """As EasyCCG's SuperTaggedInputReader."""
    lines = [s for s in text.split("\n") if s and not s.startswith("#")]
    sentences = [[re.split("(?:\t| )+", w) for w in s.split("|")] for s in lines]
    assert all(len(word) >= 5 for words in sentences for word in words)
    return sentences


def test_single_supertags(program, run_dir, tmp_path):
    args = ["tag", run_dir, "--format", "jsonl", "--output", "candc"]
    code, out, err = program(*args, stdin=JSON)
    assert (code, err) == (0, LEFT_OUT)
    tags = keras_tagging.load(run_dir).tag([TEXTS[0], TEXTS[2]])
    expected = [
        [[word, "_", tag] for word, tag in zip(words, row, strict=True)]
        for words, row in zip(WORDS, tags, strict=True)
    ]
    assert read_candc(out) == expected
    # our reader skips the preface, and not a row that begins with such a word
    (tmp_path / "x.stagged").write_text(out + "#|#|N 5|CD|N/N\n", "utf-8")
    sentences = list(read(tmp_path / "x.stagged"))
    assert [s.tags for s in sentences] == [*tags, ["N", "N/N"]]


@pytest.mark.parametrize("beta", [0.5, 0.01, 0])
def test_several_supertags(program, run_dir, beta, monkeypatch):
    ranked = keras_tagging.load(run_dir).tag([TEXTS[0], TEXTS[2]], beta=beta)
    args = ["tag", run_dir, "--format", "jsonl", "--beta", beta, "--output"]
    candc = read_rows(program(*args, "candc", stdin=JSON)[1])
    monkeypatch.setattr(tasks, "EASYCCG_TAGS", 5)
    code, out, err = program(*args, "easyccg", stdin=JSON)
    assert (code, err) == (0, LEFT_OUT)
    easyccg = read_easyccg(out)
    assert [row[0] for row in easyccg[1]] == ["\\#", *WORDS[1][1:]]
    easyccg[1][0][0] = "#"
    for sentences, most in ((candc, None), (easyccg, 5)):
        for words, rows, entries in zip(WORDS, sentences, ranked, strict=True):
            assert [row[0] for row in rows] == words
            for row, entry in zip(rows, entries, strict=True):
                assert row[3::2] == [tag for tag, p in entry][:most]
                shares = [p for tag, p in entry][:most]
                assert [*map(float, row[4::2])] == pytest.approx(shares, rel=1e-5)


CONLLU = (
    "1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\t(\t_\tPUNCT\t(\t_\t0\troot\t_\t_\n\n"
    "1\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
)


def test_parts_of_speech(program, run_dir):
    """Those of the Penn Treebank, else universal ones."""
    args = ["--format", "conllu", "--output", "candc"]
    _, out, _ = program("tag", run_dir, *args, stdin=CONLLU)
    found = [[item[1] for item in items] for items in read_candc(out)]
    assert found == [["DT", "-LRB-"], ["NOUN"]]


def made_up(names=(None,), tags=None):
    return SimpleNamespace(column_names=names, tags=tags or ["N", r"S\NP"])


def test_a_tagger_of_several_columns():
    tags = {"category": ["N", "N/N"], "xpos": ["NN", "DT"]}
    model = made_up(("category", "xpos"), tags)
    with pytest.raises(ValueError, match="gives category, xpos: give --column cat"):
        supertags_of(model, "candc", None, None, "run")
    with pytest.raises(ValueError, match="unknown --column 'upos'"):
        supertags_of(model, "candc", None, "upos", "run")
    write, *_ = supertags_of(model, "candc", None, "category", "run")
    answer = {"category": ["N/N", "N"], "xpos": ["DT", "NN"]}
    sentence = Sentence(["a", "b"], None, {"xpos": ["JJ", "JJ"]})
    assert write(sentence, None, answer) == "a|DT|N/N b|NN|N\n"
    write, beta, _ = supertags_of(model, "easyccg", 0.1, "category", "run")
    assert beta == {"category": 0.1}
    answer["category"] = [[("N/N", 0.75), ("N", 0.25)], [("N", 1.0), ("N/N", 0.0)]]
    line = "a\tDT\t2\tN/N\t0.75\tN\t0.25|b\tNN\t1\tN\t1\n"
    assert write(sentence, None, answer) == line


def test_categories_are_those_of_ccgbank():
    model = made_up(tags=[r"s:dcl\np"])
    write, beta, _ = supertags_of(model, "candc", None, None, "run")
    assert write(Sentence(["", "b"]), None, [r"s:dcl\np"] * 2) == (
        "_|_|S[dcl]\\NP b|_|S[dcl]\\NP\n"
    )
    assert beta is None
    for tags in (["B-x|y"], ["N V"], [r"N/N", ""], ["NN", "VB"]):
        with pytest.raises(ValueError, match="^run gives no supertags"):
            check_supertags(tags, "run")
