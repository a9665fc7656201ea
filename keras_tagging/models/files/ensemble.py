"""The folder of an ensemble: a list of its members, and the file of each."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from keras_tagging.models.files.loading import read
from keras_tagging.models.files.run_folder import ENSEMBLE
from keras_tagging.models.files.saving import versions
from keras_tagging.runtime.folder import inside, listed_bytes
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import locked
from keras_tagging.utils.stored import read_object, sha256_of

FORMAT = 1
#: a member's file, which lies in the folder itself
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.keras")
PARTIAL = ".save-"
REMEDY = "copy the folder again from where it was saved"


def save_ensemble(ensemble, folder: str | Path, overwrite: bool = True) -> None:
    """Write `member-1.keras` and so on, and at last `ensemble.json`.

    It has the checksums of the members: a folder that was halved by a kill, or mixed
    with another one, is refused.

    Raises:
        FileExistsError: if the folder has an ensemble, and `overwrite` is false.
        ValueError: if it is a file's name, or another process saves there.
        OSError: if it cannot be written.
    """
    folder = Path(folder)
    if folder.is_file() or folder.suffix == ".keras":
        raise ValueError(
            f"{folder}: an ensemble is saved in a folder, which is no file and has no "
            "suffix .keras"
        )
    if (folder / ENSEMBLE).exists() and not overwrite:
        raise FileExistsError(f"{folder} has an ensemble: give overwrite=True")
    busy = f"another process saves an ensemble in {folder}: wait until it ends"
    with locked(folder, busy, ".saving"):
        for left in folder.glob(f"{PARTIAL}*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=PARTIAL) as partial:
            _write(ensemble, Path(partial))
            # the list goes first and comes last: without it there is no ensemble
            (folder / ENSEMBLE).unlink(missing_ok=True)
            for old in filter(_is_member, folder.iterdir()):
                old.unlink()
            written = sorted(path.name for path in Path(partial).iterdir())
            written.remove(ENSEMBLE)
            for name in (*written, ENSEMBLE):
                os.replace(Path(partial) / name, folder / name)


def _is_member(path: Path) -> bool:
    """Whether it has a name that `_write` gives; others are the user's own."""
    name = r"member-[1-9][0-9]*\.(keras|metadata\.json)"
    return re.fullmatch(name, path.name) is not None and path.is_file()


def _write(ensemble, folder: Path) -> None:
    members = {}
    for number, model in enumerate(ensemble.members, 1):
        path = folder / f"member-{number}.keras"
        model.save(path)
        members[path.name] = {"sha256": sha256_of(path)}
    content = {"format": FORMAT, "kind": ensemble.kind, "members": members}
    text = json.dumps(content | {"versions": versions()}, indent=2)
    (folder / ENSEMBLE).write_text(text + "\n", encoding="utf-8")


def load_members(folder: Path) -> list:
    """The models of a folder that `save_ensemble` has written.

    It opens the files that the list names, which are in the folder, and nothing else.

    Raises:
        ValueError: if a file is missing, damaged, or not the one that was saved.
        OSError: if a file cannot be opened.
    """
    models = []
    for name, about in _listed(folder).items():
        path = folder / name
        models.append(read(path, listed_bytes(path, about, ENSEMBLE, REMEDY)))
    return models


def _listed(folder: Path) -> dict:
    """The members in `ensemble.json`, by the names of their files."""
    path = inside(folder, ENSEMBLE)
    content = read_object(path, REMEDY)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path}: has the format {str(content.get('format'))[:20]!r}, and this "
            f"version reads {FORMAT}: update keras-tagging"
        )
    members = content.get("members")
    if not isinstance(members, dict) or not all(map(NAME.fullmatch, members)):
        raise ValueError(f"{path}: does not list the members of an ensemble: {REMEDY}")
    if not 2 <= len(members) <= limits.ENSEMBLE_MEMBERS:
        raise ValueError(
            f"{path}: lists {len(members):,} members, but an ensemble has 2 to "
            f"{limits.ENSEMBLE_MEMBERS}: {REMEDY}"
        )
    return members
