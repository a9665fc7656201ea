"""Tables of the endings, the letters and the capitals of the words of training.

Edits are the second part of a script of `data.lemmas`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

#: a script that fewer words have is theirs alone, and not one of their ending
WORDS_OF_SCRIPT = 3
LONGEST_ENDING = 5
#: the least share of the words of an ending that have a script of it
SHARE = 0.2
#: the least share of the words of a shape that have its capitals
CASE_SHARE = 0.02
#: that share for words that are not in a list, of which there are some with one ending
SURE = 0.7
WORDS_OF_ENDING = 10
_READ = re.compile(r"\+.", re.DOTALL)

Table = dict[str, dict[str, list[str]]]
#: lower-cased forms by tag and edits
Seen = Mapping[tuple[str, str], set[str]]


def changed(form: str, edits: str) -> str:
    """The first and the last letters of a form that edits read, with a bar between.

    Those of *lying* for `|---+i+e` are `|ing`.
    """
    first, _, last = _READ.sub("", edits).partition("|")
    return f"{form[: len(first)]}|{form[max(len(form) - len(last), 0) :]}"


def changes_of(seen: Seen) -> Table:
    """The letters that the edits of each tag change."""
    found = defaultdict(dict)
    for (tag, edits), forms in seen.items():
        if _has_many(edits, forms):
            found[tag][edits] = sorted({changed(form, edits) for form in forms})
    return dict(found)


def _has_many(edits: str, forms: set[str]) -> bool:
    # edits that give their words whole would give them to any word
    return len(forms) >= WORDS_OF_SCRIPT and edits[0] not in "=!"


def endings_of(seen: Seen) -> Table:
    """The edits of each tag and ending, where those of the next shorter one differ."""
    rows = {}
    for key, row in _counts({x: y for x, y in seen.items() if _has_many(x[1], y)}):
        least = SHARE * row.total()
        rows[key] = [x for x, count in row.most_common() if count >= least]
    return _shortened(rows)


def endings_of_unlisted(seen: Seen) -> Table:
    """The same of words that are not in a list, which mostly have no edits.

    Edits that add letters would invent words.
    """
    rows = {}
    for key, row in _counts(seen):
        if (total := row.total()) >= WORDS_OF_ENDING:
            [(edits, count)] = row.most_common(1)
            sure = count >= SURE * total and not {*edits} & {*"=!+"}
            rows[key] = [edits if sure else "|"]
    return _shortened(rows)


def _counts(seen: Seen):
    """How many words of each tag and ending have which edits, short endings first."""
    counts = defaultdict(Counter)
    for (tag, edits), forms in seen.items():
        for form in forms:
            for size in range(min(LONGEST_ENDING, len(form) - 1) + 1):
                counts[tag, form[len(form) - size :]][edits] += 1
    return sorted(counts.items(), key=lambda item: len(item[0][1]))


def _shortened(rows: Mapping[tuple[str, str], list[str]]) -> Table:
    found = defaultdict(dict)
    for (tag, ending), edits in rows.items():
        shorter = (found[tag].get(ending[i:]) for i in range(1, len(ending) + 1))
        before = next((x for x in shorter if x is not None), None)
        if before is None or set(before) != set(edits):
            found[tag][ending] = edits
    return dict(found)


def cases_of(counts: Mapping[tuple[str, str, str], int]) -> Table:
    """The cases of each tag and shape, the most frequent first.

    Args:
        counts: words by tag, shape and cases.
    """
    totals, found = Counter(), defaultdict(dict)
    for (tag, shape, _), count in counts.items():
        totals[tag, shape] += count
    for (tag, shape, cases), count in sorted(counts.items(), key=lambda x: -x[1]):
        if count > 1 and count >= CASE_SHARE * totals[tag, shape]:
            found[tag].setdefault(shape, []).append(cases)
    return dict(found)
