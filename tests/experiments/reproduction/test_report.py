"""The report of made-up results, worked out by hand."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from experiments.papers.cases import TABLES
from experiments.reproduction.made_up import TEST, cells, make_info, make_table, result

from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Column, Row, Settings, Table
from keras_tagging.experiments.reproduction import report
from keras_tagging.experiments.reproduction.report import (
    pairs,
    plain,
    settings_markdown,
    write_report,
)
from keras_tagging.metrics.significance import figure_of


@pytest.fixture
def table():
    rows = (
        Row("Xu", (93.0,), citation="xu2015", group="Others"),
        Row("A", (90.0,), "bigru", {}, group="Ours", vectors=True, note="A slip."),
        Row("B", (92.0,), "bigru", {"num_layers": 1}, group="Ours"),
        Row("C", (None,), "bigru", {}, group="Ours", note="A slip."),
        Row("D", (91.0,), "bigru", {}, group="Ours"),
    )
    return Table("wu2016", 9, "Made up", "CCGbank", (TEST,), rows, note="Mind this.")


@pytest.fixture
def results():
    runs = [result("A", seed, right) for seed, right in ((1, 8), (2, 9))]
    return [*runs, result("B", 1, 7), result("C", 1, 7), result("C", 2, 7)]


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page that `write_report` writes, without the plot, which takes long."""

    def of(table, results, **changes):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "matplotlib.figure", None)
            paths = write_report(table, make_info(table, **changes), results, tmp_path)
        text = paths[0].read_text(encoding="utf-8")
        assert "report.png" not in text
        return text

    return of


def line(text, start):
    return next(line for line in text.splitlines() if line.startswith(start))


def test_figures(page, table, results):
    text = page(table, results)
    assert text.startswith("# Wu et al. (2016), Table 9: Made up\n")
    # the standard deviation is not 5, which is with n
    assert cells(text, "A[^1]")[1:] == ["90.00", "**85.00 ± 7.07**", "2"]
    assert cells(text, r"Xu \[xu2015\]")[1:] == ["93.00", "–", "–"]
    assert cells(text, "B")[1:] == ["92.00", "70.00", "1"]
    assert cells(text, "C[^1]")[1:] == ["–", "70.00 ± 0.00", "2"]
    assert cells(text, "D")[1:] == ["91.00", "–", "–"]
    assert text.count("[^1]: A slip.") == 1 and "[^2]" not in text
    assert "Mind this." in text
    assert "Rows not measured: D." in text


def test_conditions(page, table, results, tmp_path):
    results[0] |= {"classes": "learnt", "machine": "a cluster"}
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / "b.2.txt").write_text("B, seed 2: killed\n\nlog\n")
    text = page(table, results, settings={"units": 7}, recipe="fast")
    for name, *expected in (
        ("corpus", "CCGbank", "demo"),
        ("sentences", "None", "{'train': 1200, 'dev': 30, 'test': 20}"),
        ("recipe", "paper", "fast"),
        ("units", "300", "7"),
        ("learning_rate", "0.01", "0.002"),
        ("given settings", "None", "{'units': 7}"),
        ("word classes", "None", "learnt"),
    ):
        assert cells(text, name)[1:] == expected
    assert "a cluster" in text and "Linux, 2 cores" in text
    assert "3.15.0" in text and "0a1b" in text
    assert "Failed: B, seed 2: killed" in text
    text = page(table, results)
    assert "| units |" not in text and "| learning_rate |" not in text


def test_tags_a_word(page):
    columns = (Column("0.1 WORD", "word", "dev", 0.1), Column("S", "sent", "dev", 0.1))
    table = make_table(90.0, 80.0, columns=columns)
    results = [result("A", 1, 8, columns), result("A", 2, 9, columns)]
    results += [result("B", 1, 7, columns), result("B", 2, 7, columns)]
    before = page(table, results)  # results with two counts
    assert cells(before, "A")[2:4] == ["**85.00 ± 7.07**", "90.00"]
    for run, more in zip(results, ([3] * 10, [1] * 5 + [4] * 5), strict=False):
        run["evidence"]["0.1 WORD"].append(more)
    text = page(table, results)
    assert cells(text, "A")[2] == "**85.00 ± 7.07** (2.75)"  # of 3 and 2.5
    assert cells(text, "B")[2] == "70.00 ± 0.00"
    tests = [
        t.partition("## Which rows differ")[2].split("```")[0] for t in (before, text)
    ]
    assert tests[0] == tests[1] and "| 2 of 2 |" in tests[0]


