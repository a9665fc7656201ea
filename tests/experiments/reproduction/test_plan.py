import re
from dataclasses import replace

import pytest
from experiments.papers.cases import TABLES
from experiments.reproduction.made_up import make_info

from keras_tagging.data import Corpus, Sentence
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row
from keras_tagging.experiments.reproduction import plan

WU = papers.table("wu2016", 2)
PARSERS = papers.table("elkaref2017", 3)


def sentences(count, tag="B-x.city", **columns):
    columns = {name: [value] for name, value in columns.items()}
    return [Sentence([f"w{i}"], [tag], columns) for i in range(count)]


def reading(path, **changes):
    described = make_info(WU)["reading"] | {"path": path} | changes
    absolute = {k: plan.absolute(described[k]) for k in ("path", "dev", "test")}
    return described | absolute


def test_any_process_reads_the_same(small_corpus, monkeypatch):
    expected = plan.read_corpus(reading(str(small_corpus))).fingerprint()
    monkeypatch.chdir(small_corpus)
    described = reading("train.jsonl", dev="d*.jsonl", test="test.jsonl")
    monkeypatch.chdir("/")
    assert plan.read_corpus(described).fingerprint() == expected
    assert reading("ud-en-ewt")["path"] == "ud-en-ewt"


def test_a_table_that_holds_out_does_so_with_each_seed():
    table = papers.table("dinarelli2016", 4)
    parts = []
    for seed in (1, 1, 2):
        corpus = Corpus(sentences(80), sentences(20, tag="O"), sentences(5))
        plan.hold_out_dev(corpus, table, None, seed)
        assert (len(corpus.train), len(corpus.dev)) == (82, 18)
        parts.append(corpus.fingerprint())
    assert parts[0] == parts[1] != parts[2]
    with pytest.raises(ValueError, match="--dev-share: the table holds out 0.18"):
        plan.hold_out_dev(corpus, table, 0.1, 1)


def test_a_share_is_the_same_for_all_seeds():
    corpora = [Corpus(sentences(80)) for _ in range(2)]
    for seed, corpus in enumerate(corpora):
        plan.hold_out_dev(corpus, WU, 0.1, seed)
        assert len(corpus.dev) == 8
    assert corpora[0].fingerprint() == corpora[1].fingerprint()


def test_missing_parts():
    for sizes, message in (
        ([9, 0, 9], "has no development sentences.*--dev-share 0.1"),
        ([9, 9, 0], "has no test sentences.*--test FILE"),
    ):
        with pytest.raises(ValueError, match=message):
            plan.check_corpus(Corpus(*map(sentences, sizes), name="X"), WU, "keep")
    # a table without figures of test sentences needs none
    corpus = Corpus(sentences(3), sentences(3))
    plan.check_corpus(corpus, papers.table("kadari2018", 2), "keep")


def test_annotation_that_is_missing():
    tagged, untagged = sentences(2), [Sentence(["a"])]
    with pytest.raises(ValueError, match="X, dev: sentence 1 has no tags"):
        plan.check_corpus(Corpus(tagged, untagged, tagged, name="X"), WU, "keep")
    trees = sentences(2, head="0", deprel="root", pos="PUNCT")
    with pytest.raises(ValueError, match="X, test: sentence 1 .* has no tree"):
        plan.check_corpus(Corpus(trees, trees, tagged, name="X"), PARSERS, "keep")
    plan.check_corpus(Corpus(trees, trees, trees, name="X"), PARSERS, "keep")
    with pytest.raises(ValueError, match="X, train: .*no tags of the Penn Treebank"):
        plan.check_corpus(Corpus(trees, trees, trees, name="X"), PARSERS, "ptb")


def test_word_classes_are_learnt_where_they_are_lacking():
    corpus = Corpus(sentences(3), sentences(4), sentences(2))
    assert plan.add_classes(corpus, ()) is None
    assert plan.add_classes(corpus, ("word_class",)) == "learnt"
    found = [s.columns["word_class"] for s in corpus.dev]
    assert found == [["city"], ["city"], ["city"], ["O"]]
    before = corpus.fingerprint()
    assert plan.add_classes(corpus, ("word_class",)) == "corpus"
    assert corpus.fingerprint() == before


def test_columns_that_are_missing():
    corpus = Corpus(sentences(3), sentences(3), sentences(3))
    settings = {"a": {"columns": ()}, "b": {"columns": ("word_class",)}}
    assert plan.missing_columns(corpus, settings) == set()
    settings["c"] = {"columns": ("lemma",)}
    assert plan.missing_columns(corpus, settings) == {"lemma"}
    corpus = replace(corpus, train=sentences(3, tag="N/N"))
    assert plan.missing_columns(corpus, settings) == {"lemma", "word_class"}


# Jobs


def names(rows):
    return [row.name for row in rows]


