"""The tables, and what makes each row of ours in both recipes."""

import json
import re
from pathlib import Path

import pytest
from experiments.papers.cases import OURS, TABLES

import keras_tagging
from keras_tagging.architectures import (
    ARCHITECTURES,
    PARSERS,
    RECIPES,
    resolve_settings,
)
from keras_tagging.experiments import papers
from keras_tagging.models.parser.parser import PAPER_NAMES

# Rows that others' papers, or another kind of net, give another depth: it is not what
# these tables compare.
OWN_DEPTHS = [("wu2016", 2), ("wu2017", 2)]


def ours(table):
    return [row for row in table.rows if row.architecture]


def resolved(table, recipe):
    return [resolve_settings(r.architecture, recipe, r.settings) for r in ours(table)]


@pytest.mark.parametrize("row", OURS)
def test_rows_are_settings_of_build(row):
    for recipe in RECIPES:
        settings = resolve_settings(row.architecture, recipe, row.settings)
        assert {name: settings[name] for name in row.settings} == row.settings
    model = keras_tagging.build(row.architecture, recipe="paper", **row.settings)
    assert model.settings == resolve_settings(row.architecture, "paper", row.settings)


@pytest.mark.parametrize("row", OURS)
def test_rows_with_vectors_can_start_from_them(row):
    """So does each row of these papers that has words, but for those that start from
    another one's."""
    given = {**row.settings, "embeddings": "vectors.txt"}
    if row.settings.get("words", True):
        assert resolve_settings(row.architecture, "paper", given)["words"]
        assert row.vectors or row.architecture in PARSERS or "direction" in given
    else:
        assert not row.vectors
    assert not (row.vectors and row.bootstrap)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("table", TABLES)
def test_no_two_rows_are_the_same(table, recipe):
    """Resolved, so that none says what the other has by default."""
    made = [
        json.dumps([r.architecture, settings, r.vectors, r.bootstrap, r.gates])
        for r, settings in zip(ours(table), resolved(table, recipe), strict=True)
    ]
    assert len(set(made)) == len(made)
    names = [row.name for row in table.rows]
    assert len(set(names)) == len(names)


def cell_keywords(row):
    """Those of the cell, or of the layer that is its own."""
    found = ARCHITECTURES[row.architecture]
    owner = found.cell or found.network
    return {name for name, own in found.keywords.items() if own is owner}


@pytest.mark.parametrize("table", TABLES)
def test_varies_is_what_rows_differ_in(table):
    """Of what they say or what their cells are, wherever two rows know it.

    Sizes and training that come with another architecture's recipe are none of it.
    """
    told = {name for row in ours(table) for name in row.settings}
    for row in ours(table):
        told |= cell_keywords(row)
    differing = set()
    for recipe in RECIPES:
        every = resolved(table, recipe)
        for name in told:
            values = {repr(settings[name]) for settings in every if name in settings}
            differing |= {name} if len(values) > 1 else set()
    if (table.paper, table.number) in OWN_DEPTHS:
        assert "num_layers" in differing
        differing.remove("num_layers")
    assert sorted(table.varies) == sorted(differing)


@pytest.mark.parametrize("table", TABLES)
def test_rows_have_a_figure_a_column(table):
    assert len({column.name for column in table.columns}) == len(table.columns)
    for row in table.rows:
        assert len(row.published) == len(table.columns)
        assert any(figure is not None for figure in row.published)
        if row.architecture is None:
            assert not row.settings and not row.bootstrap and not row.vectors


