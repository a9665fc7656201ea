"""Text that was decoded or encoded wrongly somewhere on its way."""

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from keras_tagging.data.lines import content, raw_lines
from keras_tagging.data.records import Malformed
from keras_tagging.data.sentence import Corpus

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
            for kind, what in _each([*sentence.tokens, *(sentence.tags or ())]):
                yield kind, f"{split}, sentence {number}", what


def _in_file(file: str, encoding: str | None, has_comments: bool):
    with closing(raw_lines(file, file, encoding)) as lines:
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


def _each(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The first damage of each kind in several texts."""
    seen = set()
    for text in texts:
        for kind, what in damage(text):
            if kind not in seen:
                seen.add(kind)
                yield kind, what
