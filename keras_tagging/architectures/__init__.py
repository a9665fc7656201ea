"""The architectures by name: one file a paper, and the networks that they share."""

from collections.abc import Mapping

from keras_tagging.architectures.architecture import RECIPES, Architecture, Settings
from keras_tagging.architectures.dinarelli2016 import (
    ELMAN_RNN,
    I_RNN,
    IE_RNN,
    JORDAN_RNN,
)
from keras_tagging.architectures.elkaref2017 import (
    ELMAN_PARSER,
    FFN_PARSER,
    GRU_PARSER,
    LSTM_PARSER,
)
from keras_tagging.architectures.kadari2018 import BIGRU
from keras_tagging.architectures.lample2016 import BILSTM_CRF
from keras_tagging.architectures.straka2017 import SEGMENTER
from keras_tagging.architectures.wu2016 import (
    BILSTM,
    HIGHWAY_BILSTM,
    RHN,
    SKIP_BILSTM,
)
from keras_tagging.architectures.wu2017 import SHORTCUT_BILSTM
from keras_tagging.utils.suggestions import check_known

_IN_ORDER = (
    *(BIGRU, SKIP_BILSTM, SHORTCUT_BILSTM, HIGHWAY_BILSTM, RHN),
    *(ELMAN_RNN, JORDAN_RNN, I_RNN, IE_RNN),
    *(BILSTM, BILSTM_CRF),
    *(FFN_PARSER, LSTM_PARSER, ELMAN_PARSER, GRU_PARSER),
    SEGMENTER,
)
ARCHITECTURES = {a.name: a for a in _IN_ORDER}
PARSERS = {name: a for name, a in ARCHITECTURES.items() if a.parses}
SEGMENTERS = {name: a for name, a in ARCHITECTURES.items() if a.segments}
TAGGERS = {name: a for name, a in ARCHITECTURES.items() if not (a.parses or a.segments)}


def available() -> list[str]:
    """The names of all architectures."""
    return list(ARCHITECTURES)


def architecture(name: str) -> Architecture:
    """The architecture of a name.

    Raises:
        ValueError: if there is none; the message names the nearest, and all.
    """
    check_known("architecture", name, ARCHITECTURES)
    return ARCHITECTURES[name]


def resolve_settings(
    name: str, recipe: str = "fast", overrides: Mapping[str, object] | None = None
) -> dict[str, object]:
    """All keywords of an architecture with their values, as `Architecture.settings`."""
    return architecture(name).settings(recipe, **(overrides or {})).flat()


__all__ = [
    "ARCHITECTURES",
    "PARSERS",
    "RECIPES",
    "SEGMENTERS",
    "TAGGERS",
    "Architecture",
    "Settings",
    "architecture",
    "available",
    "resolve_settings",
]
