"""The page of a report, and its files."""

import re
import shlex
import sys

import numpy as np
import pandas as pd
import pytest
from experiments.reproduction.made_up import TEST, cells, make_info, make_table, result

from keras_tagging.experiments import papers
from keras_tagging.experiments.papers.table import Column, Row, Settings, Table
from keras_tagging.experiments.reproduction import report_facts, report_statistics
from keras_tagging.experiments.reproduction.report import (
    markdown,
    settings_markdown,
    write_report,
)
from keras_tagging.experiments.reproduction.report_facts import same_corpus
from keras_tagging.experiments.reproduction.report_templates import (
    Grid,
    Line,
    column_format,
    escape_latex,
    escape_markdown,
)
from keras_tagging.metrics.counts import figure_of


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
    found = [result("A", seed, right) for seed, right in ((1, 8), (2, 9))]
    return [*found, result("B", 1, 7), result("C", 1, 7), result("C", 2, 7)]


def test_the_figures_of_the_page(table, results):
    text = markdown(table, make_info(table, corpus="ccgbank"), results)
    assert text.startswith("# Wu et al. (2016), Table 9: Made up\n")
    assert cells(text, r"Xu \[xu2015\]")[1:] == ["93.00", "–", "–", "–"]
    assert cells(text, "A[^1]")[1:] == ["90.00", "**85.00 ± 7.07**", "−5.00", "2"]
    assert cells(text, "B")[1:] == ["92.00", "70.00", "−22.00", "1"]
    assert cells(text, "C[^1]")[1:] == ["–", "70.00 ± 0.00", "–", "2"]
    assert cells(text, "D")[1:] == ["91.00", "–", "–", "–"]
    assert text.count("[^1]: A slip.") == 1 and "[^2]" not in text
    assert "Mind this." in text
    assert "| **Ours** |" in text


