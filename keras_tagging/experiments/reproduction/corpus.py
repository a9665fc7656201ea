"""The corpus of a reproduction, and whether it has what a table needs."""

import glob
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress

from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.loading import hold_out, load_treebank
from keras_tagging.corpora.word_classes import WordClasses
from keras_tagging.data import Corpus
from keras_tagging.data.named_columns import annotated
from keras_tagging.data.trees import trees_of
from keras_tagging.experiments.papers import Table
from keras_tagging.metrics import attachment_scores
from keras_tagging.models.files.saving import versions

CLASSES = "word_class"  # the column that can be learnt


def reading(
    corpus: str | None, format, options: Mapping, *, dev, test, errors: str, trees: bool
) -> dict:
    """Describe how to read a corpus, so that every process reads the same.

    Args:
        corpus, format, options, dev, test, errors: as for `load_corpus`.
        trees: whether the reader checks the trees, if its format can.
    """
    files = {"path": corpus, "dev": dev, "test": test}
    return {
        **{name: absolute(path) for name, path in files.items()},
        "format": format,
        "errors": errors,
        "options": dict(options),
        "trees": trees,
    }


def absolute(path: str | None) -> str | None:
    """Make the path or pattern of existing files absolute; corpus names stay."""
    if path is None or not (os.path.exists(path) or glob.glob(path)):
        return path
    return os.path.abspath(path)


def read_corpus(reading: Mapping) -> Corpus:
    """Read the corpus that `reading` described."""
    options = {name: reading[name] for name in ("format", "dev", "test", "errors")}
    load = load_treebank if reading["trees"] else load_corpus
    return load(reading["path"], **options | reading["options"])


def described(corpus: Corpus) -> dict:
    """The entries of `reproduction.json` on a corpus and on the first machine."""
    return {
        "sentences": {name: len(sentences) for name, sentences in corpus.splits()},
        "training fingerprint": Corpus(corpus.train).fingerprint(),
        "fingerprint": corpus.fingerprint(),
        **surroundings(),
    }


def surroundings() -> dict:
    """The installed versions and the machine of a job; they may differ between jobs."""
    return {
        "versions": {**versions(), "python": platform.python_version()},
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
    }


def hold_out_dev(corpus: Corpus, table: Table, share: float | None, seed: int) -> None:
    """Move sentences to the development set, if the table or --dev-share says so.

    The share of a table is drawn from the training and development sentences, again for
    each seed. The share of --dev-share is the same for all seeds.
    """
    if None not in (table.held_out, share):
        raise ValueError(f"--dev-share: the table holds out {table.held_out} itself")
    if table.held_out is not None:
        corpus.train, corpus.dev = corpus.train + corpus.dev, []
        hold_out(corpus, table.held_out, seed)
    elif share is not None:
        hold_out(corpus, share, 0)


def add_classes(corpus: Corpus, columns: Iterable[str]) -> str | None:
    """Add word classes learnt from the training sentences, if a model needs them.

    Args:
        corpus: the corpus, which is changed in place.
        columns: the columns that the model reads.

    Returns:
        "corpus" if it has its own word classes, "learnt", or None if none are needed.
    """
    if CLASSES not in columns:
        return None
    if not lacking(corpus, CLASSES):
        return "corpus"
    learnt = WordClasses.learn(corpus.train)
    for name, sentences in corpus.splits():
        setattr(corpus, name, learnt.annotate(sentences))
    return "learnt"


def lacking(corpus: Corpus, column: str) -> bool:
    return any(
        column not in sentence.columns
        for _, sentences in corpus.splits()
        for sentence in sentences
        if sentence.tokens
    )


def check_corpus(corpus: Corpus, table: Table, punctuation: str) -> None:
    """Check that all jobs can train on a corpus and measure every figure.

    Args:
        corpus: the corpus, after `hold_out_dev`.
        punctuation: as in `attachment_scores`, for parsers.

    Raises:
        ValueError: if something is missing; the message names the remedy.
    """
    if not corpus.dev:
        raise ValueError(
            f"{corpus.name} has no development sentences, on which the best epoch is "
            "chosen: give --dev FILE, or --dev-share 0.1 of the training sentences"
        )
    if not corpus.test and any(column.split == "test" for column in table.columns):
        raise ValueError(
            f"{corpus.name} has no test sentences, on which Table {table.number} of "
            f"{table.paper} measures: give --test FILE"
        )
    for name, sentences in corpus.splits():
        try:
            if is_of_parsers(table):
                trees_of(sentences)
                gold = [
                    [sentence.columns[column] for sentence in sentences]
                    for column in ("head", "deprel")
                ]
                attachment_scores(sentences, *gold, punctuation=punctuation)
            else:
                annotated(sentences)
        except ValueError as error:
            raise ValueError(f"{corpus.name}, {name}: {error}") from None


def is_of_parsers(table: Table) -> bool:
    return any(column.figure in ("uas", "las") for column in table.columns)


def missing_columns(corpus: Corpus, settings: Mapping[str, Mapping]) -> set[str]:
    """Find columns that rows need, and the corpus lacks and cannot learn.

    Args:
        settings: the settings of each row, by its name.
    """
    names = {name for keywords in settings.values() for name in keywords["columns"]}
    missing = {name for name in names if lacking(corpus, name)}
    if CLASSES in missing:
        with suppress(ValueError):  # of tags that are no slot labels
            WordClasses.learn(corpus.train)
            missing.remove(CLASSES)
    return missing
