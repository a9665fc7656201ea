"""Files that are either the old ones or the new ones, never half of one."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which then replaces `path` at once.

    Folders are made. If the block raises, `path` stays as it was and what was
    written is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # the suffix stays: Keras and others tell formats by it
    partial = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Removes what processes that were killed have left of `replacing` in a folder
    that no other one writes to."""
    for path in folder.glob(".*.*"):
        if re.match(r"\.[0-9]+\.", path.name):
            path.unlink()
