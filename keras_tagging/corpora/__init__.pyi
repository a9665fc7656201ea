# See `keras_tagging/__init__.pyi`.

from .describe import describe as describe
from .entities import add_entities as add_entities
from .loading import hold_out as hold_out
from .loading import load_corpus as load_corpus
from .loading import load_treebank as load_treebank
from .public import PUBLIC as PUBLIC
