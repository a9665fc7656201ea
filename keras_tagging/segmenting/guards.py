"""Where no token or sentence ends, whatever the network says: a table of patterns.

They are the same for all languages. Everything else is the network's.
"""

import re
from typing import NamedTuple

import numpy as np

from keras_tagging.segmenting.symbols import (
    LINE,
    MARK,
    MARK_SIZE,
    PARAGRAPH,
    WRAP,
    are_white,
    text_of_codes,
)

#: the most frequent ends of names of files and of hosts
_FILES = (
    "avi|bat|bib|bz2|cfg|cpp|css|csv|dll|docx?|exe|gif|go|gz|html?|ini|ipynb|java|jpe?g|"
    "js|json|log|md|mov|mp[34]|odt|pdf|php|png|pptx?|py|rb|rs|rtf|sh|sql|svg|tar|tex|tgz|"
    "toml|tsv|tsx?|txt|wav|xlsx?|xml|ya?ml|zip"
)
_HOSTS = (
    "ai|app|at|au|be|biz|br|ca|ch|cn|com|cz|de|dev|dk|edu|es|eu|fi|fr|gov|ie|in|info|io|it|"
    "jp|kr|mil|mx|net|nl|no|nz|org|pl|pt|ru|se|tv|uk|us|za"
)
_FLAGS, _TONES = "[\U0001f1e6-\U0001f1ff]", "[\U0001f3fb-\U0001f3ff]"
#: characters that are pictures by themselves, and others that a selector makes so
_PICTURE = (
    "(?:[\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f"
    "\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5"
    "\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0"
    "\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f004\U0001f0cf\U0001f170-\U0001f19a"
    f"\U0001f200-\U0001faff][\ufe0f]?|[\u00a9-\u3299]\ufe0f|[\u2600-\u27bf](?={_TONES}))"
)
_TAGS = "[\U000e0020-\U000e007e]+\U000e007f"


class Guard(NamedTuple):
    """A stretch of text inside of which no token ends, and the reason."""

    pattern: str
    reason: str


# A pattern begins where nothing before could belong to it: so a text is read once.
GUARDS = (
    Guard(r"(?<!\d)\d+(?:[.:]\d+)+", "4.46, 10:30 and 192.168.0.1:8080 are one number"),
    Guard(r"(?<![\w.,(\[])\d+(?:[.,]\d+)+", "so is 12,50; but [3,5] cites two papers"),
    Guard(r"(?<!\d)\d{1,4}/\d{1,2}/\d{2,4}", "a date is one token, 3/4 may be three"),
    Guard(r"(?<!\w)v\d+(?:\.\d+)+", "v1.2 is one version"),
    Guard(r"""(?:https?|ftp)://[^\s<>"]*[\w/#=&~-]""", "a URL has any of these marks"),
    Guard(r"""(?<!\w)www\.[^\s<>"]*[\w/#=&~-]""", "a URL"),
    Guard(
        r"(?<![\w.+%-])[\w.+%-]*\w@\w[\w-]*(?:\.[\w-]+)*\.\w+",
        "an address has dots and hyphens",
    ),
    Guard(
        rf"(?<![\w.-])(?:[\w-]+\.)+(?:{_HOSTS})\b(?:/[\w./?=&%#~-]*\w/?)?",
        "so has a host",
    ),
    Guard(
        rf"(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.(?:{_FILES})\b",
        "main.py is one name of a file",
    ),
    Guard(
        r"(?<![\w./])(?:(?:[A-Za-z]:\\|\\\\|~/|\.{1,2}/)[\w.~-]*\w|/[\w.~-]*\w(?=/\w))"
        r"(?:[\\/][\w.~-]*\w)*",
        r"/usr/bin and C:\temp\a.txt are one path, and/or is three tokens",
    ),
)
PICTURES = Guard(
    f"{_FLAGS}{_FLAGS}|[0-9#*]\ufe0f?\u20e3|"
    f"{_PICTURE}{_TONES}?(?:{_TAGS})?(?:\u200d{_PICTURE}{_TONES}?)*",
    "a picture is one token (Unicode's UTS 51), whatever stands beside it",
)
_GUARDS = re.compile("|".join(guard.pattern for guard in GUARDS))
_PICTURES = re.compile(PICTURES.pattern)

