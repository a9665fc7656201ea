"""Options of a command from a TOML file: --config."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.utils.suggestions import check_known

MOST_BYTES = 1 << 20


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
    for key, value in contents(path).items():
        name = key.replace("_", "-")
        try:
            check_known("option", name, options)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        option = options[name]
        if getattr(option, "multiple", False):
            value = list(items(value))
        elif isinstance(value, (list, dict)):
            raise ValueError(f"{path}: {key} has a single value, not {value!r:.40}")
        context.default_map[option.name] = value
    return path


def contents(path: Path) -> dict:
    """The values of a TOML file.

    Raises:
        ValueError: naming the file.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError("it is larger than a megabyte")
        return tomllib.loads(text.decode())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: cannot be read as TOML: {error}") from error


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


def also(context: typer.Context, name: str, values: list[str] | None) -> list[str]:
    """The values of the file for an option, and then those of the command line."""
    return [*(context.default_map or {}).get(name, ()), *(values or ())]


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
