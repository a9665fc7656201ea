"""The program `keras-tagging`.

Keras and TensorFlow take seconds to import, so commands import what they need.
"""

import os
import sys
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from keras_tagging.cli import listing
from keras_tagging.cli.annotation import annotate, derive, parse, tag
from keras_tagging.cli.evaluation import analyse, compare, evaluate
from keras_tagging.cli.options import BROKEN_PIPE, command, epilog
from keras_tagging.cli.output import one_line
from keras_tagging.cli.reproduction import reproduce
from keras_tagging.cli.serving import export, serve
from keras_tagging.cli.training import train
from keras_tagging.utils.atomic import FULL

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS = {
    "list": listing.list_architectures,
    "train": train,
    "evaluate": evaluate,
    "compare": compare,
    "analyse": analyse,
    "tag": tag,
    "parse": parse,
    "derive": derive,
    "annotate": annotate,
    "export": export,
    "serve": serve,
    "models": listing.list_models,
    "vectors": listing.list_vectors,
    "corpora": listing.list_corpora,
    "describe": listing.describe_corpus,
    "reproduce": reproduce,
}


def show_versions(wanted: bool) -> None:
    """Print the versions that a report of a bug needs, and exit."""
    if not wanted:
        return
    versions = [f"Python {sys.version.split()[0]}"]
    for name in ("keras", "tensorflow", "onnxruntime"):
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    print(f"keras-tagging {version('keras-tagging')} ({', '.join(versions)})")
    raise typer.Exit


Version = typer.Option(
    "--version",
    callback=show_versions,
    is_eager=True,
    help="Show the version and exit.",
)


@app.callback()
def program(version: Annotated[bool, Version] = False) -> None:
    """Recurrent sequence tagging and dependency parsing on Keras 3."""


def main(args: list[str] | None = None) -> None:
    """Run the program; errors that the user can mend are printed in one line.

    The exit code is 0, 2 after an error, 130 after an interrupt, and 141 if nobody
    reads the output to its end.
    """
    warnings.formatwarning = lambda message, *_, **__: one_line("warning", message)
    try:
        args = args or sys.argv[1:] or ["--help"]
        code = app(args, prog_name="keras-tagging", standalone_mode=False) or 0
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        forget_output()
        code = BROKEN_PIPE
    # those that the user can mend; packages that are missing say what to install
    except (ValueError, OSError, ImportError, typer.BadParameter.__base__) as error:
        message = getattr(error, "format_message", error.__str__)()
        message = message.replace(": Value error, ", ": ")  # pydantic's, in typer
        if message.startswith("No module named"):  # requirements-runtime.txt lacks it
            message += "; this needs the whole package: pip install . in a clone"
        if getattr(error, "errno", None) in FULL and error.filename is None:
            message += ": standard output"  # errors of files name the file
            forget_output()
        sys.stderr.write(one_line("error", message))
        code = 2
    if code == 130:
        sys.stderr.write(one_line("error", "interrupted"))
    sys.exit(code)


def forget_output() -> None:
    """Keep the flush at exit from failing again on an unwritable standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


for name, function in COMMANDS.items():
    app.command(name, epilog=epilog(function))(command(function))
