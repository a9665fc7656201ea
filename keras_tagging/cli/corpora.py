"""Commands about corpora: corpora, describe."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.loading import Reading
from keras_tagging.cli.messages import note
from keras_tagging.cli.options import CORPUS, Dev, File, Test
from keras_tagging.corpora import PUBLIC, describe
from keras_tagging.corpora.describe import figure_class, plot_description
from keras_tagging.data import Corpus
from keras_tagging.data.named_columns import check_labelled, labels_of
from keras_tagging.utils.tables import aligned

# description and licence of the corpus "demo"
DEMO = "generated English sentences with CCG categories and trees"
OURS = "that of keras-tagging"


def list_corpora(name: Annotated[str | None, typer.Argument()] = None) -> None:
    """List the corpora that have a name.

    The list shows size, licence and whether a corpus is here or would be downloaded.
    With a name, show the source of that corpus and its citation.

    Examples:
        keras-tagging corpora
        keras-tagging corpora ud-en-ewt

    Args:
        name: Show all about this one.
    """
    from keras_tagging.corpora.public import check_name
    from keras_tagging.utils.download import cache_folder

    if name is None:
        rows = [["name", "what it is", "size", "where", "licence"]]
        rows.append(["demo", DEMO, "-", "built in", OURS])
        for key, corpus in PUBLIC.items():
            size, where = _size(corpus), source_of(key)
            rows.append([key, corpus.title, size, where, corpus.licence])
        print(aligned(rows))
        print(f"\nDownloads are kept in {cache_folder()} (KERAS_TAGGING_CACHE).")
        return
    check_name(name)
    if name == "demo":
        print(aligned([["title", DEMO], ["licence", OURS], ["where", "built in"]]))
        return
    corpus = PUBLIC[name]
    options = (f"{key}={value}" for key, value in corpus.options.items())
    rows = [
        ["title", corpus.title],
        ["licence", corpus.licence],
        ["citation", corpus.citation],
        ["source", corpus.base],
        ["size", _size(corpus)],
        ["where", source_of(name)],
        ["format", " ".join([corpus.format, *options])],
    ]
    for split, file in corpus.files.items():
        rows.append([split, f"{file.name}, SHA-256 {file.sha256}"])
    print(aligned(rows))


def source_of(name: str) -> str:
    """Where a public corpus is: in the data folder, downloaded, or on the web."""
    from keras_tagging.corpora.public import in_cache, in_data_folder

    if in_data_folder(name):
        return "KERAS_TAGGING_DATA"
    return "downloaded" if in_cache(name) else "to download"


def _size(corpus) -> str:
    return f"{corpus.size / 1e6:.1f} MB"


def describe_corpus(
    corpus: Annotated[str, typer.Argument(help=CORPUS)],
    dev: Dev = None,
    test: Test = None,
    reading: Reading = Reading(errors="skip"),  # noqa: B008
    tags: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    vectors: File = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
) -> None:
    """Count sentences, tokens, labels, unseen words and trees, and look for problems.

    Problems are suspicious rows and labels, sentences that splits share, and wrongly
    encoded text.

    Examples:
        keras-tagging describe demo
        keras-tagging describe annotated.jsonl --tags ner
        keras-tagging describe ud-en-ewt --vectors glove.6B.100d.txt --plot ewt.png

    Args:
        tags: The column of the labels; by default that of the format.
        vectors: Count the words with a vector in it.
        plot: Draw labels and sentence lengths: .png, .pdf or .svg (matplotlib).
    """
    if plot is not None:
        figure_class()  # fail before the work
    files = {"dev": dev, "test": test, "require_train": not Path(corpus).is_dir()}
    data = reading.corpus(corpus, **files)
    if tags is not None:
        data = replace(data, **{k: _labelled(s, tags) for k, s in data.splits()})
    words = None if vectors is None else _words_of(vectors, data)
    options = reading.options
    encoding = options.get("encoding")
    description = describe(data, vectors=words, encoding=encoding, options=options)
    print(description)
    if plot is not None:
        note(f"Written to {plot_description(description, plot)}\n")


def _labelled(sentences: list, column: str) -> list:
    """The sentences with the labels of a column as their tags."""
    check_labelled(sentences, [column], "name another one in tags=")
    return [replace(s, tags=labels_of(s, column)) for s in sentences]


def _words_of(vectors: str, corpus: Corpus) -> list[str]:
    """The words of the file that may occur in the corpus."""
    from keras_tagging.corpora.describe import word_forms
    from keras_tagging.vectors import load_vectors

    words = {w for _, part in corpus.splits() for s in part for w in s.tokens}
    forms = {form for word in words for form in word_forms(word)}
    return load_vectors(vectors, vocabulary=sorted(forms)).words
