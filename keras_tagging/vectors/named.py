"""Word vectors and word classes by name or language: installed, or in gensim-data.

A distribution offers them by an entry point of the group `VECTORS` or `CLASSES`: its
name is theirs, its value a package. In the folder of the package are `card.json`, as
for a trained model, and the file that `FILES` names.

The card names the language, with the code of ISO 639 in brackets: "English (en)". The
recipe "best" takes what is installed for the language of a corpus.
"""

import contextlib
import json
import logging
import socket
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keras_tagging.utils import limits
from keras_tagging.utils.atomic import write_text
from keras_tagging.utils.checks import nearest
from keras_tagging.utils.download import fetch
from keras_tagging.utils.named_models import installed_models
from keras_tagging.utils.stored import read_object

VECTORS = "keras_tagging.vectors"
CLASSES = "keras_tagging.word_classes"
FILES = {VECTORS: "vectors.npz", CLASSES: "word_classes.tsv.gz"}
#: the distributions in the repository of keras_tagging, by what they offer
OWN = {"glove-6b-50": "./vectors/glove-en", "brown-en": "./vectors/brown-en"}
# without an answer of the server; gensim itself waits for ever
_SECONDS = 30
KINDS = {VECTORS: "word vectors", CLASSES: "word classes"}
#: the recipes that take what is installed for the language of a corpus
WITH_WORDS = ("best",)
#: the file of a run that says which words it has taken
WORDS = "words.json"
#: the keyword of vectors beside the words that says whether they are trained
TRAINABLE = "trainable_vectors"


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
        remedy = f"pip install {OWN[name]} in a clone of keras_tagging"
        raise ValueError(f"{name}: is not installed: {remedy}")
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


@dataclass(frozen=True)
class LanguageWords:
    """The words that are installed for a language: at most one of each kind.

    Args:
        language: as the cards have it, or its code.
        vectors, word_classes: their names.
        versions: of their distributions, by these names.
    """

    language: str = ""
    vectors: str | None = None
    word_classes: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self):
        return bool(self.versions)

    def settings(self, keywords: Collection[str], chosen: Mapping) -> dict[str, str]:
        """The keywords of `build` that follow, where the user's do not say otherwise.

        Vectors are a feature beside the words.

        Args:
            keywords: all that the architecture has.
            chosen: those of the user, with their values.
        """
        words = {}
        if not {"vectors", "embeddings"} & {*chosen}:  # who chooses vectors has them
            words["vectors"] = self.vectors
        if "word_classes" not in chosen:
            words["word_classes"] = self.word_classes
        return {k: v for k, v in words.items() if v is not None and k in keywords}

    def frozen(self, recipe: str, keywords: Collection[str], chosen: Mapping) -> dict:
        """The keyword by which vectors of a language stay as they are, if they do.

        The recipe "fast" does not train them: they are most of a model's numbers, for
        each of which an optimizer has two more, in memory and in the saved file.

        Args:
            recipe: its name.
            keywords, chosen: as in `settings`.
        """
        is_set = TRAINABLE not in keywords or TRAINABLE in chosen
        taken = "vectors" in self.settings(keywords, chosen)
        return {TRAINABLE: False} if taken and recipe == "fast" and not is_set else {}

    def about(self, taken: Collection[str]) -> dict[str, str]:
        """The language, and by keyword what was taken, with versions: for metadata."""
        about = {"language": self.language}
        for keyword in taken:
            name = getattr(self, keyword)
            about[keyword] = f"{name} {self.versions[name]}"
        return about

    def line(
        self, taken: Collection[str], off: str = "", trains: str | None = None
    ) -> str:
        """One line about the keywords that were taken, and how to leave them out.

        Args:
            taken: names of keywords that `settings` gave, also as PART.KEYWORD.
            off: what leaves them out; by default keywords of `build`.
            trains: what trains vectors that stay as they are; None if they do not.
        """
        classes = [name.endswith("word_classes") for name in taken]
        names = [f"vectors {self.vectors}"] * (not all(classes))
        names += [f"word classes {self.word_classes}"] * any(classes)
        off = off or f"without them: {', '.join(f'{name}=None' for name in taken)}"
        language = self.language.partition(" (")[0]
        line = f"{' and '.join(names)}, installed for {language}; {off}"
        stay = f"; the vectors stay as they are ({trains} trains them)"
        return line + stay * bool(trains)


