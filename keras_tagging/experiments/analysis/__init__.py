"""Analysis of a model's errors: tables, plots and a report."""

from keras_tagging.experiments.analysis.analysis import analyse
from keras_tagging.experiments.analysis.sections import Analysis, Section

__all__ = ["Analysis", "Section", "analyse"]
