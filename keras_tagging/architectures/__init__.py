"""The architectures by name: one file a paper, and the networks that they share."""

from collections.abc import Mapping

from keras_tagging import kinds
from keras_tagging.architectures.architecture import RECIPES, Architecture, Settings
from keras_tagging.utils.checks import check_known


def of_kind(name: str) -> dict[str, Architecture]:
    """The architectures of a kind of models, by name."""
    return {each.name: each for each in kinds.find(name).at("architectures")}


def architectures() -> dict[str, Architecture]:
    """The architectures of all kinds, by name."""
    return {x.name: x for _, of_kind in kinds.each("architectures") for x in of_kind}


def available() -> list[str]:
    """The names of all architectures."""
    return list(architectures())


def architecture(name: str) -> Architecture:
    """The architecture of a name.

    Raises:
        ValueError: if there is none; the message names the nearest, and all.
    """
    by_name = architectures()
    check_known("architecture", name, by_name)
    return by_name[name]


def resolve_settings(
    name: str, recipe: str = "fast", overrides: Mapping[str, object] | None = None
) -> dict[str, object]:
    """All keywords of an architecture with their values, as `Architecture.settings`."""
    return architecture(name).settings(recipe, **(overrides or {})).flat()


_TABLES = {"TAGGERS": "tagger", "PARSERS": "parser", "SEGMENTERS": "segmenter"}


def __getattr__(name):
    if name == "ARCHITECTURES":
        return architectures()
    if name in _TABLES:
        return of_kind(_TABLES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ARCHITECTURES",
    "PARSERS",
    "RECIPES",
    "SEGMENTERS",
    "TAGGERS",
    "Architecture",
    "Settings",
    "architecture",
    "architectures",
    "available",
    "of_kind",
    "resolve_settings",
]
