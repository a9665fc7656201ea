"""Checks of a `.keras` file, before Keras reads it and anything is built.

It may be damaged or come from a stranger. It must be undamaged, small enough and ours.
Its configuration must not open files, name classes other than the package's and Keras'
optimizers, losses and metrics, or ask for more memory than a model takes.
"""

import inspect
import json
import math
import zipfile
from collections.abc import Collection, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from reprlib import repr as short
from typing import BinaryIO

import h5py
import keras
from keras.src.backend.common import global_state

from keras_tagging import kinds
from keras_tagging.architectures import Settings, of_kind
from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.encoding.label_columns import is_inventory
from keras_tagging.kinds.deriving import TRAIN_ANEW
from keras_tagging.kinds.predictor import Predictor
from keras_tagging.metrics import CHUNK_SCHEMES
from keras_tagging.utils import limits
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.registration import find_class

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
MEMBERS = {"metadata.json", CONFIG, WEIGHTS}
#: settings that may be read from files: initial word embeddings, a feature of K18, and
#: classes of words
PRETRAINED = ("embeddings", "vectors", "word_classes")
KEYS = {"name", "architecture", "settings", "seed", "vocabularies", "vector_dim"}
KEYS |= {"training_words", "metadata"}
# public modules of Keras with the classes that `compile` takes
COMPILED = ("keras.optimizers", "keras.optimizers.schedules", "keras.losses")
COMPILED += ("keras.metrics", "builtins")
# the module of the optimizers that Keras makes on PyTorch
TORCH_OPTIMIZERS = "keras.src.backend.torch.optimizers."
#: the weights that a network may have: see `few_weights`
_MOST = ContextVar("most weights", default=limits.MODEL_WEIGHTS)
CLASSES = (keras.Optimizer, keras.Loss, keras.Metric)
CLASSES += (keras.optimizers.schedules.LearningRateSchedule,)


# The file


def check_model_file(stream: BinaryIO) -> int:
    """Refuse a file that cannot come from `save` of a model.

    Every byte is read, and compared with the checksums of the archive, which Keras does
    not always do.

    Returns:
        The number of bytes of its weights.

    Raises:
        ValueError: if the file is damaged, too large or not a model.
        Exception: any other kind, from the readers of zip, JSON and HDF5.
    """
    with zipfile.ZipFile(stream) as archive:
        check_members(archive.infolist())
        if damaged := archive.testzip():
            raise ValueError(f"{damaged} is damaged: its checksum is wrong")
        content = json.loads(archive.read(CONFIG))
        check_content(content)
        return check_weights(archive)


def check_members(members: list[zipfile.ZipInfo]) -> None:
    """Refuse any members but those of a model, and members that expand too much."""
    names = [member.filename for member in members]
    if len(names) != len(MEMBERS) or set(names) != MEMBERS:
        listed = ", ".join(names[:5])[:100]
        raise ValueError(f"holds {listed} instead of {', '.join(sorted(MEMBERS))}")
    for member in members:
        size, most = member.file_size, limits.MODEL_EXPANSION * member.compress_size
        if size > limits.MODEL_SMALL_BYTES and size > most:
            raise ValueError(f"{member.filename} expands to {size:,} bytes")
        if member.filename != WEIGHTS and size > limits.MODEL_CONFIG_BYTES:
            raise ValueError(
                f"{member.filename} has {size:,} bytes, but at most "
                f"{limits.MODEL_CONFIG_BYTES:,} are allowed"
            )


def check_content(content) -> None:
    """Refuse a config.json that describes no model."""
    content = content if isinstance(content, dict) else {}
    name = content.get("registered_name")
    for _, model_class in kinds.each("model"):  # whose import registers it with Keras
        cls = find_class(keras, name) if isinstance(name, str) else None
        if isinstance(cls, type) and issubclass(cls, model_class):
            break
    else:
        held = str(content.get("class_name"))[:50]
        text = f"holds a {held}, not a {kinds.named()}"
        package, separator, _ = str(name).partition(">")
        if not separator:
            text += ": keras.saving.load_model opens a model of your own layers"
        elif package not in ("keras", "keras_tagging"):
            text += f": install the package that registers {name[:80]!r}"
        raise ValueError(text)
    check_compile_config(content.get("compile_config"))
    checked_config(cls, content.get("config"))


