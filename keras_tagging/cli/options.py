"""Options that commands share, and what they say of those that do not fit."""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
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


def grouped(function: Callable) -> Callable:
    """A command in which a parameter of a dataclass stands for an option per field.

    The defaults are those of the parameter's own default, if it has one, or else those
    of the fields.
    """
    groups, flat = {}, []
    for name, one in inspect.signature(function, eval_str=True).parameters.items():
        if not is_dataclass(one.annotation):
            flat.append(one.replace(kind=one.KEYWORD_ONLY))
            continue
        groups[name] = one.annotation
        given = None if one.default is one.empty else one.default
        for parameter in inspect.signature(one.annotation).parameters.values():
            if given is not None:
                parameter = parameter.replace(default=getattr(given, parameter.name))
            flat.append(parameter.replace(kind=one.KEYWORD_ONLY))

    @wraps(function)
    def command(**values):
        for name, group in groups.items():
            own = {field.name: values.pop(field.name) for field in fields(group)}
            values[name] = group(**own)
        return function(**values)

    command.__signature__ = inspect.Signature(flat)
    command.__annotations__ = {one.name: one.annotation for one in flat}
    return command


def one_line(kind: str, message) -> str:
    message = in_options(" ".join(str(message).splitlines()))
    return f"keras-tagging: {kind}: {message}\n"


def in_options(message: str) -> str:
    """A message with Python keywords replaced by options of the command.

    For instance --format 'text' for format='text', --tags None for tags=None, --option
    separator= for separator=, or --set constrained=True.
    """
    own = r"\b(format|dev|test|errors|tags|monitor)=(?=$|[' ;,)])('?)"
    message = re.sub(own, lambda m: f"--{m[1]} '" if m[2] else f"--{m[1]}", message)
    message = re.sub(r"\b(tags|seed)=(?=None\b|-?[0-9])", r"--\1 ", message)
    message = re.sub(r"\b(constrained=(True|False))\b", r"--set \1", message)
    return re.sub(r"(?<=pass )(\w+)=|(?<=; )(tag)=", r"--option \1\2=", message)


def pairs(name: str, items: list[str] | None) -> dict:
    """`key=value` items; a value is a Python literal, or else a string."""
    values = {}
    for item in items or ():
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"{name} {item}: write {name} key=value")
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
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
