"""Lemmas as scripts that make the lemma of a word from its form.

A tagger that learns `tags=("upos", "lemma")` learns these scripts as labels, as UDPipe
2 does: Straka (2018), :cite:`straka2018`. There are some hundred of them, and each
fits words that training lacks.

A script is `CASES;EDITS`. `CASES` says where the letters of the lemma change between
upper and lower case, `U0,L1` for *London*; it is empty if all of them are lower-case.
An index from the second half of the lemma is counted from its end. `EDITS` is
`PREFIX|SUFFIX`: how to change what stands before and after the longest stretch that
the lower-cased form and lemma share. `.` keeps a letter, `-` drops it, and `+x` adds
`x`: `;|-` makes *dog* of *dogs*. Words that share nothing have the script `;=go`, which
gives the lemma as it is, and a lemma that no other script gives back exactly has
`!Lemma`.

*Departures*: characters without case, such as digits, take the case of those before
them. One that is two letters in upper case, such as ß, stays as it is.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate

from keras_tagging.data.normalisation import looked_up

#: longer words are not compared: the time grows with the square of the length
LONGEST = 200
_CASES = re.compile("[UL]-?[0-9]{1,9}(,[UL]-?[0-9]{1,9})*")
_EDITS = re.compile(r"((?:[.-]|\+.)*)\|((?:[.-]|\+.)*)", re.DOTALL)
_STEPS = re.compile(r"[.-]|\+.", re.DOTALL)


@lru_cache(1 << 16)  # a text repeats most of its words
def script_of(form: str, lemma: str) -> str:
    """The script that makes the lemma of a form.

    Args:
        form, lemma: any strings.

    Returns:
        A script with `lemma_of(form, script) == lemma`.

    Example:
        >>> script_of("dogs", "dog"), script_of("Went", "go"), script_of("NY", "York")
        (';|-', ';=go', 'U0,L1;-|+o+r+k')
    """
    if max(len(form), len(lemma)) > LONGEST:
        return f"!{lemma}"
    script = f"{_cases(lemma)};{_edits(form.lower(), lemma.lower())}"
    return script if lemma_of(form, script) == lemma else f"!{lemma}"


def lemma_of(form: str, script: str) -> str:
    """The lemma that a script makes of a form.

    The form itself if the script does not fit, as when it drops more letters than there
    are.

    Example:
        >>> lemma_of("Cats", ";|-"), lemma_of("I", ";|---")
        ('cat', 'I')
    """
    if (parts := _parsed(script)) is None:
        return form
    cases, lemma, before, after = parts
    if lemma is not None:
        return _cased(lemma, cases)
    lower = form.lower()
    first, last = (sum(step in ".-" for step in steps) for steps in (before, after))
    if first + last > len(lower):
        return form
    end = len(lower) - last
    begin, rest = _edited(lower[:first], before), _edited(lower[end:], after)
    return _cased(begin + lower[first:end] + rest, cases) or form


def lemmas_of(forms: Iterable[str], scripts: Iterable[str]) -> list[str]:
    """The lemmas of the words of a sentence, whose forms are `looked_up`."""
    pairs = zip(map(looked_up, forms), scripts, strict=True)
    return [lemma_of(form, script) for form, script in pairs]


def shown_pairs(rows: Iterable[list], tokens: Iterable[str]) -> list[list]:
    """The lemmas of several scripts for each word, with their probabilities.

    Args:
        rows: for each word pairs of a script and its probability, best first.
        tokens: the words.

    Returns:
        For each word pairs of a lemma and the probability of its best script.
    """
    pairs = []
    for form, row in zip(map(looked_up, tokens), rows, strict=True):
        lemmas = {}
        for script, probability in row:
            lemmas.setdefault(lemma_of(form, script), probability)
        pairs.append(list(lemmas.items()))
    return pairs


def is_script(label: str) -> bool:
    """Whether a label is a script, and not a lemma."""
    return _parsed(label) is not None


@lru_cache(maxsize=4096)
def _parsed(script: str) -> tuple | None:
    """A script, taken apart; None if it is none.

    Returns:
        The cases, "U" or "L", and where each begins; the lower-cased lemma, or the
        exact one of `!Lemma`, None if it is made of the form; and the steps in front of
        and behind the shared stretch.
    """
    if script.startswith("!"):
        return [], script[1:], (), ()
    cases, semicolon, edits = script.partition(";")
    if not semicolon or (cases and not _CASES.fullmatch(cases)):
        return None
    changes = [(change[0], int(change[1:])) for change in cases.split(",") if change]
    if edits.startswith("="):
        return changes, edits[1:], (), ()
    parts = _EDITS.fullmatch(edits)
    return parts and (changes, None, *map(_STEPS.findall, parts.groups()))


def _edited(text: str, steps: Sequence[str]) -> str:
    letters, edited = iter(text), []
    for step in steps:
        letter = step[1] if step[0] == "+" else next(letters)
        if step != "-":
            edited.append(letter)
    return "".join(edited)


def _edits(form: str, lemma: str) -> str:
    match = SequenceMatcher(None, form, lemma, autojunk=False).find_longest_match()
    if not match.size:
        return f"={lemma}"
    before = _steps(form[: match.a], lemma[: match.b])
    after = _steps(form[match.a + match.size :], lemma[match.b + match.size :])
    return f"{before}|{after}"


def _steps(old: str, new: str) -> str:
    """The fewest steps from one text to another; of several, those that keep first."""
    steps, i, j = [], 0, 0
    for one, other in [*common_subsequence(old, new), (len(old), len(new))]:
        steps += ["-"] * (one - i) + [f"+{letter}" for letter in new[j:other]] + ["."]
        i, j = one + 1, other + 1
    return "".join(steps[:-1])


def common_subsequence(
    one: Sequence[str], other: Sequence[str]
) -> list[tuple[int, int]]:
    """The places of a longest common subsequence, the earliest of the first sequence.

    Example:
        >>> common_subsequence("abcd", "xbd")
        [(1, 1), (3, 2)]
    """
    # rest[i][j]: the length for one[i:] and other[j:]
    rest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            longest = max(rest[i + 1][j], rest[i][j + 1])
            equal = one[i] == other[j]
            rest[i][j] = rest[i + 1][j + 1] + 1 if equal else longest
    pairs, i, j = [], 0, 0
    while rest[i][j]:
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rest[i + 1][j] == rest[i][j]:
            i += 1
        else:
            j += 1
    return pairs


def _cases(lemma: str) -> str:
    """Where the case of a lemma changes."""
    changes, case = [], "L"
    for i, letter in enumerate(lemma):
        if letter.lower() == letter.upper():
            continue
        case_of_letter = "U" if letter.lower() != letter else "L"
        if case_of_letter != case:
            # leading characters without case belong to the first one with case
            start = i if any(x.lower() != x.upper() for x in lemma[:i]) else 0
            place = start if start <= len(lemma) // 2 else start - len(lemma)
            changes.append(f"{case_of_letter}{place}")
            case = case_of_letter
    return ",".join(changes)


def _cased(lemma: str, cases: list[tuple[str, int]]) -> str:
    """A lemma with its letters in their cases."""
    if not cases:
        return lemma
    starts = [i if i >= 0 else max(0, len(lemma) + i) for _, i in cases]
    # in a shorter word than the script's own, one from the end may come too early
    starts = list(accumulate(starts, max))
    ends = [*starts[1:], len(lemma)]
    parts = [lemma[: starts[0]]]
    for (case, _), start, end in zip(cases, starts, ends, strict=True):
        part = lemma[start:end]
        parts.append(_upper(part) if case == "U" else part)
    return "".join(parts)


def _upper(text: str) -> str:
    """Upper case, or title case of one letter; a letter stays that would become two."""
    pairs = ((x, x.title() if len(text) == 1 else x.upper()) for x in text)
    return "".join(other if len(other) == 1 else x for x, other in pairs)
