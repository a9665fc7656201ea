"""The keywords of an architecture: which exist, and what the recipes set them to."""

import difflib
import inspect
import math
from collections.abc import Iterable

from keras_tagging.architectures import ARCHITECTURES, PARSERS, TAGGERS
from keras_tagging.architectures.embedding import INITIALIZERS, WINDOWS_OVER
from keras_tagging.architectures.label_network import DIRECTIONS
from keras_tagging.architectures.parser_network import ENCODERS
from keras_tagging.data.trees import NONPROJECTIVE
from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.layers.label_embedding_rnn import COMBINATIONS, LABEL_INPUTS
from keras_tagging.layers.transition_scorer import DROPPED
from keras_tagging.layers.truncation import TRUNCATIONS
from keras_tagging.training.recipes import compile_settings, fit_settings
from keras_tagging.utils import limits

RECIPES = ("fast", "paper")
# keywords for which None means: none
OPTIONAL = {"normalise", "batch_size", "token_budget", "decay", "clipnorm"}
OPTIONAL |= {
    "label_input",
    "pretrain",
    "skip",
    "gate",
    "internal",
    "output",
    "input_layer",
    "truncation_limit",
    "tags",
    "monitor",
}
# given by the Tagger itself, or derived from the vectors
INTERNAL = {"seed", "vector_dim", "num_labels", "dtype", "go_backwards"}
INTERNAL |= {"kernel_initializer", "label_initializer"}
INTERNAL |= {"future_label_context", "future_hidden_context"}
AT_LEAST_1 = {"units", "num_layers", "word_dim", "affix_dim", "character_dim"}
AT_LEAST_1 |= {"label_dim", "label_units", "beam_width", "truncation_limit"}
AT_LEAST_1 |= {"encoder_units", "encoder_layers", "batch_size", "token_budget"}
SIZES = ("units", "word_dim", "affix_dim", "character_dim", "label_dim", "label_units")
PARTS = ("num_layers", "encoder_layers", "depth", "window", "characters")
PARTS += ("label_context", "hidden_context")
AT_MOST = dict.fromkeys((*SIZES, "encoder_units"), limits.MODEL_UNITS)
AT_MOST |= dict.fromkeys(PARTS, limits.MODEL_PARTS)
AT_MOST |= dict.fromkeys(("beam_width", "truncation_limit"), limits.MODEL_STEPS)
# what a number looks like whose default may be None
NUMBERS = {"batch_size": 1, "token_budget": 1, "clipnorm": 1.0}
SHARES = {"unknown_rate", "label_smoothing", "weight_average"}
CHOICES = {
    "window_over": WINDOWS_OVER,
    "merge": ("top", "layer"),
    "input_layer": ("tanh", "linear"),
    "dropped_layers": ("all", "ends"),
    "initializer": INITIALIZERS,
    "direction": DIRECTIONS,
    "label_input": LABEL_INPUTS,
    "combine": COMBINATIONS,
    "dropped": DROPPED,
    "truncation": TRUNCATIONS,
    "encoder": ENCODERS,
    "encoder_merge": ("top", "layer"),
    "nonprojective": NONPROJECTIVE,
    "tagger": TAGGERS,
    "monitor": ("val_accuracy", "val_f1"),  # `fit` takes any figure
}
# of the layer that reads labels
LABEL_DECODER = ("label_units", "label_dim", "label_context", "label_activation")
LABEL_DECODER += ("feedback", "beam_width")
TAGGER = {"embeddings": None, "vectors": None, "min_count": 1, "pretrain": None}
TAGGER |= {"monitor": None}
PARSER = {"embeddings": None, "tags": "gold", "nonprojective": "skip"}
PARSER |= {"tagger": "bigru", "folds": 5, "tagger_epochs": 5}  # of predicted tags


def keywords(function) -> dict:
    """Keyword parameters of a function, or class, and their defaults."""
    parameters = inspect.signature(function).parameters
    return {
        name: parameter.default
        for name, parameter in parameters.items()
        if parameter.default is not parameter.empty and name not in INTERNAL
    }


def choose(settings: dict, *functions) -> dict:
    """Those of the settings that one of the functions takes."""
    known = set().union(*map(keywords, functions))
    return {k: v for k, v in settings.items() if k in known}


def resolve_settings(architecture: str, recipe: str, overrides: dict) -> dict:
    """All keywords of an architecture with their values.

    Defaults come first, then the paper's settings, then those of the fast recipe
    if it is chosen, then the overrides.

    Raises:
        ValueError: for an unknown architecture, recipe or keyword; the message
            lists the known ones and the nearest match.
    """
    check_known("architecture", architecture, ARCHITECTURES)
    check_known("recipe", recipe, RECIPES)
    module = ARCHITECTURES[architecture]
    settings = default_settings(architecture) | module.PAPER
    if recipe == "fast":
        settings |= module.FAST
    if architecture in PARSERS and "vectors" in overrides:
        raise ValueError(
            f"vectors= are a feature of taggers: the words of {architecture} start as "
            "those of embeddings="
        )
    for name in overrides:
        check_known(f"{architecture} keyword", name, sorted(settings))
    checked = {k: check_value(k, v, settings[k]) for k, v in overrides.items()}
    settings |= checked
    check_label_options(settings, overrides)
    check_owners(architecture, settings)
    # one of the two decides; an override of either switches the other off
    if overrides.get("batch_size") and "token_budget" not in overrides:
        settings["token_budget"] = None
    if overrides.get("token_budget") and "batch_size" not in overrides:
        settings["batch_size"] = None
    return settings


