import json
import os
import threading
from types import SimpleNamespace

import pytest

from keras_tagging import load, load_corpus
from keras_tagging.data import Sentence, write

pytestmark = pytest.mark.usefixtures("eagerly")

ODD = "Who read it ?\n\n  \nna\u00efve\u00a0x \u200b , 3/4 a|b \u2028\nit\n"
ODD_TOKENS = [
    ["Who", "read", "it", "?"],
    [],
    [],
    ["na\u00efve\u00a0x", "\u200b", ",", "3/4", "a|b", "\u2028"],
    ["it"],
]


def test_evaluate(program, run_dir, corpus_dir):
    sentences = load_corpus(corpus_dir).dev
    expected = load(run_dir).evaluate(sentences, return_dict=True)
    split = ["--corpus", corpus_dir, "--split", "dev"]
    extra = ["--betas", "0.5,0.01", "--per-tag"]
    _, out, _ = program("evaluate", run_dir, *split, *extra, "--json")
    report = json.loads(out)
    assert report["figures"] == pytest.approx(expected)
    assert [row["beta"] for row in report["multi_tagging"]] == [0.5, 0.01]
    assert sum(row["gold"] for row in report["per_tag"]) == sum(map(len, sentences))
    code, out, _ = program("evaluate", run_dir, *split, *extra)
    assert code == 0
    assert f"{100 * expected['accuracy']:.2f}" in out
    assert "categories_per_word" in out
    assert "recall %" in out
    # a file alone is the test data
    file = ["--corpus", corpus_dir / "dev.conll"]
    report = json.loads(program("evaluate", run_dir, *file, "--json")[1])
    assert report["figures"] == pytest.approx(expected)


def test_unknown_gold_tags_are_told(program, run_dir, tmp_path):
    path = tmp_path / "other.conll"
    write([Sentence(["They", "left"], ["PRON", "VERB"])], path)
    code, _, err = program("evaluate", run_dir, "--corpus", path)
    assert code == 0
    assert "2 of 2 gold tags are unknown to the model" in err


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
    expected = load(run_dir).tag(ODD_TOKENS)
    pairs = zip(ODD_TOKENS, expected, strict=True)
    assert blocks == [list(zip(*pair, strict=True)) for pair in pairs]


def test_tag_other_outputs(program, run_dir):
    model = load(run_dir)
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


def test_tag_reads_a_pipe_once(program, run_dir, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rows = "They left .\nShe reads the book .\n" * 300 + "Yes .\n"
    writer = threading.Thread(target=pipe.write_text, args=(rows,))
    writer.start()
    code, out, _ = program("tag", run_dir, pipe, "--output", "text")
    writer.join()
    assert code == 0
    assert out.count("\n") == 601


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


def test_tag_refuses_what_the_output_cannot_hold(failing, run_dir):
    odd = '{"tokens": ["a\\tb"]}\n'
    assert "jsonl" in failing("tag", run_dir, "--format", "jsonl", stdin=odd)
    args = ["--format", "jsonl", "--output", "text"]
    assert "jsonl" in failing("tag", run_dir, *args, stdin='{"tokens": ["a b"]}\n')
    assert "jsonl" in failing("tag", run_dir, "--beta", 0.1, "--output", "text")


def test_export(program, run_dir, tmp_path):
    import tensorflow as tf

    code, out, err = program("export", run_dir, tmp_path / "served", "--top-k", 3)
    assert (code, err) == (0, "")
    assert out == f"Written to {tmp_path}/served: serve it with TensorFlow\n"
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    tokens = tf.constant([["Who", "read", "it"]])
    served = serve(tokens=tokens, lengths=tf.constant([3]))
    assert served["top_tags"].shape == (1, 3, 3)
    [tags] = load(run_dir).tag([["Who", "read", "it"]])
    assert [tag.decode() for tag in served["tags"].numpy()[0]] == tags
