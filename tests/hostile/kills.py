"""What kill -9 leaves of a folder, at every point where it could strike.

Files are whole when they get their name, so that what a kill leaves changes only where
a file is renamed, removed or made a folder: the folder is copied before each of these.
Whether files are whole then is asked with `opens`.
"""

import builtins
import contextlib
import hashlib
import io
import os
import re
import shutil
from unittest import mock

CHANGING = ("replace", "rename", "unlink", "remove", "rmdir", "mkdir")
OPENING = ((builtins, "open"), (io, "open"), (os, "open"))


@contextlib.contextmanager
def kill_points(folder, copies, opens=False):
    """Copies a folder before each change that the block makes to the file system.

    Args:
        folder: the folder; it need not exist yet.
        copies: folder for the copies, which must not be in it.
        opens: whether also before and after a file is opened for writing.

    Returns:
        The list of the copies that differ from the one before, filled by the block.
        The last one is the folder after the block.
    """
    found, states = [], []

    def keep():
        if folder.exists():
            state = content(folder)
            if not states or state != states[-1]:
                states.append(state)
                found.append(copies / f"{len(found):02}")
                shutil.copytree(folder, found[-1], symlinks=True)

    with contextlib.ExitStack() as stack:
        busy = []

        def kept():
            if not busy:
                busy.append(True)
                keep()
                busy.clear()

        def changing(own):
            def change(*args, **kwargs):
                kept()
                return own(*args, **kwargs)

            return change

        def opening(own):
            def opened(file, mode="r", *args, **kwargs):
                writes = mode & 3 if own is os_open else set(mode) - {*"rbtU"}
                if writes:
                    kept()
                found = own(file, mode, *args, **kwargs)
                if writes:
                    kept()
                return found

            return opened

        os_open = os.open
        places = [(os, name, changing) for name in CHANGING]
        places += [(*place, opening) for place in OPENING] if opens else []
        for module, name, wrap in places:
            patched = mock.patch.object(module, name, wrap(getattr(module, name)))
            stack.enter_context(patched)
        yield found
    keep()


def content(folder):
    """The files of a folder with hashes of their content; None for folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        is_file = path.is_file()
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else None
    return found


def without_random_names(state):
    """What `content` gives, with temporary files and folders by the same names."""
    names = {name: re.sub(r"\.[0-9]{10,}\.", ".0.", name) for name in state}
    names = {k: re.sub(r"\.save-[^/]*", ".save-", name) for k, name in names.items()}
    return {names[name]: value for name, value in state.items()}
