"""Each published figure against the text of its paper."""

import re

import pytest
from experiments.papers.cases import NEEDS_TEXTS, TABLES
from experiments.papers.printed import lines_of, printed_rows, text_of, words

from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Settings

pytestmark = NEEDS_TEXTS
SPLITS = {"dev": {"dev", "development", "00"}, "test": {"test", "sec-23"}}


def differences(table, printed) -> list[str]:
    """What the data has other than the paper."""
    if len(table.rows) != len(printed):
        return [f"{len(table.rows)} rows, {len(printed)} printed"]
    found = []
    for row, (label, beside, figures) in zip(table.rows, printed, strict=True):
        if row.published != figures:
            found.append(f"{row.name}: {row.published}, printed {figures}")
        if not words(row.name) | words(row.group) <= beside:
            found.append(f"{row.name}: printed {label}")
    return found


@pytest.mark.parametrize("table", TABLES)
def test_every_figure_stands_in_the_paper_in_its_row(table):
    assert differences(table, printed_rows(table)) == []


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_the_headings(table):
    caption, lines = lines_of(text_of(table.paper), table.number)
    names = list(lines[0].figures)
    if (table.paper, table.number) == ("kadari2018", 4):
        assert [(c.name, c.figure, c.beta, c.split) for c in table.columns] == [
            (f"{line.label} {kind}", kind.lower(), float(line.label), "dev")
            for line in lines
            for kind in ("WORD", "SENT")
        ]
        return
    if table.paper == "dinarelli2016":
        directions = [name.split()[-1] for name in names]
        assert directions == ["forward", "backward", "bidirectional"]
        names = [names[0].rsplit(maxsplit=1)[0]]
    for column, name in zip(table.columns, names, strict=True):
        assert words(column.name) <= words(name)
        named = {"f1", "uas", "las"} & words(name)
        assert {column.figure} == named or (column.figure == "accuracy" and not named)
        if table.paper == "dinarelli2016":  # whose captions do not say it
            assert column.split == "test"
        else:
            of_name, of_caption = splits(name), splits(caption)
            assert (of_name or of_caption) == [column.split]


def splits(text):
    return [split for split, names in SPLITS.items() if names & words(text)]


def test_settings_of_kadari_2018_are_as_printed():
    settings = papers.table("kadari2018", 1)
    text = text_of("kadari2018").split("\nHyper-parameter\tValue\n")[1]
    printed = [line.split("\t") for line in text.split("\n\n")[0].split("\n")]
    assert [list(row[:2]) for row in settings.rows] == printed
    for _, value, keyword, ours in settings.rows[1:]:
        assert str(ours) == value.lower(), keyword


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_figures_in_notes_are_of_the_paper(paper):
    text = text_of(paper)
    for table in papers.PAPERS[paper].TABLES.values():
        rows = () if isinstance(table, Settings) else table.rows
        for note in [table.note, *(row.note for row in rows)]:
            for figure in re.findall(r"\d\d\.\d+", note or ""):
                assert figure in text
