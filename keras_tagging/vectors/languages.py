"""The word vectors and word classes that are installed for a language.

The card of a distribution names its language, with the code of ISO 639 in brackets:
"English (en)". The recipe "best" takes what is installed for the language of a corpus.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import read_object
from keras_tagging.vectors.named import CLASSES, KINDS, VECTORS, installed

#: the recipes that take what is installed for the language of a corpus
WITH_WORDS = ("best",)
#: the file of a run that says which words it has taken
WORDS = "words.json"
#: the keyword of vectors beside the words that says whether they are trained
TRAINABLE = "trainable_vectors"
_CARD = re.compile(r"(.*) \(([a-z]{2,3})\)")


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

    def settings(self, keywords: Collection[str], given: Mapping) -> dict[str, str]:
        """The keywords of `build` that follow, where the user's do not say otherwise.

        Vectors are a feature beside the words.

        Args:
            keywords: all that the architecture has.
            given: those of the user, with their values.
        """
        found = {}
        # who chooses vectors has them
        own = {"vectors", "embeddings"} & {*given}
        if "vectors" in keywords and not own:
            found["vectors"] = self.vectors
        if "word_classes" in keywords and "word_classes" not in given:
            found["word_classes"] = self.word_classes
        return {name: value for name, value in found.items() if value is not None}

    def frozen(self, recipe: str, keywords: Collection[str], given: Mapping) -> dict:
        """The keyword by which vectors of a language stay as they are, if they do.

        The recipe "fast" does not train them: they are most of a model's numbers, for
        each of which an optimizer has two more, in memory and in the saved file.

        Args:
            recipe: its name.
            keywords, given: as in `settings`.
        """
        taken = "vectors" in self.settings(keywords, given)
        is_own = TRAINABLE not in keywords or TRAINABLE in given
        return {TRAINABLE: False} if taken and recipe == "fast" and not is_own else {}

    def about(self, taken: Collection[str]) -> dict[str, str]:
        """The language, and by keyword what was taken, with versions: for metadata."""
        found = {"language": self.language}
        for keyword in taken:
            classes = keyword == "word_classes"
            name = self.word_classes if classes else self.vectors
            found[keyword] = f"{name} {self.versions[name]}"
        return found

    def told(
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
        turns = "turn them off" if len(taken) > 1 else "turns them off"
        off = off or f"{' and '.join(f'{name}=None' for name in taken)} {turns}"
        language = (_CARD.fullmatch(self.language) or ("", self.language))[1]
        stay = (
            f"; the vectors stay as they are ({trains} trains them)" if trains else ""
        )
        return f"{' and '.join(names)}, installed for {language}; {off}{stay}"


def language_of_words(recipe: str, given: str | None, of_corpus: str) -> str:
    """The language whose words a recipe takes; "" for none.

    Args:
        recipe: its name.
        given: the user's own; None if there is none.
        of_corpus: that of the corpus, "" if it is not known.

    Raises:
        ValueError: for one that is given with the recipe "paper".
    """
    if given is None:
        return of_corpus if recipe in WITH_WORDS else ""
    if given and recipe == "paper":
        raise ValueError(
            f"language={given!r}: recipe='paper' has what its paper has; name vectors= "
            "and word_classes= yourself"
        )
    return given


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
    if not isinstance(language, str) or not re.fullmatch("[a-z]{2,3}", language):
        raise ValueError(f"language={language!r}: give a code of ISO 639, such as 'en'")
    found, title, versions = {}, language, {}
    for group, keyword in ((VECTORS, "vectors"), (CLASSES, "word_classes")):
        own = {}
        for name, offer in installed(group).items():
            card = _CARD.fullmatch(offer.entry("language"))
            if language in (offer.entry("language"), card and card[2]):
                own[name] = offer
                title = offer.entry("language")
        if len(own) > 1:
            raise ValueError(
                f"{' and '.join(own)} are {KINDS[group]} for {language!r}, all "
                f"installed: name one, {keyword}={min(own)!r}, or {keyword}=None"
            )
        for name, offer in own.items():
            found[keyword], versions[name] = name, offer.version
    if required and not found:
        raise ValueError(
            f"language={language!r}: no word vectors and no word classes are installed "
            "for it: install some (`keras-tagging vectors` lists them), or give "
            "language=''"
        )
    return LanguageWords(title, **found, versions=versions)


def words_of_run(
    out: Path, going_on: bool, recipe: str, given: str | None, of_corpus: str
) -> LanguageWords:
    """The words that a run takes, which its folder keeps.

    A run that goes on takes those that it began with, whatever was installed since.

    Args:
        out: the folder of the run.
        going_on: whether it goes on.
        recipe, given, of_corpus: as in `language_of_words`.

    Raises:
        ValueError: if what it began with is not installed any more in that version, or
            another language is given, or as in `installed_for` and `language_of_words`.
    """
    path = out / WORDS
    if going_on:
        words = kept(path) if path.exists() else LanguageWords()
        card = _CARD.fullmatch(words.language)
        own = card[2] if card else words.language
        if given not in (None, own, words.language):
            raise ValueError(
                f"language={given!r}: the run began with {own or 'none'!r}; give that, "
                "or begin the run again with --no-resume"
            )
        return words
    language = language_of_words(recipe, given, of_corpus)
    words = installed_for(language, required=given is not None)
    if words:
        with replacing(path) as partial:
            partial.write_text(json.dumps(asdict(words)) + "\n", encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
    return words


def kept(path: Path) -> LanguageWords:
    """The words in the file of a run: see `words_of_run`."""
    remedy = "begin the run again with --no-resume"
    content = read_object(path, remedy)
    offers = {n: o.version for g in KINDS for n, o in installed(g).items()}
    began = content.get("versions")
    for name, version in began.items() if isinstance(began, dict) else ():
        if offers.get(name) != version:
            raise ValueError(
                f"{path}: the run began with {name} {version}, and installed is "
                f"{offers.get(name, 'none')}: install that version, or {remedy}"
            )
    try:
        words = LanguageWords(**content)
        # it could name any file
        fits = isinstance(began, dict) and isinstance(words.language, str)
        fits = fits and {words.vectors, words.word_classes} - {None} == {
            *words.versions
        }
    except TypeError:
        fits = False
    if not fits:
        raise ValueError(f"{path}: is not what a run writes: {remedy}")
    return words
