"""Recurrent sequence tagging on Keras 3."""

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from keras_tagging.data import Corpus, CorpusError, Sentence, load_corpus

# The command line and the scripts of data_prep import TensorFlow only where they need
# it: it takes seconds, and talks meanwhile. Everywhere else the tagger is imported, and
# thereby registered, at once: `keras.saving.load_model` must find it. `python -m` calls
# its script "-m" here.
if (
    Path(sys.argv[0]).stem == "keras-tagging"
    or Path(sys.argv[0]).absolute().parent.name == "data_prep"
    or (sys.argv[0] == "-m" and "keras_tagging" in sys.orig_argv)
):

    def __getattr__(name):
        if name in ("Parser", "Tagger", "available", "build", "load"):
            return getattr(import_module("keras_tagging.models.factory"), name)
        if name == "compare":
            return import_module("keras_tagging.experiments.comparison").compare
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

else:
    from keras_tagging.experiments.comparison import compare
    from keras_tagging.models.factory import available, build, load
    from keras_tagging.models.parser import Parser
    from keras_tagging.models.tagger import Tagger

__version__ = version("keras-tagging")

__all__ = [
    "Corpus",
    "CorpusError",
    "Parser",
    "Sentence",
    "Tagger",
    "available",
    "build",
    "compare",
    "load",
    "load_corpus",
]
