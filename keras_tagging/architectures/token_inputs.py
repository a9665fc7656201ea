"""The settings of what every network begins with: look-up tables and a window."""

from dataclasses import dataclass
from typing import Literal

from keras_tagging.utils.checks import (
    Share,
    Units,
    Window,
    check_fields,
)


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """The sizes of the look-up tables, and how all weights start.

    Args:
        word_dim: of the word embeddings.
        affix_dim: of the embeddings of each suffix, prefix, shape, capitalisation and
            further column.
        character_dim: of the embedding of each of the first and last characters.
        trainable: whether the word embeddings are trained.
        initializer: of all weights but the orthogonal recurrent ones: "glorot" (Keras'
            own), "gaussian" (Wu et al.) or "uniform" (Elkaref & Bohnet).
    """

    word_dim: Units = 100
    affix_dim: Units = 5
    character_dim: Units = 5
    trainable: bool = True
    initializer: Literal["glorot", "gaussian", "uniform"] = "glorot"

    def __post_init__(self):
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class ContextWindow:
    """The window of words that a tagger reads around each token.

    Args:
        window: positions, an odd number; 0 and 1 are the current token alone.
        window_over: "words" (word and pretrained vector) or "features" (everything).
        window_gated: whether a gate weighs each position.
        window_dropout: share of the positions that are dropped in training.
    """

    window: Window = 0
    window_over: Literal["words", "features"] = "words"
    window_gated: bool = False
    window_dropout: Share = 0.0

    def __post_init__(self):
        check_fields(self)
