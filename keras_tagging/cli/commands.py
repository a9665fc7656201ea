"""Functions as commands: their docstrings are the help, dataclasses are options."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import is_dataclass
from functools import wraps
from inspect import cleandoc
from typing import Annotated, get_args, get_origin

import typer

from keras_tagging.cli.messages import Verbosity

#: 128 and SIGPIPE: the exit code of programs whose output nobody reads to its end
BROKEN_PIPE = 141


def command(function: Callable) -> Callable:
    """A command of typer, whose options say what its docstring says of them.

    The help of an option is its entry in the section "Args" of the docstring. A
    parameter of a dataclass stands for an option per field, with the defaults of its
    own default, or else of the fields. A bool that is False by default is a flag
    without an opposite. Every command has the options of `Verbosity`.
    """
    text, helps = sections(function.__doc__)
    signature = inspect.signature(function, eval_str=True)
    verbosity = inspect.Parameter(
        "verbosity",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Verbosity,
        default=Verbosity(),
    )
    parameters = [*signature.parameters.values(), verbosity]

    @wraps(function)
    def run(**values):
        arguments = gathered(parameters, values)
        arguments.pop("verbosity").begin()
        try:
            return function(**arguments)
        except BrokenPipeError as error:  # of which click makes an exit with 1
            raise typer.Exit(BROKEN_PIPE) from error

    run.__doc__ = text
    run.__signature__ = inspect.Signature([*spread(parameters, helps)])
    return run


def spread(parameters: Iterable, helps: Mapping) -> Iterator[inspect.Parameter]:
    """The parameters with their help, and those of dataclasses in their place."""
    for one in parameters:
        if not is_dataclass(one.annotation):
            yield with_help(one, helps.get(one.name))
            continue
        defaults = {} if one.default is one.empty else vars(one.default)
        fields = inspect.signature(one.annotation).parameters.values()
        fields = [
            part.replace(default=defaults.get(part.name, part.default))
            for part in fields
        ]
        yield from spread(fields, sections(one.annotation.__doc__)[1])


def gathered(parameters: Iterable, values: Mapping) -> dict:
    """The arguments for the parameters, from those of `spread`."""
    arguments = {}
    for one in parameters:
        if is_dataclass(one.annotation):
            fields = inspect.signature(one.annotation).parameters.values()
            arguments[one.name] = one.annotation(**gathered(fields, values))
        else:
            arguments[one.name] = values[one.name]
    return arguments


def with_help(parameter: inspect.Parameter, help: str | None) -> inspect.Parameter:
    """A parameter that typer understands, for a keyword."""
    annotation, option = parameter.annotation, typer.Option()
    if get_origin(annotation) is Annotated:
        annotation, option = get_args(annotation)
    option = copy(option)
    option.help = option.help or help
    if annotation is bool and parameter.default is False and option.default is ...:
        option.default = f"--{parameter.name.replace('_', '-')}"  # the name, for typer
    if annotation is not typer.Context:
        annotation = Annotated[annotation, option]
    return parameter.replace(annotation=annotation, kind=parameter.KEYWORD_ONLY)


def sections(docstring: str) -> tuple[str, dict[str, str]]:
    """The text of a docstring before its sections, and the entries of "Args"."""
    text, named = parts(docstring)
    entries = re.split(r"^    (\w+): ", named.get("Args", ""), flags=re.MULTILINE)[1:]
    pairs = zip(entries[::2], entries[1::2], strict=True)
    return text.strip(), {name: " ".join(entry.split()) for name, entry in pairs}


def parts(docstring: str) -> tuple[str, dict[str, str]]:
    """The text of a docstring before its sections, and these by their names."""
    names = "Args|Examples|Raises|Returns"
    text, *pieces = re.split(rf"\n({names}):\n", cleandoc(docstring or ""))
    return text, dict(zip(pieces[::2], pieces[1::2], strict=True))


def epilog(function: Callable) -> str:
    """The examples of a command; typer keeps the lines after \\b as they are."""
    examples = re.split(
        r"\n(?=    \S)", parts(function.__doc__)[1]["Examples"].rstrip()
    )
    lines = (f"  {' '.join(example.split())}" for example in examples)
    return "\n".join(["\b", "Example:", *lines])
