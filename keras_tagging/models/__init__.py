"""Taggers and parsers: the models of a user."""

import lazy_loader

# imported on first use: Keras and TensorFlow take seconds
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
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
