"""Where no token or sentence ends, whatever the network says: a table of patterns.

They are the same for all languages. Everything else is the network's.
"""

import re
import tomllib
from importlib.resources import files
from itertools import pairwise
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

_TABLE = tomllib.loads(files(__package__).joinpath("guards.toml").read_text("utf-8"))


def _compiled(*patterns: str) -> re.Pattern:
    names = _TABLE["names"]
    return re.compile(re.sub("<([a-z]+)>", lambda x: names[x[1]], "|".join(patterns)))


#: each a pattern of what is one token, and its reason
GUARDS: list[dict[str, str]] = _TABLE["guards"]
_WORD = re.compile(r"[^\W_]+$")
#: how many shillings or pence, but no decade: "6d", not "80s"
_COUNT = re.compile("^(?!(?:[0-9]{2})?[0-9]0s$)[0-9]+(?=[ds]$)")
#: a numeral, but no kisses
_ROMAN = re.compile("(?!xx)(?:[IVX]{2,}|[ivx]{2,})[.,;:)]*")
#: an abbreviation of letters, behind which no sentence ends before a small one or a
#: day: "a.m. on", "p.m. Friday"
_DOTTED = re.compile(r"\b[^\W\d_]\.(?:[^\W\d_]\.)*[^\W\d_]$")
_DAY = re.compile("(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day")
#: the kinds of characters before which a full stop behind a word ends no sentence
SHORTENED = {
    word: row["before"] for row in _TABLE["shortened"] for word in row["words"].split()
}
_LONGEST = max(map(len, SHORTENED))
_GUARDS = _compiled(*(guard["pattern"] for guard in GUARDS))
_PICTURES = _compiled(_TABLE["pictures"]["pattern"])
_UNITS = _compiled(_TABLE["units"]["pattern"])
_NUMBERED = _compiled(_TABLE["numbered"]["pattern"])
_ASIDE = _compiled(*_TABLE["asides"].values())

