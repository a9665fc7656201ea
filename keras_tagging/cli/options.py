"""Options that commands share."""

import ast
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.architectures import RECIPES
from keras_tagging.utils.suggestions import check_known

CORPUS = (
    "A name that `corpora` shows, a directory that holds the splits, a file or a "
    "pattern."
)
CorpusPath = Annotated[str, typer.Option("--corpus", help=CORPUS)]
File = Annotated[str | None, typer.Option(metavar="FILE")]
Folder = Annotated[Path | None, typer.Option(metavar="DIR")]
Count = Annotated[int | None, typer.Option(min=1)]
Pairs = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE")]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="Development file.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="Test file.")]
Format = Annotated[str | None, typer.Option(help="By default it is recognised.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="For the format, such as tag_column=4 (columns are counted from 0).",
    ),
]
Errors = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="Stop at a malformed sentence, or leave it out."),
]
Entities = Annotated[
    str | None,
    typer.Option(
        metavar="CORPUS",
        help="For pipelines: a corpus with entities (B-PER, I-PER, O) on the same "
        "sentences, joined by sent_id.",
    ),
]
Run = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The --out of train, a .keras file, or the name of an installed model.",
    ),
]
RunOrOnnx = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The --out of train, a .keras or .onnx file, or the name of an installed "
        "model.",
    ),
]
InputFile = Annotated[
    str, typer.Argument(metavar="[FILE]", help="'-' is standard input.")
]
BeamWidth = Annotated[
    int | None,
    typer.Option(min=1, help="Hypotheses to keep, for parsers and label networks."),
]
Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        help="Processes, each with the model and one thread; the output is the same.",
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="By default the recipe's.")]


def written_as(output: str) -> str:
    """The --output that is meant: json is another name for jsonl."""
    return "jsonl" if output == "json" else output


#: of an --output that has jsonl: a Literal lists the forms
Form = typer.Option("--output", callback=written_as)


def known_recipe(name: str) -> str:
    """The name of a recipe, after a check."""
    check_known("recipe", name, RECIPES)
    return name


Recipe = Annotated[
    str,
    typer.Option(
        callback=known_recipe,
        metavar=f"[{'|'.join(RECIPES)}]",
        help="Fast settings, those of the best figures, or the paper's.",
    ),
]


def pairs(name: str, items: list[str] | None) -> dict:
    """`key=value` items; a value is a Python literal, or else a string."""
    values = {}
    for item in items or ():
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"{name} {item}: write {name} key=value")
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            values[key] = value
    return values


def refuse(what: str, options: dict) -> None:
    """Raise a ValueError for the first option that was given.

    Args:
        what: the beginning of the message, such as "a tagger has no".
        options: the values by name; None or False if not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"{what} --{name.replace('_', '-')}")
