import os
from dataclasses import replace

import pytest

from keras_tagging.data import Corpus, Sentence
from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import corpus as corpora

WU = papers.table("wu2016", 2)
PARSERS = papers.table("elkaref2017", 3)


def sentences(count, tag="B-x.city", **columns):
    columns = {name: [value] for name, value in columns.items()}
    return [Sentence([f"w{i}"], [tag], columns) for i in range(count)]


def read(path, **changes):
    options = {"dev": None, "test": None, "errors": "raise", "trees": False} | changes
    return corpora.reading(path, None, {}, **options)


def test_any_process_reads_the_same(small_corpus, monkeypatch):
    expected = corpora.read_corpus(read(str(small_corpus))).fingerprint()
    monkeypatch.chdir(small_corpus)
    reading = read("train.jsonl", dev="d*.jsonl", test="test.jsonl")
    monkeypatch.chdir("/")
    corpus = corpora.read_corpus(reading)
    assert corpus.fingerprint() == expected
    assert os.path.isabs(reading["dev"])
    assert read("ud-en-ewt")["path"] == "ud-en-ewt"


def test_trees_are_checked_where_the_format_can(tmp_path):
    path = tmp_path / "x.conllu"
    rows = ["1\ta\t_\tX\tX\t_\t2\tdet\t_\t_", "2\tb\t_\tX\tX\t_\t1\tdet\t_\t_"]
    path.write_text("\n".join(rows) + "\n\n")
    corpora.read_corpus(read(str(path)))
    with pytest.raises(ValueError, match="x.conllu:1"):
        corpora.read_corpus(read(str(path), trees=True))
    unchecked = read(str(path), trees=True) | {"options": {"trees": False}}
    assert len(corpora.read_corpus(unchecked).train) == 1
    assert len(corpora.read_corpus(read("demo", trees=True)).train) == 2000


def test_a_table_that_holds_out_does_so_with_each_seed():
    table = papers.table("dinarelli2016", 4)
    parts = []
    for seed in (1, 1, 2):
        corpus = Corpus(sentences(80), sentences(20, tag="O"), sentences(5))
        corpora.hold_out_dev(corpus, table, None, seed)
        assert (len(corpus.train), len(corpus.dev)) == (82, 18)
        parts.append(corpus.fingerprint())
    assert parts[0] == parts[1] != parts[2]
    with pytest.raises(ValueError, match="--dev-share: the table holds out 0.18"):
        corpora.hold_out_dev(corpus, table, 0.1, 1)


def test_a_share_is_the_same_for_all_seeds():
    parts = []
    for seed in (1, 2):
        corpus = Corpus(sentences(80))
        corpora.hold_out_dev(corpus, WU, 0.1, seed)
        assert len(corpus.dev) == 8
        parts.append(corpus.fingerprint())
    assert parts[0] == parts[1]


@pytest.mark.parametrize(
    ("parts", "part"),
    [
        ([9, 0, 9], "has no development sentences.*--dev-share 0.1"),
        ([9, 9, 0], "has no test sentences.*--test FILE"),
    ],
)
def test_missing_parts(parts, part):
    corpus = Corpus(*map(sentences, parts), name="X")
    with pytest.raises(ValueError, match=part):
        corpora.check_corpus(corpus, WU, "keep")


def test_a_table_without_test_figures_needs_no_test_sentences():
    corpus = Corpus(sentences(3), sentences(3))
    corpora.check_corpus(corpus, papers.table("kadari2018", 2), "keep")


def test_annotation_that_is_missing():
    tagged, untagged = sentences(2), [Sentence(["a"])]
    with pytest.raises(ValueError, match="X, dev: sentence 1 has no tags"):
        corpora.check_corpus(Corpus(tagged, untagged, tagged, name="X"), WU, "keep")
    trees = sentences(2, head="0", deprel="root", pos="PUNCT")
    with pytest.raises(ValueError, match="X, test: sentence 1 .* has no tree"):
        corpora.check_corpus(Corpus(trees, trees, tagged, name="X"), PARSERS, "keep")
    corpora.check_corpus(Corpus(trees, trees, trees, name="X"), PARSERS, "keep")
    with pytest.raises(ValueError, match="X, train: .*no tags of the Penn Treebank"):
        corpora.check_corpus(Corpus(trees, trees, trees, name="X"), PARSERS, "ptb")


def test_word_classes_are_learnt_where_they_are_lacking():
    corpus = Corpus(sentences(3), sentences(4), sentences(2))
    assert corpora.add_classes(corpus, ()) is None
    assert corpora.add_classes(corpus, ("word_class",)) == "learnt"
    found = [s.columns["word_class"] for s in corpus.dev]
    assert found == [["city"], ["city"], ["city"], ["O"]]
    before = corpus.fingerprint()
    assert corpora.add_classes(corpus, ("word_class",)) == "corpus"
    assert corpus.fingerprint() == before


def test_columns_that_are_missing():
    corpus = Corpus(sentences(3), sentences(3), sentences(3))
    settings = {"a": {"columns": ()}, "b": {"columns": ("word_class",)}}
    assert corpora.missing_columns(corpus, settings) == set()
    settings["c"] = {"columns": ("lemma",)}
    assert corpora.missing_columns(corpus, settings) == {"lemma"}
    corpus = replace(corpus, train=sentences(3, tag="N/N"))
    assert corpora.missing_columns(corpus, settings) == {"lemma", "word_class"}
