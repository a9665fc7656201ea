# See `keras_tagging/__init__.pyi`.

from . import limits as limits
