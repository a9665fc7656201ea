"""Registration of this package's classes with Keras, without importing them.

`keras.saving.load_model` looks up registered classes. Ours are registered when their
module is imported, which imports TensorFlow and takes seconds. So Keras gets stand-ins
as soon as both Keras and this package are imported. A stand-in imports its class when a
model needs it.
"""

from importlib import import_module

import wrapt

PACKAGE = "keras_tagging"
#: the registered classes, by the room or the module that has them
PLACES = {
    "cells": "CoupledLSTMCell ElmanCell FeedForwardCell GRUCell HighwayLSTMCell "
    "LabelEmbeddingCell RecurrentHighwayCell ShortcutBlockCell SkipLSTMCell "
    "SkipStackCell",
    "layers": "ArcLabels BiaffineHeads BidirectionalStack CRF CRFAccuracy CRFLoss "
    "CharacterEncoder ChunkDecoder ContextWindow LabelEmbeddingRNN ProjectedRNN "
    "TransitionScorer WordClassEmbedding",
    "training.adam": "Adam",
    "training.objectives": "TagLoss TokenAccuracy TokenCrossEntropy",
    "pipelines.backbone": "Backbone",
    "models": "BiaffineParser CCGParser Parser Segmenter ShiftReduceParser Tagger",
}
CLASSES = {name: place for place, names in PLACES.items() for name in names.split()}


def register_with(keras) -> None:
    """Give Keras a stand-in for each class whose module is not imported yet."""
    registered = keras.saving.get_custom_objects()
    for name, module in CLASSES.items():
        registered.setdefault(
            f"{PACKAGE}>{name}", _stand_in(name, f"{PACKAGE}.{module}")
        )


def find_class(keras, registered_name: str):
    """The class or function registered under a name, imported if necessary; or None."""
    package, _, name = registered_name.partition(">")
    if package == PACKAGE and name in CLASSES:
        return getattr(import_module(f"{PACKAGE}.{CLASSES[name]}"), name)
    return keras.saving.get_registered_object(registered_name)


def _stand_in(name: str, module: str) -> type:
    def from_config(config, **options):
        return getattr(import_module(module), name).from_config(config, **options)

    return type(name, (), {"from_config": staticmethod(from_config)})


def register_when_imported() -> None:
    """Register the classes now if Keras is imported, otherwise when it is."""
    wrapt.register_post_import_hook(register_with, "keras")
