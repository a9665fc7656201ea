"""The keywords of an architecture: which exist, and what the recipes set them to."""

import difflib
import inspect

from keras_tagging.features import TokenFeatures
from keras_tagging.models import ARCHITECTURES
from keras_tagging.training.recipes import compile_settings, fit_settings

RECIPES = ("fast", "paper")
# keywords for which None means: none
OPTIONAL = {"normalise", "batch_size", "token_budget", "decay", "clipnorm"}
# given by the Tagger itself, or derived from the vectors
INTERNAL = {"self", "features", "num_tags", "seed", "vector_dim"}
TAGGER = {"vectors": None, "min_count": 1}


def keywords(function) -> dict:
    """Keyword parameters of a function and their defaults."""
    parameters = inspect.signature(function).parameters
    return {k: p.default for k, p in parameters.items() if k not in INTERNAL}


def choose(settings: dict, function) -> dict:
    """Those of the settings that the function takes."""
    return {k: v for k, v in settings.items() if k in keywords(function)}


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
    settings = dict(TAGGER)
    for function in (
        TokenFeatures.__init__,
        module.build_network,
        compile_settings,
        fit_settings,
    ):
        settings |= keywords(function)
    settings["vectors"] = None
    settings |= module.PAPER
    if recipe == "fast":
        settings |= module.FAST
    for name in overrides:
        check_known(f"{architecture} keyword", name, sorted(settings))
    checked = {k: check_value(k, v, settings[k]) for k, v in overrides.items()}
    settings |= checked
    fit_settings(**choose(settings, fit_settings))  # refuses what it does not know
    # one of the two decides; an override of either switches the other off
    if overrides.get("batch_size") and "token_budget" not in overrides:
        settings["token_budget"] = None
    if overrides.get("token_budget") and "batch_size" not in overrides:
        settings["batch_size"] = None
    return settings


def check_value(name: str, value, default):
    """The value if it is of the default's type; one item for a tuple becomes one.

    Raises:
        ValueError: for another type, a negative number, a share of 1 or more.
    """
    if isinstance(default, tuple):
        return (value,) if isinstance(value, str | int) else tuple(value)
    if default is None or (value is None and name in OPTIONAL):
        return value
    number = isinstance(default, int | float) and not isinstance(default, bool)
    kinds = int | float if isinstance(default, float) else type(default)
    wrong = not isinstance(value, kinds)
    if number and not wrong:
        least = 1 if name in ("units", "num_layers", "word_dim", "affix_dim") else 0
        share = "dropout" in name or name in ("unknown_rate", "label_smoothing")
        wrong = value < least or (share and value >= 1)
    if wrong:
        raise ValueError(
            f"{name}={value!r} is not possible; the default is {default!r}"
        )
    return float(value) if isinstance(default, float) else value


def check_known(kind: str, name: str, known) -> None:
    """Raises a ValueError that lists what is known, nearest match first."""
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")
