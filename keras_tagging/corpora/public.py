"""Public corpora by name: used from a local folder, or else downloaded."""

import os
import shutil
import sys
import warnings
import zipfile
from pathlib import Path

from keras_tagging.corpora.download import fetch, is_intact, writing_to
from keras_tagging.corpora.public_table import PUBLIC, File, PublicCorpus
from keras_tagging.data.readers import CorpusError
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.cache import cache_folder
from keras_tagging.utils.stored import sha256_of
from keras_tagging.utils.suggestions import nearest

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
    paths = in_data_folder(name) or _cached(name, corpus)
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


def _cached(name: str, corpus: PublicCorpus) -> dict[str, Path]:
    folder = cache_folder() / name
    if corpus.archive and not in_cache(name):
        _unpack(corpus, folder)
    return {
        split: folder / file.name
        if corpus.archive
        else _fetched(corpus.base, folder, file)
        for split, file in corpus.files.items()
    }


def _fetched(base: str, folder: Path, file: File) -> Path:
    return fetch(f"{base}/{file.name}", folder / file.name, file.sha256, file.size)


def _unpack(corpus: PublicCorpus, folder: Path) -> None:
    """Unpack the files of an archive under the names in the table."""
    archive = _fetched(corpus.base, folder, corpus.archive)
    with writing_to(folder), zipfile.ZipFile(archive) as members:
        for file in corpus.files.values():
            inside = f"{corpus.inside}/{file.name}"
            with replacing(folder / file.name) as path:
                with members.open(inside) as source, open(path, "wb") as target:
                    shutil.copyfileobj(source, target)


def check_name(name: str) -> None:
    """Raise a CorpusError that lists the names, unless this is one of them."""
    if name != "demo" and name not in PUBLIC:
        raise CorpusError(
            f"{name}: no corpus has this name; name one of "
            f"{', '.join(NAMES)}{_nearest(name)}"
        )


def unknown(name: object) -> str:
    """The message for a corpus that is neither a path nor a known name."""
    return (
        f"{name}: no such corpus (tried a file, a directory, a pattern and the known "
        f"names); check the path, or name one of {', '.join(NAMES)}{_nearest(name)}"
    )


def _nearest(name: object) -> str:
    near = nearest(str(name).lower(), NAMES)
    return f" (did you mean {near!r}?)" if near else ""
