"""Problems of a corpus: suspicious rows, damaged text, and labels that say nothing."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from keras_tagging.data.lines import content, numbered_lines
from keras_tagging.data.records import Malformed
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.metrics.chunks import is_consistent, may_follow

LONG_TOKEN = 100  # characters
LONG_SENTENCE = 250  # tokens
# White space, controls, soft hyphen, zero-width and directional marks, halves of
# surrogate pairs.
_ODD = re.compile(
    "[\\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
    "\ud800-\udfff]"
)
_CHUNK_TAG = re.compile(r"O|[BI]|[BIESLUM]-.+", re.DOTALL)

Location = tuple[str, int, int | None]  # split, sentence, token; counted from 1
# The characters that the bytes 80 to BF become in Windows-1252 or Latin-1.
_TAILS = {chr(byte): byte for byte in range(0x80, 0xC0)}
_TAILS |= {
    bytes([byte]).decode("cp1252"): byte
    for byte in range(0x80, 0xC0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # which Windows-1252 leaves open
}
_TAIL = f"[{re.escape(''.join(_TAILS))}]"
# A pair such as "Ã©" is hardly ever correct. One like "É»" may be a capital before a
# quotation mark, and pairs occur in Greek and Cyrillic: these must follow one another.
_MOJIBAKE = re.compile(
    f"(?:[ÂÃÄÅ]{_TAIL})+|(?:â{_TAIL}{_TAIL})+|ï(?:»¿|¿½)|ðŸ{_TAIL}{_TAIL}"
    f"|(?:[Ç-ß]{_TAIL}){{2,}}"
)
_KINDS = {
    "replacement character": re.compile("\ufffd"),
    "control character": re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    "character for private use, or none": re.compile(
        "[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
    ),
    "byte order mark inside": re.compile("\ufeff"),
    "HTML entity": re.compile("&(?:[A-Za-z]{2,8}[0-9]?|#[0-9]{1,7}|#x[0-9A-Fa-f]+);"),
}
AROUND = 12  # characters to show on either side


def suspicious(sentence: Sentence) -> Iterator[tuple[str, int | None, str]]:
    """(problem, token, excerpt) for each suspicious row."""
    if not sentence.tokens:
        yield "empty sentence", None, ""
    elif sentence.tags is None:
        yield "no tags", None, " ".join(sentence.tokens)
    if len(sentence) > LONG_SENTENCE:
        yield f"more than {LONG_SENTENCE} tokens", None, f"{len(sentence)} tokens"
    for position, token in enumerate(sentence.tokens, 1):
        if not token:
            yield "empty token", position, ""
        elif _ODD.search(token):
            yield "white space, control or zero-width character", position, token
        if len(token) > LONG_TOKEN:
            yield f"more than {LONG_TOKEN} characters", position, token
    for position, tag in enumerate(sentence.tags or (), 1):
        if not tag:
            yield "empty tag", position, sentence.tokens[position - 1]
        elif re.search(r"\s", tag):
            yield "white space in a tag", position, tag


def scheme_of(corpus: Corpus) -> str | None:
    """The chunk notation that all labels follow, if any.

    In IOB1 a chunk begins with B- only directly after another one of its type, so every
    I- is possible.
    """
    sequences = [s.tags for _, part in corpus.splits() for s in part if s.tags]
    tags = {tag for sequence in sequences for tag in sequence}
    if not all(map(_CHUNK_TAG.fullmatch, tags)) or not any("-" in tag for tag in tags):
        return None
    if any(tag[0] in "ESLUM" for tag in tags):
        return "IOBES"
    is_iob1 = all(is_consistent(sequence, "iob1") for sequence in sequences)
    return "IOB1" if is_iob1 else "IOB2"


def violations(tags: list[str], scheme: str) -> Iterator[tuple[int, str]]:
    """(token, the two labels) for each label that cannot follow the one before it."""
    pairs = zip(["O", *tags], [*tags, "O"], strict=True)
    for position, (before, tag) in enumerate(pairs, 1):
        if not may_follow(before, tag, scheme.lower()):
            yield min(position, len(tags)), f"{before} {tag}"


def lonely_tags(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
    first: dict[str, Location] = {}
    counts: Counter[str] = Counter()
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            for position, tag in enumerate(sentence.tags or (), 1):
                counts[tag] += 1
                first.setdefault(tag, (split, number, position))
    variants = defaultdict(list)
    for tag in counts:
        variants[tag.casefold()].append(tag)
    for alike in variants.values():
        most = max(alike, key=counts.__getitem__)
        for tag in alike:
            if counts[tag] == 1 and tag != most:
                yield "tag that differs in case only", first[tag], f"{tag}, not {most}"


def duplicates(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
    """Every sentence that occurred before: in this split, or in an earlier one."""
    seen: dict[tuple[str, ...], dict[str, list[str] | None]] = {}
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            if not sentence.tokens:
                continue
            before = seen.setdefault(tuple(sentence.tokens), {})
            for other, tags in before.items():
                kind = f"sentence of {split} also in {other}"
                if other == split:
                    kind = f"sentence repeated within {split}"
                if tags != sentence.tags:
                    kind += ", with other tags"
                yield kind, (split, number, None), " ".join(sentence.tokens)
            before.setdefault(split, sentence.tags)


def damage(text: str) -> Iterator[tuple[str, str]]:
    """(kind, excerpt) for the first damage of each kind in a text.

    Example:
        >>> list(damage("the cafÃ© opens"))
        [('UTF-8 read as Latin-1', 'the cafÃ© opens (é?)')]
    """
    if text.isascii() and text.isprintable() and "&" not in text:
        return
    for match in _MOJIBAKE.finditer(text):
        if meant := _undone(match[0]):
            yield "UTF-8 read as Latin-1", f"{_around(text, match)} ({meant}?)"
            break
    for kind, pattern in _KINDS.items():
        if match := pattern.search(text):
            yield kind, _around(text, match)


def _undone(text: str) -> str | None:
    data = bytes(_TAILS.get(character, ord(character) % 256) for character in text)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _around(text: str, match: re.Match) -> str:
    return text[max(0, match.start() - AROUND) : match.end() + AROUND].strip()


def find_damage(
    corpus: Corpus, encoding: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """(kind, location, excerpt) for every damaged line of a corpus's files.

    The location is `FILE:LINE`. Comments of CoNLL files are ignored. For a corpus
    without files, tokens and tags are checked, and the location is
    `SPLIT, sentence N`.

    Args:
        encoding: the encoding of the files; by default UTF-8.
    """
    for split, sentences in corpus.splits():
        files = corpus.files.get(split, ())
        if files and all(map(Path.is_file, map(Path, files))):
            for file in files:
                yield from _in_file(file, encoding, corpus.format.startswith("conll"))
            continue
        for number, sentence in enumerate(sentences, 1):
            first: dict[str, str] = {}
            for text in [*sentence.tokens, *(sentence.tags or ())]:
                for kind, what in damage(text):
                    first.setdefault(kind, what)
            for kind, what in first.items():
                yield kind, f"{split}, sentence {number}", what


def _in_file(file: str, encoding: str | None, has_comments: bool):
    with closing(numbered_lines(file, file, encoding, raw=True)) as lines:
        for number, line in map(content, lines):
            where = f"{file}:{number}"
            if isinstance(line, UnicodeDecodeError):
                what = line.object[max(0, line.start - AROUND) : line.end + AROUND]
                yield f"bytes that are not {line.encoding}", where, str(what)
            elif isinstance(line, Malformed):
                yield line.what, where, ""
            elif not (has_comments and line.startswith("# ")):
                for kind, what in damage(line.replace("\t", " ")):
                    yield kind, where, what


def refuse_one_label(sentences: Sequence[Sentence]) -> None:
    """Refuse training sentences that have one label for all their tokens.

    Raises:
        ValueError: with the remark of `one_label`.
    """
    if remark := one_label(sentences):
        raise ValueError(remark)


def refuse_underived(corpus: Corpus) -> None:
    """Refuse a corpus whose sentences have no derivations.

    Raises:
        ValueError: naming the file of the first that has none.
    """
    for split, sentences in corpus.splits():
        if any(len(s) and s.derivation is None for s in sentences):
            file = (corpus.files.get(split) or [corpus.name])[0]
            raise ValueError(f"{file}: has no derivations: give .auto files")


def one_label(sentences: Sequence[Sentence]) -> str | None:
    """A remark on sentences that have one label for all their tokens, else None.

    Args:
        sentences: sentences with tags.
    """
    labels = set(chain.from_iterable(sentence.tags for sentence in sentences))
    if len(labels) != 1:
        return None
    return (
        f"all tokens have the label {labels.pop()!r}, so that there is nothing to "
        "learn: check the format and the column of the labels (tag_column=, tag=)"
    )


def numbered(sentences: Sequence[Sentence]) -> str | None:
    """A remark on sentences whose labels are all numbers, else None.

    Hugging Face's `Dataset.to_json` and pandas write the ids of labels, without names.

    Args:
        sentences: sentences with tags.
    """
    labels = set(chain.from_iterable(sentence.tags for sentence in sentences))
    if len(labels) < 2 or not all(map(str.isdecimal, labels)):
        return None
    return (
        "all labels are numbers: if they stand for names, as in a data set of Hugging "
        "Face, read that with data.from_dataset, and data.write keeps the names"
    )