@pytest.mark.parametrize("table", TABLES)
def test_bootstrapped_rows_start_from_the_feed_forward_one_of_their_embeddings(table):
    rows = {row.name: row for row in table.rows}
    names = list(rows)
    for row in ours(table):
        if row.bootstrap is None:
            assert row.gates == "all" and "bootstrapped" not in row.name
            continue
        source = rows[row.bootstrap]
        assert names.index(source.name) < names.index(row.name)
        assert source.architecture == "ffn-parser" and not source.bootstrap
        assert source.settings == row.settings
        if table.number != 2:  # whose rows are all pretrained
            assert source.group == row.group
        assert source.vectors == (row.group != "Random Embeddings")
        cell = ARCHITECTURES[row.architecture].settings("paper").cell(3)
        known = {PAPER_NAMES.get(gate, gate) for gate in cell.gates}
        assert row.gates == "all" or set(row.gates) < known


def test_gates_are_those_of_the_rows_names():
    for number in (4, 5):
        for row in papers.table("elkaref2017", number).rows:
            if row.bootstrap:
                gates = "all" if row.gates == "all" else " ".join(row.gates)
                assert f"bootstrapped {gates} gate" in row.name


@pytest.mark.parametrize(
    "name, weights",
    [
        ("linear mapping", {"gate_scale"}),
        ("non-linear mapping, W h_t^{l-1}", {"gate_kernel", "gate_bias"}),
        ("non-linear mapping, U h_{t-1}^l", {"gate_recurrent_kernel", "gate_bias"}),
        ("non-linear mapping, V h_t^{l-2}", {"gate_skip_kernel", "gate_bias"}),
        ("stochastic sampling, p = 0.5", set()),
        (
            "stochastic sampling, p = sigma(H h_t^{l-1})",
            {"gate_kernel", "gate_bias"},
        ),
    ],
)
def test_gates_of_wu_2017_read_what_their_formulas_do(name, weights):
    [row] = [row for row in papers.table("wu2017", 3).rows if row.name == name]
    settings = ARCHITECTURES[row.architecture].settings("paper", **row.settings)
    cell = settings.cell(3, appended_inputs=True)
    cell.build((None, 6))
    assert {w.name for w in cell.weights if w.name.startswith("gate_")} == weights


def test_ablations_are_so_in_the_fast_recipe():
    """Which has features of its own that would stand in for what is left out."""
    others = {"suffixes": (), "prefixes": (), "shapes": False}
    for paper, number in (("wu2016", 1), ("wu2017", 4)):
        for settings in resolved(papers.table(paper, number), "fast"):
            assert {name: settings[name] for name in others} == others
    table = papers.table("wu2016", 1)
    name = "7-layers + skip output + gating (no dropout)"
    [row] = [row for row in table.rows if row.name == name]
    off = resolve_settings(row.architecture, "fast", row.settings)
    rates = {name: value for name, value in off.items() if name.endswith("dropout")}
    names = ("dropout", "layer_dropout", "window_dropout", "character_dropout")
    names += ("variational_dropout", "word_dropout", "embedding_dropout")
    assert rates == dict.fromkeys(names, 0.0)


@pytest.mark.parametrize("number, units", [(4, 100), (5, 100), (6, 300), (7, 400)])
def test_sizes_and_choices_of_dinarelli_2016(number, units):
    """Section 3.2."""
    table = papers.table("dinarelli2016", number)
    assert table.monitor == "val_accuracy"
    assert table.held_out == (0.18 if number == 4 else None)
    for row, settings in zip(ours(table), resolved(table, "paper"), strict=True):
        assert settings["units"] == units
        assert settings["normalise"] == ("lower" if number < 6 else "dinarelli")
        assert settings["direction"] in row.name
        classes = ("word_class",) if row.group == "Classes" else ()
        assert settings["columns"] == classes
        assert (settings["label_input"], settings["hidden_context"]) == {
            "E": (None, 6),
            "J": ("probabilities", 0),
            "I": ("embedding", 0),
            "I+E": ("embedding", 6),
        }[row.name.split("-")[0]]


# Tables

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


def test_what_is_not_there():
    with pytest.raises(ValueError, match="'wu216'; did you mean 'wu2016'"):
        papers.table("wu216", 2)
    with pytest.raises(ValueError, match="wu2016 has no Table 5 here"):
        papers.table("wu2016", 5)


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