def test_no_differences_from_figures_of_another_corpus(table, results, tmp_path):
    write_report(table, make_info(table), results, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert cells(text, "System")[1:] == ["Test published", "Test measured", "n"]
    assert cells(text, "A[^1]")[1:] == ["90.00", "**85.00 ± 7.07**", "2"]
    assert "minus published" not in text
    tex = (tmp_path / "report.tex").read_text(encoding="utf-8")
    figures = tex.partition("subsection*{Figures}")[2].partition("subsection*")[0]
    assert "measured" in figures and "difference" not in figures
    tidy = pd.read_csv(tmp_path / "report.csv").set_index("row")
    assert tidy.loc["A", "difference"] == -5


def test_csv_has_no_formulas(tmp_path):
    table = make_table(90.0, names=["=A()"])
    write_report(table, make_info(table), [result("=A()", 1, 8)], tmp_path)
    assert "'=A()" in (tmp_path / "report.csv").read_text(encoding="utf-8").split(",")


def test_what_the_page_says_first(table, results):
    info = make_info(table, settings={"units": 7}, recipe="fast")
    results[0]["classes"] = "learnt"
    text = markdown(table, info, results)
    assert (
        "**Measured on another corpus than the paper's, going by its name: on demo"
        in text
    )
    assert text.index("Measured on another") < text.index("| Corpus |")
    assert (
        "only which rows are better. The recipe (fast) and the scale (units 7, epochs "
        "4) are not the paper's.**"
    ) in text
    assert cells(text, "Corpus")[1:] == ["CCGbank", "demo"]
    assert cells(text, "Sentences")[1:] == ["–", "1,200 train, 30 dev, 20 test"]
    assert cells(text, "Recipe")[1:] == ["paper", "fast"]
    assert cells(text, "units")[1:] == ["300", "7"]
    assert cells(text, "learning_rate")[1] == "0.01"  # of the paper's recipe
    assert cells(text, "Epochs")[2] == "4"
    assert "| Punctuation |" not in text and "| tags |" not in text
    assert cells(text, "Pretrained vectors")[2].startswith("word2vec, trained")
    assert cells(text, "Word classes")[2].startswith("learnt")
    assert cells(text, "Seeds")[2] == "1, 2"
    assert "keras 3.15.0" in text and "Linux, 2 cores" in text and "0a1b" in text


def test_a_corpus_that_may_be_the_papers(table, results):
    info = make_info(table, corpus="/data/CCG-bank/rebank", settings={"units": 300})
    text = markdown(table, info, results)
    assert "**Measured on a corpus that is called as the" in text
    assert "are the same. The scale (epochs 4) is not the paper's.**" in text
    text = markdown(table, {**info, "epochs": None}, results)
    assert "are the same.**" in text


@pytest.mark.parametrize(
    ("corpus", "same"),
    [
        ("CCGbank", True),
        ("prepared/ccgbank_1.2.tgz", True),
        ("/disk/prepared/ccgbank/train.conll", True),
        ("/disk/myccgbank", False),
        ("/disk/ccgbankish", False),
        ("/ccgbank/usb/my.conll", False),  # where something else is mounted
        ("/disk/ccgbank/a/b/my.conll", False),
    ],
)
def test_the_papers_corpus_by_its_name(table, corpus, same):
    assert same_corpus(table, make_info(table, corpus=corpus)) == same


def test_all_machines_and_versions_are_told(table, results):
    other = {"machine": "a cluster", "versions": {"keras": "3.99"}}
    text = markdown(table, make_info(table), [results[0] | other, *results[1:]])
    assert "Machine: a cluster; or Linux, 2 cores." in text
    assert "Versions: keras 3.99; or keras" in text


def test_settings_that_are_the_papers_are_not_listed(table, results):
    text = markdown(table, make_info(table, embeddings="none"), results)
    assert "| units |" not in text and "| learning_rate |" not in text
    assert cells(text, "Pretrained vectors")[2] == "none: random ones"


@pytest.mark.parametrize("tags", ["gold", "predicted"])
def test_tags_and_punctuation_of_parsers(tags):
    table = papers.table("elkaref2017", 3)
    columns = table.columns
    results = [result("FFN baseline, random", 1, 8, columns)]
    settings = {"tags": tags} if tags == "predicted" else {}
    info = make_info(table, settings=settings)
    text = markdown(table, info, results)
    assert cells(text, "tags")[1:] == ["predicted", tags]
    ptb = "ptb: words tagged \\`\\` '' : , . do not count"
    assert cells(text, "Punctuation")[1:] == [ptb, ptb]
    assert "tags are predicted; here they are gold, unless --set" in text
    assert "tags predicted" not in text and "--punctuation" not in text
    text = markdown(table, {**info, "punctuation": "keep"}, results)
    assert cells(text, "Punctuation")[1:] == [ptb, "keep: all words count"]
    assert "--punctuation keep" in text


def test_what_is_missing(table, results, tmp_path):
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / "b.2.txt").write_text("B, seed 2: killed\n\nlog\n")
    write_report(table, make_info(table), results, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "- Rows not measured: D." in text
    assert "- B: without seed 2." in text
    assert "- Failed: B, seed 2: killed" in text
    assert r"\item{} Failed: B, seed 2: killed" in (tmp_path / "report.tex").read_text()


def test_the_command(table, results):
    info = make_info(table, corpus="my corpus", settings={"units": 7}, dev_share=0.1)
    info["reading"] |= {"test": "t.txt", "options": {"tag_column": 4}}
    words = shlex.split(" ".join(report_facts.command(table, info, results, "out")))
    assert words[:5] == ["keras-tagging", "reproduce", "wu2016", "--table", "9"]
    options = [*zip(words[5::2], words[6::2], strict=True)]
    assert options == [
        ("--corpus", "my corpus"),
        ("--test", "t.txt"),
        ("--option", "tag_column=4"),
        ("--dev-share", "0.1"),
        *(("--rows", name) for name in "ABC"),
        ("--seeds", "2"),
        ("--epochs", "4"),
        ("--recipe", "paper"),
        ("--set", "units=7"),
        ("--embeddings", "train"),
        ("--out", "out"),
    ]


def test_many_columns_stand_below_one_another():
    columns = tuple(Column(f"{i} WORD", "word", "dev", 0.1) for i in range(3))
    table = make_table(90.0, columns=columns)
    results = [result("A", 1, 8, columns), result("A", 2, 9, columns)]
    text = markdown(table, make_info(table), results)
    assert "| difference |" not in text
    assert "\n\nFewer than two measured rows with a published figure: no rank" in text
    text = markdown(table, make_info(table, corpus="ccgbank"), results)
    assert cells(text, "A")[1:] == ["published", "–", "–", "90.00", ""]
    lines = text.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("| A | publ"))
    assert lines[place + 1] == "|  | mean | 85.00 | 85.00 | 85.00 | 2 |"
    assert lines[place + 2] == "|  | sd | 7.07 | 7.07 | 7.07 |  |"
    assert lines[place + 3] == "|  | difference | – | – | −5.00 |  |"


