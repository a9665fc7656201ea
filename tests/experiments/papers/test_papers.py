import re
from pathlib import Path

import pytest
from experiments.papers.cases import TABLES

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments import papers

NUMBERS = {
    "kadari2018": [1, 2, 3, 4],
    "wu2016": [1, 2, 3, 4],
    "wu2017": [1, 2, 3, 4],
    "dinarelli2016": [4, 5, 6, 7],
    "elkaref2017": [2, 3, 4, 5],
}
UNLISTED = ["Zhang et al. (2015)"]  # Table 2 of Elkaref & Bohnet has no such reference


def test_all_tables_are_there():
    found = {paper: list(module.TABLES) for paper, module in papers.PAPERS.items()}
    assert found == NUMBERS and list(found) == list(NUMBERS)
    for paper, numbers in found.items():
        for number in numbers:
            table = papers.table(paper, number)
            assert (table.paper, table.number) == (paper, number)
            assert table.caption


@pytest.mark.parametrize(
    "paper, number, message",
    [
        ("wu216", 2, "unknown paper 'wu216'; did you mean 'wu2016'? Known: kadari2018"),
        ("wu2016", 5, "wu2016 has no Table 5 here. Known: 1, 2, 3, 4"),
    ],
)
def test_what_is_not_there(paper, number, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        papers.table(paper, number)


def test_settings_of_kadari_2018_are_the_recipe():
    settings = papers.table("kadari2018", 1)
    recipe = resolve_settings(settings.architecture, "paper", {})
    for _, _, keyword, value in settings.rows:
        assert recipe[keyword] == value


@pytest.mark.parametrize("table", TABLES)
def test_systems_of_others_have_a_citation_or_a_note(table):
    path = Path(__file__).parents[3] / "docs" / "references.bib"
    keys = re.findall(r"^@\w+{(\w+),", path.read_text(encoding="utf-8"), re.MULTILINE)
    for row in table.rows:
        if row.name in UNLISTED:
            assert row.citation is None and "references" in row.note
        else:
            assert row.architecture or row.citation, row.name
            assert row.citation in keys or row.citation is None
