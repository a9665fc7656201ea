"""Word vectors and word classes by name: installed ones, and those of gensim-data.

A distribution offers them by an entry point of the group `VECTORS` or `CLASSES`: its
name is theirs, its value a package. In the folder of the package are `card.json`, as
for a trained model, and the file that `FILES` names.
"""

import contextlib
import logging
import socket
import sys
from pathlib import Path

from keras_tagging.utils.named_models import NamedModel, installed_models
from keras_tagging.utils.suggestions import nearest

VECTORS = "keras_tagging.vectors"
CLASSES = "keras_tagging.word_classes"
FILES = {VECTORS: "vectors.npz", CLASSES: "word_classes.tsv.gz"}
#: the distributions in the repository of keras_tagging, by what they offer
OWN = {"glove-6b-50": "./vectors/glove-en", "brown-en": "./vectors/brown-en"}
# without an answer of the server; gensim itself waits for ever
_SECONDS = 30
KINDS = {VECTORS: "word vectors", CLASSES: "word classes"}
_REMEDY = "give a file, or a name that `keras-tagging vectors` lists"
_KEYWORDS = {VECTORS: "embeddings", CLASSES: "word_classes"}


def installed(group: str) -> dict[str, NamedModel]:
    """The offers of installed distributions, by name. No code of theirs runs."""
    return installed_models(group)


def downloadable() -> dict[str, dict]:
    """The vectors that gensim.downloader lists, by name, with what it says of them.

    gensim asks its server, and without a connection its cache.

    Raises:
        ValueError: if there is neither.
    """
    from gensim import downloader

    with _quiet():
        models = downloader.info()["models"]
    return {name: models[name] for name in models if not name.startswith("__")}


def find_named(source: str | Path, group: str) -> str:
    """The path of vectors or classes: a path as it is, or that of what has this name.

    A file that exists goes before a name, a name before a folder. Vectors that are not
    installed are downloaded by gensim, into its own cache and with its checksums; only
    the file is read, and the code beside it in gensim-data never runs.

    Raises:
        ValueError: if nothing has the name, it is empty, or the download fails.
    """
    path, name = Path(source), str(source)
    if not name:
        raise ValueError(f"the name of {KINDS[group]} is empty: {_REMEDY}")
    bare = len(path.parts) == 1 and not path.is_file()
    here = installed(group) if bare else {}
    if name in here:
        return str(here[name].part(FILES[group]))
    if not bare or path.exists() or path.suffix:
        return name
    for other in KINDS.keys() - {group}:
        if name in installed(other):
            raise ValueError(
                f"{name}: has {KINDS[other]}, not {KINDS[group]}: give it as "
                f"{_KEYWORDS[other]}={name!r}"
            )
    if name in OWN:
        raise ValueError(
            f"{name}: is not installed: pip install {OWN[name]} in a clone of "
            "keras_tagging"
        )
    there, offline = {}, ""
    if group == VECTORS:
        try:
            there = downloadable()
        # gensim raises plain exceptions; a server can send anything
        except Exception as error:
            told = " ".join(str(error).split())
            offline = f" (gensim-data, which has more, cannot be asked: {told})"
    if name in there:
        return _download(name)
    kind, near = KINDS[group], nearest(name, [*here, *there])
    known = ", ".join(here) or "none"
    raise ValueError(
        f"{name}: no such file, and no {kind} have this name (installed: {known}"
        + (f"; of gensim-data: {', '.join(there)}" if there else "")
        + ")"
        + (f"; did you mean {near!r}?" if near else "")
        + f"; {_REMEDY}{offline}"
    )


def _download(name: str) -> str:
    from gensim import downloader

    try:
        with _quiet():
            path = Path(downloader.load(name, return_path=True))
        if path.parent != Path(downloader.BASE_DIR) / name or not path.is_file():
            raise ValueError(f"{path} is not there")
    except Exception as error:
        raise ValueError(
            f"{name}: gensim could not download it ({' '.join(str(error).split())}): "
            "try again, or download the file yourself and give its path"
        ) from error
    return str(path)


@contextlib.contextmanager
def _quiet():
    """No traceback of gensim's, and its progress not among the output."""
    logger = logging.getLogger("gensim.downloader")
    before, logger.disabled = logger.disabled, True
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_SECONDS)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        logger.disabled = before
        socket.setdefaulttimeout(timeout)
