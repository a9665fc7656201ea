"""Where commands write: standard output, or files that appear when they are whole."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from keras_tagging.utils.atomic import written_to

Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="PATH",
        help="Write a file, which appears when it is whole; or, into a folder, a file "
        "for each input. By default standard output.",
    ),
]
#: of the files in a folder; of any other --output it is its name
SUFFIXES = {
    "text": ".txt",
    "spans": ".tsv",
    "brat": ".ann",
    "candc": ".txt",
    "easyccg": ".txt",
    "tree": ".txt",
}


def destinations(files: Sequence[str], out: str | None, output: str) -> list:
    """The path to write for each input, or None for standard output.

    Args:
        files: the inputs.
        out: a file, or a folder: one that exists, or whose name ends in a slash, or
            that of several inputs.
        output: the --output.

    Raises:
        ValueError: if two would be one, an input would be replaced, or there are
            several inputs without a folder.
    """
    if out is None:
        if len(files) > 1:
            raise ValueError(
                f"{files[1]}: is a second file, which needs --out with the folder that "
                "gets a file for each"
            )
        return [None]
    folder = Path(out)
    if len(files) == 1 and not folder.is_dir() and not out.endswith(("/", os.sep)):
        paths = [folder]
    elif "-" in files:
        raise ValueError(f"--out {out}: standard input has no name: name a file")
    elif folder.is_file():
        raise ValueError(
            f"--out {out}: is a file, and {len(files)} inputs need a folder"
        )
    else:
        suffix = SUFFIXES.get(output, f".{output}")
        paths = [folder / f"{Path(file).stem}{suffix}" for file in files]
    writers = {}
    for path, file in zip(paths, files, strict=True):
        if path in writers:
            raise ValueError(f"{writers[path]} and {file} would both be {path}")
        writers[path] = file
    inputs = {Path(file).resolve(): file for file in files if file != "-"}
    for path in paths:
        if replaced := inputs.get(path.resolve()):
            raise ValueError(f"{replaced}: would be replaced: give another --out")
    return paths


@contextmanager
def written(path: Path | None, encoding: str) -> Iterator[IO[str]]:
    """The stream to write to; without a path, or with -, it is standard output."""
    if path is None or str(path) == "-":
        sys.stdout.reconfigure(encoding=encoding, newline="\n")
        yield sys.stdout
        return
    with written_to(path) as partial:
        with open(partial, "w", encoding=encoding, newline="\n") as file:
            yield file