def test_tags_a_word():
    columns = (Column("0.1 WORD", "word", "dev", 0.1), Column("S", "sent", "dev", 0.1))
    table = make_table(90.0, 80.0, 70.0, columns=columns)
    results = [result("A", 1, 8, columns), result("A", 2, 9, columns)]
    results += [result("B", 1, 7, columns), result("B", 2, 7, columns)]
    for found, more in zip(results, ([3] * 10, [1] * 5 + [4] * 5), strict=False):
        found["evidence"]["0.1 WORD"].append(more)
    frame = report_statistics.figures(table, results)
    assert frame["tags_a_word"].dropna().tolist() == [2.75]  # of 3 and 2.5
    text = markdown(table, make_info(table), results)
    grid = text.partition("How many tags a word")[2].partition("## Ranking")[0]
    assert cells(grid, "System")[1:] == ["tags a word 0.1 WORD"]
    assert cells(grid, "A")[1:] == ["2.75"]
    assert cells(grid, "B")[1:] == ["–"]  # results with two counts
    assert "| C |" not in grid
    del results[1]["evidence"]["0.1 WORD"][2]
    mixed = markdown(table, make_info(table), results)
    grid = mixed.partition("How many tags a word")[2]
    assert cells(grid, "A")[1:] == ["3.00"]
    pairs = [
        page.partition("## Which rows differ")[2].partition("## The runs")[0]
        for page in (text, mixed)
    ]
    assert pairs[0] == pairs[1] and "| 2 of 2 |" in pairs[0]


def test_other_tables_have_no_tags_a_word(table, results):
    assert "tags a word" not in markdown(table, make_info(table), results)


# Files


