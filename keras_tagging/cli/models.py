"""The command about installed models: models."""

import json
from typing import Annotated

import typer

from keras_tagging.utils.named_models import GROUP, installed_models
from keras_tagging.utils.suggestions import check_known
from keras_tagging.utils.tables import aligned

SHOWN = ("language", "licence", "summary")


def list_models(
    name: Annotated[str | None, typer.Argument(help="Show all about this one.")] = None,
) -> None:
    """List the trained models that are installed, which have a name.

    The name stands for the folder of a model in every command, and in
    keras_tagging.load. With a name, show the model's card: its corpus and licence, how
    it was trained, and its figures.
    """
    models = installed_models()
    if name is None:
        rows = [["name", "version", *SHOWN]]
        for model in models.values():
            rows.append([model.name, model.version, *map(model.told, SHOWN)])
        print(aligned(rows) if models else "No models are installed.")
        print("\nA model is a distribution of its own: pip install ./models/NAME")
        print(f"(entry points of the group {GROUP}).")
        return
    check_known("model", name, models)
    model = models[name]
    print(f"{name} {model.version}\nin {model.folder}")
    print(json.dumps(model.card, indent=2, ensure_ascii=False))
