"""Names of a room that are imported on first use, those with Keras quietly."""

from collections.abc import Callable, Mapping, Sequence

import lazy_loader

from keras_tagging.utils.startup import start_keras


def attach(
    package: str,
    modules: Mapping[str, Sequence[str]],
    light: Sequence[str] = (),
    layers_alone: bool = False,
) -> tuple[Callable, Callable, list[str]]:
    """As `lazy_loader.attach`: Keras and TensorFlow take seconds.

    TensorFlow is imported by `start_keras`, without its start-up messages.

    Args:
        package: the name of the room.
        modules: the names that each of its modules has.
        light: the modules that need no Keras.
        layers_alone: as for `start_keras`.

    Returns:
        `__getattr__`, `__dir__` and `__all__` of the room.
    """
    imported, listed, names = lazy_loader.attach(package, submod_attrs=dict(modules))
    heavy = {name for key in modules.keys() - {*light} for name in modules[key]}

    def attribute(name: str):
        if name in heavy:
            start_keras(layers_alone=layers_alone)
        return imported(name)

    return attribute, listed, names
