import json
from types import SimpleNamespace

import pytest

import keras_tagging

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

ODD = "Who read it ?\n\n  \nna\u00efve\u00a0x \u200b , 3/4 a|b \u2028\nit\n"
ODD_TOKENS = [
    ["Who", "read", "it", "?"],
    [],
    [],
    ["na\u00efve\u00a0x", "\u200b", ",", "3/4", "a|b", "\u2028"],
    ["it"],
]


@pytest.mark.parametrize("source", ["file", "-", None])
def test_tag_gives_every_token_its_row(program, run_dir, tmp_path, source):
    path = tmp_path / "odd.txt"
    path.write_bytes(ODD.encode())
    args = {"file": [path, "--format", "text"], "-": ["-"], None: []}[source]
    code, out, err = program("tag", run_dir, *args, stdin=ODD)
    assert (code, err) == (0, "")
    blocks = [[]]
    for line in out.split("\n")[:-1]:
        if line:
            blocks[-1].append(tuple(line.split("\t")))
        else:
            blocks.append([])
    assert blocks.pop() == []
    expected = keras_tagging.load(run_dir).tag(ODD_TOKENS)
    pairs = zip(ODD_TOKENS, expected, strict=True)
    assert blocks == [list(zip(*pair, strict=True)) for pair in pairs]


def test_tag_other_outputs(program, run_dir):
    model = keras_tagging.load(run_dir)
    tags = model.tag(ODD_TOKENS)
    ranked = model.tag(ODD_TOKENS, beta=0.2)
    _, out, _ = program("tag", run_dir, "--output", "jsonl", stdin=ODD)
    rows = [json.loads(line) for line in out.split("\n")[:-1]]
    assert [row["tokens"] for row in rows] == ODD_TOKENS
    assert [row["tags"] for row in rows] == tags
    _, out, _ = program("tag", run_dir, "--output", "text", stdin=ODD)
    items = [line.split(" ") if line else [] for line in out.split("\n")[:-1]]
    assert [[item.rsplit("|", 1)[1] for item in row] for row in items] == tags
    _, out, _ = program("tag", run_dir, "--beta", "0.2", stdin=ODD)
    fields = [line.split("\t") for line in out.split("\n") if line]
    entries = [entry for sentence in ranked for entry in sentence]
    assert [f[1::2] for f in fields] == [[t for t, _ in e] for e in entries]
    shares = [[float(p) for p in f[2::2]] for f in fields]
    assert shares == [pytest.approx([p for _, p in e], rel=1e-3) for e in entries]
    args = ["--beta", "0.2", "--output", "jsonl"]
    rows = program("tag", run_dir, *args, stdin=ODD)[1].split("\n")[:-1]
    found = [json.loads(row) for row in rows]
    assert [r["tags"] for r in found] == [
        [[t for t, _ in e] for e in s] for s in ranked
    ]
    _, out, _ = program("tag", run_dir, "--probabilities", stdin="it\n")
    token, tag, p = out.strip().split("\t")
    assert (token, [[tag]]) == ("it", model.tag([["it"]]))
    assert 0 < float(p) <= 1


def test_tag_reads_corpora_and_no_sentence(program, run_dir, corpus_dir):
    _, out, _ = program("tag", run_dir, corpus_dir / "test.conll")
    gold = (corpus_dir / "test.conll").read_text().split("\n")
    tagged = out.split("\n")
    assert [x.split("\t")[0] for x in tagged] == [x.split("\t")[0] for x in gold]
    assert program("tag", run_dir)[:2] == (0, "")
    assert program("tag", run_dir, stdin="\n")[:2] == (0, "\n")


def test_tag_reads_columns_without_a_tag(program, failing, tmp_path, monkeypatch):
    tagger = SimpleNamespace(
        tag=lambda sentences, **_: (s.columns["word_class"] for s in sentences),
        column_names=(None,),
    )
    where = "keras_tagging.cli.tasks.load_model"
    monkeypatch.setattr(where, lambda run, width, command, threads: tagger)
    rows = "show\tv\nflights\tn\n\nBoston\tn\n\n"
    path = tmp_path / "classes.txt"
    path.write_text(rows)
    option = ["--option", 'columns={"word_class": 1}']
    assert program("tag", "x", path, *option)[:2] == (0, rows)
    given = ["tag", "x", *option]
    assert program(*given, "--format", "conll", stdin=rows) == (0, rows, "")
    assert "name its --format" in failing(*given, stdin=rows)


def test_export(program, run_dir, tmp_path):
    import tensorflow as tf

    code, out, err = program("export", run_dir, tmp_path / "served", "--top-k", 3)
    assert (code, err) == (0, "")
    assert out == f"Written to {tmp_path}/served: serve it with TensorFlow\n"
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    tokens = tf.constant([["Who", "read", "it"]])
    served = serve(tokens=tokens, lengths=tf.constant([3]))
    assert served["top_tags"].shape == (1, 3, 3)
    [tags] = keras_tagging.load(run_dir).tag([["Who", "read", "it"]])
    assert [tag.decode() for tag in served["tags"].numpy()[0]] == tags
