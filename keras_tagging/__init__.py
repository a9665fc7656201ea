"""Recurrent sequence tagging and dependency parsing on Keras 3."""

from importlib.metadata import version
from pkgutil import iter_modules

import lazy_loader

from keras_tagging.utils.registration import register_when_imported

# Each name is imported on first use: Keras and TensorFlow take seconds. `__init__.pyi`
# says where it is, to editors too; the rooms start Keras where it is needed.
_attribute, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
# `import *` leaves the rooms alone
_ROOMS = {m.name for m in iter_modules(__path__)} | {"papers"}
__all__ = [name for name in _names if name not in _ROOMS]


def __getattr__(name):
    return version("keras-tagging") if name == "__version__" else _attribute(name)


register_when_imported()
