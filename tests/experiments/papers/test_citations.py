"""Whose systems stand beside ours, against the papers' lists of references."""

import re
from pathlib import Path

import pytest
from experiments.papers.cases import NEEDS_TEXTS, TABLES
from experiments.papers.printed import printed_rows, references, squashed, text_of

from keras_tagging.experiments import papers

UNLISTED = ["Zhang et al. (2015)"]  # Table 2 of Elkaref & Bohnet has no such reference


def bibliography() -> dict[str, dict[str, str]]:
    """Fields of each entry of docs/references.bib, without braces and accents."""
    path = Path(__file__).parents[3] / "docs" / "references.bib"
    text = re.sub(r"\\o(?=})", "ø", path.read_text(encoding="utf-8"))
    found = {}
    for entry in re.split(r"\n(?=@)", text):
        key = re.match(r"@\w+{(\w+),", entry)[1]
        fields = re.findall(r"^  (\w+) = {(.*?)},$", entry, re.MULTILINE | re.DOTALL)
        found[key] = {k: re.sub(r"[{}\\'`\"^]", "", v) for k, v in fields}
    return found


@pytest.mark.parametrize("table", TABLES)
def test_systems_of_others_have_a_citation_or_a_note(table):
    known = bibliography()
    for row in table.rows:
        if row.name in UNLISTED:
            assert row.citation is None and "references" in row.note
        else:
            assert row.architecture or row.citation, row.name
            assert row.citation in known or row.citation is None


@NEEDS_TEXTS
@pytest.mark.parametrize("table", TABLES)
def test_citations_are_those_of_the_paper(table):
    """By its number in the list of references, or by first author and year."""
    known = bibliography()
    listed = [squashed(line) for line in references(text_of(table.paper))]
    for row, (label, beside, _) in zip(table.rows, printed_rows(table), strict=True):
        if row.citation is None:
            continue
        entry = known[row.citation]
        title = squashed(entry["title"])
        if (table.paper, table.number) == ("kadari2018", 4):  # has names only
            same = {r.name: r.citation for r in papers.table("kadari2018", 2).rows}
            assert row.citation == same[row.name]
        elif number := re.search(r"\[(\d+)\]", label):
            assert title in listed[int(number[1]) - 1]
        else:
            assert any(title in reference for reference in listed)
            surname = squashed(entry["author"].split(",")[0])
            assert {surname, surname[0]} & {squashed(word) for word in beside}
            assert any(word.startswith(entry["year"]) for word in beside)
