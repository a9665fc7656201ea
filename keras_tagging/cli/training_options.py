"""Options of train: the corpus, where a model starts, its teacher, how it is fitted.

Options are checked before Keras is imported, which takes seconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.architectures import architecture
from keras_tagging.cli.loading import Reading, load_model
from keras_tagging.cli.options import (
    CorpusPath,
    Count,
    Dev,
    Epochs,
    File,
    Folder,
    Test,
    pairs,
    refuse,
)
from keras_tagging.cli.progress import is_shown
from keras_tagging.corpora.entities import add_entities
from keras_tagging.corpora.loading import hold_out
from keras_tagging.data import Corpus, detect_format, read
from keras_tagging.data.lines import source_name
from keras_tagging.kinds import PARSER, TAGGER, Kind
from keras_tagging.runtime.pipeline import CCG_PARSERS, PARTS
from keras_tagging.vectors.named import WITH_WORDS, words_for

SINGLE = "train pipeline trains several models, and has no"
#: beside the keywords of an architecture: the language whose words it takes
LANGUAGE = "language"
#: keywords that are refused without vectors or word classes, which the language of a
#: corpus that has not been read may bring
NEED_WORDS = ("class_prefixes",)
#: keywords whose values are names or files
OF_FILES = ("embeddings", "vectors", "word_classes")


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted, and what becomes of an earlier run.

    Args:
        seed: For weights, dropout and order.
        patience: Stop after this many epochs without improvement.
        monitor: The figure that selects the best epoch: val_accuracy, ...
        resume: Continue the run that was stopped in DIR.
        tensorboard: Write events to DIR/tensorboard.
        force: Replace the finished model in DIR.
        devices: Devices that share each batch, those of all machines together; needs
            JAX (KERAS_BACKEND=jax).
    """

    epochs: Epochs = None
    seed: int = 0
    patience: Count = None
    monitor: str | None = None
    resume: bool = True
    tensorboard: bool = False
    force: bool = False
    devices: Count = None


@dataclass(frozen=True)
class Data:
    """The corpus of a training.

    Args:
        dev_share: Share of the training sentences to use for development.
    """

    corpus: CorpusPath
    dev: Dev = None
    test: Test = None
    reading: Reading = Reading()
    dev_share: float | None = None

    def load(self, seed: int, entities: str | None = None, **wanted):
        """The corpus, whose development sentences are held out if that is asked for.

        Args:
            seed: of the share that is held out.
            entities: a corpus with those of its sentences.
            wanted: as in `Reading.corpus`.
        """
        data = self.reading.corpus(self.corpus, dev=self.dev, test=self.test, **wanted)
        if entities is not None:
            add_entities(data, entities)
        if self.dev_share is not None:
            hold_out(data, self.dev_share, seed)
        return data

    def unseen(self, data) -> str | None:
        """The corpus that a model has not seen, for `evaluate --corpus`."""
        if self.test or data.test:
            return self.test or self.corpus
        has_dev = data.dev and self.dev_share is None
        return self.dev or f"{self.corpus} --split dev" if has_dev else None


#: what `Start` has only with another option
NEEDED = {
    "init": ("freeze", "keep_labels"),
    "bootstrap": ("gates",),
    "embeddings": ("corpus_words",),
}


