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

from keras_tagging.utils import limits
from keras_tagging.utils.download import fetch
from keras_tagging.utils.named_models import installed_models
from keras_tagging.utils.suggestions import nearest

VECTORS = "keras_tagging.vectors"
CLASSES = "keras_tagging.word_classes"
FILES = {VECTORS: "vectors.npz", CLASSES: "word_classes.tsv.gz"}
#: the distributions in the repository of keras_tagging, by what they offer
OWN = {"glove-6b-50": "./vectors/glove-en", "brown-en": "./vectors/brown-en"}
# without an answer of the server; gensim itself waits for ever
_SECONDS = 30
KINDS = {VECTORS: "word vectors", CLASSES: "word classes"}


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
    installed are downloaded from gensim-data, into its cache; only the file is read,
    and the code beside it in gensim-data never runs.

    Raises:
        ValueError: if nothing has the name.
        OSError: if the download fails.
    """
    path, name = Path(source), str(source)
    is_bare = len(path.parts) == 1 and not path.is_file()
    here = installed_models(group) if is_bare else {}
    if name in here:
        return str(here[name].part(FILES[group]))
    if not is_bare or path.exists() or path.suffix:
        return name
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
            reason = " ".join(str(error).split())
            offline = f" (gensim-data, which has more, cannot be asked: {reason})"
    if name in there:
        return _download(name, there[name])
    near = nearest(name, [*here, *there])
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(
        f"{name}: no such file, and no {KINDS[group]} have this name (there are "
        f"{', '.join([*here, *there]) or 'none'}){hint}; give a file, or a name that "
        f"`keras-tagging vectors` lists{offline}"
    )


def _download(name: str, about: dict) -> str:
    """The file of vectors of gensim-data, in gensim's own cache.

    Args:
        name: that gensim-data lists.
        about: what the list says of it.

    Raises:
        ValueError: if the list names another file.
        OSError: if it cannot be downloaded.
    """
    from gensim import downloader

    file = f"{name}.gz"
    if about.get("file_name") != file or "checksum" not in about:
        raise ValueError(f"{name}: gensim-data has it in another form: give a file")
    path = Path(downloader.BASE_DIR, name, file)
    if not path.is_file():
        url = f"{downloader.DOWNLOAD_BASE_URL}/{name}/{file}"
        fetch(url, path, f"md5:{about['checksum']}", limits.VECTOR_DOWNLOAD)
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
