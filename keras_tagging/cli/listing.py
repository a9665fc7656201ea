"""Commands about what there is by name: list, models, vectors, corpora, describe."""

import json
import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.architectures import RECIPES, architecture, available
from keras_tagging.cli.loading import Reading
from keras_tagging.cli.options import CORPUS, Dev, File, Test
from keras_tagging.cli.output import note
from keras_tagging.corpora import PUBLIC, describe
from keras_tagging.corpora.describe import plot_description
from keras_tagging.data import Corpus
from keras_tagging.data.named_columns import check_labelled, labels_of
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.named_models import GROUP, NamedModel, installed_models
from keras_tagging.utils.startup import require
from keras_tagging.utils.tables import aligned, wrapped

SHOWN = ("language", "licence", "summary")
#: characters of a line of a cell, so that a line of the table has less than 100
CELL = 30


def list_architectures(arch: Annotated[str | None, typer.Argument()] = None) -> None:
    """List the architectures, or the keywords of one.

    The list of keywords has the values of each recipe, and the possible values.

    Examples:
        keras-tagging list
        keras-tagging list bigru

    Args:
        arch: Show its keywords.
    """
    if arch is None:
        rows = [[name, architecture(name).summary] for name in available()]
    else:
        entry = architecture(arch)
        recipes = [entry.settings(recipe) for recipe in RECIPES]
        rows = [["keyword", *RECIPES, "possible"]]
        for key in entry.keywords:
            rows.append([key, *(repr(r[key]) for r in recipes), entry.possible(key)])
    print(aligned(rows))


