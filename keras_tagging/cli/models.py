"""Commands that list what there is by name: list, models, vectors."""

import json
import textwrap
from typing import Annotated

import typer

from keras_tagging.architectures import RECIPES, architecture, available
from keras_tagging.utils.named_models import GROUP, NamedModel, installed_models
from keras_tagging.utils.suggestions import check_known
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
    if as_json:
        content = (
            [*map(_content, models.values())]
            if name is None
            else _content(models[name])
        )
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
    from keras_tagging.vectors.named import FILES, KINDS, OWN, downloadable, installed

    if name is not None:
        offers = {k: (m, FILES[g]) for g in KINDS for k, m in installed(g).items()}
        check_known("installed vectors or word classes", name, offers)
        offer, file = offers[name]
        print(f"{name} {offer.version}\nin {offer.part(file)}")
        print(card_text(offer.card))
        return
    for group, kind in KINDS.items():
        rows = [["name", "version", *SHOWN], *map(_row, installed(group).values())]
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