#: a stretch without blanks is looked at if one of these stands before its end, or one
#: of the others anywhere
_SIGNS = np.array([ord(sign) for sign in "./:;\\,-_("], "uint32")
_HEADS = np.array([ord(sign) for sign in "`#@=*'‘’+$€£<°²³¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"], "uint32")
#: after these a sentence may end, though a small letter follows: "it?how"
_CALLS = np.array([ord(mark) for mark in "?!…"], "uint32")
#: of Latin, Greek and Cyrillic
_LAST = 0x600
_SMALL, _LARGE, _LETTER, _DIGIT, _OPEN = (
    np.array([holds(chr(code)) for code in range(_LAST)] + [False])
    for holds in (str.islower, str.isupper, str.isalpha, str.isdigit, "([".__contains__)
)
#: a line that ends in one of these goes on, and so does one before a quoted one
_JOINTS = np.array([ord(mark) for mark in ",;-–—&"], "uint32")
#: characters of lines that are units of their own
SHORT = 25
#: what no wrapped line begins with: bullets, "b)" and "(b)", but for a dash or "12."
ITEM = re.compile(r"[*+•·‣▪◦●○](?=\s)|(?:[0-9a-z]{1,2}|\([0-9A-Za-z]{1,3})\)(?=\s)")
#: what begins a unit behind the end of a line that is not full
LONE = re.compile(r"https?:|www\.|[\w.+-]+@\w|```|\w+\.(?:com|net|org)/")
#: lines inside of which no sentence ends: of a log, and above a quoted mail
_WROTE = _TABLE["wrote"]
MACHINE = re.compile("|".join([r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*", *_WROTE.values()]))


class Guarded(NamedTuple):
    """Answers for each symbol of a text, given before the network reads it.

    Args:
        inside: `(symbols,)`, whether no token ends behind it.
        ends: whether one does.
        within: whether no sentence ends behind it.
        stops: whether one does.
        shortened: whether a full stop follows that belongs to the word unless it ends a
            sentence.
    """

    inside: np.ndarray
    ends: np.ndarray
    within: np.ndarray
    stops: np.ndarray
    shortened: np.ndarray


def guarded(codes: np.ndarray, is_first: bool) -> Guarded:
    """Apply the patterns, and what is known of sentences.

    No sentence ends inside of a stretch without blanks before a small letter (the host
    "example.org"), unless behind a `?` or `!`; and none behind the mark of a list, or
    of a quoted line, at the beginning of its line, behind what is `_NUMBERED` or
    `SHORTENED`, or in an `_ASIDE`. One ends before the line of an `ITEM`, where quoted
    lines begin or end, behind a line of less than `SHORT` characters, and at a `LINE`
    before anything but a small letter, before what is `LONE` and behind a line with a
    label (`Subject:`). A full stop between a letter and a blank before a word, number
    or bracket is one of an abbreviation, or ends a sentence.

    Args:
        codes: `(symbols,)`, the code points of symbols.
        is_first: whether the document begins with them.
    """
    white, text = are_white(codes), text_of_codes(codes)
    latin = np.minimum(codes, _LAST)
    inside, ends = _whole(codes, latin, white, text)
    within, shortened = _abbreviations(codes, latin, white, text)
    small = _SMALL[latin[1:]] & ~np.isin(codes[:-1], _CALLS)
    within[:-1] |= (small | (codes[1:] == ord("["))) & ~white[:-1]
    for begin, end in (aside.span() for aside in _ASIDE.finditer(text)):
        # before fields it is the blank alone, so that one may follow parentheses
        within[begin - (end == begin + 1) : end - 1] = True
    breaks = np.flatnonzero((codes == LINE) | (codes == WRAP) | (codes == PARAGRAPH))
    stops = _short_lines(codes, latin, breaks)
    # of the line before: how often quoted, whether it has a label, is no wrapped one
    before, is_unit, is_short = None, False, False
    begins = [*[0] * is_first, *(breaks + 1).tolist()]
    for place, end in pairwise([*begins, len(codes) + 1]):
        head = text[place : min(end, place + MARK_SIZE)]
        is_machine = MACHINE.fullmatch(text, place, end - 1)
        if is_machine:
            within[place : end - 2], stops[place : end - 2] = True, False
        is_next = place < 2 or codes[place - 1] == PARAGRAPH
        is_next = is_next or text[place - 2] in ".:"
        mark = MARK.match(head) or (_NUMBERED.match(head) if is_next else None)
        behind = head[mark.end() : mark.end() + 2] if mark else ""
        is_apart = behind[:1] in (" ", "")
        if mark and is_apart:
            within[place : place + mark.end()] = True
            stops[place : place + mark.end()] = False
            shortened[place : place + mark.end()] &= mark.re is MARK
        quoted = mark[0].count(">") if mark else 0
        quoted = quoted if is_apart else -bool(quoted)  # -1 separates paragraphs
        is_line = place > 1 and codes[place - 1].item() == LINE
        is_new = is_line and (is_unit or LONE.match(head))
        is_new = is_new or is_machine or ITEM.match(head)
        if place > 1 and (is_new or before not in (None, quoted)):
            stops[place - 2] = True
        elif quoted > 0 and behind[1:].islower() and not is_short:
            within[place - 2] |= text[place - 2] not in ".!?:…"
        before, is_unit = quoted, head[:3] == "```" or bool(mark) and mark[0][-1] == ":"
        is_short = len(text[place:end]) <= SHORT
    return Guarded(inside, ends, within, stops, shortened)


def _whole(codes, latin, white, text):
    """Where the patterns let no token end, and where pictures and some signs do."""
    inside, ends = np.zeros((2, len(codes)), bool)
    signs = np.isin(codes, _SIGNS)
    signs &= ~np.append(white[1:], True)
    kinds = 2 * _LETTER[latin] + _DIGIT[latin]
    signs[:-1] |= kinds[:-1] + kinds[1:] == 3  # "XM4", "14b"
    for first, last in _found(_GUARDS, signs | np.isin(codes, _HEADS), white, text):
        inside[first : last - 1] = True
    units = np.append(_DIGIT[latin[:-1]] & _LETTER[latin[1:]], False)
    for first, last in _found(_UNITS, units, white, text):
        if not inside[first - 1]:
            inside[first : last - 1], ends[[first - 1, last - 1]] = True, True
    for first, last in _found(_PICTURES, _may_be_pictures(codes), white, text):
        inside[first : last - 1], ends[last - 1] = True, True
        ends[max(0, first - 1) : first] = True
    return inside, ends


def _abbreviations(codes, latin, white, text):
    """Where no sentence ends behind a full stop, and `Guarded.shortened`."""
    within, shortened = np.zeros((2, len(codes)), bool)
    before_stop = (codes[1:-2] == ord(".")) & white[2:-1]
    shortened[:-3] = _LETTER[latin[:-3]] & before_stop
    for place in np.flatnonzero(shortened).tolist():
        before = text[max(0, place - _LONGEST) : place + 1]
        word = _WORD.search(before)[0]
        kinds = SHORTENED.get(word) or SHORTENED.get(_COUNT.sub("0", word.lower()), "")
        if not (kinds or "." in before or _OPEN[latin[place + 3]]):
            continue
        behind = text[place + 3 : place + 2 + MARK_SIZE].split()[0]
        kind = _kind(behind)
        is_dotted = _DOTTED.search(before) and (kind == "small" or _DAY.match(behind))
        is_plain = behind[0] == "[" or word.islower() and "." not in before
        if is_plain and not kinds and behind[0] in "([":
            shortened[place] = False  # of an ordinary word
        if kind in kinds or is_dotted:
            within[place + 1] = codes[place + 2] != LINE
    shortened[:-3] &= (_LETTER | _DIGIT | _OPEN)[latin[3:]]
    return within, shortened


def _short_lines(codes, latin, breaks):
    """Where lines that do not go on end.

    Args:
        latin: the code points, or `_LAST` for others.
        breaks: the symbols at which lines end.
    """
    stops = np.zeros(len(codes), bool)
    ends_line = 1 + np.flatnonzero(codes[1:-1] == LINE)
    after = latin[ends_line + 1]
    goes_on = (after == _LAST) | (_LETTER[after] & ~_LARGE[after])
    sizes = np.diff(np.concatenate([[-1], breaks, [len(codes)]])) - 1  # of lines
    goes_on &= sizes[np.searchsorted(breaks, ends_line)] >= SHORT
    goes_on |= np.isin(codes[ends_line - 1], _JOINTS) | (after == ord(">"))
    stops[ends_line[~goes_on] - 1] = True
    return stops


def _kind(word: str) -> str:
    """The kind of what stands behind an abbreviation."""
    if any(map(str.isdigit, word)) or _ROMAN.fullmatch(word):
        return "digit"
    if word[0].isalpha():
        return "large" if word[0].isupper() else "small"
    if word[0] in "([":
        return "bracket"
    return "quote" if word[0] in "\"'“”‘’«»" else "sign"


def _found(pattern, signs, white, text):
    """Where a pattern, or its group, is in stretches without blanks.

    Args:
        pattern: with one group at most that matches.
        signs: `(symbols,)`, of which a stretch has one.
        white, text: which symbols are blanks, and all of them.
    """
    blanks = np.append(np.flatnonzero(white), len(white))
    stretches = np.unique(np.searchsorted(blanks, np.flatnonzero(signs)))
    begins = np.append(0, blanks + 1)[stretches].tolist()
    for begin, stop in zip(begins, blanks[stretches].tolist(), strict=True):
        for match in pattern.finditer(text[begin:stop]):
            yield begin + match.start(match.lastindex or 0), begin + match.end()


def _may_be_pictures(codes: np.ndarray) -> np.ndarray:
    """Which code points picture sequences and the signs beside them have."""
    bmp = ((codes >= 0x203C) & (codes < 0x2C00)) | np.isin(codes, [*map(ord, "%*–")])
    return bmp | ((codes >= 0x1F000) & (codes < 0x1FB00)) | (codes == 0xFE0F)
