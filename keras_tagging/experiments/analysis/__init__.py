"""Analysis of a model's errors: tables, plots and a report."""

from keras_tagging.experiments.analysis.analysis import Analysis, Section, analyse

__all__ = ["Analysis", "Section", "analyse"]
