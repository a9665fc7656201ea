import re
from dataclasses import replace

import pytest

from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row, Settings
from keras_tagging.experiments.reproduction.jobs import (
    check_embeddings,
    check_scale,
    check_settings,
    choose_rows,
    make_jobs,
    settings_of,
    slugs,
    takes_vectors,
)

TABLES = [
    table
    for module in papers.PAPERS.values()
    for table in module.TABLES.values()
    if not isinstance(table, Settings)
]


def names(rows):
    return [row.name for row in rows]


def test_slugs_are_names_of_files(table):
    found = slugs(table)
    assert found["Bi-LSTM"] == "bi-lstm"
    assert found["Größe 1/2 ±"] == "groe-1-2"
    assert re.fullmatch("bi-lstm-gate-a-[0-9a-f]{8}", found["Bi-LSTM, gate (a)"])
    assert "Bi-RNN (Xu et al.)" not in found
    assert len(set(found.values())) == 4


def test_slugs_do_not_depend_on_the_order_of_rows(table):
    turned = replace(table, rows=table.rows[::-1])
    assert slugs(turned) == slugs(table)


def test_a_name_without_letters_has_a_slug(table):
    table = replace(table, rows=(Row("±", (1.0, 1.0), "bilstm"),))
    assert re.fullmatch("[0-9a-f]{8}", slugs(table)["±"])


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.paper}-{t.number}")
def test_every_table_has_jobs(table):
    jobs, added = make_jobs(table, choose_rows(table, None), [1, 2])
    ours = [row for row in table.rows if row.architecture]
    assert len({job.name for job in jobs}) == len(jobs) == 2 * len(ours)
    assert all(re.fullmatch(r"[a-z0-9-]{1,70}\.[12]", job.name) for job in jobs)
    assert not added
    order = [job.name for job in jobs]
    for job in jobs:
        assert job.needed is None or order.index(job.needed) < order.index(job.name)


def test_rows_by_name(table):
    ours = names(choose_rows(table, None))
    assert ours == names(table.rows[:4])
    # a whole name comes before the names that begin so
    assert names(choose_rows(table, ["bi-lstm"])) == ["Bi-LSTM"]
    assert names(choose_rows(table, ["GRÖSSE", "Bi-LSTM, gate ["])) == ours[2:]
    slug = slugs(table)["Bi-LSTM, gate (a)"]
    assert names(choose_rows(table, [slug])) == ["Bi-LSTM, gate (a)"]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Bi-LSTM, gate", r"fits 2 .*: Bi-LSTM, gate \(a\); Bi-LSTM, gate \[a\]$"),
        ("bi-rnn", "fits 0 of the rows of Table 99 .* trained, .*: Bi-LSTM; "),
    ],
)
def test_rows_that_cannot_be_told(table, name, part):
    with pytest.raises(ValueError, match=part) as error:
        choose_rows(table, [name])
    assert "\n" not in str(error.value)


def test_a_row_brings_the_one_it_starts_from(table):
    jobs, added = make_jobs(table, choose_rows(table, ["Bi-LSTM, gate ("]), [1, 3])
    assert added == ["Bi-LSTM"]
    assert [(job.row, job.seed) for job in jobs] == [
        ("Bi-LSTM", 1),
        ("Bi-LSTM, gate (a)", 1),
        ("Bi-LSTM", 3),
        ("Bi-LSTM, gate (a)", 3),
    ]
    assert [job.needed for job in jobs] == [None, "bi-lstm.1", None, "bi-lstm.3"]


# Settings


def test_scale_is_for_rows_that_know_it(table):
    scale = check_scale(table, {"units": 7, "update": "keep"})
    info = {"settings": scale, "recipe": "paper", "epochs": None}
    assert settings_of(table.rows[0], info) == {"units": 7}
    assert settings_of(table.rows[3], info) == {"units": 7, "update": "keep"}
    found = check_settings(choose_rows(table, None), info)
    assert found["Bi-LSTM"]["units"] == 7
    assert found["Größe 1/2 ±"]["epochs"] == 90  # of the paper's recipe
    found = check_settings(choose_rows(table, None), info | {"epochs": 3})
    assert {given["epochs"] for given in found.values()} == {3}


def test_scale_goes_before_what_a_row_has():
    row = Row("x", (1.0,), "bilstm", {"units": 465, "num_layers": 9})
    assert settings_of(row, {"settings": {"units": 8}}) == {"units": 8, "num_layers": 9}
    highway = Row("RHN", (1.0,), "rhn")
    scale = {"settings": {"units": 8, "num_layers": 3, "skip": None}}
    assert settings_of(highway, scale) == {"units": 8}


@pytest.mark.parametrize(
    ("scale", "part"),
    [
        ({"layers": 3}, "num_layers=3: the rows of Table 99 .* differ in it"),
        ({"unit": 3}, "did you mean 'units'"),
        ({"seed": 3}, "has an option of its own"),
    ],
)
def test_scale_that_is_refused(table, scale, part):
    with pytest.raises(ValueError, match=part):
        check_scale(table, scale)


def test_impossible_settings(table):
    info = {"settings": {"units": 0}, "recipe": "paper", "epochs": None}
    with pytest.raises(ValueError, match="units=0: it is from 1"):
        check_settings(choose_rows(table, None), info)


def test_embeddings(tmp_path, monkeypatch):
    table = papers.table("wu2016", 2)
    monkeypatch.chdir(tmp_path)
    assert check_embeddings(table, None) == "train"
    assert check_embeddings(table, "none") == "none"
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    (tmp_path / "v.txt").write_text("a 1 2\nb 3 4\n")
    assert check_embeddings(table, "v.txt") == str(tmp_path / "v.txt")
    with pytest.raises(OSError, match="nothing.txt"):
        check_embeddings(table, "nothing.txt")


def test_embeddings_by_name(tiny_vectors):
    assert check_embeddings(papers.table("wu2016", 2), "tiny") == "tiny"
    with pytest.raises(ValueError, match="no word vectors have this name"):
        check_embeddings(papers.table("wu2016", 2), "unheard-of")


def test_embeddings_of_a_table_without_vectors_are_those_of_all_its_rows(tiny_vectors):
    without, some = papers.table("dinarelli2016", 4), papers.table("elkaref2017", 3)
    ours = choose_rows(without, None)
    assert check_embeddings(without, None) is None
    assert check_embeddings(without, "tiny") == "tiny"
    assert all(takes_vectors(row, without, "tiny") for row in ours)
    assert not any(takes_vectors(row, without, None) for row in ours)
    rows = [row for row in choose_rows(some, None) if not row.bootstrap]
    taking = [row.name for row in rows if takes_vectors(row, some, "tiny")]
    assert taking == [row.name for row in rows if "pre-trained" in row.name]
