"""Sentences, and the file formats they are read from and written to. No Keras here."""

import lazy_loader

# pandas and other libraries are imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
