"""A kind of models: what everybody but the models themselves must know of it."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import Literal

from keras_tagging.utils.installed import offered, only

#: the entry points by which an installed package offers a `Kind`
GROUP = "keras_tagging.kinds"


def _check(name: str, value, possible: tuple) -> None:
    if value not in possible:
        listed = ", ".join(map(repr, possible))
        raise ValueError(f"{name}={value!r}: possible are {listed}")


@dataclass(frozen=True)
class Output:
    """An output of an exported model: a value for each token, or several.

    Args:
        type: of ONNX: "string", "float" or "int32".
        padding: its value beyond the end of a sentence.
        ranked: whether it has an axis more than `(batch, time)`.
        served: whether the service gives it.
        optional: whether a file may lack it.
    """

    type: Literal["string", "float", "int32"]
    padding: str | float | int
    ranked: bool = False
    served: bool = True
    optional: bool = False

    def __post_init__(self):
        _check("type", self.type, ("string", "float", "int32"))

    @property
    def rank(self) -> int:
        """The number of its axes."""
        return 2 + self.ranked


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of models: tagger, parser, segmenter, pipeline, or one that you add.

    A model file, an ONNX file, a part of a pipeline and a service name a kind, and
    whoever reads the name asks `find`. A place in code is written "module:NAME", and
    imported when it is needed.

    Args:
        name: one word, as in "runs/x holds a tagger". Models have it as `kind`.
        model: place of the class of its models, a `SentenceModel`.
        architectures: places of each `Architecture` that `build` finds.
        runtime: place of the class that runs its ONNX files, an `OnnxModel`; None if
            there are none.
        graph: place of the function that computes its ONNX file: see `onnx.graphs`.
        ensemble: place of the class of its ensembles, an `Ensemble`; None if there are
            none.
        reads: "tokens", or "text" if its models find the tokens themselves.
        learns: the annotation of its corpora: "tags", "trees", "derivations",
            "surfaces" (the text that sentences come from), or None for columns alone.
        command: of `keras-tagging`, which uses its models.
        route: of the service, without the slash; None if it is not served alone.
        stage: its place in a pipeline, the lowest number first; None if it has none.
        composed: whether its models are made of models of other kinds.
        options: those of `train` and `export` that not every kind has.
        figures: those that have counts for tests of significance.
        analysis: place of the function that gives predicted labels to
            `experiments.analysis`, or None.

    Example:
        >>> from keras_tagging import kinds
        >>> kinds.find("parser").learns
        'trees'
        >>> kinds.find("parsr")
        Traceback (most recent call last):
        ...
        ValueError: there is no kind 'parsr': there are tagger, parser, ...
    """

    name: str
    model: str
    architectures: tuple[str, ...] = ()
    runtime: str | None = None
    graph: str | None = None
    ensemble: str | None = None
    reads: Literal["tokens", "text"] = "tokens"
    learns: Literal["tags", "trees", "derivations", "surfaces"] | None = None
    command: str = "annotate"
    route: str | None = None
    stage: int | None = None
    composed: bool = False
    options: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    analysis: str | None = None

    def __post_init__(self):
        for field in ("name", "route"):
            value = getattr(self, field)
            # part of the names of files, and of addresses
            if value is not None and not re.fullmatch("[a-z][a-z0-9_-]*", value):
                raise ValueError(f"{field}={value!r}: give a word in small letters")
        if self.route in RESERVED:
            raise ValueError(f"route={self.route!r} is taken: choose another")
        if (self.runtime is None) != (self.graph is None) and not self.composed:
            raise ValueError(
                f"{self.name} has one of runtime= and graph=: give both, or none if "
                "its models are not exported"
            )
        _check("reads", self.reads, ("tokens", "text"))
        learnt = ("tags", "trees", "derivations", "surfaces", None)
        _check("learns", self.learns, learnt)
        _check("command", self.command, ("annotate", "tag", "parse", "derive"))

    def __str__(self):
        return self.name

    def at(self, field: str):
        """The object at the place that a field names; a list for several places.

        Raises:
            ValueError: if there is nothing at a place.
        """
        value = getattr(self, field)
        if isinstance(value, str):
            return self._at(field, value)
        return [self._at(field, place) for place in value]

    def _at(self, field: str, place: str):
        try:
            return resolve_name(place)
        except (ImportError, AttributeError, ValueError) as error:
            if isinstance(error, ImportError):
                module = place.partition(":")[0]
                if not error.name or not f"{module}.".startswith(f"{error.name}."):
                    raise  # a package that this module needs
            raise ValueError(
                f"the kind {self.name!r} has {field}={place!r}, which cannot be "
                f"loaded: {error}"
            ) from error

    @property
    def reading(self) -> dict[str, bool]:
        """Keywords of readers of corpora: whether trees and the like are needed."""
        names = ("trees", "surfaces", "derivations")
        return {name: self.learns == name for name in names}


_KINDS: dict[str, Kind] = {}
#: addresses of the service
RESERVED = ("health", "metrics", "models", "static", "v1", "v2")


def register(kind: Kind) -> Kind:
    """Make a kind known in this process.

    A package that is installed also offers it by an entry point of the group
    `keras_tagging.kinds`, so that the command line and other processes know it.

    Returns:
        The kind.

    Raises:
        ValueError: if there is another one of its name, or it is no `Kind`.
    """
    if not isinstance(kind, Kind):
        raise ValueError(f"{type(kind).__name__} is registered, which is no Kind")
    for other in _KINDS.values():
        if kind.route is not None and other.route == kind.route:
            if other.reads != kind.reads:
                raise ValueError(
                    f"the route {kind.route!r} is that of the kind {other.name!r}, "
                    f"which reads {other.reads}: choose another"
                )
    if _KINDS.setdefault(kind.name, kind) != kind:
        raise ValueError(f"there is another kind {kind.name!r}: choose another name")
    return kind


@cache
def _register_installed() -> None:
    for name, entries in offered(GROUP).items():
        try:
            register(only(entries).load())
        except Exception as error:  # of somebody else's module: ours go on
            warnings.warn(
                f"the kind {name!r} of {entries[0].value} cannot be used: {error}; "
                "mend or uninstall that package",
                stacklevel=2,
            )


def known() -> dict[str, Kind]:
    """All kinds by name: our own, then those that are installed or registered."""
    _register_installed()
    return dict(_KINDS)


def each(field: str) -> Iterator[tuple[Kind, object]]:
    """Every kind of single models, with what stands where a field of it says.

    A kind of another package that cannot be loaded is a warning: the others go on.
    """
    for kind in known().values():
        if kind.composed:
            continue
        try:
            found = kind.at(field)
        except (ImportError, ValueError) as error:
            if kind.model.startswith("keras_tagging."):
                raise
            warnings.warn(f"{error}; mend or uninstall that package", stacklevel=2)
            continue
        yield kind, found


def find(name: str) -> Kind:
    """The kind of a name.

    Raises:
        ValueError: if there is none; the message names those that there are.
    """
    name = name if isinstance(name, str) else str(type(name))  # from any file
    if name in _KINDS:  # entry points take a while
        return _KINDS[name]
    if name not in (kinds := known()):
        known_ones = ", ".join(kinds)
        raise ValueError(f"there is no kind {name[:60]!r}: there are {known_ones}")
    return kinds[name]


def of(model) -> Kind:
    """The kind of a model."""
    return find(model.kind)


def named() -> str:
    """The kinds of single models in words: "tagger, parser or segmenter"."""
    *most, last = [kind.name for kind in known().values() if not kind.composed]
    return f"{', '.join(most)} or {last}"
