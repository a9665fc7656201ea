# See `keras_tagging/__init__.pyi`.

from . import papers as papers
from .comparison import compare as compare
