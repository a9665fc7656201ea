"""Helpers for all rooms: limits, checks, atomic files, seeds."""

import lazy_loader

# a module that the documentation names, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
