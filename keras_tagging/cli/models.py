"""Commands that list architectures and installed models: list, models."""

import textwrap
from typing import Annotated

import typer

from keras_tagging.architectures import RECIPES, architecture, available
from keras_tagging.utils.named_models import GROUP, installed_models
from keras_tagging.utils.suggestions import check_known
from keras_tagging.utils.tables import aligned

SHOWN = ("language", "licence", "summary")


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


def list_models(name: Annotated[str | None, typer.Argument()] = None) -> None:
    """List the trained models that are installed, which have a name.

    The name stands for the folder of a model in every command, and in
    keras_tagging.load. With a name, show the model's card: its corpus and licence, how
    it was trained, and its figures.

    Examples:
        keras-tagging models
        keras-tagging models en

    Args:
        name: Show all about this one.
    """
    models = installed_models()
    if name is None:
        rows = [["name", "version", *SHOWN]]
        for model in models.values():
            try:
                told = [model.entry(key) for key in SHOWN]
            except ValueError as error:  # the others are listed all the same
                told = ["-", "-", str(error)]
            rows.append([model.name, model.version, *told])
        print(aligned(rows) if models else "No models are installed.")
        print("\nA model is a distribution of its own. In a clone of keras_tagging:")
        print("pip install ./models/en ./models/en-ccg")
        print(f"Others name themselves in the entry points of the group {GROUP}.")
        return
    check_known("model", name, models)
    model = models[name]
    print(f"{name} {model.version}\nin {model.folder}")
    if model.onnx:
        print(f"for ONNX Runtime in {model.onnx}")
    print(card_text(model.card))


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