def test_the_files(table, results, tmp_path):
    paths = write_report(table, make_info(table), results, tmp_path)
    names = ["report.md", "report.csv", "report.pairs.csv", "report.png"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    runs = pd.read_csv(tmp_path / "report.csv")
    assert runs["row"].tolist() == ["A", "A", "B", "C", "C"]
    assert runs["measured"].tolist() == [80, 90, 70, 70, 70]
    assert runs["published"].tolist()[:3] == [90, 90, 92]
    assert runs.loc[0, ["seed", "best_epoch", "parameters"]].tolist() == [1, 3, 1234]
    assert len(pd.read_csv(tmp_path / "report.pairs.csv")) == 3
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_printed_as_they_are(page):
    assert plain("a|b_c d_ 50% & [x] *y* $z^2$ ~ <h> #1 {u} back\\slash") == (
        r"a\|b_c d\_ 50% & \[x\] \*y\* \$z^2\$ \~ \<h\> #1 {u} back\\slash"
    )
    text = page(make_table(90.0, names=["A_ [B] *"]), [result("A_ [B] *", 1, 9)])
    assert cells(text, r"A\_ \[B\] \*")[2] == "90.00"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_of_the_papers(table, page):
    """All lines of a table have as many cells."""
    results, rng = [], np.random.default_rng(0)
    for row in table.rows:
        if row.architecture:
            one = result(row.name, 1, 5)
            for column in table.columns:
                counts = rng.integers(1, 5, (6, 3 if column.figure == "f1" else 2))
                counts[:, -1] = np.minimum(counts[:, -1], counts[:, 0])
                figure = float(figure_of(column.figure)(counts.sum(0)))
                one["figures"][column.name] = figure
                one["evidence"][column.name] = counts.T.tolist()
            results.append(one)
    lines = page(table, results).splitlines()
    grids = "\n".join(line if line.startswith("|") else "" for line in lines)
    for grid in re.findall(r"(?:\|.*\n)+", grids + "\n"):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in grid.splitlines()}
        assert len(widths) == 1


def test_settings_beside_the_recipe():
    text = settings_markdown(papers.table("kadari2018", 1))
    assert text.startswith("# Kadari et al. (2018), Table 1")
    assert cells(text, "Hidden dimension")[1:] == ["300", "units", "300", "yes"]
    assert text.count("| yes |") == text.count("\n|") - 2  # the recipe is the paper's
    rows = (("Units", "301", "units", 301), ("Rate", "0.01", "learning_rate", 0.01))
    text = settings_markdown(Settings("kadari2018", 1, "Made up", "bigru", rows))
    assert cells(text, "Units")[3:] == ["300", "no: 301"]


# Rankings


@pytest.mark.parametrize(
    ("published", "rights", "pairs", "rho", "best"),
    [
        # 1 - 6 * 2 / (4 * 15)
        ([94.0, 93.0, 92.0, 91.0], [8, 9, 7, 6], "5 of 6", "0.80 over 4", ("B", "A")),
        ([91.0, 93.0, 92.0], [5, 7, 6], "3 of 3", "1.00 over 3", ("B", "B")),
        # ties: ranks 1.5, 1.5, 3
        ([93.0, 92.0, 91.0], [8, 8, 6], "2 of 3", "0.87 over 3", ("A and B", "A")),
        ([93.0, 92.0, 91.0], [8, 8, 8], "0 of 3", None, ("A and B and C", "A")),
        ([93.0, 92.0], [8, 7], "1 of 1", None, ("A", "A")),
    ],
)
def test_rankings(page, published, rights, pairs, rho, best):
    table = make_table(*published)
    names = [row.name for row in table.rows[1:]]
    runs = [result(n, 1, right) for n, right in zip(names, rights, strict=True)]
    words = line(page(table, runs), "- Test: ")
    assert f"{pairs} pairs of rows stand in the published order" in words
    assert (f"Spearman's rho = {rho} rows" in words) == (rho is not None)
    assert ("Spearman" in words) == (rho is not None)
    assert words.endswith(f"best row is {best[0]}, the published one {best[1]}.")