@dataclass(frozen=True)
class Start:
    """The starting point of a model, beside its settings.

    Args:
        tags: Columns that a tagger or a biaffine-parser learns together, such as
            upos,xpos,feats; or the tags that another parser reads.
        bootstrap: Start a recurrent parser from this ffn-parser.
        gates: The gates that start from it: 'all', or some, such as i,j.
        init: Start from this tagger: fine-tuning.
        freeze: With --init: a layer that is not trained.
        keep_labels: With --init: whether tags that the corpus lacks stay; by default if
            it has any of the tagger's.
        embeddings: Initial vectors of the word embeddings: a file, or a name that
            `vectors` shows.
        corpus_words: From --embeddings, load only the words of this corpus (all
            splits), for files that do not fit in memory.
    """

    tags: Annotated[str | None, typer.Option(metavar="COLUMNS|gold|predicted|None")] = (
        None
    )
    bootstrap: Folder = None
    gates: str | None = None
    init: Folder = None
    freeze: Annotated[list[str] | None, typer.Option(metavar="LAYER")] = None
    keep_labels: bool | None = None
    embeddings: File = None
    corpus_words: bool = False

    def check(self, arch: str, kind: Kind, recipe: str) -> None:
        """Refuse options that do not go together, or that a kind of models lacks.

        Raises:
            ValueError: naming the option.
        """
        another = "the model to start from has its own: there is no"
        if self.init is not None:
            refuse(another, self._of("embeddings"))
            refuse(another, {"recipe": recipe != "fast"})
        if self.bootstrap is not None:
            refuse(another, self._of("tags", "embeddings"))
        for name, others in NEEDED.items():
            if getattr(self, name) is None:
                refuse(f"without --{name} there is no", self._of(*others))
        lacking = {"bootstrap", "init", "tags", "embeddings"} - {*kind.options}
        reason = f"{arch} is a {kind.name}, and a {kind.name} has no"
        refuse(reason, self._of(*sorted(lacking)))

    def _of(self, *names: str) -> dict:
        return {name: getattr(self, name) for name in names}

    def settings(self, kind: Kind) -> dict:
        """The keywords of `build` that follow: tags and embeddings."""
        tags = self.tags and self.tags.split(",")
        if tags and kind.learns == "trees":  # which may read tags, or none
            tags = pairs("--tags", [f"tags={self.tags}"])["tags"]
            tags = tags.split(",") if "," in self.tags else tags
        keywords = {} if self.tags is None else {"tags": tags}
        embeddings = {"embeddings": self.embeddings} if self.embeddings else {}
        return keywords | embeddings

    def other(self, arch: str):
        """The model that another one starts from, or None.

        Raises:
            ValueError: if there is none, or its architecture is another one.
        """
        if self.init is None:
            return self.bootstrap and load_model(self.bootstrap, part=PARSER.name)
        model = load_model(self.init, part=TAGGER.name)
        if model.architecture != arch:
            raise ValueError(f"{self.init} holds a {model.architecture}, not a {arch}")
        return model

    def model(
        self, other, arch: str, data: Corpus, recipe: str, seed: int, settings: dict
    ):
        """The model, which has its vocabularies, and lines about what it starts from.

        Args:
            other: as `other` gives it.
            arch: the name of the architecture.
            data: what it learns from.
            recipe, seed, settings: of `build`, those of `settings` included.
        """
        import keras_tagging
        from keras_tagging.vectors import coverage, load_vectors

        if self.init is not None:
            options = {"keep_labels": self.keep_labels, "frozen": self.freeze or ()}
            model = other.retarget(data.train, seed=seed, **options, **settings)
            return model, [f"Starts from {self.init}"]
        lines = []
        if self.corpus_words:
            chosen = architecture(arch).settings(recipe, **settings)
            settings["embeddings"] = load_vectors(
                self.embeddings,
                vocabulary=[s for _, sentences in data.splits() for s in sentences],
                normalise=looked_up(chosen.features.normalise),
            )
        model = keras_tagging.build(arch, recipe=recipe, seed=seed, **settings)
        if self.embeddings is not None:
            vectors = model.given_vectors.embeddings
            normalise = looked_up(model.settings["normalise"])
            share = coverage(data.train, vectors, normalise).tokens
            lines.append(
                f"{len(vectors.words):,} vectors of {vectors.matrix.shape[1]} numbers: "
                f"{share:.1%} of the training tokens have one"
            )
        if other is None:
            model.adapt(data.train)
            return model, lines
        gates = "all" if self.gates in (None, "all") else self.gates.split(",")
        model.bootstrap(other, gates)
        model.metadata["bootstrap"]["path"] = str(self.bootstrap)
        started = ", ".join(model.metadata["bootstrap"]["gates"])
        return model, [*lines, f"Starts from {self.bootstrap}, gates {started}"]


def looked_up(normalise: str | None) -> str | None:
    """The normal form in which vectors are looked up; "dinarelli" needs context."""
    return None if normalise == "dinarelli" else normalise


