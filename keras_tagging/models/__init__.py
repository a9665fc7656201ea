"""The architectures: one a file, each ending in its paper's settings."""

from keras_tagging.models import bigru

#: name -> module with `build_network`, `PAPER` and `FAST`
ARCHITECTURES = {"bigru": bigru}

__all__ = ["ARCHITECTURES"]
