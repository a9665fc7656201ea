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
        classes = _classes(
            (f"the class of {word!r:.60}", word, name) for word, name in source.items()
        )
        return _checked(classes, paths, "the given word classes")
    path = find_named(source, CLASSES)
    with opened(path) as stream:
        classes = _classes(_lines(path, stream))
        return _checked(classes, paths, path)


def _lines(path: str, stream):
    """The place, the word and the class of each line."""
    if stream.head(3) == codecs.BOM_UTF8:  # lines begin with what has been read
        stream.skip(3)
    for number, line in enumerate(stream.lines(), 1):
        place = f"{path}:{number}"
        try:
            parts = line.decode().removesuffix("\r").split("\t")
        except UnicodeDecodeError:
            raise ValueError(
                f"{place}: is no UTF-8: give a word, a tab and its class"
            ) from None
        if len(parts) == 3 and not parts[0].strip("01"):
            if not parts[2].isdecimal():
                raise ValueError(
                    f"{place}: the count {parts[2]!r:.60} is no number: correct it"
                )
            parts = [parts[1], parts[0]]
        if len(parts) != 2:
            raise ValueError(
                f"{place}: has {len(parts)} field{'s' * (len(parts) > 1)} where two "
                "should be: give a word, a tab and the path of its class, such as 0110 "
                "(or the path, word and count of brown-cluster)"
            )
        yield place, *parts


def _classes(rows: Iterable[tuple[str, str, str]]):
    """The place and the class of each word; the first of two words with one NFC."""
    seen, classes = set(), {}
    for place, word, name in rows:
        if type(word) is not str or type(name) is not str:
            raise ValueError(f"{place}: the word or its class is no string: give one")
        if not word or not name:
            raise ValueError(f"{place}: the word or its class is missing: add it")
        if max(len(word), len(name)) > limits.VECTOR_WORD or "\t" in word + name:
            raise ValueError(
                f"{place}: has a tab, or more than {limits.VECTOR_WORD:,} characters, "
                "in a word or its class: remove it"
            )
        if word in seen:
            raise ValueError(
                f"{place}: {word!r:.60} has a class in an earlier line: keep one"
            )
        seen.add(word)
        classes.setdefault(to_nfc(word), (place, name))
    return classes


def _checked(classes, paths: bool, source) -> dict[str, str]:
    if not classes:
        raise ValueError(f"{source}: has no word classes: give words with theirs")
    for place, name in classes.values():
        if paths and name.strip("01"):
            raise ValueError(
                f"{place}: the class {name!r:.60} is no path of 0 and 1: give paths, "
                "or class_prefixes=() for classes that have names"
            )
    return {word: name for word, (_, name) in classes.items()}
