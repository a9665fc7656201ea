"""Public corpora by name: used from a local folder, or else downloaded."""

import os
import shutil
import sys
import tomllib
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from keras_tagging.data.readers import CorpusError
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.checks import nearest
from keras_tagging.utils.download import cache_folder, fetch, is_intact
from keras_tagging.utils.stored import sha256_of


@dataclass(frozen=True, slots=True)
class File:
    """A file of a corpus, or the archive with all files.

    Args:
        name: the name of the file.
        size: its size in bytes.
        sha256: its SHA-256 in hexadecimal.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PublicCorpus:
    """A corpus that can be downloaded.

    Args:
        title: a description in one line.
        licence, citation: the licence and the citation, as shown to the user.
        base: the URL of the folder with the files, or with the archive.
        folder: a folder of KERAS_TAGGING_DATA that may have the files, besides the one
            with the name of the corpus.
        format, options: the format of the files and the options to read them.
        files: the file of each split.
        archive: the `.zip` archive with the files, if there is one.
        inside: the folder of the files in the archive.
        language: a code of ISO 639.
    """

    title: str
    licence: str
    citation: str
    base: str
    folder: str
    format: str
    files: dict[str, File]
    options: Mapping = field(default_factory=dict)
    archive: File | None = None
    inside: str = ""
    language: str = ""

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files.values())


def _table() -> dict[str, PublicCorpus]:
    """The corpora of `public.toml`."""
    table = tomllib.loads(files(__package__).joinpath("public.toml").read_text("utf-8"))
    for row in table.values():
        row["files"] = {split: File(**file) for split, file in row["files"].items()}
        if "archive" in row:
            row["archive"] = File(**row["archive"])
    return {name: PublicCorpus(**row) for name, row in table.items()}


PUBLIC: dict[str, PublicCorpus] = _table()
NAMES = ("demo", *PUBLIC)
_shown: set[str] = set()  # the corpora whose licence this process has shown


def locate(name: str) -> dict[str, Path]:
    """The files of a public corpus by split, downloaded if necessary.

    They are taken from the folder KERAS_TAGGING_DATA, or else from the cache. Licence
    and citation go to standard error, once in a process.

    Args:
        name: a name in `PUBLIC`.

    Raises:
        CorpusError: if a file cannot be downloaded.
    """
    corpus = PUBLIC[name]
    paths = in_data_folder(name) or _downloaded(name, corpus)
    if name not in _shown:
        _shown.add(name)
        sys.stderr.write(f"{name}: {corpus.title}. Licence: {corpus.licence}.\n")
        sys.stderr.write(f"  Please cite: {corpus.citation}.\n")
    return paths


def in_data_folder(name: str) -> dict[str, Path] | None:
    """The files in KERAS_TAGGING_DATA, if it has all of them.

    These are the user's own files, so another version only gives a warning.
    """
    corpus, data = PUBLIC[name], os.environ.get("KERAS_TAGGING_DATA")
    for folder in (corpus.folder, name) if data else ():
        paths = {s: Path(data, folder, f.name) for s, f in corpus.files.items()}
        if all(path.is_file() for path in paths.values()):
            for split, path in paths.items():
                if corpus.files[split].sha256 != sha256_of(path):
                    what = f"{path}: is not the version that {name!r} stands for"
                    remedy = "unset KERAS_TAGGING_DATA to use that version"
                    warnings.warn(f"{what}; {remedy}", stacklevel=4)
            return paths
    return None


def in_cache(name: str) -> bool:
    """Whether all files have been downloaded and are intact."""
    corpus, folder = PUBLIC[name], cache_folder() / name
    files = corpus.files.values()
    return all(is_intact(folder / file.name, file.sha256) for file in files)


def _downloaded(name: str, corpus: PublicCorpus) -> dict[str, Path]:
    """The files in the cache; those of an archive have the names of the table."""
    folder = cache_folder() / name
    paths = {split: folder / file.name for split, file in corpus.files.items()}
    if not in_cache(name):
        for file in [corpus.archive] if corpus.archive else corpus.files.values():
            url = f"{corpus.base}/{file.name}"
            try:
                fetch(url, folder / file.name, file.sha256, file.size)
            except OSError as error:
                raise CorpusError(str(error)) from None
        if corpus.archive:
            with zipfile.ZipFile(folder / corpus.archive.name) as members:
                for path in paths.values():
                    with replacing(path) as partial, open(partial, "wb") as target:
                        with members.open(f"{corpus.inside}/{path.name}") as source:
                            shutil.copyfileobj(source, target)
    return paths


def unknown(name: object) -> str:
    """The message for a corpus that is neither a path nor a known name."""
    near = nearest(str(name).lower(), NAMES)
    hint = f" (did you mean {near!r}?)" if near else ""
    return (
        f"{name}: no such corpus (tried a file, a directory, a pattern and the known "
        f"names); check the path, or name one of {', '.join(NAMES)}{hint}"
    )
