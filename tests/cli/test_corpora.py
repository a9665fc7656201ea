"""Corpora by name on the command line, and what is told of them."""

import hashlib
import json
import sys

import pytest

from keras_tagging.corpora import PUBLIC, public
from keras_tagging.corpora.public import File, PublicCorpus

pytestmark = pytest.mark.usefixtures("eagerly")

ROWS = b"the\tD\ncat\tN\nsleeps\tV\n\n" * 30


@pytest.fixture
def pets(monkeypatch, tmp_path):
    """A public corpus, which lies in KERAS_TAGGING_DATA."""
    monkeypatch.setenv("KERAS_TAGGING_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(public, "_shown", set())
    (tmp_path / "pets").mkdir()
    files = {}
    for split in ("train", "test"):
        (tmp_path / "pets" / f"{split}.x").write_bytes(ROWS)
        digest = hashlib.sha256(ROWS).hexdigest()
        files[split] = File(f"{split}.x", len(ROWS), digest)
    about = {"title": "Pets", "licence": "CC0", "citation": "Cat & Dog (2001)"}
    corpus = PublicCorpus(
        base="https://x.org/r1", files=files, folder="pets", format="conll", **about
    )
    monkeypatch.setitem(PUBLIC, "pets", corpus)
    return corpus


def test_the_list_of_corpora(program, silently, pets):
    out = silently("corpora")
    lines = [line.split() for line in out.splitlines()]
    assert ["pets", "Pets", "0.0", "MB", "KERAS_TAGGING_DATA", "CC0"] in lines
    for name in ("demo", *PUBLIC):
        assert any(line[:1] == [name] for line in lines)
    _, out, _ = program("corpora", "pets")
    for part in ("Cat & Dog (2001)", "CC0", "https://x.org/r1", "test.x, SHA-256"):
        assert part in out


def test_the_demo_is_a_corpus_too(program, failing):
    code, out, _ = program("corpora", "demo")
    assert code == 0 and "built in" in out and "CCG categories" in out
    assert "unknown corpus " in failing("corpora", "demos")


def test_commands_take_the_name(program, pets, tmp_path, tiny):
    code, out, err = program("describe", "pets")
    assert code == 0
    assert out.startswith("pets (format conll)")
    assert err == "pets: Pets. Licence: CC0.\n  Please cite: Cat & Dog (2001).\n"
    train = ["train", "bigru", "--corpus", "pets", "--epochs", 1]
    code, out, _ = program(*train, "--out", tmp_path / "run", *tiny)
    assert code == 0 and "No development sentences" in out
    assert "evaluate" in out and "--corpus pets" in out
    code, out, err = program("evaluate", tmp_path / "run", "--corpus", "pets")
    assert code == 0
    assert "accuracy" in out


def test_the_labels_of_a_column(program, failing, tmp_path):
    """`annotate --output jsonl` writes tags as named columns."""
    words = [{"text": "a", "upos": "N"}, {"text": "b", "upos": "V"}]
    path = tmp_path / "a.jsonl"
    tokens = [{"text": word["text"], "words": [word]} for word in words]
    path.write_text(json.dumps({"text": "a b", "tokens": tokens}) + "\n")
    assert "no tags" in program("describe", path)[1]
    _, out, _ = program("describe", path, "--tags", "upos")
    table = [line.split() for line in out.splitlines()[2:4]]
    assert table[1][table[0].index("labels") - 2] == "2" and "no tags" not in out
    told = failing("describe", path, "--tags", "xpos")
    assert "no labels in the column 'xpos'" in told and "another one in tags=" in told


def test_vectors_and_plot(program, pets, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "v.txt").write_text("the 1 2\nCAT 3 4\nother 5 6\n")
    args = ["--vectors", tmp_path / "v.txt", "--plot", tmp_path / "labels.svg"]
    code, out, err = program("describe", "pets", *args)
    assert code == 0
    _, *tables = out.split("\n\nWords with a vector, ")
    assert [table.split("\n")[0] for table in tables] == ["train", "test"]
    for table in tables:
        assert "missing     2      66.7%" in table and "missing: cat, sleeps" in table
    assert err.endswith(f"Written to {tmp_path / 'labels.svg'}\n")
    assert "<svg" in (tmp_path / "labels.svg").read_text()


def test_an_encoding_is_that_of_the_damage_too(program, tmp_path):
    path = tmp_path / "latin.conll"
    path.write_bytes(b"caf\xe9\tN\n\nd\tV\n")
    with pytest.warns(UserWarning, match="1 malformed"):
        assert "not utf-8" in program("describe", path, "--format", "conll")[1]
    latin = ["--option", "encoding=latin-1", "--format", "conll"]
    assert "No problems found." in program("describe", path, *latin)[1]


def test_matplotlib_is_looked_for_first(program, pets, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = program("describe", "pets", "--plot", tmp_path / "x.png")
    assert (code, out) == (2, "")
    assert "this needs it: pip install 'matplotlib>=3.9'" in err