@dataclass(frozen=True)
class Distillation:
    """The teacher of a model.

    Args:
        teacher: Learn from the probabilities of this model or ensemble too
            (distillation): the --out of train, a folder of an ensemble, a .keras file,
            or the name of an installed model.
        teacher_weight: The share of the teacher in the loss; the rest is of the gold
            annotation. By default 0.5.
        temperature: Above 1, what the teacher thinks of improbable labels counts more.
            By default 1.
        unlabelled: A file of sentences without annotation, which the teacher annotates:
            each epoch learns from them, too. A sentence a line with blanks between its
            tokens, or any format of a corpus. Once or several times.
    """

    teacher: Annotated[Path | None, typer.Option(metavar="MODEL")] = None
    teacher_weight: Annotated[float | None, typer.Option(min=0, max=1)] = None
    temperature: float | None = None
    unlabelled: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None

    def check(self, arch: str, kind: Kind) -> None:
        """Refuse options that do not go together, or that a kind of models lacks.

        Raises:
            ValueError: naming the option.
        """
        if self.teacher is None:
            refuse("without --teacher there is no", vars(self))
        elif "teacher" not in kind.options:
            raise ValueError(
                f"{arch} is a {kind.name}, and a {kind.name} has no --teacher"
            )
        for path in self.unlabelled or ():
            if str(path) == "-":  # whose beginning would tell its format, and be lost
                raise ValueError("--unlabelled -: give a file")
            source_name(path)  # raises if there is none

    def load(self, kind: Kind):
        """The `models.distillation.Teacher`, or None.

        Args:
            kind: that of the model that learns.

        Raises:
            ValueError: if there is no such model, or no such file of text.
        """
        if self.teacher is None:
            return None
        files = self.unlabelled or ()
        text = [s for x in files for s in read(x, detect_format(x, default="text"))]
        model = load_model(self.teacher, part=kind.name)
        from rich.console import Console
        from rich.progress import track

        from keras_tagging.models.distillation import Teacher, digest_of

        display = {"console": Console(stderr=True), "transient": True}
        display |= {"description": "", "disable": not is_shown()}
        return Teacher(
            model,
            str(self.teacher),
            digest_of(self.teacher),
            0.5 if self.teacher_weight is None else self.teacher_weight,
            1.0 if self.temperature is None else self.temperature,
            partial(track, **display),
            text,
        )


def parts_of(
    parts: str | None, segmenter: str | None, derived: bool
) -> tuple[str, ...]:
    """The parts of a pipeline to train.

    Args:
        parts, segmenter: as in the command.
        derived: whether the corpus has derivations.
    """
    if parts is not None:
        names = tuple(parts.split(","))
    elif derived:
        names = CCG_PARSERS[:1]
    else:
        names = tuple(x for x in PARTS if segmenter is None or x != "segmenter")
    if derived and "segmenter" in names:
        raise ValueError("derivations have no text to segment: give --segmenter en")
    return names


def settings_by_part(values: Mapping) -> dict[str, dict]:
    """The values of --set PART.KEY=VALUE, by part.

    Raises:
        ValueError: for one without a part.
    """
    chosen: dict[str, dict] = {}
    for name, value in values.items():
        part, dot, key = name.partition(".")
        if not dot:
            raise ValueError(
                f"--set {name}: name the part of the pipeline, parser.{name}=..."
            )
        chosen.setdefault(part, {})[key] = value
    return chosen


def check_values(
    arch: str, recipe: str, language: str | None, settings: Mapping
) -> None:
    """Refuse values that settings cannot have, or that contradict each other.

    Args:
        arch, recipe: as in the command.
        language: that was given; None if the corpus tells it.
        settings: the other settings.

    Raises:
        ValueError: naming the setting.
        OSError: if there is no such file of vectors or word classes.
    """
    entry, words = architecture(arch), words_for(recipe, language, "")
    settings = checkable(settings, recipe, language)
    entry.settings(recipe, words.settings(entry.keywords, settings), **settings)


def check_plan(plan, language: str | None) -> None:
    """The same for the parts of a pipeline.

    Args:
        plan: a `PipelinePlan`, whose words are not yet known.
        language: that was given.
    """
    settings = {
        part: checkable(values, plan.recipe, language)
        for part, values in plan.settings.items()
    }
    words = words_for(plan.recipe, language, "")
    plan = replace(plan, settings=settings, words=words)
    for part in plan.parts:
        plan.keywords(part)


def checkable(settings: Mapping, recipe: str, language: str | None) -> dict:
    """The settings that can be checked before the corpus tells its language.

    Raises:
        OSError: for a file of vectors or word classes that is not there; names may be
            any.
    """
    for source in (settings.get(name) for name in OF_FILES):
        path = Path(source) if isinstance(source, str) else Path()
        if (path.suffix or len(path.parts) > 1) and not path.exists():
            raise FileNotFoundError(f"{path}: there is no such file; check the path")
    waiting = NEED_WORDS if language is None and recipe in WITH_WORDS else ()
    return {name: value for name, value in settings.items() if name not in waiting}


def words_line(words, keywords: Iterable[str], trains: str | None = None) -> str:
    """The line that says which installed words are taken.

    Args:
        words: the `LanguageWords`.
        keywords, trains: as in `LanguageWords.line`.
    """
    line = words.line(keywords, "--set language= turns them off", trains)
    return line[0].upper() + line[1:]
