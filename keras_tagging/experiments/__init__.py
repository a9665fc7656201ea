"""The papers' tables as data; reproducing, comparing and analysing models."""

import lazy_loader

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__, submodules={"analysis", "comparison"}
)
