"""The plan of a pipeline's training: its parts, their settings and their stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from keras_tagging.architectures import PARSERS, RECIPES, architecture
from keras_tagging.data.named_columns import field_of, labels_of
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.encoding.label_columns import scripts_of
from keras_tagging.runtime.pipeline import CCG_PARSERS, ENTITIES, PARTS, kind_of_part
from keras_tagging.utils.checks import check_known
from keras_tagging.vectors.named import TRAINABLE, LanguageWords

ARCHITECTURES = {"segmenter": "segmenter", "tagger": "bigru", "parser": "ffn-parser"}
ARCHITECTURES |= {name: name for name in CCG_PARSERS} | {ENTITIES: "bilstm-crf"}
TAGGER = {"units": 200, "label_smoothing": 0.1, "unknown_rate": 0.5}
# jackknifing, folds=4, brought nothing on EWT: see docs/results/models.rst
FOLDS = {"folds": 1, "tagger_epochs": 6}
# 8 nodes above an encoder are as accurate as 18, and quicker: same page
PARSER = {"encoder": "bilstm", "beam_width": 4, "epochs": 10}
PARSER |= {"system": "arc-standard-core", "affix_dim": 32}
#: batches that a part learns from at least, in at most so many epochs: with 16 and 10
#: epochs of 400 sentences UPOS and LAS are lower (docs/results/models.rst)
BATCHES, MOST_EPOCHS = {"tagger": 1500, "parser": 800}, 60
#: what a pipeline changes in a recipe, by architecture
SETTINGS = {
    "fast": {
        "bigru": {**TAGGER, "character_network": "lstm", "epochs": 16},
        **dict.fromkeys(PARSERS, {**PARSER, **FOLDS}),
    },
    "best": dict.fromkeys(PARSERS, {"epochs": 10, **FOLDS}),
    "paper": dict.fromkeys(PARSERS, FOLDS),
}
#: and, where it takes installed vectors and word classes, in "fast": these know more of
#: words that training lacks than characters do (docs/results/models.rst)
WITH_WORDS = {"bigru": {"units": 150, "character_network": None}}
#: half of the hidden units and of the hypotheses: as accurate, and a third quicker
WITH_WORDS |= dict.fromkeys(
    PARSERS,
    {"encoder": "bigru", "encoder_units": 150, "units": 128}
    | {"hidden_dropout": 0.1, "beam_width": 2},
)
#: the same for the tagger of entities, which gains nothing from predicted UPOS
ENTITY_TAGGER = {"units": 200, "unknown_rate": 0.5, "token_budget": 400, "epochs": 8}
ENTITY_SETTINGS = {
    "fast": {"bilstm-crf": {**ENTITY_TAGGER, "character_network": "lstm"}},
    "best": {"bilstm-crf": {"epochs": 8}},
    "paper": {},
}
#: the taggers that tag the parser's training sentences, but in the recipe "paper"
FOLD_SETTINGS = {"bigru": {**TAGGER, "units": 150}}
#: the stage of training that tags them
JACKKNIFE = "jackknife"
#: the columns of a treebank that a tagger learns, if they are annotated
COLUMNS = ("upos", "xpos", "feats", "lemma")
#: the columns of the tagger that a parser reads
COLUMNS_TO_READ = ("pos", "xpos", "feats")


@dataclass(frozen=True)
class PipelinePlan:
    """The parts to train, and their settings.

    Args:
        parts: names among `PARTS`, in their order; "ccg-parser" or
            "ccg-shift-reduce", which learn from derivations; and "entities", a tagger
            of the column `ner`.
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
        names = [*PARTS, *CCG_PARSERS, ENTITIES]
        for name in (*self.parts, *self.settings):
            check_known("part of a pipeline", name, names)
        if others := set(self.settings) - set(self.parts):
            raise ValueError(f"settings of the {min(others)}, which is not trained")
        parts = tuple(name for name in names if name in self.parts)
        object.__setattr__(self, "parts", parts)

    def keywords(self, part: str):
        """The settings of a part, before what follows from the treebank."""
        name, changes, settings = self._layers(part)
        return architecture(name).settings(self.recipe, changes, **settings)

    def build(self, part: str, **chosen):
        """The model of a part, not yet trained.

        Args:
            chosen: settings that follow from the treebank.
        """
        name, changes, settings = self._layers(part)
        model = self._model(name, {**changes, **chosen}, **settings)
        if taken := self._words(name, settings):
            model.metadata["words"] = self.words.about(taken)
        return model

    def stages(self, corpus: Corpus, epochs: int | None = None) -> dict[str, int]:
        """The stages of the training on a corpus, in their order, and their epochs.

        Args:
            corpus: with training sentences.
            epochs: of each model; None for those of its settings.
        """
        stages = {}
        for part in self.parts:
            keywords = self.keywords(part)
            if part == "parser" and self.jackknifed(corpus):
                most = keywords["tagger_epochs"]
                stages[JACKKNIFE] = keywords["folds"] * min(most, epochs or most)
            stages[part] = epochs or self.epochs(part, corpus)
        return stages

    def epochs(self, part: str, corpus: Corpus) -> int:
        """The epochs of a part: the user's, or the recipe's.

        Taggers and parsers, but those of the recipe "paper", have more on a small
        treebank.
        """
        keywords = self.keywords(part)
        by_user = "epochs" in self.settings.get(part, {})
        if by_user or part not in BATCHES or self.recipe == "paper":
            return keywords["epochs"]
        if keywords["token_budget"]:
            batches = sum(map(len, corpus.train)) / keywords["token_budget"]
        else:
            batches = len(corpus.train) / keywords["batch_size"]
        enough = ceil(BATCHES[part] / max(1, ceil(batches)))
        return max(keywords["epochs"], min(MOST_EPOCHS, enough))

    def jackknifed(self, corpus: Corpus) -> tuple[str, ...]:
        """The columns that other taggers predict for the parser's training sentences.

        There are none if the parser reads no column of the tagger, or has ``folds=1``:
        then it learns from what the tagger predicts on sentences that it has learnt.
        """
        if not {"tagger", "parser"} <= set(self.parts):
            return ()
        names = self.columns(corpus)
        reads = columns_to_read(self, names)
        reads = {reads["tags"], *reads["columns"]}
        read = tuple(name for name in names if field_of(name) in reads)
        return read if self.keywords("parser")["folds"] > 1 else ()

    def columns(self, corpus: Corpus) -> tuple[str, ...]:
        """The columns of the tagger: the user's, or all that the treebank has."""
        settings = self.settings.get("tagger", {})
        if "tags" not in settings:
            return columns_to_learn(corpus.train)
        names = settings["tags"] or ()
        return (names,) if isinstance(names, str) else tuple(names)

    def fold_tagger(self, columns: tuple[str, ...]):
        """A tagger of these columns that learns from a part of the sentences."""
        name = self.keywords("parser")["tagger"]
        changes = {} if self.recipe == "paper" else FOLD_SETTINGS.get(name, {})
        changes = {**changes, **self._with_words(name, {})}
        return self._model(name, {**changes, "tags": columns})

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

    def _model(self, name: str, defaults: Mapping[str, object], **settings):
        from keras_tagging.models.factory import build  # Keras takes seconds

        seeded = {"recipe": self.recipe, "seed": self.seed}
        return build(name, **seeded, defaults=defaults, **settings)

    def _layers(self, part: str):
        """The architecture of a part, what the pipeline changes, and the user's."""
        settings = dict(self.settings.get(part, {}))
        name = settings.pop("architecture", ARCHITECTURES[part])
        if (kind := architecture(name).kind) != kind_of_part(part):
            raise ValueError(f"{part}.architecture={name!r} is a {kind}, no {part}")
        tables = ENTITY_SETTINGS if part == ENTITIES else SETTINGS
        changes = tables[self.recipe].get(name, {})
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