def words_for(recipe: str, language: str | None, of_corpus: str) -> LanguageWords:
    """The words that a recipe takes.

    Args:
        recipe: its name.
        language: the user's own, "" for none; None for that of the corpus.
        of_corpus: that of the corpus, "" if it is not known.

    Raises:
        ValueError: for one that is given with the recipe "paper", or as in
            `installed_for`.
    """
    if language is None:
        return installed_for(of_corpus if recipe in WITH_WORDS else "")
    if language and recipe == "paper":
        raise ValueError("language=: recipe='paper' has its own: name vectors=")
    return installed_for(language, required=True)


def installed_for(language: str, required: bool = False) -> LanguageWords:
    """The vectors and classes that are installed for a language.

    Args:
        language: a code of ISO 639, such as "en"; "" for none.
        required: whether there must be some: a program that names a language must not
            do something else where nothing is installed.

    Raises:
        ValueError: if it is no such code, there are none, several of a kind are
            installed for it, or a card is damaged.
    """
    if language == "":
        return LanguageWords()
    names, title, versions = {}, language, {}
    for group, keyword in ((VECTORS, "vectors"), (CLASSES, "word_classes")):
        offers = {}
        for name, offer in installed_models(group).items():
            if _is_of(language, entry := offer.entry("language")):
                offers[name], title = offer.version, entry
        if len(offers) > 1:
            what = f"{' and '.join(offers)} are {KINDS[group]} for {language!r}"
            remedy = f"name one, {keyword}={min(offers)!r}, or {keyword}=None"
            raise ValueError(f"{what}, all installed: {remedy}")
        versions |= offers
        if offers:
            names[keyword] = min(offers)
    if required and not names:
        what = "no word vectors and no word classes are installed; a clone has some"
        raise ValueError(f"language={language!r}: {what}: pip install ./vectors/NAME")
    return LanguageWords(title, **names, versions=versions)


def _is_of(language: str, entry: str) -> bool:
    """Whether an entry of a card, such as "English (en)", names the language."""
    return entry == language or entry.endswith(f" ({language})")


def words_of_run(
    out: Path, going_on: bool, recipe: str, language: str | None, of_corpus: str
) -> LanguageWords:
    """The words that a run takes, which its folder keeps.

    A run that goes on takes those that it began with, whatever was installed since.

    Args:
        out: the folder of the run.
        going_on: whether it goes on.
        recipe, language, of_corpus: as in `words_for`.

    Raises:
        ValueError: if what it began with is not installed any more in that version, or
            another language is given, or as in `words_for`.
    """
    path = out / WORDS
    if going_on:
        words = _read_words(path) if path.exists() else LanguageWords()
        if language is not None and not _is_of(language, words.language):
            first = words.language or "none"
            raise ValueError(f"language={language!r}: the run began with {first}")
        return words
    words = words_for(recipe, language, of_corpus)
    if words:
        write_text(path, json.dumps(asdict(words)) + "\n")
    else:
        path.unlink(missing_ok=True)
    return words


def _read_words(path: Path) -> LanguageWords:
    """The words in the file of a run: see `words_of_run`."""
    remedy = "begin the run again with --no-resume"
    words = LanguageWords(**read_object(path, remedy))
    offers = {n: o.version for g in KINDS for n, o in installed_models(g).items()}
    for name, version in words.versions.items():
        if offers.get(name) != version:
            what = f"the run began with {name} {version}, which is not installed"
            raise ValueError(f"{path}: {what}: install it, or {remedy}")
    return words
