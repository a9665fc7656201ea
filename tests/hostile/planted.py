"""Readers with a fault each, and how the harness must call it."""

import os
import time
from functools import partial

from hostile.harness import Target, run_code
from hostile.text_targets import check_format, rows

from keras_tagging.data import FORMATS, Sentence
from keras_tagging.data.records import CorpusError, Malformed

SOUND = b"a\nb\n\nc\n"
kept: list[object] = []


def changed(change):
    """The reader of `tokens`, with something done to each of its sentences."""

    def parser(lines):
        for sentence in FORMATS["tokens"](lines):
            yield change(sentence)

    return parser


def with_token(token):
    return changed(lambda sentence: Sentence([*sentence.tokens, token]))


def raising(error):
    def change(sentence):
        raise error

    return changed(change)


def hang(lines):
    while True:
        pass


def hide_memory_error(lines):
    try:
        bytes(4 << 30)
    except MemoryError:
        raise CorpusError("input: is too large; make it smaller") from None
    yield Sentence([])


def lose_sentence(lines):
    yield from list(FORMATS["tokens"](lines))[:-1]


def be_unsteady(sentence):
    kept.append(sentence)
    return Sentence([*sentence.tokens, str(len(kept))])


FAULTS = {
    "hang": (hang, "took more than 0.1 s"),
    "sleep": (
        changed(lambda _: time.sleep(1000)),
        "hangs in a call that cannot be interrupted",
    ),
    "fill memory": (
        changed(lambda s: len(b"x" * (100 << 20)) and s),
        "took more than 64 MB",
    ),
    "ask for memory": (changed(lambda _: bytes(4 << 30)), "asked for more than 2 GB"),
    "hide memory": (hide_memory_error, "asked for more than 2 GB and hid it"),
    "KeyError": (raising(KeyError("x")), "raised KeyError"),
    "ValueError": (raising(ValueError("invalid literal")), "raised ValueError"),
    "two lines": (raising(CorpusError("input: a\nb; c")), "a message of several lines"),
    "no line": (
        changed(lambda _: Malformed(0, "is bad", "mend it")),
        "a message without line or remedy",
    ),
    "lost token": (
        changed(lambda s: Sentence(s.tokens[:-1])),
        "not the tokens that the file has",
    ),
    "other token": (
        changed(lambda s: Sentence([t.upper() for t in s.tokens])),
        "not the tokens that the file has",
    ),
    "lost sentence": (lose_sentence, "not as many sentences as the file has"),
    "empty token": (with_token(""), "an empty token"),
    "no string": (with_token(1), "a value that is no string"),
    "surrogate": (
        changed(lambda s: Sentence(s.tokens, None, {"\ud800": s.tokens})),
        "raised UnicodeEncodeError",
    ),
    "unsteady": (changed(be_unsteady), "reading twice gives something else"),
    "exit": (changed(lambda _: os._exit(7)), "ended the process (7)"),
    "run code": (changed(lambda _: run_code("x")), "ran code of the file"),
}


def check(name: str, data: bytes) -> str:
    if name in FAULTS:
        FORMATS[name] = FAULTS[name][0]  # in the process that tries the inputs only
    return check_format(name, {}, rows, data)


TARGETS = {
    name: Target(
        lambda: [SOUND],
        partial(check, name),
        seconds=0.1 if name == "hang" else 5,
        megabytes=64,
    )
    for name in [*FAULTS, "tokens"]
}
