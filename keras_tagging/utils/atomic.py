"""Files that are either the old ones or the new ones, never half of one."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which then replaces `path` at once.

    Folders are made. If the block raises, `path` stays as it was and what was
    written is removed.

    Raises:
        OSError: naming `path`, if it cannot be written.
    """
    with replacing_together(path) as [partial]:
        yield partial


@contextmanager
def replacing_together(first: Path, *others: Path) -> Iterator[list[Path]]:
    """Paths to write to, which then replace files of one folder that belong together.

    The others go before the first one is replaced, and come after it. So a kill leaves
    all the old files, or all the new ones, or the old or new first one without some of
    the others; never an old file beside a new one.
    """
    paths = [first, *others]
    # the suffix stays: Keras and others tell formats by it
    partials = [path.with_name(f".{os.getpid()}.{path.name}") for path in paths]
    with naming(first, *partials):
        first.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partials
            for path in others:
                path.unlink(missing_ok=True)
            for partial, path in zip(partials, paths, strict=True):
                os.replace(partial, path)
        finally:
            for partial in partials:
                partial.unlink(missing_ok=True)


@contextmanager
def naming(path: str | Path, *partials: Path) -> Iterator[None]:
    """Have errors of the system name the file that is written.

    That of a full disk names none, and others one of the `partials` in its place.
    """
    try:
        yield
    except OSError as error:
        is_of_another = error.filename not in (None, *map(str, partials))
        if is_of_another or error.errno is None:
            raise
        what = error.strerror
        if error.errno in FULL:
            what += ": free some space and repeat the command; it was to write"
        raise OSError(error.errno, what, str(path)) from error


@contextmanager
def locked(folder: Path, message: str) -> Iterator[None]:
    """Keep other processes out of a block for this folder, which is made.

    A folder that was made here and is empty in the end goes.

    The system frees the lock of a process that was killed.

    Raises:
        ValueError: with this message, at once, if another process is in such a block.
    """
    from filelock import FileLock, Timeout

    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".lock"
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(message) from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows does so by itself
            path.unlink()
        lock.release()
        with suppress(OSError):  # unless something is in it
            for path in made:
                path.rmdir()


def remove_partial(folder: Path) -> None:
    """Remove what processes that were killed have left of `replacing` in a folder
    that no other one writes to."""
    for path in folder.glob(".*.*"):
        if re.match(r"\.[0-9]+\.", path.name):
            path.unlink()
