"""`train --tags upos,xpos,feats`, and what the other commands do with it."""

import json

import pytest
from data.test_formats import read_text

from keras_tagging.cli.tasks import filled
from keras_tagging.data import Sentence

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

WORDS = {
    "the": ("DET", "DT", "Definite=Def"),
    "dog": ("NOUN", "NN", "Number=Sing"),
    "cats": ("NOUN", "NNS", "Number=Plur"),
    "bark": ("VERB", "VBP", "_"),
}
TEXTS = ("the dog bark", "cats bark", "the cats bark the dog", "dog")


def treebank(blank=False):
    """CoNLL-U with all that is not a word; `blank`: without the columns to fill."""
    lines = []
    for number, text in enumerate(TEXTS * 3):
        lines += [f"# sent_id = {number}", "1-2\tthedog\t_\t_\t_\t_\t_\t_\t_\tX=1"]
        for i, word in enumerate([*text.split(), "dog"], 1):
            tags = ("_", "_", "_") if blank else WORDS[word]
            tree = ("0", "root") if i == 1 else ("1", "dep")
            row = (str(i), word, f"l{i}", *tags, *tree, f"{i}:e", "SpaceAfter=No")
            lines.append("\t".join(row))
        lines += ["8.1\tx\tx\tX\t_\t_\t_\t_\t0:root\t_"] * (number == 1)
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    for name in ("train", "dev"):
        (folder / f"{name}.conllu").write_text(treebank(), "utf-8")
    (folder / "blank.txt").write_text(treebank(blank=True), "utf-8")
    return folder


@pytest.fixture(scope="module")
def training(folder, tmp_path_factory, silently, tiny):
    """Trains on the treebank and gives the folder of the run."""

    def run(*options):
        out = tmp_path_factory.mktemp("runs") / "run"
        rate = ["--set", "learning_rate=0.2", "--set", "dropout=0.0"]
        silently(
            "train", "bigru", "--corpus", folder, "--out", out, *tiny, *rate, *options
        )
        return out

    return run


@pytest.fixture(scope="module")
def run_of_three(training):
    return training("--tags", "upos,xpos,feats", "--epochs", 7)


@pytest.fixture(scope="module")
def run_of_one(training):
    return training("--option", "tag=xpos", "--epochs", 1)


def test_what_a_run_says(program, folder, run_of_three):
    metadata = json.loads((run_of_three / "metadata.json").read_text())
    assert metadata["settings"]["tags"] == ["upos", "xpos", "feats"]
    assert metadata["scores"]["dev"]["joint_accuracy"] == 1
    args = ["--corpus", folder, "--split", "dev"]
    _, out, _ = program("evaluate", run_of_three, *args)
    rows = {line.split()[0]: line.split()[-1] for line in out.splitlines()[1:]}
    assert rows["joint_accuracy"] == rows["feats_accuracy"] == "100.00"
    assert 0 < float(rows["upos_loss"]) < 1 and rows["upos_oov_accuracy"] == "-"
    _, out, _ = program("evaluate", run_of_three, *args, "--json", "--per-tag")
    tables = json.loads(out)
    assert tables["figures"] == metadata["scores"]["dev"]
    found = {(row["column"], row["label"]): row["gold"] for row in tables["per_tag"]}
    assert found["upos", "DET"] == found["feats", "Definite=Def"] == 9


def test_conllu_is_filled(program, folder, run_of_three):
    """And every other character stays, wherever the sentences come from."""
    tag = ["tag", run_of_three, "--output", "conllu"]
    code, out, _ = program(*tag, folder / "blank.txt", "--format", "conllu")
    assert (code, out) == (0, treebank())
    assert program(*tag, stdin=treebank(blank=True))[1] == treebank()
    _, out, _ = program(*tag, stdin="the dog\n\n")
    assert out == (
        "1\tthe\t_\tDET\tDT\tDefinite=Def\t_\t_\t_\t_\n"
        "2\tdog\t_\tNOUN\tNN\tNumber=Sing\t_\t_\t_\t_\n\n\n"
    )


