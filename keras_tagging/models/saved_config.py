"""What the configuration of a saved model may say, before anything is built of it.

A `.keras` file may be damaged or come from a stranger. Its configuration opens no file,
names no class but those of the package and of what Keras trains with, and asks for no
more memory than a model takes.
"""

import inspect
from collections.abc import Collection, Mapping
from reprlib import repr as short

import keras

from keras_tagging.architectures import Settings
from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.parsing import NUM_LABELS, NUM_NODES
from keras_tagging.utils import limits
from keras_tagging.utils.registration import find_class
from keras_tagging.utils.suggestions import check_known

#: settings that may be vectors: those that words start as, and a feature of K18's
PRETRAINED = ("embeddings", "vectors")
KEYS = {"name", "architecture", "settings", "seed", "vocabularies", "vector_dim"}
KEYS |= {"metadata"}
# modules of Keras' public names that `compile` takes things from
COMPILED = ("keras.optimizers", "keras.optimizers.schedules", "keras.losses")
COMPILED += ("keras.metrics", "builtins")
# where Keras has those that it makes on PyTorch
TORCH_OPTIMIZERS = "keras.src.backend.torch.optimizers."
CLASSES = (keras.Optimizer, keras.Loss, keras.Metric)
CLASSES += (keras.optimizers.schedules.LearningRateSchedule,)


def checked_config(cls: type, config: Mapping) -> dict:
    """What `get_config` of a tagger or parser gave, if it can be that.

    Args:
        cls: the class, whose `architectures` may be named.
        config: from a file, so it may be anything.

    Returns:
        The configuration; settings that an earlier version did not know have their
        defaults.

    Raises:
        ValueError: naming what is wrong, in one line.
    """
    _require(isinstance(config, Mapping), "the configuration", config, "an object")
    known = KEYS | set(inspect.signature(cls.__init__).parameters)
    known -= {"self", "kwargs", "pretrained"}
    for name in config:
        check_known("part of the configuration", name, sorted(known))
    name = config.get("architecture")
    _require(isinstance(name, str), "architecture", name, "a name")
    check_known(f"architecture of a {cls.__name__}", name, cls.architectures)
    settings = checked_settings(name, config.get("settings"))

    seed, dim = config.get("seed"), config.get("vector_dim", 0)
    fits = seed is None or _is_count(seed, limits.NUMBER)
    _require(fits, "seed", seed, "an integer, not negative")
    most = limits.MODEL_UNITS
    _require(_is_count(dim, most), "vector_dim", dim, f"an integer of at most {most}")
    words = config.get("training_words")
    fits = words is None or _is_count(words, limits.NUMBER)
    _require(fits, "training_words", words, "an integer, not negative")
    metadata = config.get("metadata") or {}
    _require(isinstance(metadata, dict), "metadata", metadata, "an object")
    for part in ("corpus", "scores", "nonprojective", "bootstrap"):
        found = metadata.get(part, {})
        _require(isinstance(found, dict), f"metadata, {part}", found, "an object")

    vocabularies = config.get("vocabularies")
    if vocabularies is None:
        refuse_paths(settings)
    else:
        check_vocabularies(vocabularies)
    config = {**config, "settings": settings}
    if config.get("tagger") is not None:
        config["tagger"] = checked_config(cls.tagger_class, config["tagger"])
        ready = config["tagger"].get("vocabularies") is not None
        _require(ready, "vocabularies of the parser's tagger", None, "there")
    if (count := least_weights(config)) > limits.MODEL_WEIGHTS:
        raise ValueError(
            f"the settings ask for {count:,} weights or more, where "
            f"{limits.MODEL_WEIGHTS:,} are allowed"
        )
    return config


def checked_settings(architecture: str, settings) -> Settings:
    """All settings of an architecture, each of the type and size that it may have."""
    if isinstance(settings, Settings):  # a parser has checked those of its tagger
        return settings
    _require(isinstance(settings, dict), "settings", settings, "an object")
    for name in PRETRAINED:
        value = settings.get(name)
        fits = value is None or isinstance(value, str)
        _require(fits, name, value, "a description, or null")
    return architecture_named(architecture).restored(settings)


def refuse_paths(settings: Mapping) -> None:
    """Raises a ValueError if vectors would have to be read from a file."""
    for name in PRETRAINED:
        if settings.get(name) is not None:
            raise ValueError(
                f"{name}={short(settings[name])} without vocabularies: a saved model "
                "opens no other file; build a model with these vectors instead"
            )


