"""MEDIA, the French corpus of spoken language understanding (ELRA-E0024)."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.records import sentence_of, split_blanks
from preparing.archives import Member
from preparing.markup import Element, elements, left_out

LATIN = "iso-8859-1"
NULL = "null"


@dataclass(slots=True)
class Turn:
    """One turn of a user.

    Args:
        dialogue: the name of its dialogue.
        sentence: its words with BIO labels. Each segment is a chunk of its own, so
            consecutive segments with the same concept stay apart.
        concepts: the concept of each segment that has words, "null" included.
        wordless: the concepts, except "null", of segments without words, which no label
            can represent.
        is_shared: whether several speakers talk at once. The file does not say whose
            the words are, so the sentence is empty.
    """

    dialogue: str
    sentence: Sentence
    concepts: list[str]
    wordless: list[str]
    is_shared: bool = False


def read_media(
    member: Member,
    *,
    relax: bool = False,
    spoken: bool = False,
    encoding: str | None = None,
    skipped: list[str] | None = None,
) -> Iterator[Turn]:
    """The user's turns of an official file, `media_lot1.xml` to `media_testHC.xml`.

    In turns whose `speaker` is "spk", the annotation `withContext="false"` is read. Its
    label is `concept`, followed by `specif` unless `relax`; `specif` begins with a
    hyphen, and both may be "null". `Sync` marks only give times and are ignored. A turn
    without words has an empty sentence.

    Args:
        member: the file.
        relax: whether to leave out the specifiers.
        spoken: see `words_of`.
        encoding: by default the encoding that the file declares, or else ISO-8859-1.
        skipped: a list that collects a message for each malformed turn, which is then
            left out; by default that is an error.

    Raises:
        CorpusError: if the file is not well-formed, or something is missing in it.
    """
    blocks = elements(member, "dialogue", encoding=encoding, undeclared=LATIN)
    for dialogue in blocks:
        name = _attribute(member, dialogue, "id")
        for turn in dialogue.elements("turn"):
            if _attribute(member, turn, "speaker") != "spk":
                continue
            with left_out(skipped, member, turn):
                segments = list(_official(member, turn, relax))
                yield _turn(name, segments, spoken)


def read_test2(
    member: Member,
    *,
    relaxed: Iterable[tuple[str, str]] | None = None,
    spoken: bool = False,
    encoding: str | None = None,
    skipped: list[str] | None = None,
) -> Iterator[Turn]:
    """The user's turns of a file of the second test set, `DIALOGUE_HC.xml`, as
    Laperriere et al. (LREC 2022) use them.

    The user is the `Speaker` whose name begins with "s". In a `Turn`, `SemDebut` opens
    a concept and `SemFin` closes it; the concept of text in between is "null".

    Args:
        member: the file.
        relaxed: pairs of a full and a relaxed concept. The first pair that fits is
            used; a final `*` fits any end. A concept that no pair fits stays as it is.
        spoken: see `words_of`.
        encoding: by default the encoding that the file declares, or else ISO-8859-1.
        skipped: a list that collects a message for each malformed turn, which is then
            left out; by default that is an error.

    Raises:
        CorpusError: if the file is not well-formed, or a concept is not closed.
    """
    relaxed = list(relaxed or ())
    dialogue = Path(member.inside).name.removesuffix(".gz").removesuffix(".xml")
    dialogue = dialogue.removesuffix("_HC")
    users = set()
    blocks = elements(member, "Speaker", "Turn", encoding=encoding, undeclared=LATIN)
    for element in blocks:
        if element.tag == "Speaker":
            if _attribute(member, element, "name").startswith("s"):
                users.add(_attribute(member, element, "id"))
        elif not users.intersection(speakers := _speakers(element)):
            continue
        elif len(speakers) > 1:
            yield Turn(dialogue, Sentence([], []), [], [], is_shared=True)
        else:
            with left_out(skipped, member, element):
                segments = _segments(member, element)
                named = [(relaxed_of(name, relaxed), text) for name, text in segments]
                yield _turn(dialogue, named, spoken)
    if not users:
        what = "no Speaker has a name that begins with s, as a user's does"
        raise CorpusError(f"{member.name}:1: {what}; give files of semantizer_files")


def _official(member: Member, turn: Element, relax: bool) -> Iterator[tuple[str, str]]:
    """Concept and text of each segment of a turn."""
    for annotation in turn.elements("semAnnotation"):
        if annotation.attributes.get("withContext") != "false":
            continue
        for segment in annotation.elements("sem"):
            concept = _attribute(member, segment, "concept")
            specifier = segment.attributes.get("specif", NULL)
            if not relax and specifier != NULL:
                concept += specifier
            parts = segment.elements("transcription")
            yield concept, " ".join(part.text() for part in parts)


def _speakers(turn: Element) -> list[str]:
    return turn.attributes.get("speaker", "").split()


def _segments(member: Member, turn: Element) -> list[tuple[str, str]]:
    segments, opened = [(NULL, [])], None
    for child in turn.children:
        if isinstance(child, str):
            segments[-1][1].append(child)
            continue
        is_end = child.tag == "SemFin"
        if child.tag == "SemDebut" or is_end:
            if is_end == (opened is None):
                what = "SemFin closes nothing" if is_end else "SemDebut inside another"
                remedy = "close each concept before the next one opens"
                raise CorpusError(f"{member.name}:{child.line}: {what}; {remedy}")
            opened = None if is_end else child
            concept = NULL if is_end else _attribute(member, child, "concept")
            segments.append((concept, []))
    if opened:
        what = "this SemDebut is not closed in its turn"
        raise CorpusError(f"{member.name}:{opened.line}: {what}; add a SemFin")
    return [(concept, " ".join(texts)) for concept, texts in segments]


def _turn(dialogue: str, segments: Iterable[tuple[str, str]], spoken: bool) -> Turn:
    tokens, tags, concepts, wordless = [], [], [], []
    for concept, text in segments:
        words = words_of(text, spoken=spoken)
        tokens += words
        if words:
            concepts.append(concept)
        elif concept != NULL:
            wordless.append(concept)
        if concept == NULL:
            tags += ["O"] * len(words)
        else:
            tags += [f"{'I' if i else 'B'}-{concept}" for i in range(len(words))]
    return Turn(dialogue, sentence_of(tokens, tags), concepts, wordless)


def words_of(text: str, *, spoken: bool = False) -> list[str]:
    """The words of a transcription, split at blanks and after apostrophes (`l' hotel`).

    Args:
        text: the text of one segment.
        spoken: whether to change it like SpeechBrain's recipe for MEDIA: (...) becomes
            `*`, punctuation is dropped, and so is the hyphen of numbers such as
            `dix-huit`; `c'est` is one word.
    """
    text = re.sub(r"\s+", " ", text).replace(" '", "'").replace("'", "' ")
    if spoken:
        # without this check the search would run from every opening bracket to the end
        head, closing, tail = text.rpartition(")")
        text = re.sub(r"\([^)]*\)", "*", head + closing) + tail
        text = re.sub(r"[^\w\s'*<>_-]", "", text)
        tens = "dix|vingt|trente|quarante|cinquante|soixante|quatre"
        text = re.sub(f"({tens})-", r"\1 ", text)
        text = re.sub(r" +", " ", text).replace("c' est", "c'est")
    return split_blanks(text)


def relaxed_of(concept: str, relaxed: list[tuple[str, str]]) -> str:
    """The relaxed concept of a full one."""
    for full, short in relaxed:
        is_prefix = full.endswith("*") and concept.startswith(full[:-1])
        if is_prefix or concept == full:
            return short
    return concept


def read_relaxed(path: str | Path) -> list[tuple[str, str]]:
    """Read a table with a full and a relaxed concept a row: `concepts_full_relax.csv`.

    Raises:
        CorpusError: if a row does not have two columns, or the file is not UTF-8.
    """
    pairs, number = [], 0
    remedy = "write the full concept, a comma, the relaxed one, in UTF-8"
    with open(path, encoding="utf-8-sig", newline="") as stream:
        try:
            for number, row in enumerate(csv.reader(stream), 1):
                if len(row) != 2 or not all(row):
                    what = f"{len(row)} columns, or an empty one"
                    raise CorpusError(f"{path}:{number}: {what}; {remedy}")
                pairs.append((row[0], row[1]))
        except (csv.Error, UnicodeDecodeError) as error:
            what = f"cannot be read: {error}"
            raise CorpusError(f"{path}:{number + 1}: {what}; {remedy}") from None
    return pairs


def dialogues(member: Member, encoding: str | None = None) -> Iterator[str]:
    """The names of the dialogues of an official file, in lower case."""
    blocks = elements(member, "dialogue", encoding=encoding, undeclared=LATIN)
    for dialogue in blocks:
        yield _attribute(member, dialogue, "id").lower()


def full_and_relaxed(members: Iterable[Member], encoding=None) -> list[tuple[str, str]]:
    """The full and relaxed forms of all concepts with a specifier in official files."""
    pairs = {}
    for member in members:
        for segment in elements(member, "sem", encoding=encoding, undeclared=LATIN):
            concept = _attribute(member, segment, "concept")
            specifier = segment.attributes.get("specif", NULL)
            if specifier != NULL:
                pairs.setdefault(concept + specifier, concept)
    return list(pairs.items())


def _attribute(member: Member, element: Element, name: str) -> str:
    value = element.attributes.get(name)
    if not value or re.search(r"\s", value):
        what = f"<{element.tag}> has no {name}, or one with blanks"
        raise CorpusError(f"{member.name}:{element.line}: {what}; add it")
    return value