def test_the_files(table, results, tmp_path):
    paths = write_report(table, make_info(table), results, tmp_path)
    names = ["report.md", "report.tex", "report.csv", "report.pairs.csv"]
    names += ["report-plot.png", "report-plot.pdf"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    tidy = pd.read_csv(tmp_path / "report.csv").set_index("row")
    assert tidy.loc["A", ["published", "mean", "n"]].tolist() == [90, 85, 2]
    assert len(pd.read_csv(tmp_path / "report.pairs.csv")) == 3
    assert (tmp_path / "report-plot.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "](report-plot.png)" in text and f"--out {tmp_path}" in text


def test_without_matplotlib(table, results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    paths = write_report(table, make_info(table), results, tmp_path)
    assert [path.suffix for path in paths] == [".md", ".tex", ".csv", ".csv"]
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert r"No plot: it needs matplotlib, pip install 'keras-tagging\[plots\]'" in text


NAME = "a|b_c d_ 50% & [x] *y* $z^2$ ~ <h> #1 {u} back\\slash"


def test_names_are_printed_as_they_are_in_markdown():
    assert escape_markdown(NAME) == (
        r"a\|b_c d\_ 50% & \[x\] \*y\* \$z^2\$ \~ \<h\> #1 {u} back\\slash"
    )


def test_names_are_printed_as_they_are_in_latex():
    assert escape_latex(NAME) == (
        r"a\textbar{}b\_c d\_ 50\% \& [x] *y* \$z\textasciicircum{}2\$ "
        r"\textasciitilde{} \textless{}h\textgreater{} \#1 \{u\} "
        r"back\textbackslash{}slash"
    )
    found = escape_latex("Søgaard − 1 ± 2 – β --set")
    assert found == (
        r"Søgaard \ensuremath{-} 1 \ensuremath{\pm} 2 \textendash{} "
        r"[greek small letter beta] -{}-set"
    )


def test_values_are_escaped_once_in_either_form(tmp_path):
    table = make_table(90.0, 80.0, names=["A_ 5%", "[B] *"], note="At 5% or_ more")
    results = [result("A_ 5%", 1, 9), result("[B] *", 1, 8)]
    write_report(table, make_info(table, fingerprint="<h>"), results, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert cells(text, r"A\_ 5%")[2] == "**90.00**"
    assert cells(text, r"\[B\] \*")[1] == "80.00"
    assert "\n\nAt 5% or\\_ more\n\n" in text and r"corpus: \<h\>." in text
    assert 'units="sentences"' in text  # words of the template
    tex = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert r"A\_ 5\% & 90.00 & \textbf{90.00} & 1\\" in tex
    assert "\n{}[B] * & 80.00" in tex  # else an option of the line before
    assert "\n\nAt 5\\% or\\_ more\n\n" in tex
    assert r"corpus: \textless{}h\textgreater{}." in tex
    assert r"units=\textquotedbl{}sentences\textquotedbl{}" in tex


def test_columns_of_text_wrap_in_latex():
    line = Line(["short", "long " * 40, "1"])
    assert column_format(Grid(["A", "B", "C"], [line], left=2)) == (
        r">{\raggedright\arraybackslash}p{0.067\linewidth}"
        r">{\raggedright\arraybackslash}p{0.844\linewidth}r"
    )
    assert column_format(Grid(["A", "B"], [Line(["short", "1"])])) == "lr"
    wide = Grid(["A"] * 31, [Line(["12.34"] * 31)])  # than a page
    assert column_format(wide) == "l" + "r" * 30


def every_table():
    for name, module in papers.PAPERS.items():
        for number, table in module.TABLES.items():
            if isinstance(table, Table):
                yield pytest.param(table, id=f"{name}-{number}")


@pytest.mark.parametrize("table", list(every_table()))
def test_every_table_of_the_papers(table, tmp_path, monkeypatch):
    """All lines of a table have as many cells, in LaTeX too; nothing is unprintable."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # plots take long
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
    write_report(table, make_info(table), results, tmp_path)
    lines = (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    grids = "\n".join(line if line.startswith("|") else "" for line in lines)
    for grid in re.findall(r"(?:\|.*\n)+", grids + "\n"):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in grid.splitlines()}
        assert len(widths) == 1
    tex = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert tex.count("{") - tex.count("\\{") == tex.count("}") - tex.count("\\}")
    assert " letter " not in tex  # a letter that LaTeX lacks, by its name
    for columns, body in re.findall(
        r"\\begin\{longtable\}\{@\{\}([^\n]*)@\{\}\}\n(.*?)\\end\{longtable\}",
        tex,
        re.S,
    ):
        width = len(re.sub(r">\{.*?\\arraybackslash\}|\{.*?\}", "", columns))
        body = body.partition("\\bottomrule\\endlastfoot\n")[2]
        for line in body.splitlines():
            if not line.startswith("\\multicolumn"):
                assert len(re.findall(r"(?<!\\)&", line)) == width - 1


def test_the_plot_of_figures_far_apart_has_scales_of_their_own(table, results):
    from keras_tagging.experiments.reproduction.report_plot import _panels

    frame = report_statistics.figures(table, results).set_index("row")
    names = [name for name, _, _ in _panels(TEST, frame)]
    assert names == ["Test"]
    frame["mean"] -= 60
    names = [name for name, _, _ in _panels(TEST, frame)]
    assert names == ["Test, published", "Test, measured"]


def test_settings_beside_the_recipe():
    text = settings_markdown(papers.table("kadari2018", 1))
    assert text.startswith("# Kadari et al. (2018), Table 1")
    assert cells(text, "Hidden dimension")[1:] == ["300", "units", "300", "yes"]
    rows = (("Units", "301", "units", 301), ("Rate", "0.01", "learning_rate", 0.01))
    other = Settings("kadari2018", 1, "Made up", "bigru", rows)
    found = settings_markdown(other)
    assert cells(found, "Units")[3:] == ["300", "no: 301"]
