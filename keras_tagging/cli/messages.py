"""The program says more than its results: notes, errors and the log."""

import logging
import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

_quiet = False


@dataclass(frozen=True)
class Verbosity:
    """The options of every command.

    Args:
        quiet: Without progress and notes; warnings and errors remain. What train and
            export write is in their files.
        log_level: Write the log of the package to standard error, from this level on.
    """

    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False
    log_level: Literal["debug", "info", "warning", "error"] | None = None

    def begin(self) -> None:
        """Hold until the next command begins."""
        global _quiet
        _quiet = self.quiet
        if self.log_level is not None:
            log = logging.getLogger("keras_tagging")
            log.setLevel(self.log_level.upper())
            handler = logging.StreamHandler()
            handler.setFormatter(
                logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
            )
            log.handlers = [handler]


def is_quiet() -> bool:
    """Whether the command was asked to be."""
    return _quiet


def show(*lines: str) -> None:
    """Print lines about a training or an export, whose results are files."""
    if not _quiet:
        print(*lines, sep="\n", flush=True)


def note(text: str) -> None:
    """Write a line that nobody needs to standard error."""
    if not _quiet:
        sys.stderr.write(text)


def remark(text: str) -> None:
    """Write a note about the input or the model to standard error."""
    note(one_line("note", text))


def warn(text: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(one_line("warning", text))


def one_line(kind: str, message) -> str:
    """The line of an error, a warning or a note."""
    return f"keras-tagging: {kind}: {' '.join(str(message).splitlines())}\n"
