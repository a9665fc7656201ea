"""The tables as HTML."""

from pathlib import Path

import pandas as pd

import keras_tagging
from keras_tagging.experiments import documents
from keras_tagging.experiments.analysis import plots
from keras_tagging.experiments.documents import INSTALL, NONE

TEMPLATES = Path(__file__).with_name("templates")
HEADINGS = {"low": "95 % interval", "f1": "F1", "uas": "UAS", "las": "LAS"}
HEADINGS |= {"pos": "part of speech"}
BAR = "share_of_errors"  # drawn as a bar behind the figure
CONTEXT = ("left", "word", "right")  # columns that share a cell
NO_SHARE = ("loss", "entropy", "rate", "seconds")


def page(analysis, rows: int = 25, csv: str | Path | None = None) -> str:
    """The whole page, which loads no other file."""
    return _render("page.html", analysis, rows, csv)


def fragment(analysis, rows: int = 10) -> str:
    """The HTML for a notebook: the page without style and table of contents."""
    return _render("sections.html", analysis, rows, None)


def _render(template, analysis, rows, csv) -> str:
    drawn = documents.plots_available()
    sections = [_shown(section, rows, drawn, csv) for section in analysis.sections]
    filled = documents.environment(TEMPLATES).get_template(template)
    return filled.render(
        analysis=analysis,
        sections=sections,
        missing={_title(name): reason for name, reason in analysis.missing.items()},
        no_plots="" if drawn else f"Plots need matplotlib: {INSTALL}.",
        version=keras_tagging.__version__,
    )


def _shown(section, rows, drawn, csv) -> dict:
    """The variables of the template for a section."""
    table = section.table.head(rows) if section.ranked else section.table
    left_out = ""
    if len(table) < len(section.table):
        where = f"in {Path(csv, section.name)}.csv" if csv else "in the table in Python"
        left_out = (
            f"The first {len(table):,} of {len(section.table):,} rows; all are {where}."
        )
    names = [name for name in table if name not in ("high", *CONTEXT)]
    most = table[BAR].max() if BAR in table else 1
    body = [
        {
            "cells": [_cell(name, row) for name in names],
            "examples": [_example(row)] if "word" in row else [],
            "bar": 100 * row.get(BAR, 0) / most,
        }
        for row in table.to_dict("records")
    ]
    if section.examples is not None and len(table):
        keys = [name for name in table if name in section.examples]
        shown = section.examples.merge(table[keys])  # only of the rows shown
        shown = dict(iter(shown.groupby(keys)))
        for row, key in zip(body, table[keys].itertuples(index=False), strict=True):
            row["examples"] = [
                _example(e) for e in shown[tuple(key)].to_dict("records")
            ]
    return {
        "name": section.name,
        "title": section.title,
        "text": section.text,
        "headings": [_heading(name, table) for name in names],
        "rows": body,
        "left_out": left_out,
        "svg": plots.svg(section) if drawn and section.plot and body else "",
    }


def _is_share(name: str) -> bool:
    return not name.endswith(NO_SHARE)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _heading(name: str, table) -> dict:
    column = table[name]
    text = HEADINGS.get(name, name.replace("_", " "))
    if name == "low":  # it follows its figure
        figure = table.columns[table.columns.get_loc(name) - 1]
        text += f" of {HEADINGS.get(figure, figure)}" * (figure != "value")
    number = pd.api.types.is_numeric_dtype(column)
    if pd.api.types.is_float_dtype(column) and _is_share(name) and name != "low":
        text += " %"
    css = "number" if number and name != BAR else name
    return {"text": text, "css": css}


def _cell(name: str, row: dict) -> dict:
    value = row[name]
    css = "number"
    if name == "low":
        low, high = 100 * value, 100 * row["high"]
        text = "" if pd.isna(value) else f"{low:.1f}\u2013{high:.1f}"
    elif isinstance(value, str):
        css, text = name, value
    elif pd.isna(value):
        text = NONE
    elif isinstance(value, float) and _is_share(name):
        text = f"{100 * value:.2f}"
    elif isinstance(value, float):
        text = f"{value:.4g}"
    else:
        text = f"{value:,}"
    return {"text": text, "css": name if name == BAR else css}


def _example(row: dict) -> dict:
    heads = [row[n] for n in ("gold_head_word", "predicted_head_word") if n in row]
    where = f"sentence {row['sentence']}, token {row['position']}"
    words = {name: row[name] for name in CONTEXT}
    return {**words, "where": where, "heads": heads}