def test_columns_without_a_ranking(page):
    columns = (Column("Dev", "accuracy", "dev"), TEST)
    table = make_table(90.0, 80.0, columns=columns)
    text = page(table, [result(row, 1, 9, columns) for row in "AB"])
    assert "- Dev: fewer than two measured rows with a published figure" in text
    assert "- Test: 0 of 1 pairs" in text


# Pairs of rows


def test_pairs_of_rows(page):
    """A has 9 tokens right, B 8 of these, C 1: p is 2 / 2 ** n; Holm: times 3, 2, 1."""
    table = make_table(90.0, None, 92.0)
    results = [result("A", 1, 9), result("B", 1, 8), result("C", 1, 1)]
    frame = pairs(table, results, TEST)
    assert frame["better"].tolist() == ["A", "B", "A"]
    assert frame["worse"].tolist() == ["C", "C", "B"]
    assert frame["p"].tolist() == pytest.approx([2 / 256, 2 / 128, 1])
    assert frame["holm"].tolist() == pytest.approx([6 / 256, 4 / 128, 1])
    assert frame["difference"].tolist() == pytest.approx([80, 70, 10])
    assert frame["published_difference"].tolist()[0] == -2
    text = page(table, results)
    words = line(text, "Test: ")
    assert "2 of 3 pairs differ" in words
    assert "0 in the published direction and 1 in the opposite one" in words
    expected = ["+80.00", "−2.00", "1 of 1", "0.0078", "0.0234"]
    assert cells(text, "A | C")[2:] == expected


def test_pairs_are_tested_on_the_seeds_that_both_have():
    table = make_table(90.0, 80.0)
    results = [result("A", seed, right) for seed, right in ((1, 9), (2, 5), (3, 1))]
    results += [result("B", seed, right) for seed, right in ((1, 6), (2, 5), (4, 10))]
    assert len(pairs(table, [results[0], results[-1]], TEST)) == 0
    [pair] = pairs(table, results, TEST).to_dict("records")
    assert (pair["better"], pair["seeds"]) == ("A", 2)
    assert pair["ahead"] == 1  # seed 2 ties
    assert pair["difference"] == pytest.approx(15)  # of 70 and 55
    assert pair["p"] == pytest.approx(2 / 8)


def test_the_least_p_is_a_limit(page):
    table = make_table(90.0, 80.0, 70.0)
    results = []
    for row, right in (("A", 0.9), ("B", 0.1), ("C", 0.1)):
        one = result(row, 1, 1)
        one["evidence"] = {"Test": [[1] * 40, [i < 40 * right for i in range(40)]]}
        results.append(one)
    text = page(table, results)
    assert cells(text, "A | B")[5:] == ["≤ 0.0001", "≤ 0.0003"]
    assert cells(text, "B | C")[5:] == ["1.0000", "1.0000"]


def test_tested_columns():
    dev = Column("Dev", "accuracy", "dev")
    many = [Column(f"{i}", "word", "test" if i else "dev", 0.1) for i in range(3)]
    for columns, tested in (((dev, TEST), (dev, TEST)), (many, (many[1],))):
        table = make_table(1.0, columns=tuple(columns))
        assert report.tested_columns(table) == tested
    # each seed holds out sentences of its own
    table = make_table(1.0, columns=(dev, TEST), held_out=0.18)
    assert report.tested_columns(table) == (TEST,)