def check_vocabularies(vocabularies, names: Collection[str] | None = None) -> None:
    """Refuses vocabularies that are not lists of strings.

    Args:
        vocabularies: by their names.
        names: those that the model needs; None: any.

    Raises:
        ValueError: naming the first that is wrong.
    """
    _require(isinstance(vocabularies, Mapping), "vocabularies", vocabularies, "lists")
    if names is not None and set(names) != set(vocabularies):
        raise ValueError(
            f"the vocabularies are {', '.join(sorted(vocabularies))}, where the "
            f"settings need {', '.join(sorted(names))}"
        )
    for name, words in vocabularies.items():
        fits = isinstance(words, list | tuple) and all(type(x) is str for x in words)
        _require(fits, f"vocabulary {name}", words, "a list of strings")
        if name in ("tags", "labels"):
            _require(bool(words), f"vocabulary {name}", words, "not empty")


def least_weights(config: Mapping) -> int:
    """How many weights a model has at least: an estimate from below, by its settings.

    Its tables are counted as they are, of each cell no more than one gate. So it is at
    most some thirty times too low, and a file that is smaller than this cannot hold the
    model.
    """
    settings, vocabularies = config["settings"], config.get("vocabularies")
    if vocabularies is None:
        return 0
    if tagger := config.get("tagger"):
        return least_weights(tagger) + least_weights({**config, "tagger": None})
    dims = {"word": settings["word_dim"], "character": settings["character_dim"]}
    dims["vector"] = config.get("vector_dim", 0)
    dims["letters"] = settings["character_embedding_dim"]
    kind = settings["character_network"]
    outputs = {"tags", "labels", "spelling"}
    tables = {k: dims.get(k, settings["affix_dim"]) for k in {*vocabularies} - outputs}
    count = sum(len(vocabularies[name]) * dim for name, dim in tables.items())

    inputs = sum(tables.values())
    if "letters" in tables:
        # three gates that read a character and the state before, in two directions, or
        # filters that read three characters
        size = settings.letters.size
        reads = tables["letters"] + (kind != "cnn") * settings["character_units"]
        count += 3 * size * reads
        inputs += size - tables["letters"]
    if "character" in tables:
        inputs += (2 * settings["characters"] - 1) * tables["character"]
    inputs *= max(1, settings.get("window", 0))
    if settings.get("window_over") == "words" and settings.get("window", 0) > 1:
        inputs = settings["window"] * tables.get("word", 0)
    units, label_dim = settings["units"], settings.get("label_dim", 0)
    if "labels" in vocabularies:
        labels = len(vocabularies["labels"])
        if settings["encoder"]:
            count += stack_weights(
                inputs, settings["encoder_units"], settings["encoder_layers"]
            )
            inputs = 2 * settings["encoder_units"]
        count += labels * (label_dim + 2 * units)
        return count + (NUM_NODES * inputs + NUM_LABELS * label_dim) * units
    tags = len(vocabularies.get("tags", ()))
    if "num_layers" not in settings:  # a network that reads its labels
        if settings["label_input"] == "embedding" and settings["label_context"]:
            inputs += settings["label_context"] * label_dim
            count += tags * label_dim
        count += settings["hidden_context"] * units * units
        return count + units * (inputs + tags)
    count += stack_weights(inputs, units, settings["num_layers"])
    if settings["hidden_layer"]:
        count += 2 * units * units
    if settings["decoder"] == "crf":
        count += tags * tags
    if settings["decoder"] == "i-rnn":
        inputs = 2 * units + settings["label_context"] * label_dim
        units = settings["label_units"]
        count += units * inputs + tags * label_dim * min(1, settings["label_context"])
    return count + units * tags


def stack_weights(inputs: int, units: int, layers: int) -> int:
    """Those of one gate of a bidirectional stack, at least."""
    return units * (inputs + 2 * (2 * layers - 1) * units)


def check_compile_config(config) -> None:
    """Refuses in what a model was compiled with all but optimizers, losses, metrics.

    Keras would make any layer of its own here, also one that opens a file.

    Raises:
        ValueError: naming the class.
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
        found = find_class(keras, registered)
        if isinstance(found, type):
            return issubclass(found, CLASSES)
        if found is not None:
            return name == "function"
    if isinstance(module, str) and module.startswith(TORCH_OPTIMIZERS):
        return True
    return module in COMPILED or (module, name) == ("keras", "DTypePolicy")


def _is_count(value, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _require(fits: bool, name: str, value, what: str) -> None:
    if not fits:
        raise ValueError(f"{name} is {short(value)}, where it should be {what}")
