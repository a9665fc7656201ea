"""Options: those that commands share, of functions and dataclasses, and of files."""

import ast
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import is_dataclass
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import typer

from keras_tagging.architectures import RECIPES
from keras_tagging.cli.output import Verbosity
from keras_tagging.utils.checks import check_known

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
Split = Annotated[
    Literal["train", "dev", "test"],
    typer.Option(help="What to take of the corpus; a single file is the test data."),
]
Punctuation = Annotated[
    Literal["keep", "ptb", "unicode"] | None,
    typer.Option(
        help="For parsers: count punctuation (CoNLL 2018), or leave it out by the gold "
        "tags of the Penn Treebank, or by characters (CoNLL-X). Default: keep."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
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


# Functions as commands: their docstrings are the help, dataclasses are options.

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
    examples = parts(function.__doc__)[1].get("Examples", "").rstrip()
    if not examples:  # by python -OO
        return ""
    lines = (f"  {' '.join(x.split())}" for x in re.split(r"\n(?=    \S)", examples))
    return "\n".join(["\b", "Example:", *lines])


# Options from a TOML file: --config


def take(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of the command's other options.

    Raises:
        ValueError: if the file cannot be read, or has what is no option of the command.
    """
    if path is None:
        return None
    options = {
        name.removeprefix("--"): option
        for option in context.command.params
        for name in option.opts
        if name != "--config" and not re.match("-[^-]", name)
    }
    context.default_map = {}
    try:
        for key, value in tomllib.loads(path.read_text("utf-8")).items():
            name = key.replace("_", "-")
            check_known("option", name, options)
            option = options[name]
            if getattr(option, "multiple", False):
                value = list(items(value))
            elif isinstance(value, (list, dict)):
                raise ValueError(f"{key} has a single value, not {value!r:.40}")
            context.default_map[option.name] = value
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path}: {reason}") from None
    return path


def items(value, prefix: str = "") -> Iterator[str]:
    """The values of an option that can be repeated.

    Args:
        value: a string, a list of strings, or a table, whose keys and values are
            written KEY=VALUE, and those of a table inside of it TABLE.KEY=VALUE.
        prefix: of the keys.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, Mapping):
                yield from items(inner, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}={inner}"
    elif isinstance(value, list):
        yield from map(str, value)
    else:
        yield str(value)


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        callback=take,
        is_eager=True,
        help="A TOML file with values of these options, such as epochs = 5, and "
        "[set] units = 200; those of the command line count more.",
    ),
]
