"""Registration of this package's classes with Keras, without importing them.

`keras.saving.load_model` looks up registered classes. Ours are registered when their
module is imported, which imports TensorFlow and takes seconds. So Keras gets stand-ins
as soon as both Keras and this package are imported. A stand-in imports its class when a
model needs it.
"""

from importlib import import_module

import wrapt

PACKAGE = "keras_tagging"
#: every registered class, and the module that registers it
CLASSES = {
    "CoupledLSTMCell": "cells.coupled_lstm_cell",
    "ElmanCell": "cells.elman_cell",
    "FeedForwardCell": "cells.feed_forward_cell",
    "GRUCell": "cells.gru_cell",
    "HighwayLSTMCell": "cells.highway_lstm_cell",
    "LabelEmbeddingCell": "cells.label_embedding_cell",
    "RecurrentHighwayCell": "cells.recurrent_highway_cell",
    "ShortcutBlockCell": "cells.shortcut_block_cell",
    "SkipLSTMCell": "cells.skip_lstm_cell",
    "SkipStackCell": "cells.skip_stack_cell",
    "ArcLabels": "layers.biaffine",
    "BiaffineHeads": "layers.biaffine",
    "BidirectionalStack": "layers.bidirectional_stack",
    "CRF": "layers.crf",
    "CRFAccuracy": "layers.crf",
    "CRFLoss": "layers.crf",
    "CharacterEncoder": "layers.character_encoder",
    "ChunkDecoder": "layers.chunk_decoder",
    "ContextWindow": "layers.context_window",
    "LabelEmbeddingRNN": "layers.label_embedding_rnn",
    "ProjectedRNN": "layers.projected_rnn",
    "TransitionScorer": "layers.transition_scorer",
    "WordClassEmbedding": "layers.word_class_embedding",
    "Adam": "training.adam",
    "TagLoss": "training.objectives",
    "TokenAccuracy": "training.objectives",
    "TokenCrossEntropy": "training.objectives",
    "BiaffineParser": "models.parser.biaffine_parser",
    "CCGParser": "models.ccg.ccg_parser",
    "Parser": "models.parser.parser",
    "Segmenter": "models.segmenter.segmenter",
    "ShiftReduceParser": "models.ccg.shift_reduce_parser",
    "Tagger": "models.tagger.tagger",
}


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
