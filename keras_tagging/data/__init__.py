"""Sentences, and the file formats they are read from and written to. No Keras here."""

import lazy_loader

from keras_tagging.data.readers import (
    FORMATS,
    CorpusError,
    detect_format,
    read,
    write,
)
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.data.surface import Entity, Span, Token

__all__ = [
    "FORMATS",
    "Corpus",
    "CorpusError",
    "Entity",
    "Sentence",
    "Span",
    "Token",
    "detect_format",
    "from_dataframe",
    "from_dataset",
    "from_spacy",
    "read",
    "to_brat",
    "to_dataframe",
    "to_spacy",
    "write",
]

# modules that the documentation names, imported on first use
_NAMED = {"conllu", "lemmas"}
_LIBRARIES = {
    "libraries": [
        "from_dataframe",
        "from_dataset",
        "from_spacy",
        "to_dataframe",
        "to_spacy",
    ],
    "annotation": ["to_brat"],
}
__getattr__, _, _ = lazy_loader.attach(
    __name__, submodules=_NAMED, submod_attrs=_LIBRARIES
)