#: a stretch without blanks is looked at if one of these stands inside of it
_SIGNS = np.array([ord(sign) for sign in "./:@\\,"], "uint32")
#: after these a sentence may end, though a small letter follows: "it?how"
_CALLS = np.array([ord(mark) for mark in "?!…"], "uint32")
_SMALL = np.array([chr(code).islower() for code in range(0x250)] + [False])


#: what no wrapped line begins with: bullets, "b)" and "(b)", but for a dash or "12."
ITEM = re.compile(r"[*+•·‣▪◦●○](?=\s)|(?:[0-9a-z]{1,2}|\([0-9A-Za-z]{1,3})\)(?=\s)")


class Guarded(NamedTuple):
    """What is known of each symbol of a text before the network reads it.

    Args:
        inside: `(symbols,)`, whether no token ends behind it.
        ends: whether one does.
        within: whether no sentence ends behind it.
        stops: whether one does.
    """

    inside: np.ndarray
    ends: np.ndarray
    within: np.ndarray
    stops: np.ndarray


def guarded(codes: np.ndarray, is_first: bool) -> Guarded:
    """Apply the patterns, and what is known of sentences.

    No sentence ends inside of a stretch without blanks before a small letter (the host
    "example.org"), unless behind a `?` or `!`; and none behind the mark of a list, or
    of a quoted line, at the beginning of its line. One ends before the line of an
    `ITEM`, and where quoted lines begin or end.

    Args:
        codes: `(symbols,)`, the code points of symbols.
        is_first: whether the document begins with them.
    """
    inside, ends, within, stops = np.zeros((4, len(codes)), bool)
    white = are_white(codes)
    within[:-1] = _SMALL[np.minimum(codes[1:], 0x250)] & ~white[:-1]
    within &= ~np.isin(codes, _CALLS)
    for begin, stop in _stretches(white, np.isin(codes, _SIGNS)):
        for match in _GUARDS.finditer(text_of_codes(codes[begin:stop])):
            inside[begin + match.start() : begin + match.end() - 1] = True
    for begin, stop in _stretches(white, _may_be_pictures(codes), alone=True):
        for match in _PICTURES.finditer(text_of_codes(codes[begin:stop])):
            first, last = begin + match.start(), begin + match.end() - 1
            inside[first:last], ends[last] = True, True
            ends[max(begin, first - 1) : first] = True
    lines = 1 + np.flatnonzero((codes == LINE) | (codes == WRAP) | (codes == PARAGRAPH))
    was_quoted = None  # the line before
    for place in [*[0] * is_first, *lines.tolist()]:
        text = text_of_codes(codes[place : place + MARK_SIZE])
        if (mark := MARK.match(text)) and text[mark.end() :][:1] in (" ", ""):
            within[place + mark.end() - 1] = True
        is_quoted = text[:1] == ">"
        if place > 1 and (ITEM.match(text) or was_quoted not in (None, is_quoted)):
            stops[place - 2] = True
        was_quoted = is_quoted
    return Guarded(inside, ends, within, stops)


def _stretches(white, signs, alone=False):
    """Where the stretches without blanks begin and end that have some of the signs.

    Args:
        white, signs: `(symbols,)`, which symbols these are.
        alone: whether a sign counts at the begin and the end of a stretch, too.
    """
    if not alone:
        signs[1:-1] &= ~(white[:-2] | white[2:])
        signs[:1] = signs[-1:] = False
    blanks = np.append(np.flatnonzero(white), len(white))
    stretches = np.unique(np.searchsorted(blanks, np.flatnonzero(signs)))
    begins = np.append(0, blanks + 1)[stretches]
    return zip(begins.tolist(), blanks[stretches].tolist(), strict=True)


def _may_be_pictures(codes: np.ndarray) -> np.ndarray:
    """Which code points picture sequences have, and hardly any other word."""
    if codes.size and codes.max() < 0x203C:
        return np.zeros(len(codes), bool)
    bmp = (codes >= 0x203C) & (codes < 0x2C00)
    return bmp | ((codes >= 0x1F000) & (codes < 0x1FB00)) | (codes == 0xFE0F)
