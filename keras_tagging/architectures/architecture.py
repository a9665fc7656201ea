"""An architecture, and the settings of a model, each held by its owner."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar, get_type_hints

from keras_tagging.architectures.label_network import LabelNetwork
from keras_tagging.architectures.settings import (
    CharacterNetwork,
    Embeddings,
    TaggerSettings,
    WindowSettings,
)
from keras_tagging.architectures.stacked_network import LabelDecoder, StackedNetwork
from keras_tagging.data.named_columns import field_of
from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.training.settings import FitSettings, OptimizerSettings
from keras_tagging.utils.checks import check_known, possible

RECIPES = ("fast", "best", "paper")
Owner = TypeVar("Owner")


#: settings that earlier files have and that changed nothing there
REMOVED = (("language_model", 0.0),)


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A network by name, with its recipes: the settings of its paper, and others.

    Args:
        name: what `build` is given.
        summary: one line: the network and its source.
        network: a frozen dataclass of keywords with a method `build`. Its `kind` is the
            name of the kind of its models, its `needs` the classes of further settings,
            those of the task first.
        cell: one of `cells.options`; None for a network without one of its own.
        paper: keywords that the paper sets.
        fast: keywords that the fast recipe changes after these.
        best: keywords that the best recipe changes after those of the fast one; empty
            where nothing is known that is better and worth its time.
    """

    name: str
    summary: str
    network: type
    cell: type | None = None
    paper: Mapping[str, object]
    fast: Mapping[str, object] = field(default_factory=dict)
    best: Mapping[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The name of the kind of its models."""
        return self.network.kind

    @property
    def owners(self) -> tuple[type, ...]:
        """The classes whose fields are the keywords of `build`."""
        cell = (self.cell,) if self.cell else ()
        training = (OptimizerSettings, FitSettings)
        return (*self.network.needs, self.network, *cell, *training)

    @cached_property
    def keywords(self) -> dict[str, type]:
        """The owner of each keyword, by its name."""
        return {f.name: owner for owner in self.owners for f in fields(owner)}

    def possible(self, keyword: str) -> str:
        """The values that a keyword may have, in words."""
        hints = get_type_hints(self.keywords[keyword], include_extras=True)
        return possible(hints[keyword])

    def check_keywords(self, names: Iterable[str], language: bool = False) -> None:
        """Refuse names that are no keywords.

        Args:
            names: those that were given.
            language: whether the caller takes "language", too, whose words are read by
                a network with `vectors` or `word_classes`.

        Raises:
            ValueError: for an unknown name, with the nearest one.
        """
        language = language and bool({"vectors", "word_classes"} & {*self.keywords})
        keywords = sorted([*self.keywords, *["language"] * language])
        for name in names:
            check_known(f"{self.name} keyword", name, keywords)

    def settings(
        self,
        recipe: str = "fast",
        defaults: Mapping[str, object] = MappingProxyType({}),
        **overrides: object,
    ) -> "Settings":
        """All keywords with their values, in layers: each owner's defaults, the paper,
        what the recipe changes, what the caller changes, and what the user has set.

        A keyword switches off what contradicts it in the layers below: see `layered`.

        Args:
            recipe: "fast", "best" or "paper".
            defaults: keywords that the caller changes in the recipe, as a pipeline does
                for its parts.
            **overrides: the keywords of the user.

        Raises:
            ValueError: for an unknown recipe or keyword, naming the nearest, and for
                values that are not possible or contradict each other.
        """
        check_known("recipe", recipe, RECIPES)
        self.check_keywords(overrides)
        changes = {"fast": [self.fast], "best": [self.fast, self.best]}
        layers = [self.paper, *changes.get(recipe, []), defaults, overrides]
        settings = self.restored(layered(*layers))
        for part in settings.parts.values():
            if hasattr(part, "refuse_unused"):
                part.refuse_unused(overrides)
        return settings

    def restored(self, keywords: Mapping[str, object]) -> "Settings":
        """The settings that `Settings.flat` gave; what it lacks has its default.

        Raises:
            ValueError: for an unknown keyword or a value that is not possible.
        """
        owner_of = self.keywords
        keywords = {k: x for k, x in keywords.items() if (k, x) not in REMOVED}
        self.check_keywords(keywords)
        parts = {
            owner: owner(**{k: v for k, v in keywords.items() if owner_of[k] is owner})
            for owner in self.owners
        }
        return Settings(self, MappingProxyType(parts))


def layered(*layers: Mapping[str, object]) -> dict[str, object]:
    """The keywords of layers, each over those before it; the last one is the user's.

    A size of batches switches off the other one below it. A CRF, whichever layer has
    it, has no label smoothing but the user's own, which `Settings` refuses.
    """
    chosen: dict[str, object] = {}
    sizes = ("batch_size", "token_budget")
    for layer in layers:
        sizes_of_layer = [name for name in sizes if layer.get(name)]
        off = dict.fromkeys(sizes) if len(sizes_of_layer) == 1 else {}
        chosen = {**chosen, **off, **layer}
    if chosen.get("decoder") == "crf" and "label_smoothing" not in layers[-1]:
        chosen.pop("label_smoothing", None)
    return chosen


@dataclass(frozen=True, eq=False)
class Settings(Mapping):
    """The settings of a model: a mapping by keyword, and each owner by its name.

    Args:
        architecture: what has them.
        parts: an instance of each of its owners, by class.

    Raises:
        ValueError: if settings of two owners contradict each other.

    Example:
        >>> from keras_tagging.architectures import architecture
        >>> settings = architecture("bigru").settings("fast", units=100)
        >>> settings["units"], settings.network.units, settings.fitting.epochs
        (100, 100, 10)
    """

    architecture: Architecture
    parts: Mapping[type, object]

    def __post_init__(self):
        if FeatureSettings in self.parts:
            self._check_words()

    def _check_words(self):
        """Refuses settings of words, or of their labels, that contradict each other."""
        start = getattr(self.task, "embeddings", None)
        if start is not None and not self.features.words:
            raise ValueError("embeddings= are those of words: give words=True")
        if isinstance(self.task, TaggerSettings) and self.task.tags:
            self._check_columns(self.task.tags)
        smoothing = self.optimizer.label_smoothing
        if getattr(self.network, "decoder", None) == "crf" and smoothing:
            raise ValueError(
                f"label_smoothing={smoothing} has no meaning with decoder='crf', "
                "whose loss is the likelihood of the whole path: set it to 0"
            )

    def _check_columns(self, learnt):
        """Refuses what cannot be combined with named columns of labels."""
        if self.label_options is not None:
            raise ValueError(
                f"tags={learnt}: a network that reads its own labels learns one "
                "column, the tags of the sentences; leave tags= out, and name the "
                "column where the corpus is read (tag= or tag_column=)"
            )
        for name in self.features.columns:
            if field_of(name) in map(field_of, learnt):
                raise ValueError(
                    f"{name!r} is among columns= and tags=: a column that is to be "
                    "learnt cannot be a feature"
                )

    # By keyword

    def __getitem__(self, keyword: str):
        return getattr(self.parts[self.architecture.keywords[keyword]], keyword)

    def __iter__(self):
        return iter(self.architecture.keywords)

    def __len__(self):
        return len(self.architecture.keywords)

    def flat(self) -> dict[str, object]:
        """All keywords with their values."""
        return dict(self)

    def replaced(self, **changes: object) -> "Settings":
        """The settings with other values for some keywords."""
        return self.architecture.restored({**self, **changes})

    # By owner

    @property
    def task(self):
        """The settings of the task: tags, trees, or what else is learnt."""
        return next(iter(self.parts.values()))

    @property
    def features(self) -> FeatureSettings:
        return self.parts[FeatureSettings]

    @property
    def tables(self) -> Embeddings:
        return self.parts[Embeddings]

    @property
    def letters(self) -> CharacterNetwork:
        return self.parts.get(CharacterNetwork, CharacterNetwork())

    @property
    def window(self) -> WindowSettings:
        return self.parts.get(WindowSettings, WindowSettings())

    @property
    def network(self):
        """Those of the network, which build it."""
        return self.parts[self.architecture.network]

    @property
    def cell(self):
        """The options of the cell, which build it when they are called."""
        return self.parts[self.architecture.cell]

    @property
    def label_options(self) -> LabelDecoder | LabelNetwork | None:
        """Those of the layer that reads labels, if the network has one."""
        if isinstance(self.network, StackedNetwork):
            reads = self.network.decoder == "i-rnn"
            return self.parts[LabelDecoder] if reads else None
        return self.network if isinstance(self.network, LabelNetwork) else None

    @property
    def optimizer(self) -> OptimizerSettings:
        return self.parts[OptimizerSettings]

    @property
    def fitting(self) -> FitSettings:
        return self.parts[FitSettings]