def test_slugs_are_names_of_files(table):
    files = plan.slugs(table)
    assert files["Bi-LSTM"] == "bi-lstm"
    assert files["Größe 1/2 ±"] == "groe-1-2"
    assert files["Bi-LSTM, gate (a)"] == "bi-lstm-gate-a"
    assert "Bi-RNN (Xu et al.)" not in files
    assert len(set(files.values())) == 4
    assert plan.slugs(replace(table, rows=table.rows[::-1])) == files


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_jobs(table):
    jobs, added = plan.make_jobs(table, plan.choose_rows(table, None), [1, 2])
    ours = [row for row in table.rows if row.architecture]
    assert len({job.name for job in jobs}) == len(jobs) == 2 * len(ours)
    assert all(re.fullmatch(r"[a-z0-9-]{1,70}\.[12]", job.name) for job in jobs)
    assert not added
    order = [job.name for job in jobs]
    for job in jobs:
        assert job.needed is None or order.index(job.needed) < order.index(job.name)


def test_rows_by_name(table):
    ours = names(plan.choose_rows(table, None))
    assert ours == names(table.rows[:4])
    # a whole name comes before the names that begin so
    assert names(plan.choose_rows(table, ["bi-lstm"])) == ["Bi-LSTM"]
    assert names(plan.choose_rows(table, ["GRÖSSE", "Bi-LSTM, gate ["])) == ours[2:]
    slug = plan.slugs(table)["Bi-LSTM, gate (a)"]
    assert names(plan.choose_rows(table, [slug])) == ["Bi-LSTM, gate (a)"]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Bi-LSTM, gate", r"fits 2 .*: Bi-LSTM, gate \(a\); Bi-LSTM, gate \[b\]$"),
        ("bi-rnn", "fits 0 of the rows of Table 99 .* trained, .*: Bi-LSTM; "),
    ],
)
def test_rows_that_cannot_be_told(table, name, part):
    with pytest.raises(ValueError, match=part) as error:
        plan.choose_rows(table, [name])
    assert "\n" not in str(error.value)


def test_a_row_brings_the_one_it_starts_from(table):
    rows = plan.choose_rows(table, ["Bi-LSTM, gate ("])
    jobs, added = plan.make_jobs(table, rows, [1, 3])
    assert added == ["Bi-LSTM"]
    assert [job.row for job in jobs] == ["Bi-LSTM", "Bi-LSTM, gate (a)"] * 2
    assert [job.seed for job in jobs] == [1, 1, 3, 3]
    assert [job.needed for job in jobs] == [None, "bi-lstm.1", None, "bi-lstm.3"]


# Settings


def test_scale_is_for_rows_that_know_it(table):
    scale = plan.check_scale(table, {"units": 7, "update": "keep"})
    info = {"settings": scale, "recipe": "paper", "epochs": None}
    assert plan.settings_of(table.rows[0], info) == {"units": 7}
    assert plan.settings_of(table.rows[3], info) == {"units": 7, "update": "keep"}
    found = plan.check_settings(plan.choose_rows(table, None), info)
    assert found["Bi-LSTM"]["units"] == 7
    assert found["Größe 1/2 ±"]["epochs"] == 90  # of the paper's recipe
    found = plan.check_settings(plan.choose_rows(table, None), info | {"epochs": 3})
    assert {given["epochs"] for given in found.values()} == {3}


def test_scale_goes_before_what_a_row_has():
    row = Row("x", (1.0,), "bilstm", {"units": 465, "num_layers": 9})
    assert plan.settings_of(row, {"settings": {"units": 8}}) == {
        "units": 8,
        "num_layers": 9,
    }
    highway = Row("RHN", (1.0,), "rhn")
    scale = {"settings": {"units": 8, "num_layers": 3, "skip": None}}
    assert plan.settings_of(highway, scale) == {"units": 8}


@pytest.mark.parametrize(
    ("scale", "part"),
    [
        ({"layers": 3}, "num_layers=3: the rows of Table 99 .* differ in it"),
        ({"unit": 3}, "did you mean 'units'"),
        ({"seed": 3}, "unknown keyword 'seed'"),
    ],
)
def test_scale_that_is_refused(table, scale, part):
    with pytest.raises(ValueError, match=part):
        plan.check_scale(table, scale)


def test_embeddings(tmp_path, monkeypatch, tiny_vectors):
    table = papers.table("wu2016", 2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    for source, expected in (
        (None, "train"),
        ("none", "none"),
        ("v.txt", str(tmp_path / "v.txt")),
        ("tiny", "tiny"),
    ):
        assert plan.check_embeddings(table, source) == expected
    with pytest.raises(OSError, match="nothing.txt"):
        plan.check_embeddings(table, "nothing.txt")
    with pytest.raises(ValueError, match="no word vectors have this name"):
        plan.check_embeddings(table, "unheard-of")


def test_embeddings_of_a_table_without_vectors_are_those_of_all_its_rows(tiny_vectors):
    without, some = papers.table("dinarelli2016", 4), papers.table("elkaref2017", 3)
    ours = plan.choose_rows(without, None)
    assert plan.check_embeddings(without, None) is None
    assert plan.check_embeddings(without, "tiny") == "tiny"
    assert all(plan.takes_vectors(row, without, "tiny") for row in ours)
    assert not any(plan.takes_vectors(row, without, None) for row in ours)
    rows = [row for row in plan.choose_rows(some, None) if not row.bootstrap]
    taking = [row.name for row in rows if plan.takes_vectors(row, some, "tiny")]
    assert taking == [row.name for row in rows if "pre-trained" in row.name]