def check_weights(archive: zipfile.ZipFile) -> int:
    """Refuse weights that claim more bytes than the file has; return these."""
    size = archive.getinfo(WEIGHTS).file_size
    claimed = []
    with archive.open(WEIGHTS) as stream, h5py.File(stream, "r") as file:
        file.visititems(lambda _, item: claimed.append(getattr(item, "nbytes", 0)))
    if sum(claimed) > size:
        raise ValueError(f"{WEIGHTS} claims {sum(claimed):,} bytes and has {size:,}")
    return size


# Its configuration


def _is_whole(value, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_number(value) -> bool:
    return value is None or _is_whole(value, limits.NUMBER)


def _are_schemes(value) -> bool:
    schemes = value.values() if isinstance(value, dict) else [value]
    return all(x is None or x in CHUNK_SCHEMES for x in schemes)


def _are_names(value) -> bool:
    return isinstance(value, list | tuple) and all(type(x) is str for x in value)


#: what parts of a configuration must be, if they are there
PARTS = {
    "seed": (_is_number, "an integer, not negative"),
    "vector_dim": (
        lambda x: _is_whole(x, limits.MODEL_UNITS),
        f"an integer of at most {limits.MODEL_UNITS}",
    ),
    "training_words": (_is_number, "an integer, not negative"),
    "chunk_scheme": (_are_schemes, f"null or one of {', '.join(CHUNK_SCHEMES)}"),
    "frozen": (_are_names, "a list of layers"),
    "spaces": (lambda x: type(x) is bool, "true or false"),
}
#: the parts of the metadata that are objects
METADATA = ("corpus", "scores", "nonprojective", "bootstrap", "started_from", "tags")
METADATA += ("teacher",)


def checked_config(cls: type, config: Mapping) -> dict:
    """Check that a configuration may come from `get_config` of a model.

    Args:
        cls: the class; only the architectures of its kind are allowed.
        config: the configuration from a file, so it may be anything.

    Returns:
        The configuration; settings that an earlier version did not have get their
        defaults.

    Raises:
        ValueError: if it cannot be such a configuration; the message is one line.
    """
    _require(isinstance(config, Mapping), "the configuration", config, "an object")
    own = [base.__init__ for base in cls.__mro__ if issubclass(base, Predictor)]
    possible = KEYS.union(*(inspect.signature(x).parameters for x in own))
    possible -= {"self", "args", "kwargs", "given_vectors"}
    for name in config:
        check_known("part of the configuration", name, sorted(possible))
    name = config.get("architecture")
    _require(isinstance(name, str), "architecture", name, "a name")
    check_known(f"architecture of a {cls.__name__}", name, of_kind(cls.kind))
    settings = config.get("settings")
    if not isinstance(settings, Settings):  # a parser has checked those of its tagger
        _require(isinstance(settings, dict), "settings", settings, "an object")
        for part in PRETRAINED:
            value = settings.get(part)
            fits = value is None or isinstance(value, str)
            _require(fits, part, value, "a description, or null")
        if name == "ccg-parser" and "merge" in settings:
            raise ValueError(TRAIN_ANEW)
        settings = architecture_named(name).restored(settings)

    for part, (fits, what) in PARTS.items():
        if part in config:
            _require(fits(config[part]), part, config[part], what)
    metadata = config.get("metadata") or {}
    _require(isinstance(metadata, dict), "metadata", metadata, "an object")
    for part in METADATA:
        entry = metadata.get(part, {})
        _require(isinstance(entry, dict), f"metadata, {part}", entry, "an object")

    vocabularies = config.get("vocabularies")
    if vocabularies is None:
        refuse_paths(settings)
    else:
        check_vocabularies(vocabularies)
    if (parts := config.get("arc_labels")) is not None:
        possible = set((vocabularies or {}).get("labels", ()))
        fits = isinstance(parts, list | tuple) and len(parts) == 2
        fits = fits and all(
            _are_names(part) and part and possible.issuperset(part) for part in parts
        )
        _require(fits, "arc_labels", parts, "null or two lists of labels")
    config = {**config, "settings": settings}
    if config.get("tagger") is not None:
        config["tagger"] = checked_config(cls.tagger_class, config["tagger"])
        ready = config["tagger"].get("vocabularies") is not None
        _require(ready, "vocabularies of the parser's tagger", None, "there")
    return config


def refuse_paths(settings: Mapping) -> None:
    """Raise a ValueError if the settings need vectors from a file."""
    for name in PRETRAINED:
        if settings.get(name) is not None:
            raise ValueError(
                f"{name}={short(settings[name])} without vocabularies: a saved model "
                "opens no other file; build a model with these vectors instead"
            )


def check_vocabularies(vocabularies, names: Collection[str] | None = None) -> None:
    """Refuse vocabularies that are not lists of strings.

    Args:
        vocabularies: the vocabularies by name.
        names: the vocabularies that the model needs; None for any.

    Raises:
        ValueError: if one is missing or malformed; the message names it.
    """
    _require(isinstance(vocabularies, Mapping), "vocabularies", vocabularies, "lists")
    if names is not None and set(names) != set(vocabularies):
        raise ValueError(
            f"the vocabularies are {', '.join(sorted(vocabularies))}, but the "
            f"settings need {', '.join(sorted(names))}"
        )
    for name, words in vocabularies.items():
        _require(_are_names(words), f"vocabulary {name}", words, "a list of strings")
        if is_inventory(name):
            _require(bool(words), f"vocabulary {name}", words, "not empty")


@contextmanager
def few_weights():
    """Build a network in this scope, which gets no memory if it has too many weights.

    Keras gives variables that are made here their values at the end of the scope.

    Raises:
        ValueError: if there are more than `limits.MODEL_WEIGHTS`, or than the file of
            `weights_within` can hold.
    """
    with keras.StatelessScope():
        # Keras has no public name for the variables without values
        waiting = global_state.get_global_attribute(
            "uninitialized_variables", [], set_to_default=True
        )
        try:
            yield
            count, most = sum(math.prod(x.shape) for x in waiting), _MOST.get()
            if count > most:
                raise ValueError(
                    f"the settings ask for {count:,} weights, but at most {most:,} are "
                    "allowed in the file"
                )
        except BaseException:
            waiting.clear()
            raise


@contextmanager
def weights_within(size: int):
    """Limit `few_weights` to the weights that a file of some bytes can hold."""
    # two bytes a weight, because a model may have half precision
    token = _MOST.set(min(size // 2, limits.MODEL_WEIGHTS))
    try:
        yield
    finally:
        _MOST.reset(token)


def check_compile_config(config) -> None:
    """Refuse a compile configuration with anything but optimizers, losses and metrics.

    Keras would create any of its layers here, even one that opens a file.

    Raises:
        ValueError: for any other class; the message names it.
    """
    if isinstance(config, list):
        for item in config:
            check_compile_config(item)
    if not isinstance(config, dict):
        return
    if "class_name" in config and not _may_be_compiled(config):
        named = f"{config.get('module')}.{config['class_name']}"
        raise ValueError(
            f"compiled with {short(named)}: neither an optimizer, a loss nor a metric "
            "of Keras, nor registered as one"
        )
    if config.get("module") == "keras.metrics":
        options = config.get("config")
        for name, value in options.items() if isinstance(options, dict) else ():
            if isinstance(value, int | float) and abs(value) > limits.MODEL_STEPS:
                raise ValueError(
                    f"compiled with {config['class_name']}, {name}={value}: at most "
                    f"{limits.MODEL_STEPS} is allowed"
                )
    for value in config.values():
        check_compile_config(value)


def _may_be_compiled(config: Mapping) -> bool:
    module, name = config.get("module"), config["class_name"]
    registered = config.get("registered_name") or config.get("config")
    if isinstance(registered, str):
        target = find_class(keras, registered)
        if isinstance(target, type):
            return issubclass(target, CLASSES)
        if target is not None:
            return name == "function"
    if isinstance(module, str) and module.startswith(TORCH_OPTIMIZERS):
        return True
    return module in COMPILED or (module, name) == ("keras", "DTypePolicy")


def _require(fits: bool, name: str, value, what: str) -> None:
    if not fits:
        raise ValueError(f"{name} is {short(value)}, but should be {what}")