def columns_to_learn(sentences: list[Sentence]) -> tuple[str, ...]:
    """The columns of `COLUMNS` that all sentences have, with more than one label.

    Raises:
        ValueError: if there are none.
    """
    annotated = []
    for name in COLUMNS:
        rows = [labels_of(sentence, name) for sentence in sentences]
        if None in rows:
            continue
        if name == "lemma":
            rows = [scripts_of(sentence, name) for sentence in sentences]
        if len({label for row in rows for label in row}) > 1:
            annotated.append(name)
    if not annotated:
        raise ValueError(
            f"none of {', '.join(COLUMNS)} has more than one label in the treebank: "
            "train other parts alone, --parts segmenter,parser"
        )
    return tuple(annotated)


def columns_to_read(
    plan: PipelinePlan, names: Sequence[str | None] = ()
) -> dict[str, object]:
    """The settings `tags` and `columns` of the parser: the user's, or the tagger's.

    Args:
        plan: with the user's settings.
        names: the columns of the tagger, if there is one.
    """
    fields = [field_of(name) for name in names if name]
    first, *others = [name for name in COLUMNS_TO_READ if name in fields] or [None]
    settings = plan.settings.get("parser", {})
    tags = settings.get("tags", first)
    # who chooses the tags chooses what is read beside them
    columns = () if "tags" in settings else tuple(others)
    return {"tags": tags, "columns": settings.get("columns", columns)}
