"""Options that commands share."""

import ast
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.architectures import RECIPES

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


#: of an --output that has jsonl, for which json is another name
Form = typer.Option("--output", callback=lambda x: "jsonl" if x == "json" else x)


Recipe = Annotated[
    Literal[RECIPES],
    typer.Option(help="Fast settings, those of the best figures, or the paper's."),
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
