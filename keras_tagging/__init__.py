"""Recurrent sequence tagging and dependency parsing on Keras 3."""

from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

import lazy_loader

from keras_tagging.utils.registration import register_when_imported
from keras_tagging.utils.startup import start_keras

# Each name is imported on first use: Keras and TensorFlow take seconds.
_LIGHT = {
    "architectures": ["available"],
    "corpora": ["describe", "load_corpus"],
    "data": ["Corpus", "CorpusError", "Entity", "Sentence", "Span", "Token"],
    "models.distillation": ["SoftTargets"],
    "pipelines.any_model": ["load"],
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
        "ProjectedRNN",
        "TransitionScorer",
    ],
    "models": [
        "BiaffineParser",
        "Ensemble",
        "Parser",
        "Segmenter",
        "Tagger",
        "build",
    ],
}
_attribute, _, __all__ = lazy_loader.attach(__name__, submod_attrs=_LIGHT | _WITH_KERAS)
_LAYERS = {*_WITH_KERAS["cells"], *_WITH_KERAS["layers"]}
_HEAVY = {name for names in _WITH_KERAS.values() for name in names}
# the sub-packages, and a module that has a name of its own here
_ROOMS = {m.name: f"{__name__}.{m.name}" for m in iter_modules(__path__) if m.ispkg}
_ROOMS["papers"] = "keras_tagging.experiments.papers"


def __getattr__(name):
    if name == "__version__":
        return version("keras-tagging")
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name in _HEAVY:
        start_keras(layers_alone=name in _LAYERS)
    return _attribute(name)


def __dir__():
    return sorted({*__all__, *_ROOMS})


register_when_imported()
