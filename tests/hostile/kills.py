"""What kill -9 leaves of a folder, at every point where it could strike.

Files are whole when they get their name, so that what a kill leaves changes only where
a file is renamed, removed or made a folder: the folder is copied before each of these.
"""

import contextlib
import hashlib
import os
import shutil
from unittest import mock

CHANGING = ("replace", "rename", "unlink", "remove", "rmdir", "mkdir")


@contextlib.contextmanager
def kill_points(folder, copies):
    """Copies a folder before each change that the block makes to the file system.

    Args:
        folder: the folder; it need not exist yet.
        copies: folder for the copies, which must not be in it.

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

        def changing(own):
            def change(*args, **kwargs):
                if not busy:
                    busy.append(True)
                    keep()
                    busy.clear()
                return own(*args, **kwargs)

            return change

        for name in CHANGING:
            patched = mock.patch.object(os, name, changing(getattr(os, name)))
            stack.enter_context(patched)
        yield found
    keep()


def content(folder):
    """The files of a folder with hashes of their content; None for folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        data = path.read_bytes() if path.is_file() else None
        found[name] = data and hashlib.sha256(data).hexdigest()
    return found
