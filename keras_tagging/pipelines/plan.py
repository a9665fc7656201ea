"""The plan of a pipeline's training: its parts, their settings and their stages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil

from keras_tagging.architectures import RECIPES, architecture
from keras_tagging.data.named_columns import labels_of
from keras_tagging.data.sentence import NER, Corpus, Sentence
from keras_tagging.encoding.label_columns import scripts_of
from keras_tagging.runtime.pipeline import CCG_PARSERS, PARTS
from keras_tagging.utils.checks import check_known
from keras_tagging.vectors.named import TRAINABLE, LanguageWords

#: the parts that can be trained, in their order
ARCHITECTURES = {
    "segmenter": "segmenter",
    "tagger": "bigru",
    "parser": "biaffine-parser",
    **{name: name for name in CCG_PARSERS},
}
TAGGER = {"units": 200, "label_smoothing": 0.1, "unknown_rate": 0.5}
#: batches that a part learns from at least, in at most so many epochs: with the usual
#: epochs of 400 sentences UPOS and LAS are lower (docs/results/models.rst)
BATCHES = {"tagger": (1500, 60), "parser": (3750, 120)}
#: what a pipeline changes in a recipe, by architecture
SETTINGS = {
    "fast": {
        "bigru": {**TAGGER, "character_network": "lstm", "epochs": 16},
        "biaffine-parser": {"character_network": "lstm"},
    },
    "best": {},
    "paper": {},
}
#: and, where it takes installed vectors and word classes, in "fast": these know more of
#: words that training lacks than characters do (docs/results/models.rst)
WITH_WORDS = {"bigru": {"units": 150, "character_network": None}}
WITH_WORDS |= {"biaffine-parser": {"character_network": None}}
#: the columns of a treebank that are learnt, if they are annotated
COLUMNS = ("upos", "xpos", "feats", "lemma", NER)
#: of the loss of lemma scripts of a parser: they follow from tags mostly, and with more
#: weight cost trees and tags some accuracy
LEMMA_WEIGHT = 0.3


@dataclass(frozen=True)
class PipelinePlan:
    """The parts to train, and their settings.

    Args:
        parts: "segmenter" and "parser", or others of `ARCHITECTURES`: "tagger", for a
            treebank without trees; "ccg-parser" or "ccg-shift-reduce", which learn from
            derivations.
        settings: keywords of `build` for each part; "architecture" is its name.
        recipe: "fast", "best" or "paper".
        seed: of all parts.
        words: vectors and word classes, which each part takes that can, if its own
            settings do not name others or None.

    Raises:
        ValueError: if there is no such part or recipe.
    """

    parts: tuple[str, ...] = PARTS
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    recipe: str = "fast"
    seed: int = 0
    words: LanguageWords = LanguageWords()

    def __post_init__(self):
        check_known("recipe", self.recipe, RECIPES)
        names = [*ARCHITECTURES]
        for name in (*self.parts, *self.settings):
            check_known("part of a pipeline", name, names)
        parts = tuple(name for name in names if name in self.parts)
        if others := set(self.settings) - set(parts):
            raise ValueError(
                f"settings of the {min(others)}, which is not trained: the parts are "
                f"{', '.join(parts)}"
            )
        object.__setattr__(self, "parts", parts)

    def keywords(self, part: str):
        """The settings of a part, before what follows from the treebank."""
        name, changes, settings = self._layers(part)
        return architecture(name).settings(self.recipe, changes, **settings)

    def build(self, part: str, **chosen: object):
        """The model of a part, not yet trained.

        Args:
            chosen: settings that follow from the treebank.
        """
        from keras_tagging.models.factory import build  # Keras takes seconds

        name, changes, settings = self._layers(part)
        options = {"recipe": self.recipe, "seed": self.seed}
        options["defaults"] = {**changes, **chosen}
        model = build(name, **options, **settings)
        if taken := self._words(name, settings):
            model.metadata["words"] = self.words.about(taken)
        return model

    def stages(self, corpus: Corpus, epochs: int | None = None) -> dict[str, int]:
        """The parts in the order of their training on a corpus, and their epochs.

        Args:
            corpus: with training sentences.
            epochs: of each model; None for those of its settings.

        Raises:
            ValueError: if two parts would learn the same column.
        """
        if {"tagger", "parser"} <= {*self.parts}:
            learnt = self.columns("parser", corpus)
            for name in self.columns("tagger", corpus):
                if name in learnt:
                    raise ValueError(
                        f"the tagger and the parser both learn {name}: leave out the "
                        "tagger, or name the columns in parser.tags or tagger.tags"
                    )
        return {part: epochs or self.epochs(part, corpus) for part in self.parts}

    def epochs(self, part: str, corpus: Corpus) -> int:
        """The epochs of a part: the user's, or the recipe's.

        Taggers and parsers have more on a small treebank, but in the recipe "paper".
        """
        keywords = self.keywords(part)
        by_user = "epochs" in self.settings.get(part, {})
        if by_user or part not in BATCHES or self.recipe == "paper":
            return keywords["epochs"]
        if keywords["token_budget"]:
            batches = sum(map(len, corpus.train)) / keywords["token_budget"]
        else:
            batches = len(corpus.train) / keywords["batch_size"]
        least, most = BATCHES[part]
        enough = ceil(least / max(1, ceil(batches)))
        return max(keywords["epochs"], min(most, enough))

    def columns(self, part: str, corpus: Corpus) -> tuple[str, ...]:
        """The columns that a part learns: the user's, or all that the treebank has.

        Raises:
            ValueError: if there are none for a tagger.
        """
        settings = self.settings.get(part, {})
        if "tags" not in settings:
            annotated = columns_to_learn(corpus.train)
            if part == "tagger" and not annotated:
                names = ", ".join(COLUMNS)
                raise ValueError(
                    f"none of {names} has more than one label in the treebank: leave "
                    "out the tagger, --parts segmenter,parser"
                )
            return annotated
        names = settings["tags"] or ()
        return (names,) if isinstance(names, str) else tuple(names)

    def frozen(self) -> list[str]:
        """The parts whose vectors of `words` stay as they are."""
        taken = (name for name in self.taken() if name.endswith(".vectors"))
        parts = (name.removesuffix(".vectors") for name in taken)
        return [part for part in parts if not self.keywords(part)[TRAINABLE]]

    def taken(self) -> list[str]:
        """The keywords that get `words`, as PART.KEYWORD."""
        keywords = []
        for part in self.parts:
            name, _, settings = self._layers(part)
            keywords += [f"{part}.{k}" for k in self._words(name, settings)]
        return keywords

    def _layers(self, part: str):
        """The architecture of a part, what the pipeline changes, and the user's."""
        settings = dict(self.settings.get(part, {}))
        name = settings.pop("architecture", ARCHITECTURES[part])
        usual = architecture(ARCHITECTURES[part]).kind
        if (kind := architecture(name).kind) != usual:
            raise ValueError(f"{part}.architecture={name!r} is a {kind}, no {usual}")
        changes = SETTINGS[self.recipe].get(name, {})
        return name, {**changes, **self._with_words(name, settings)}, settings

    def _with_words(self, name: str, settings: Mapping) -> dict[str, object]:
        """The keywords of `words` for a part, and what it changes because of them."""
        keywords: dict[str, object] = {**self._words(name, settings)}
        if self.recipe == "fast":
            if {"vectors", "word_classes"} <= {*keywords}:
                keywords |= WITH_WORDS.get(name, {})
        frozen = self.words.frozen(self.recipe, architecture(name).keywords, settings)
        return keywords | frozen

    def _words(self, name: str, settings: Mapping) -> dict[str, str]:
        """The keywords of `words` that a part takes."""
        return self.words.settings(architecture(name).keywords, settings)


def weights_of(columns: Iterable[str]) -> list[float]:
    """The weights of the losses of the columns of a parser."""
    return [LEMMA_WEIGHT if name == "lemma" else 1.0 for name in columns]


def columns_to_learn(sentences: list[Sentence]) -> tuple[str, ...]:
    """The columns of `COLUMNS` that all sentences have, with more than one label."""
    annotated = []
    for name in COLUMNS:
        rows = [labels_of(sentence, name) for sentence in sentences]
        if None in rows:
            continue
        if name == "lemma":
            rows = [scripts_of(sentence, name) for sentence in sentences]
        if len({label for row in rows for label in row}) > 1:
            annotated.append(name)
    return tuple(annotated)
