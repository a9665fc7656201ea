"""Taggers and parsers: the models of a user."""

from keras_tagging.utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ccg_parser": ["CCGParser"],
        "ensemble": ["Ensemble"],
        "factory": ["build", "load"],
        "parser": ["Parser"],
        "segmenter": ["Segmenter"],
        "sentence_model": ["SentenceModel"],
        "shift_reduce_parser": ["ShiftReduceParser"],
        "tagger": ["Tagger"],
    },
)