def list_models(
    name: Annotated[str | None, typer.Argument()] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List the trained models that are installed, which have a name.

    The name stands for the folder of a model in every command, and in
    keras_tagging.load. With a name, show the model's card: its corpus and licence, how
    it was trained, and its figures.

    Examples:
        keras-tagging models
        keras-tagging models en
        keras-tagging models --json

    Args:
        name: Show all about this one.
        as_json: Print JSON: a list of models, each with its folders and its card; with
            a name that model alone.
    """
    models = installed_models()
    if name is not None:
        check_known("model", name, models)
        models = {name: models[name]}
    if as_json:
        contents = [*map(_content, models.values())]
        content = contents if name is None else contents[0]
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return
    if name is None:
        rows = [["name", "version", *SHOWN], *map(_row, models.values())]
        print(wrapped(rows, CELL) if models else "No models are installed.")
        print("\nA model is a distribution of its own. In a clone of keras_tagging:")
        print("pip install ./models/en ./models/fr ./models/en-ccg")
        print(f"Others name themselves in the entry points of the group {GROUP}.")
        return
    model = models[name]
    print(f"{name} {model.version}\nin {model.folder}")
    if model.onnx:
        print(f"for ONNX Runtime in {model.onnx}")
    print(card_text(model.card))


def _row(model: NamedModel) -> list[str]:
    try:
        cells = [model.entry(key) for key in SHOWN]
    except ValueError as error:  # the others are listed all the same
        cells = ["-", "-", str(error)]
    return [model.name, model.version, *cells]


def _content(model: NamedModel) -> dict:
    """A model for JSON; of one that is damaged, what is wrong."""
    about = {"name": model.name, "version": model.version}
    try:
        onnx = model.onnx and str(model.onnx)
        more = {"folder": str(model.folder), "onnx": onnx, "card": model.card}
    except ValueError as error:
        more = {"error": str(error)}
    return about | more


def list_vectors(name: Annotated[str | None, typer.Argument()] = None) -> None:
    """List the word vectors and the word classes that have a name, or show a card.

    The name of vectors stands for a file in --embeddings, in embeddings= and vectors=,
    and in load_vectors; that of classes in word_classes=. Vectors that are not
    installed are those of gensim-data, which gensim downloads when they are first used.

    Examples:
        keras-tagging vectors
        keras-tagging vectors glove-6b-50
        keras-tagging train bigru --corpus demo --out runs/1 --embeddings
            glove-wiki-gigaword-100

    Args:
        name: Show where these installed ones come from, and their licence.
    """
    from keras_tagging.vectors.named import FILES, KINDS, OWN, downloadable

    installed = {group: installed_models(group) for group in KINDS}
    if name is not None:
        offers = {k: (m, FILES[g]) for g in KINDS for k, m in installed[g].items()}
        check_known("installed vectors or word classes", name, offers)
        offer, file = offers[name]
        print(f"{name} {offer.version}\nin {offer.part(file)}")
        print(card_text(offer.card))
        return
    for group, kind in KINDS.items():
        rows = [["name", "version", *SHOWN], *map(_row, installed[group].values())]
        print(f"Installed {kind}:")
        print(wrapped(rows, CELL) if rows[1:] else "none", end="\n\n")
    print("Word vectors that gensim downloads:")
    try:
        there = downloadable()
    # gensim raises plain exceptions; a server can send anything
    except Exception as error:
        print(f"gensim-data cannot be asked ({' '.join(str(error).split())})")
    else:
        sizes = [
            f"{about.get('file_size', 0) / 1e6:,.0f} MB" for about in there.values()
        ]
        print(aligned([list(row) for row in zip(there, sizes, strict=True)]))
    print("\nOthers are distributions of their own. In a clone of keras_tagging:")
    print("pip install", *OWN.values())


def card_text(card: dict) -> str:
    """A model card as text: its entries, and a table of the figures in per cent."""
    lines = []
    for key, value in card.items():
        if not isinstance(value, dict):
            text = " ".join(str(value).split())
            lines += textwrap.wrap(f"{key}: {text}", 78, subsequent_indent="  ")
    figures = card.get("figures")
    if isinstance(figures, dict) and all(isinstance(x, dict) for x in figures.values()):
        names = dict.fromkeys(name for split in figures.values() for name in split)
        rows = [["figures in per cent", *figures]]
        for name in names:
            values = [str(split.get(name, "-")) for split in figures.values()]
            rows.append([name, *values])
        lines += ["", aligned(rows)]
    return "\n".join(lines)


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
    from keras_tagging.corpora.public import in_cache, in_data_folder
    from keras_tagging.utils.download import cache_folder

    def facts(name: str) -> list[str]:
        if name == "demo":
            text = "generated English sentences with CCG categories and trees"
            return [text, "-", "built in", "that of keras-tagging"]
        place = "downloaded" if in_cache(name) else "to download"
        place = "KERAS_TAGGING_DATA" if in_data_folder(name) else place
        corpus = PUBLIC[name]
        return [corpus.title, f"{corpus.size / 1e6:.1f} MB", place, corpus.licence]

    if name is None:
        rows = [["name", "what it is", "size", "where", "licence"]]
        print(aligned([*rows, *([key, *facts(key)] for key in ("demo", *PUBLIC))]))
        print(f"\nDownloads are kept in {cache_folder()} (KERAS_TAGGING_CACHE).")
        return
    check_known("corpus", name, ["demo", *PUBLIC])
    headings = ("title", "size", "where", "licence")
    rows = list(map(list, zip(headings, facts(name), strict=True)))
    if name != "demo":
        corpus = PUBLIC[name]
        options = (f"{key}={value}" for key, value in corpus.options.items())
        rows += [["citation", corpus.citation], ["source", corpus.base]]
        rows.append(["format", " ".join([corpus.format, *options])])
        for split, file in corpus.files.items():
            rows.append([split, f"{file.name}, SHA-256 {file.sha256}"])
    print(aligned(rows))


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
        require("matplotlib", "plots")  # fail before the work
    files = {"dev": dev, "test": test, "require_train": not Path(corpus).is_dir()}
    data = reading.corpus(corpus, **files)
    if tags is not None:
        for split, sentences in data.splits():
            check_labelled(sentences, [tags], "name another one in tags=")
            labelled = [replace(s, tags=labels_of(s, tags)) for s in sentences]
            setattr(data, split, labelled)
    covered = "" if vectors is None else coverage_of(data, vectors)
    description = describe(data, encoding=reading.options.get("encoding"))
    print(f"{description}{covered}")
    if plot is not None:
        note(f"Written to {plot_description(description, plot)}")


def coverage_of(corpus: Corpus, vectors: str) -> str:
    """The words of each split that have a vector; in normal form digits are 0."""
    from keras_tagging.vectors import coverage, load_vectors

    def normalise(word: str) -> str:
        return re.sub(r"\d", "0", word.lower())

    every = [sentence for _, sentences in corpus.splits() for sentence in sentences]
    loaded = load_vectors(vectors, vocabulary=every, normalise=normalise)
    return "".join(
        f"\n\nWords with a vector, {split}\n{coverage(sentences, loaded, normalise)}"
        for split, sentences in corpus.splits()
    )
