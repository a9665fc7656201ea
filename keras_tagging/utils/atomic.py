"""Atomic files: after a crash there is the old file or the new one, never a part."""

import errno
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: what `replacing_files` calls its folder, and its lock
SAVE, SAVING = ".save-", ".saving"
#: what `replacing` calls a file at first: the process, nine random digits, the name
PARTIAL = re.compile(r"[.]([0-9]+)[0-9]{9}[.](.+)", re.DOTALL)
#: since which a file has not grown that a killed process has left
LEFT_SECONDS = 3600
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to, which then replaces `path` at once.

    Missing folders are created. If the block raises, the temporary file is removed and
    `path` stays as it was.

    Raises:
        OSError: if `path` cannot be written; the message names it.
    """
    with replacing_together(path) as [partial]:
        yield partial


def write_text(path: Path, text: str, errors: str = "strict") -> None:
    """Replace a file by a text in UTF-8: see `replacing`.

    Args:
        errors: of `str.encode`; "replace" for half of a surrogate pair, as JSON has.
    """
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def written_to(path: Path) -> Iterator[Path]:
    """A path to write what a user wants to have at `path`.

    A file is replaced as by `replacing`, that of a link too; into what is no file, such
    as `/dev/null` or a named pipe, one writes. What killed processes have left of it is
    removed.

    Raises:
        OSError: if it cannot be written; the message names it.
    """
    if path.exists() and not path.is_file():
        with naming(path):
            yield path
    else:
        path = path.resolve() if path.is_symlink() else path
        with suppress(OSError):
            _remove_left(path)
        with replacing(path) as partial:
            yield partial


def _remove_left(path: Path) -> None:
    for left in os.scandir(path.parent):
        if not (match := PARTIAL.match(left.name)) or match[2] != path.name:
            continue
        # another machine has processes of its own: there the file still grows
        if time.time() - left.stat().st_mtime > LEFT_SECONDS and _is_dead(
            int(match[1])
        ):
            os.unlink(left)


def _is_dead(process: int) -> bool:
    if os.name != "posix":  # where signal 0 is one
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # of another user, or no number of a process
        pass
    return False


@contextmanager
def replacing_together(first: Path, *others: Path) -> Iterator[list[Path]]:
    """Temporary paths, which then replace files of one folder that belong together.

    The old `others` are removed before `first` is replaced, and the new ones come after
    it. So a kill leaves all old files, or all new ones, or `first` without some of the
    others, but never an old file beside a new one.
    """
    paths = [first, *others]
    # the suffix stays, because Keras and others tell formats by it; in a folder that
    # several machines share, a process on another one may have the same number
    number = f"{os.getpid()}{secrets.randbelow(10**9):09}"
    partials = [path.with_name(f".{number}.{path.name}") for path in paths]
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
    """Name the file that is being written in errors of the system.

    The error of a full disk names no file, and others name one of the `partials`.
    """
    try:
        yield
    except OSError as error:
        is_of_another = error.filename not in (None, *map(str, partials))
        if is_of_another or error.errno is None:
            raise
        what = error.strerror
        if error.errno in FULL:
            what += ": free some space and repeat the command; it was writing"
        raise OSError(error.errno, what, str(path)) from error


@contextmanager
def locked(folder: Path, message: str, name: str = ".lock") -> Iterator[None]:
    """Lock a folder against other processes during a block.

    The folder is created if it is missing, and removed again if it is empty at the end.
    The system frees the lock of a killed process.

    Raises:
        ValueError: with this message, at once, if another process has the lock.
    """
    from filelock import FileLock, Timeout

    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(message) from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows does this itself
            path.unlink()
        lock.release()
        with suppress(OSError):  # the folder is not empty
            for path in made:
                path.rmdir()


@contextmanager
def replacing_files(folder: Path, last: str, old: Iterable[Path]) -> Iterator[Path]:
    """An empty folder, whose files replace those of a folder when the block ends.

    `last` is the list of the others, without which they are nothing: the old one is
    removed before any other file is replaced, and the new one comes last.

    Args:
        folder: one process at a time saves in it; it is created if it is missing.
        last: the name of the list.
        old: files to remove, before the list that alone knows them.

    Raises:
        ValueError: if another process saves there.
    """
    busy = f"another process saves in {folder}: wait until it ends"
    with locked(folder, busy, SAVING):
        for path in folder.glob(f"{SAVE}*"):
            shutil.rmtree(path, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=SAVE) as partial:
            yield Path(partial)
            for path in (*old, folder / last):
                path.unlink(missing_ok=True)
            names = sorted(os.listdir(partial), key=lambda name: (name == last, name))
            for name in names:
                os.replace(Path(partial) / name, folder / name)


def remove_partial(folder: Path) -> None:
    """Remove what killed processes have left of `replacing` and `replacing_files`.

    No other process may be writing to the folder.
    """
    for path in folder.glob(".*.*"):
        if re.match(r"\.[0-9]+\.", path.name):
            path.unlink()
    for path in folder.glob(f"{SAVE}*"):
        shutil.rmtree(path, ignore_errors=True)
    (folder / SAVING).unlink(missing_ok=True)
