"""Starting points of `train`: tags, vectors, another tagger, another parser."""

from dataclasses import dataclass
from typing import Annotated

import typer

from keras_tagging.architectures import architecture
from keras_tagging.cli.loading import load_model
from keras_tagging.cli.options import File, Folder, pairs, refuse
from keras_tagging.data import Corpus
from keras_tagging.kinds import PARSER, TAGGER, Kind


@dataclass(frozen=True)
class Start:
    """The starting point of a model, beside its settings.

    Args:
        tags: Columns that a tagger learns together, such as upos,xpos,feats; or the
            tags that a parser reads.
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
        if self.init is None:
            refuse("without --init there is no", self._of("freeze", "keep_labels"))
        else:
            given = self._of("embeddings")
            given["recipe"] = None if recipe == "fast" else recipe
            refuse("the tagger in --init has its own: there is no", given)
        if self.bootstrap is None:
            refuse("without --bootstrap there is no", self._of("gates"))
        else:
            refuse(
                "a bootstrapped parser takes those of the other one: there is no",
                self._of("tags", "embeddings"),
            )
        if self.embeddings is None:
            refuse("without --embeddings there is no", self._of("corpus_words"))
        own = {"bootstrap", "init", "tags", "embeddings"} - {*kind.options}
        reason = f"{arch} is a {kind.name}, and a {kind.name} has no"
        refuse(reason, self._of(*sorted(own)))

    def _of(self, *names: str) -> dict:
        return {name: getattr(self, name) for name in names}

    @property
    def is_from_another(self) -> bool:
        """Whether it is another model."""
        return self.init is not None or self.bootstrap is not None

    def settings(self, kind: Kind) -> dict:
        """The keywords of `build` that follow: tags and embeddings."""
        found = {}
        if self.tags is not None:
            found["tags"] = self.tags.split(",")
            if kind.learns == "trees":  # which reads tags
                found = pairs("--tags", [f"tags={self.tags}"])
        if self.embeddings is not None:
            found["embeddings"] = self.embeddings
        return found

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

        if self.init is not None:
            options = {"keep_labels": self.keep_labels, "frozen": self.freeze or ()}
            model = other.retarget(data.train, seed=seed, **options, **settings)
            return model, [f"Starts from {self.init}: {news(other, model)}"]
        if self.corpus_words:
            settings = self._with_vectors(arch, data, recipe, settings)
        model = keras_tagging.build(arch, recipe=recipe, seed=seed, **settings)
        lines = []
        if self.embeddings is not None:
            vectors = model.given_vectors.embeddings
            lines.append(vectors_summary(vectors, model, data.train))
        if other is None:
            model.adapt(data.train)
            return model, lines
        gates = "all" if self.gates in (None, "all") else self.gates.split(",")
        model.bootstrap(other, gates)
        model.metadata["bootstrap"]["path"] = str(self.bootstrap)
        started = ", ".join(model.metadata["bootstrap"]["gates"])
        return model, [*lines, f"Starts from {self.bootstrap}, gates {started}"]

    def _with_vectors(self, arch, data, recipe, settings) -> dict:
        """The settings with the vectors of the words of a corpus."""
        from keras_tagging.vectors import load_vectors

        chosen = architecture(arch).settings(recipe, **settings)
        vectors = load_vectors(
            self.embeddings,
            vocabulary=[s for _, sentences in data.splits() for s in sentences],
            normalise=normalisation(chosen.features.normalise),
        )
        return {**settings, "embeddings": vectors}


def normalisation(name: str | None) -> str | None:
    """That of vectors whose words are looked up after a normalisation."""
    return None if name == "dinarelli" else name


def news(source, model) -> str:
    """A line about the words and tags that a tagger has beside its initial ones."""
    pairs = list(zip(model.label_columns, source.label_columns, strict=True))
    new = sum(len(set(own.labels) - set(old.labels)) for own, old in pairs)
    kept = sum(len(set(own.labels) & set(old.labels)) for own, old in pairs)
    words = len(model.vocabularies.get("word", ()))
    words -= len(source.vocabularies.get("word", ()))
    known = sum(len(old) for _, old in pairs)
    return f"{words:,} new words, {new} new tags, and {kept} of its {known} tags"


def vectors_summary(vectors, model, sentences) -> str:
    """A line about the number of vectors, and the share of tokens that have one."""
    from keras_tagging.vectors import coverage

    normalise = normalisation(model.settings["normalise"])
    share = coverage(sentences, vectors, normalise).tokens
    return (
        f"{len(vectors.words):,} vectors of {vectors.matrix.shape[1]} numbers: "
        f"{share:.1%} of the training tokens have one"
    )
