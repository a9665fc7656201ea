"""Systems that stand beside ours have an entry in the bibliography."""

import re
from pathlib import Path

import pytest
from experiments.papers.cases import TABLES

UNLISTED = ["Zhang et al. (2015)"]  # Table 2 of Elkaref & Bohnet has no such reference


def bibliography() -> list[str]:
    """The keys of docs/references.bib."""
    path = Path(__file__).parents[3] / "docs" / "references.bib"
    return re.findall(r"^@\w+{(\w+),", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("table", TABLES)
def test_systems_of_others_have_a_citation_or_a_note(table):
    keys = bibliography()
    for row in table.rows:
        if row.name in UNLISTED:
            assert row.citation is None and "references" in row.note
        else:
            assert row.architecture or row.citation, row.name
            assert row.citation in keys or row.citation is None
