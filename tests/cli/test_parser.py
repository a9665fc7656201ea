"""A parser from the command line: train, evaluate, parse."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from conftest import short

import keras_tagging
from keras_tagging import load_corpus
from keras_tagging.data import read
from keras_tagging.data.conllu import as_conllu

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

SIZES = ["units=8", "word_dim=4", "affix_dim=3", "label_dim=3", "truncation_limit=2"]
TINY = [part for size in SIZES for part in ("--set", size)] + ["--epochs", "1"]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """CoNLL-U with comments and UPOS; in training, some trees with crossing arcs."""
    folder = tmp_path_factory.mktemp("treebank")
    for name, sentences in load_corpus("demo").splits():
        # the longer a sentence, the more moves are computed without a graph
        first = (lambda s: not crosses(s)) if name == "train" else len
        sentences = sorted(short(sentences, 150), key=first)
        if name == "test":
            break  # each run would measure it too
        with open(folder / f"{name}.conllu", "w", encoding="utf-8") as stream:
            count = 16 if name == "train" else 8
            for number, s in enumerate(sentences[:count], 1):
                stream.write(f"# sent_id = {number}\n")
                stream.write(as_conllu(s))
    return folder


@pytest.fixture(scope="module")
def trained_parser(treebank, tmp_path_factory, silently):
    """A folder with an lstm-parser, and what `train` printed."""
    folder = tmp_path_factory.mktemp("runs") / "lstm"
    args = ["--corpus", treebank, "--out", folder, "--seed", 1]
    return folder, silently("train", "lstm-parser", *args, *TINY)


@pytest.fixture
def parser_dir(trained_parser):
    return trained_parser[0]


def crosses(sentence):
    heads = map(int, sentence.columns["head"])
    arcs = [sorted(arc) for arc in enumerate(heads, 1)]
    pairs = itertools.permutations(arcs, 2)
    return any(a < c < b < d for (a, b), (c, d) in pairs)


def test_train_counts_labels_and_trees(trained_parser, treebank):
    folder, printed = trained_parser
    trees = list(read(treebank / "train.conllu"))
    kept = [tree for tree in trees if not crosses(tree)]
    labels = set().union(*(tree.columns["deprel"] for tree in kept))
    assert f"lstm-parser, fast recipe, seed 1: {len(labels)} dependency" in printed
    assert len(kept) < len(trees)
    assert f"\n{len(trees) - len(kept)} training sentences are not proj" in printed
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.keras", "metadata.json", "training.csv"}
    scores = json.loads((folder / "metadata.json").read_text())["scores"]
    row = re.search(r"^dev +(\S+) +(\S+)", printed, re.MULTILINE)
    expected = [f"{100 * scores['dev'][name]:.2f}" for name in ("uas", "las")]
    assert list(row.groups()) == expected
    command = f"keras-tagging evaluate {folder} --corpus {treebank} --split dev\n"
    assert command in printed
    assert f"keras-tagging parse {folder} FILE\n" in printed


def test_evaluate(program, silently, parser_dir, treebank):
    sentences = load_corpus(treebank).dev
    right = {"uas": 0, "las": 0}
    trees = keras_tagging.load(parser_dir).parse(sentences)
    words = 0
    for sentence, tree in zip(sentences, trees, strict=True):
        columns = [c[k] for c in (sentence.columns, tree.columns) for k in
                   ("head", "deprel")]  # fmt: skip
        for token, *entry in zip(sentence.tokens, *columns, strict=True):
            gold_head, gold, head, deprel = entry
            if not re.fullmatch(r"[.,?!;:'-]+", token):
                words += 1
                right["uas"] += head == gold_head
                right["las"] += (head, deprel) == (gold_head, gold)
    args = ["--corpus", treebank, "--split", "dev", "--punctuation", "unicode"]
    args += ["--subtypes", "--tables"]
    _, out, _ = program("evaluate", parser_dir, *args, "--json")
    assert "NaN" not in out
    report = json.loads(out)
    found = {name: report["figures"][name] for name in right}
    assert found == pytest.approx({k: v / words for k, v in right.items()})
    assert report["punctuation"] == "unicode"
    assert sum(row["gold"] for row in report["by_relation"]) == words
    lengths = report["by_sentence_length"]
    assert sum(row["sentences"] for row in lengths) == len(sentences)
    assert sum(row["gold"] for row in report["by_distance"]) == words
    out = silently("evaluate", parser_dir, *args)
    assert f"{100 * found['uas']:.2f}" in out
    assert all(name in out for name in ("relation ", "length ", "distance "))


def test_parse(program, parser_dir, treebank):
    path = treebank / "dev.conllu"
    before = path.read_text().splitlines()
    model = keras_tagging.load(parser_dir)
    model.beam_width = 2
    trees = model.parse(list(read(path)))
    heads = [head for tree in trees for head in tree.columns["head"]]
    deprels = [deprel for tree in trees for deprel in tree.columns["deprel"]]
    code, out, _ = program("parse", parser_dir, path, "--beam-width", 2)
    assert code == 0
    words = zip(heads, deprels, strict=True)
    for line, given in zip(out.splitlines(), before, strict=True):
        expected = given.split("\t")
        if len(expected) == 10:
            expected[6:8] = next(words)
        assert line.split("\t") == expected
    assert next(words, None) is None


@pytest.mark.usefixtures("small_taggers")
def test_predicted_tags_are_xpos_of_text_alone(program, treebank, tmp_path):
    args = ["--corpus", treebank, "--out", tmp_path / "x", *TINY, "--tags", "predicted"]
    args += ["--set", "folds=2", "--set", "tagger_epochs=1"]
    assert program("train", "ffn-parser", *args)[0] == 0
    assert (tmp_path / "x" / "jackknife.json").exists()
    words = ["She", "left", "."]
    [tree] = keras_tagging.load(tmp_path / "x").parse([words])
    _, out, _ = program("parse", tmp_path / "x", stdin="She left .\n")
    rows = [line.split("\t") for line in out.splitlines() if line]
    assert [row[1] for row in rows] == words
    assert [row[4] for row in rows] == tree.columns["predicted_tag"]
    assert "_" not in tree.columns["predicted_tag"]
    given = "".join(
        f"{n}\t{word}" + 8 * "\t_" + "\n" for n, word in enumerate(words, 1)
    )
    _, out, _ = program("parse", tmp_path / "x", stdin=f"{given}\n")
    assert [line.split("\t")[4] for line in out.splitlines() if line] == 3 * ["_"]
    # `evaluate` has both kinds of tags
    run = tmp_path / "x"
    metadata = json.loads((run / "metadata.json").read_text())
    assert metadata["tags"] == {"column": "pos", "from": "its own bigru"}
    model, gold = keras_tagging.load(run), load_corpus(treebank).dev
    tags = model.tagger.tag([s.tokens for s in gold])
    columns = [s.columns["pos"] for s in gold]
    with_gold = [
        replace(s, columns={**s.columns, "predicted_tag": s.columns["pos"]})
        for s in gold
    ]
    expected = [model.evaluate(x, return_dict=True) for x in (gold, with_gold)]
    assert expected[0] != expected[1]
    args = ["evaluate", run, "--corpus", treebank, "--split", "dev"]
    report = json.loads(program(*args, "--json")[1])
    assert report["figures"] == pytest.approx(expected[0])
    assert report["figures_with_gold_tags"] == pytest.approx(expected[1])
    pairs = zip(itertools.chain(*columns), itertools.chain(*tags), strict=True)
    right = [a == b for a, b in pairs]
    assert report["tag_accuracy"] == pytest.approx(sum(right) / len(right))


def test_a_parser_says_which_tags_it_reads(program, parser_dir, treebank):
    metadata = json.loads((parser_dir / "metadata.json").read_text())
    assert metadata["tags"] == {"column": "pos", "from": "the input"}
    args = ["evaluate", parser_dir, "--corpus", treebank, "--split", "dev"]
    _, out, _ = program(*args)
    assert out.splitlines()[2] == (
        "It reads the tags in the column pos, as the input has them"
    )
    report = json.loads(program(*args, "--json")[1])
    assert report["tags"] == "reads the tags in the column pos, as the input has them"
    assert "tag_accuracy" not in report and "figures_with_gold_tags" not in report


def test_bootstrap(program, failing, treebank, tmp_path, request):
    words_only = ["--tags", "None", "--corpus", treebank]
    ffn_dir = tmp_path / "ffn"
    args = ["--out", ffn_dir, *words_only, *TINY]
    assert program("train", "ffn-parser", *args)[0] == 0
    # it needs no tags, so that it parses text
    _, out, _ = program("parse", ffn_dir, stdin="She left .\n\nYes\n")
    rows = [line.split("\t") for line in out.splitlines()]
    forms = [row[1] if row[0] else "" for row in rows]
    assert forms == ["She", "left", ".", "", "", "Yes", ""]
    assert [row[6] for row in rows if row[0]].count("0") == 2

    built = request.getfixturevalue("built")
    args = ["--corpus", treebank, "--out", tmp_path / "lstm", *TINY]
    args += ["--bootstrap", ffn_dir, "--gates", "i,o"]
    code, out, _ = program("train", "lstm-parser", *args)
    assert (code, "dependency labels" in out) == (0, True)
    assert f"Starts from {ffn_dir}, gates i, o" in out
    ffn, [(lstm, _)] = keras_tagging.load(ffn_dir), built
    assert lstm.metadata["bootstrap"]["path"] == str(ffn_dir)
    sentences = ffn.metadata["training_sentences"]
    assert lstm.metadata["bootstrap"]["training_sentences"] == sentences
    given = np.array(ffn.scorer.cell.kernel)
    blocks = np.split(np.array(lstm.scorer.cell.kernel), 4, axis=-1)
    copied = [np.array_equal(block, given) for block in blocks]
    pairs = zip(lstm.scorer.cell.gates, copied, strict=True)
    assert [*pairs] == [("i", True), ("f", False), ("o", True), ("s", False)]
    args[-1] = "i,x"
    assert "unknown gate 'x'" in failing("train", "lstm-parser", *args)


def test_broken_trees_are_told_with_their_line(failing, treebank, tmp_path):
    text = (treebank / "train.conllu").read_text().split("\n\n")
    path = tmp_path / "train.conllu"
    second = re.sub(r"(?m)^((?:[^\t\n]+\t){6})[0-9]+", r"\g<1>0", text[1])
    path.write_text(f"{text[0]}\n\n{second}\n\n")
    line = text[0].count("\n") + 5
    message = failing("train", "lstm-parser", "--corpus", path, "--out", tmp_path / "x")
    assert f"{path}:{line}: " in message


def test_what_taggers_and_parsers_have_not(failing, parser_dir, run_dir, tmp_path):
    corpus = ["--corpus", "demo"]
    message = failing("evaluate", parser_dir, *corpus, "--per-tag")
    assert "holds a parser, which has no --per-tag" in message
    message = failing("evaluate", run_dir, *corpus, "--punctuation", "keep")
    assert "holds a tagger, which has no --punctuation" in message
    out = ["--out", tmp_path / "x"]
    tags = ["train", "lstm-parser", *corpus, *out, "--tags", "supertag"]
    assert "'supertag'" in failing(*tags)
    assert f"keras-tagging parse {parser_dir}" in failing("tag", parser_dir)
    assert f"keras-tagging tag {run_dir}" in failing("parse", run_dir)
    top = failing("export", parser_dir, tmp_path / "x", "--top-k", 3)
    assert "has no --top-k" in top
    taught = ["train", "ffn-parser", *corpus, *out, "--teacher", parser_dir]
    assert "a parser has no --teacher" in failing(*taught)
    assert "reads no labels" in failing("tag", run_dir, "--beam-width", 3)


def test_a_biaffine_parser_learns_the_columns_that_there_are(
    treebank, program, tmp_path
):
    sizes = ["units=4", "word_dim=4", "feed_dim=2", "head_units=3", "label_units=3"]
    sizes = [part for size in sizes for part in ("--set", size)]
    out = ["--corpus", treebank, "--out", tmp_path / "run", "--epochs", "1"]
    assert program("train", "biaffine-parser", *out, *sizes)[0] == 0
    model = keras_tagging.load(tmp_path / "run")
    assert isinstance(model, keras_tagging.BiaffineParser)
    assert model.column_names == ("upos",)
