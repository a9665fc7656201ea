"""Where a model errs: tables, plots and a report."""

from keras_tagging.analysis.analysis import Analysis, Section, analyse

__all__ = ["Analysis", "Section", "analyse"]
