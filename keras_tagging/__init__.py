"""Recurrent sequence tagging and dependency parsing on Keras 3."""

from importlib import import_module
from importlib.metadata import version

import lazy_loader

from keras_tagging.utils.registration import register_when_imported
from keras_tagging.utils.startup import start_keras

# Each name is imported on first use: Keras and TensorFlow take seconds.
_LIGHT = {
    "architectures": ["available"],
    "corpora": ["describe", "load_corpus"],
    "data": ["Corpus", "CorpusError", "Sentence", "Span"],
    "pipelines.pipeline": ["Pipeline"],
    "scale.dataset": ["annotate_dataset"],
    "vectors": ["load_vectors"],
}
_WITH_KERAS = {
    "cells": [
        "ElmanCell",
        "FeedForwardCell",
        "GRUCell",
        "HighwayLSTMCell",
        "LabelEmbeddingCell",
        "RecurrentCell",
        "RecurrentHighwayCell",
        "ShortcutBlockCell",
        "SkipLSTMCell",
        "SkipStackCell",
    ],
    "experiments.comparison": ["compare"],
    "layers": [
        "BidirectionalStack",
        "CRF",
        "CRFAccuracy",
        "CRFLoss",
        "ChunkDecoder",
        "ContextWindow",
        "LabelEmbeddingRNN",
        "LanguageModelLoss",
        "ProjectedRNN",
        "TransitionScorer",
    ],
    "models": ["Parser", "Segmenter", "Tagger", "build"],
    "pipelines.loading": ["load"],
}
_attribute, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs=_LIGHT | _WITH_KERAS
)
_HEAVY = {name for names in _WITH_KERAS.values() for name in names}


def __getattr__(name):
    if name == "__version__":
        return version("keras-tagging")
    if name == "papers":
        return import_module("keras_tagging.experiments.papers")
    if name == "runtime":
        return import_module("keras_tagging.runtime")
    if name in _HEAVY:
        start_keras()
    return _attribute(name)


register_when_imported()
