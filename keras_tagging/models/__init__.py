"""Taggers and parsers: the models of a user."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ccg.ccg_parser": ["CCGParser"],
        "ccg.shift_reduce_parser": ["ShiftReduceParser"],
        "ensemble": ["Ensemble"],
        "factory": ["build"],
        "files.loading": ["load"],
        "parser.biaffine_parser": ["BiaffineParser"],
        "parser.parser": ["Parser"],
        "segmenter.segmenter": ["Segmenter"],
        "sentence_model": ["SentenceModel"],
        "tagger.tagger": ["Tagger"],
    },
)