def default_settings(architecture: str) -> dict:
    """All keywords of an architecture with the defaults of their functions."""
    module = ARCHITECTURES[architecture]
    settings = dict(PARSER if architecture in PARSERS else TAGGER)
    for function in (
        TokenFeatures,
        module.CELL,
        module.build_network,
        compile_settings,
        fit_settings,
    ):
        settings |= keywords(function)
    settings.pop("vectors")  # the switch of `TokenFeatures`, which a file turns on
    if architecture in TAGGERS:
        settings["vectors"] = None
    return settings


def check_owners(architecture: str, settings: dict) -> None:
    """Has the owners of settings refuse what they do not know, or what contradicts
    itself; nothing is built.

    Raises:
        ValueError: naming the setting.
    """
    cell = ARCHITECTURES[architecture].CELL
    options = choose(settings, cell)
    options.pop("feedback", None)  # `check_value` knows it; it may be a schedule
    cell(settings["units"], **options)
    fit_settings(**choose(settings, fit_settings))
    check_embeddings(settings)


def check_label_options(settings: dict, overrides: dict) -> None:
    """Refuses what only a network that reads labels has, and this one is none.

    Raises:
        ValueError: naming the option and why it has no effect.
    """
    decoder = settings.get("decoder", "i-rnn")
    label_input = settings.get("label_input", "embedding")
    for name in LABEL_DECODER:
        if name in overrides and decoder != "i-rnn":
            raise ValueError(
                f"{name}={overrides[name]!r} is of decoder='i-rnn': "
                f"decoder={decoder!r} reads no labels"
            )
    reads = {"feedback": ("embedding", "one-hot", "probabilities")}
    reads["beam_width"] = ("embedding", "one-hot")
    for name, needed in reads.items():
        if overrides.get(name, 1) != 1 and label_input not in needed:
            raise ValueError(
                f"{name}={overrides[name]!r} has no effect with "
                f"label_input={label_input!r}: it needs {' or '.join(needed)}"
            )


def check_embeddings(settings: dict) -> None:
    """Refuses what contradicts the vectors that the word table starts as.

    Raises:
        ValueError: naming the option and why it has no effect.
    """
    if settings["embeddings"] is None and not settings["trainable"]:
        raise ValueError(
            "trainable=False is of embeddings=: random ones are to be trained"
        )
    if settings["embeddings"] is not None and not settings["words"]:
        raise ValueError("embeddings= are those of words: give words=True")


def check_value(name: str, value, default):
    """The value if it is of the default's type; one item for a tuple becomes one.

    Raises:
        ValueError: for another type, a number that is negative or not finite, a size
            beyond `utils.limits`, a share of 1 or more, an even window, a choice that
            does not exist.
    """
    if name == "feedback":
        if isinstance(value, (list, tuple)):
            shares = [x for x in value if type(x) in (int, float) and 0 <= x <= 1]
            if len(shares) == len(value) == 2:
                return tuple(value)
        LabelEmbeddingRNN(1, 1, feedback=value)  # which refuses what it does not know
        return value
    if isinstance(default, tuple):
        return check_items(name, value, default)
    if value is None and (default is None or name in OPTIONAL):
        return value
    like = NUMBERS.get(name, default)
    number = isinstance(like, int | float) and not isinstance(like, bool)
    kinds = int | float if isinstance(like, float) else type(like)
    wrong = like is not None and not isinstance(value, kinds)
    wrong |= number and isinstance(value, bool)
    if choices := CHOICES.get(name):
        wrong |= value not in tuple(choices)
    if number and not wrong:
        most = AT_MOST.get(name, limits.NUMBER)
        wrong = not abs(value) <= most  # which NaN is not either
        least = 1 if name in AT_LEAST_1 else 0
        least = -math.inf if name.endswith("_bias") else least
        share = "dropout" in name or name in SHARES
        wrong |= value < least or (share and value >= 1)
        wrong |= name == "window" and value > 0 and value % 2 == 0
    if wrong:
        choices = ", ".join(map(repr, CHOICES.get(name, ())))
        known = f"known are {choices}; " if choices else ""
        if near := nearest(value, filter(None, CHOICES.get(name, ()))):
            known = f"did you mean {near!r}? {known}"
        known = "an odd number or 0; " if name == "window" else known
        if name in AT_MOST:
            known += f"at most {AT_MOST[name]:,}; "
        raise ValueError(
            f"{name}={value!r} is not possible; {known}the default is {default!r}"
        )
    return float(value) if isinstance(like, float) else value


def check_items(name: str, value, default: tuple) -> tuple:
    """Several values, or one alone, as a tuple: names of columns, lengths of affixes.

    Raises:
        ValueError: if they are none, or too many or too long.
    """
    items = (value,) if isinstance(value, str | int) else value
    items = tuple(items) if isinstance(items, Iterable) else (None,)
    kind, most = (str, "") if name == "columns" else (int, limits.MODEL_STEPS)
    right = all(type(x) is kind and (kind is str or 1 <= x <= most) for x in items)
    if not right or len(items) > limits.MODEL_PARTS:
        what = "names" if kind is str else f"numbers from 1 to {most}"
        raise ValueError(
            f"{name}={value!r} is not possible; give at most {limits.MODEL_PARTS} "
            f"{what}; the default is {default!r}"
        )
    return items


def check_known(kind: str, name: str, known) -> None:
    """Raises a ValueError that lists what is known, nearest match first."""
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {near!r}?" if near else "."
        raise ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")


def nearest(name, known) -> str | None:
    """The known name that is most like this one, if any is."""
    near = difflib.get_close_matches(str(name)[:99], known, n=1, cutoff=0.5)
    return near[0] if near else None
