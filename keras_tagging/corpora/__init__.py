"""Corpora by name or path, and what they contain. No Keras here."""

import lazy_loader

# pandas, and what downloads, are imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
