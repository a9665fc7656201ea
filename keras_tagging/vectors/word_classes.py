"""Classes of words from a file: a word, a tab and its path in each line.

brown-cluster, the program of Liang (2005), writes the path, the word and its count.
"""

import codecs
from collections.abc import Iterable, Mapping
from pathlib import Path

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.utils import limits
from keras_tagging.vectors.named import CLASSES, find_named
from keras_tagging.vectors.reading import opened


def read_word_classes(
    source: str | Path | Mapping[str, str], paths: bool = True
) -> dict[str, str]:
    """The class of each word, in NFC.

    Brown clusters have paths of 0 and 1, the way to a cluster from the root of a binary
    tree; similar clusters share a prefix.

    Args:
        source: a file, which may end in `.gz` or `.bz2`, with a word, a tab and its
            class in each line, or with path, word and count as brown-cluster writes
            them; the name of installed classes; or a dict from words to classes.
        paths: whether classes must be paths of 0 and 1; otherwise they are any names.

    Raises:
        ValueError: if a line is malformed, a word stands in two lines, or a limit is
            exceeded; the message names the file, the line and the remedy.
        OSError: if the file cannot be opened.
    """
    if isinstance(source, Mapping):
        rows = ((f"the class of {x!r:.60}", x, name) for x, name in source.items())
        return _classes(rows, paths, "the given word classes")
    path = find_named(source, CLASSES)
    with opened(path) as stream:
        return _classes(_lines(path, stream), paths, path)


def _lines(path: str, stream):
    """The place, the word and the class of each line."""
    if stream.head(3) == codecs.BOM_UTF8:  # lines begin with what has been read
        stream.skip(3)
    for number, line in enumerate(stream.lines(), 1):
        place = f"{path}:{number}"
        try:
            parts = line.decode().removesuffix("\r").split("\t")
            if len(parts) == 3 and not parts[0].strip("01"):
                name, word, count = parts
                int(count)
            else:
                word, name = parts
        except ValueError:  # that of UTF-8, too
            what = "is not a word, a tab and its class, nor a path, word and count"
            raise ValueError(f"{place}: {what}: correct it") from None
        yield place, word, name


def _classes(
    rows: Iterable[tuple[str, str, str]], paths: bool, source: str
) -> dict[str, str]:
    """The class of each word; that of the first of two words with one NFC."""
    seen, classes = set(), {}
    for place, word, name in rows:
        longest = max(len(word), len(name))
        if not word or not name or longest > limits.VECTOR_WORD or "\t" in word + name:
            what = "the word or its class is missing, has a tab, or is too long"
            raise ValueError(f"{place}: {what}: correct it")
        if paths and name.strip("01"):
            what = f"the class {name!r:.60} is no path of 0 and 1"
            raise ValueError(f"{place}: {what}: for names, give class_prefixes=()")
        if word in seen:
            what = f"{word!r:.60} has a class in an earlier line"
            raise ValueError(f"{place}: {what}: keep one")
        seen.add(word)
        classes.setdefault(to_nfc(word), name)
    if not classes:
        raise ValueError(f"{source}: has no word classes: give words with theirs")
    return classes