PLACES = {"lemma": 2, "upos": 3, "pos": 3, "xpos": 4, "feats": 5, "head": 6}
PLACES |= {"deprel": 7, "ner": 9}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("own", [{}, {"upos": ["X", "X"]}, {"ner": ["B-X", "O"]}])
def test_every_column_is_filled_without_conllu(name, own):
    """From text, and from CSV or JSON with columns of its own."""
    sentence = Sentence(["Ada", "laughs"], ["X", "X"] if own else None, own)
    given = ["1", "2"] if name == "head" else ["B-PER", "O"]
    rows = filled(sentence, None, {name: given}).splitlines()[:2]
    expected = [["1", "Ada", *["_"] * 8], ["2", "laughs", *["_"] * 8]]
    if "ner" in own:
        expected[0][9] = "NER=B-X"
    for row, value in zip(expected, given, strict=True):
        entity = "_" if value == "O" else f"NER={value}"
        row[PLACES[name]] = entity if name == "ner" else value
    assert [row.split("\t") for row in rows] == expected


def test_one_column_fills_its_own(program, failing, folder, run_of_one):
    """That of training, unless another one is named."""
    args = ["--output", "conllu"]
    _, out, _ = program("tag", run_of_one, *args, stdin=treebank(blank=True))
    given = treebank(blank=True).splitlines()
    for line, before in zip(out.splitlines(), given, strict=True):
        cells, old = line.split("\t"), before.split("\t")
        if len(cells) > 1 and old[4] == "_" and old[0].isdigit():
            assert cells.pop(4) in {"DT", "NN", "NNS", "VBP"}
            old.pop(4)
        assert cells == old
    _, other, _ = program(
        "tag", run_of_one, *args, "--column", "feats", stdin=treebank(blank=True)
    )
    [first, *_], [own, *_] = (read_text(text, "conllu") for text in (other, out))
    assert first.columns["feats"] == own.columns["xpos"]
    assert "unknown column of CoNLL-U 'chunk'" in failing(
        "tag", run_of_one, *args, "--column", "chunk", stdin="a\n"
    )


def test_other_outputs(program, run_of_three):
    _, out, _ = program("tag", run_of_three, stdin="the dog\n\n")
    assert out == "the\tDET\tDT\tDefinite=Def\ndog\tNOUN\tNN\tNumber=Sing\n\n\n"
    _, out, _ = program("tag", run_of_three, "--probabilities", stdin="dog\n")
    word, *cells = out.strip().split("\t")
    assert (word, cells[::2]) == ("dog", ["NOUN", "NN", "Number=Sing"])
    assert all(0 < float(p) <= 1 for p in cells[1::2])
    args = ["--output", "jsonl", "--beta", "1e-9"]
    _, out, _ = program("tag", run_of_three, *args, stdin="the dog\n\n")
    first, empty = map(json.loads, out.splitlines())
    assert empty == {"tokens": [], "upos": [], "xpos": [], "feats": []}
    for name, count in {"upos": 3, "xpos": 4, "feats": 4}.items():
        assert [*map(len, first[name])] == [count, count]
        assert [sum(p) for p in first[f"{name}_probabilities"]] == pytest.approx([1, 1])
    assert first["upos"][1][0] == "NOUN"


def test_what_has_no_place(failing, folder, run_of_three, run_of_one, tmp_path):
    for options, message in {
        "--output text": "--output text has no place for upos",
        "--beta 0.1": "no place for upos",
        "--output conllu --beta 0.1": "is not jsonl, and has no --beta",
        "--column xpos": "is not jsonl, and has no --column",
        "--output conllu --column xpos": "has columns of its own, upos, xpos",
    }.items():
        args = ["tag", run_of_three, *options.split()]
        assert message in failing(*args, stdin="a\n")
    args = ["train", "bigru", "--corpus", folder, "--out", tmp_path / "x"]
    assert "no labels in the column 'ner'" in failing(*args, "--tags", "upos,ner")
    init = [*args, "--init", run_of_three]
    assert "of a network that is kept 'tags'" in failing(*init, "--tags", "upos")
