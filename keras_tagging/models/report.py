"""Figures and tables of a model on a split, as `keras-tagging evaluate` prints them."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Report:
    """Figures and tables of a model.

    Args:
        figures: the figures by name; None if there is nothing to count.
        tables: the tables by name, with shares as fractions.
        counting: options that the figures depend on.
        warning: a hint for the user, or None.
        tags: what a parser reads beside the words, as a sentence; None for taggers.
        with_gold_tags: the figures of a parser that reads gold tags in place of those
            of its own tagger; None without such a tagger, or without gold tags.
        tag_accuracy: that of its own tagger; None as before.
    """

    figures: dict[str, float | None]
    tables: "dict[str, pd.DataFrame]" = field(default_factory=dict)
    counting: dict[str, object] = field(default_factory=dict)
    warning: str | None = None
    tags: str | None = None
    with_gold_tags: dict[str, float | None] | None = None
    tag_accuracy: float | None = None


def without_nan(scores: dict) -> dict:
    """The figures for JSON, which has no nan: nan becomes None."""
    return {k: None if math.isnan(x) else x for k, x in scores.items()}


def figures_alone(model, sentences, **options):
    """The report of a model that has no tables, such as one of an ONNX file."""
    figures = model.evaluate(sentences, return_dict=True, **options)
    return Report(without_nan(figures), counting=options)
