"""The kinds of models, and how what a network answers becomes a sentence.

No Keras here: the service, ONNX Runtime and the command line know kinds too.
"""

from keras_tagging.kinds.kind import (
    Kind,
    Output,
    each,
    find,
    named,
    of,
    register,
    registered,
)
from keras_tagging.kinds.table import (
    CCG_PARSER,
    CCG_SHIFT_REDUCE,
    PARSER,
    PIPELINE,
    SEGMENTER,
    TAGGER,
)

__all__ = [
    "CCG_PARSER",
    "CCG_SHIFT_REDUCE",
    "PARSER",
    "PIPELINE",
    "SEGMENTER",
    "TAGGER",
    "Kind",
    "Output",
    "each",
    "find",
    "named",
    "of",
    "register",
    "registered",
]
