"""For each reader the inputs that take most memory for their size.

Most are a single line, as long as one may be.
"""

import contextlib
import gzip
import signal
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hostile.file_targets import member
from hostile.harness import Outcome, OutOfTime, Target, run_input

from keras_tagging.data import FORMATS, read
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.formats.ccgbank import derivations
from keras_tagging.data.lines import numbered_lines
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.utils import limits
from keras_tagging.vectors import load_vectors
from preparing.ftb import read_ftb
from preparing.media import full_and_relaxed, read_media, read_relaxed, read_test2

SIZE = limits.SENTENCE_CHARACTERS
MEGABYTES = 600
WIDE = "\U00010000".encode()  # has Python keep four bytes for each character


def filled(unit: bytes, start=b"", end=b"", size=SIZE) -> bytes:
    """As many units as fit on a line."""
    return start + unit * ((size - len(start) - len(end) - 9) // len(unit)) + end


def numbered(unit: str, start=b"", end=b"", size=SIZE) -> bytes:
    """Units that differ in a number of seven digits."""
    count = (size - len(start) - len(end) - 9) // len(unit % 0)
    return start + b"".join((unit % n).encode() for n in range(count)) + end


def nested(opening: bytes, middle: bytes, closing: bytes, start=b"", end=b"") -> bytes:
    count = (SIZE - 99) // len(opening + closing)
    return start + opening * count + middle + closing * count + end


def rows(cell: bytes, end=b"\n") -> bytes:
    """As many rows as a sentence may have, of as many cells as fit."""
    count = limits.SENTENCE_TOKENS - 2
    return (filled(cell, size=SIZE // count)[: -len(end)] + b"x" + end) * count


ITEMS = {
    "letters": partial(filled, b"a "),
    "words": partial(filled, b"aa "),
    "Cyrillic": partial(filled, "\u0436 ".encode()),
    "wide": partial(filled, b"aa ", end=WIDE),
    "blanks": partial(filled, b" ", b"a"),
    "tabs": partial(filled, b"\t", b"a"),
    "cells": partial(filled, b"aa\t"),
    "Cyrillic cells": partial(filled, "\u0436\t".encode()),
    "two rows": lambda: (filled(b"aa\t", size=SIZE // 2) + b"\n") * 2,
    "fifty rows": lambda: (filled(b"aa\t", size=SIZE // 50) + b"\n") * 50,
    "rows": partial(rows, b"aa\t"),
    "Cyrillic rows": partial(rows, "\u0436 ".encode()),
    "a word": partial(filled, b"a"),
    "marks": partial(filled, "\u0301".encode(), b"e"),
}
OWN = {
    "conll": {
        "short rows": partial(filled, b"a\tb\n"),
        "comments": partial(filled, b"# a\n"),
        "returns": partial(filled, b"a\r"),
        "feeds": partial(filled, b"\n"),
    },
    "conllu": {
        "text": partial(
            filled, b"a ", b"# text = ", b"\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n"
        ),
        "misc": partial(numbered, "%07d=|", b"1\ta\t_\t_\t_\t_\t0\t_\t_\t"),
        "spaces": partial(filled, rb"\s", b"1\ta\t_\t_\t_\t_\t0\t_\t_\tSpacesAfter="),
        "words": partial(numbered, "%d\taa\tbb\tcc\tdd\tee\t0\tff\t_\t_\n"),
        "empty nodes": partial(filled, b"1.1" + b"\t_" * 9 + b"\n"),
    },
    "pipe": {
        "items": partial(filled, b"aa|bb|cc "),
        "bars": partial(filled, b"|"),
        "short items": partial(filled, b"a|b|c "),
    },
    "auto": {
        "extras": partial(filled, b" {", b"(<L N A A w N"),
        "extra": partial(filled, b"{", b"(<L N A A w N "),
        "blanks": partial(filled, b" ", b"(<L N A A w N", b">)"),
        "open": partial(filled, b"(<T S 0 1> "),
        "open with extras": partial(filled, b"(<T S 0 1 {> "),
        "leaves": partial(filled, b"(<L N N N ww N>) ", b"(<T S 0 9> ", b")"),
        "nested": partial(nested, b"(<T S 0 1> ", b"(<L N N N w N>) ", b") "),
        "closed": partial(filled, b") "),
        "begun": partial(filled, b"(<L "),
        "headers": partial(filled, b"ID=a\n"),
    },
    "mrg": {
        "open": partial(filled, b"("),
        "named": partial(filled, b"(AA "),
        "words": partial(filled, b"(AA bb)", b"( (S ", b"))"),
        "traces": partial(filled, b"(-NONE- *)", b"( (S ", b"))"),
        "nested": partial(nested, b"(S", b" (A a)", b")"),
        "chains": partial(filled, b"(S" * 50 + b" (A a)" + b")" * 50, b"( (S ", b"))"),
        "lines": partial(filled, b"(AA\n", b"( (S "),
        "closed": partial(filled, b")"),
    },
    "pos": {
        "items": partial(filled, b"ww/NN "),
        "phrases": partial(filled, b"[ ww/NN ] "),
        "slashes": partial(filled, b"/"),
        "ends": partial(filled, b"./. "),
    },
    "atis": {
        "words": partial(filled, b"aa ", b"BOS ", b"EOS\t" + b"O"),
        "labels": partial(filled, b"aa ", b"BOS EOS\t"),
    },
    "ctf": {
        "fields": partial(filled, b"|S0 1:1 |# aa ", b"1 "),
        "bars": partial(filled, b"#|", b"1 |S0 1:1 |# "),
        "rows": partial(filled, b"1 |S0 1:1 |# aa |S2 1:1 |# bb\n"),
    },
    "jsonl": {
        "open": partial(filled, b"["),
        "objects": partial(filled, b'{"":[]},', b'{"tokens": [', b"{}]}"),
        "wide objects": partial(
            filled, b'{"":[]},', b'{"tokens": [', b'"' + WIDE + b'"]}'
        ),
        "lists": partial(filled, b"[],", b'{"tokens": [', b"0]}"),
        "numbers": partial(filled, b"999,", b'{"tokens": [', b"0]}"),
        "strings": partial(filled, '"\u0436",'.encode(), b'{"tokens": [', b'""]}'),
        "columns": partial(numbered, '"%07d":[],', b"{", b'"tokens": []}'),
    },
}
GROUPS = {"conllx": "conllu", "tokens": "conll"}

# XML, of which an element is limited, and a document is not

WORD = b'<w cat="N">a</w>'
ELEMENT = min(SIZE // 4, limits.XML_ELEMENT_BYTES - (1 << 17))
XML = {
    "words": partial(filled, WORD, b"<t><SENT>", b"</SENT></t>", size=ELEMENT),
    "lines": partial(
        filled, b"a\n", b'<t><SENT><w cat="N">', b"</w></SENT></t>", size=ELEMENT
    ),
    "empty": partial(
        filled, b"<b/>", b'<t><SENT><w cat="N">', b"a</w></SENT></t>", size=ELEMENT
    ),
    "sentences": partial(filled, b"<SENT/>", b"<t>", b"</t>"),
    "attribute": partial(filled, b"a", b'<t><SENT a="', b'"/></t>'),
    "comment": partial(filled, b"a", b"<t><!--", b"--></t>"),
    "names": partial(numbered, "<a%07d/>", b"<t>", b"</t>"),
    "open": partial(filled, b"<a>"),
    "segments": partial(
        filled,
        b'<sem concept="a"><transcription>a</transcription></sem>',
        b"<t><dialogue id='a'><turn speaker='spk'><semAnnotation withContext='false'>",
        b"</semAnnotation></turn></dialogue></t>",
        size=ELEMENT,
    ),
    "turns": partial(
        filled, b"<Turn speaker='s'>a</Turn>", b"<t><Speaker id='s' name='s'/>", b"</t>"
    ),
}

VECTORS = {
    "one dimension": partial(numbered, "w%07d 0\n"),
    "many dimensions": partial(filled, b"a" + b" 0" * 9_999 + b"\n"),
    "announced": partial(filled, b"aa 0\n", b"9999999 1\n"),
    "a line": partial(filled, b"a"),
    "values": partial(filled, b" 0", b"a"),
    "binary": lambda: (
        b"%d 1\n" % (SIZE // 13)
        + b"".join(b"%07d \0\0\x80?" % n for n in range(SIZE // 13))
    ),
}


class Forgotten(list):
    """Messages that nobody keeps."""

    def append(self, message):
        pass


def read_all(format: str, options: dict, data: bytes) -> str:
    """Reads a file and keeps nothing of it."""
    path = written("input", data)
    return tried(
        lambda skipped: read(path, format, errors="skip", skipped=skipped, **options)
    )


def tried(start: Callable) -> str:
    """Takes what a reader gives, without keeping it."""
    skipped, count = Forgotten(), 0
    try:
        for _ in start(skipped):
            count += 1
    except ValueError as error:
        return type(error).__name__
    return "read" if count else "nothing"


def written(name: str, data: bytes) -> str:
    Path(name).write_bytes(data)
    return name


def vectors_of(name: str, data: bytes) -> str:
    path = written(name, data)
    return tried(lambda _: load_vectors(path, cache=False).words)


def xml_of(reader: Callable, data: bytes) -> str:
    return tried(lambda skipped: reader(member(data), skipped=skipped))


READERS = {
    **{
        format: (
            partial(read_all, format, {}),
            ITEMS | OWN.get(GROUPS.get(format, format), {}),
        )
        for format in FORMATS
    },
    "conll-blanks": (partial(read_all, "conll", {"separator": " "}), ITEMS),
    "conllu-surface": (
        partial(read_all, "conllu", {"surface": True}),
        ITEMS | OWN["conllu"],
    ),
    "recognised": (
        partial(read_all, None, {}),
        ITEMS | {f"{of} {name}": make for of in OWN for name, make in OWN[of].items()},
    ),
    "blocks": (
        lambda data: tried(lambda _: read_blocks(written("input", data))),
        ITEMS | OWN["conllu"],
    ),
    "derivations": (
        lambda data: tried(
            lambda _: (
                x.heads() if hasattr(x, "heads") else x
                for x in derivations(
                    numbered_lines(written("input", data), "input", None)
                )
            )
        ),
        OWN["auto"],
    ),
    "raw text": (
        lambda data: tried(
            lambda _: sentences_of_lines(text_lines(written("input", data)))
        ),
        ITEMS,
    ),
    "ftb": (partial(xml_of, read_ftb), XML),
    "media": (partial(xml_of, read_media), XML),
    "media test2": (partial(xml_of, read_test2), XML),
    "media names": (
        lambda data: tried(lambda _: full_and_relaxed([member(data)])),
        XML,
    ),
    "relaxed": (
        lambda data: tried(lambda _: read_relaxed(written("input", data))),
        {"rows": partial(filled, b"aa,bb\n"), "quoted": partial(filled, b"a", b'"')},
    ),
    "vectors": (partial(vectors_of, "input"), VECTORS),
    "gz": (
        partial(vectors_of, "input.gz"),
        {
            "vectors": lambda: gzip.compress(VECTORS["one dimension"](), 1),
            "one word": lambda: gzip.compress(b"a 0\n" * SIZE, 1),
        },
    ),
}


def target(check: Callable[[bytes], str], make: Callable[[], bytes]) -> Target:
    return Target(list, check, nasty=lambda: [make()], seconds=60, megabytes=MEGABYTES)


def measured(name: str) -> Outcome:
    """Tries an input; in a process that has tried another, memory is free to use."""
    signal.signal(signal.SIGPROF, stop)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return run_input(name, TARGETS[name], 0)


def stop(*_):
    raise OutOfTime


TARGETS = {
    f"{reader}: {name}": target(check, make)
    for reader, (check, inputs) in READERS.items()
    for name, make in inputs.items()
}
