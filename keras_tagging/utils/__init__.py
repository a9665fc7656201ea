"""Helpers for all rooms: limits, checks, atomic files, seeds."""

import lazy_loader

# a module that the documentation names, imported on first use
__getattr__, _, _ = lazy_loader.attach(__name__, submodules={"limits"})
