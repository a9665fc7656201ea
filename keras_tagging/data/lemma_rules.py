"""Which of the scripts of `data.lemmas` a word may have, so that no lemma is invented.

A network ranks the scripts, and its best one may make *ly* of *lying*. `LemmaRules` are
learnt from annotated sentences, and from a list of words if there is one:

* A word that training has, or the list, has one of its scripts there if that script is
  none of its ending.
* Any other word may have the scripts of its ending: those that at least a fifth of the
  words of training have that share its tag and its last letters, as many as training
  knows, up to five. If there are several, one whose lemma is known goes before.
* A lemma has its capitals where words of this tag that are written alike have them.
  *YouTube* keeps its own.
* A number keeps its digits; it loses the separators that numbers of training lose.

Of the scripts that are left, the most probable one wins.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keras_tagging.data.lemmas import lemma_of, script_of
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.records import CorpusError

#: a script that fewer words have is theirs alone, and not one of their ending
WORDS_OF_SCRIPT = 3
LONGEST_ENDING = 5
#: the least share of the words of an ending that have a script of it
SHARE = 0.2
#: the least share of the words of a shape that have its capitals
CASE_SHARE = 0.02
#: a known lemma wins over one that is up to so many times more probable
KNOWN = 100.0
NUMBER = re.compile(r"[-+\u2212]?\d+(?:[.,:/' \u00a0\u202f-]\d+)*")
#: the capitals of a mixed form such as YouTube, as they are
KEPT = "="
_READ = re.compile(r"\+.", re.DOTALL)
MIXED = "xX"

Table = dict[str, dict[str, list[str]]]
Ranked = Callable[[], Iterable[tuple[str, float]]]


@dataclass(frozen=True)
class LemmaRules:
    """See the module. A script is its cases, a semicolon and its edits.

    Args:
        columns: whose labels together are the tag of a word.
        words: edits by tag, or by a label of any column, and by lower-cased form.
        endings: edits by tag and ending; an ending that is not there has those of the
            next shorter one.
        changes: by tag and edits, the letters that they change: see `changed`.
        cases: by tag and shape, the most frequent first; KEPT in mixed forms.
        lemmas: those that are known, by the label of `lemma_column`.
        lemma_column: None if no column tells parts of speech.
        separators: those that numbers lose.
    """

    columns: tuple[str, ...]
    words: Table = field(repr=False)
    endings: Table = field(repr=False)
    changes: Table = field(repr=False)
    cases: Table = field(repr=False)
    lemmas: dict[str, list[str]] = field(repr=False)
    lemma_column: str | None = None
    separators: str = ""

    def __post_init__(self):
        known = {
            label: (frozenset(row), frozenset(map(str.lower, row)))
            for label, row in self.lemmas.items()
        }
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "_lost", str.maketrans("", "", self.separators))

    # From a word to its lemma

    def chosen(
        self, form: str, script: str, labels: Mapping[str, str], ranked: Ranked
    ) -> tuple[str, str | None]:
        """The lemma of a word.

        Args:
            form: in NFC.
            script: the most probable one.
            labels: of the word in the other columns.
            ranked: gives all scripts with their probabilities, best first. It is not
                called for most words.

        Returns:
            The lemma, and the script that made it, which need not be among those that
            are ranked; None for numbers.
        """
        if NUMBER.fullmatch(form):
            return form.translate(self._lost), None
        tag, shape = tag_of(self.columns, labels), shape_of(form)
        cases, lower = self.cases.get(tag, {}).get(shape), form.lower()
        exact, known = self._known.get(labels.get(self.lemma_column), ((), ()))
        given = self._given(tag, labels, lower)
        allowed = self._of_ending(tag, lower) if given is None else given
        changes = self.changes.get(tag, {})

        def made(script):
            """The lemma of a script that fits; else None."""
            own, edits = parts_of(script, shape)
            if edits not in allowed and (given or edits not in changes):
                return None
            lemma = _made(form, own, edits)
            if cases and own not in cases and not (own and lemma in exact):
                return None
            if given is None:
                if edits not in allowed and lemma.lower() not in known:
                    return None
                if changed(lower, edits) not in changes.get(edits, ()):
                    return None
                if _digits(lemma) != _digits(form):
                    return None
            return lemma

        lemma, best, least = made(script), None, 0.0
        if lemma is not None and (given or lemma.lower() in known):
            return lemma, script
        if given is None or len(given) > 1:
            for script, probability in ranked():
                if best and probability < least:
                    break
                if (lemma := made(script)) is None:
                    continue
                if given or lemma.lower() in known:
                    return lemma, script
                if best is None:
                    best, least = (lemma, script), probability / KNOWN
        if best:
            return best
        own, _ = parts_of(script, shape)
        own = own if not cases or own in cases else cases[0]
        edits = given[0] if given else "|"
        return _made(form, own, edits), f"{own};{edits}"

    def _given(self, tag, labels, lower) -> list[str] | None:
        for label in (tag, *labels.values()):
            if (edits := self.words.get(label, {}).get(lower)) is not None:
                return edits
        return None

    def _of_ending(self, tag, lower) -> list[str]:
        endings = self.endings.get(tag, {})
        for begin in range(max(len(lower) - LONGEST_ENDING, 1), len(lower) + 1):
            if (edits := endings.get(lower[begin:])) is not None:
                return edits
        return []

    # From sentences to rules

    @classmethod
    def learnt(
        cls,
        words: Iterable[tuple[str, str, Mapping[str, str]]],
        lexicon: Iterable[tuple[str, str, str]] = (),
    ) -> "LemmaRules":
        """The rules of annotated words.

        Args:
            words: forms in NFC, lemmas, and labels by column.
            lexicon: forms, labels of any column ("VBD" or "VERB") and lemmas of words
                that training need not have. Where form and lemma are the same, it is a
                lemma that is known.
        """
        counted = Counter()
        for form, lemma, labels in words:
            if lemma != "_" or form == "_":
                counted[form, lemma, *labels.items()] += 1
        names = [name for _, _, *labels in counted for name, _ in labels[:9]]
        columns = _key_columns(dict.fromkeys(names))
        about = next((name for name in ("upos", "pos") if name in names), None)
        seen, cases, forms = defaultdict(set), Counter(), defaultdict(Counter)
        lemmas, numbers = defaultdict(Counter), Counter()
        having = defaultdict(set)
        for (form, lemma, *pairs), count in counted.items():
            labels = dict(pairs)
            tag, lower = tag_of(columns, labels), form.lower()
            shape = shape_of(form)
            own, edits = parts_of(script_of(form, lemma), shape)
            seen[tag, edits].add(lower)
            cases[tag, shape, own] += count
            forms[tag, lower][edits] += count
            if about:
                lemmas[labels[about]][lemma] += count
            for label in (tag, *labels.values()):
                having[lower].add(label)
            if NUMBER.fullmatch(form):
                for mark in {x for x in form[1:] if not x.isdecimal()}:
                    numbers[mark] += count if mark not in lemma else -count
        endings, changes = _endings(seen)
        kept = {}
        for label, row in lemmas.items():
            most = Counter()
            for lemma, count in row.items():
                most[lemma.lower()] += count
            kept[label] = [x for x in row if 2 * row[x] >= most[x.lower()]]
        marks = "".join(sorted(mark for mark, count in numbers.items() if count > 0))
        rules = cls(columns, {}, endings, changes, _cases(cases), kept, about, marks)
        irregular = defaultdict(dict)
        for (tag, lower), row in forms.items():
            if list(row) != rules._of_ending(tag, lower):
                if edits := [
                    x for x, n in row.most_common() if n > 1 or x[0] not in "=!"
                ]:
                    irregular[tag][lower] = edits
        for form, label, lemma in lexicon:
            lower = form.lower()
            if form == lemma:
                kept.setdefault(label, []).append(lemma)
            elif label not in having[lower]:
                _, edits = parts_of(script_of(lower, lemma.lower()), "x")
                if rules._of_ending(label, lower) != [edits]:
                    irregular[label].setdefault(lower, []).append(edits)
        kept = {label: list(dict.fromkeys(row)) for label, row in kept.items()}
        return replace(rules, words=dict(irregular), lemmas=kept)


def read_lexicon(path) -> list[tuple[str, str, str]]:
    """The rows of a list of words: form, label and lemma, with tabs between.

    Args:
        path: of a text file in UTF-8, which may be compressed (`.gz`).

    Raises:
        CorpusError: if there is no such file, or a line has other than three fields.
    """
    name, found = source_name(path), []
    for number, line in numbered_lines(path, name, None):
        row = line.split("\t") if isinstance(line, str) else []
        if len(row) != 3 or not all(row):
            raise CorpusError(
                f"{name}:{number}: no row of a list of words; write a form, a label "
                "and a lemma, with tabs between"
            )
        found.append(tuple(map(to_nfc, row)))
    return found


def tag_of(columns: Sequence[str], labels: Mapping[str, str]) -> str:
    """The labels in these columns as one."""
    return " ".join(labels[name] for name in columns)


def _key_columns(names) -> tuple[str, ...]:
    """XPOS, or else UPOS and features: those that say most of an ending."""
    if "xpos" in names:
        return ("xpos",)
    return tuple(name for name in ("upos", "pos", "feats") if name in names)


def parts_of(script: str, shape: str) -> tuple[str, str]:
    """The cases and the edits of a script, for a word of a shape."""
    if script.startswith("!"):
        return "", script
    cases, _, edits = script.partition(";")
    return (KEPT if cases and shape == MIXED else cases), edits


def shape_of(form: str) -> str:
    """How a form is written: "x", "X", "Xx", "XX" or MIXED; "" without case."""
    upper = [x.lower() != x for x in form if x.lower() != x.upper()]
    if not any(upper):
        return "x" if upper else ""
    if all(upper):
        return "XX" if len(upper) > 1 else "X"
    return MIXED if any(upper[1:]) else "Xx"


def _made(form: str, cases: str, edits: str) -> str:
    if edits.startswith("!"):
        return edits[1:]
    lemma = lemma_of(form, f"{cases if cases != KEPT else ''};{edits}")
    if cases != KEPT:
        return lemma
    same = 0  # letters that the form has in their cases
    for one, other in zip(lemma, form.lower(), strict=False):
        if one != other:
            break
        same += 1
    return form[:same] + lemma[same:] if len(form) == len(form.lower()) else lemma


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def changed(form: str, edits: str) -> str:
    """The first and the last letters of a form that edits read, with a bar between.

    Those of *lying* for `|---+i+e` are `|ing`.
    """
    first, _, last = _READ.sub("", edits).partition("|")
    return f"{form[: len(first)]}|{form[max(len(form) - len(last), 0) :]}"


def _endings(seen: Mapping[tuple[str, str], set[str]]) -> tuple[Table, Table]:
    """The edits of each tag and ending, where those of the next shorter one differ.

    And the letters that they change.
    """
    counts, changes = defaultdict(Counter), defaultdict(dict)
    for (tag, edits), forms in seen.items():
        # one that gives its words whole would give them to any word
        if len(forms) < WORDS_OF_SCRIPT or edits[0] in "=!":
            continue
        changes[tag][edits] = sorted({changed(form, edits) for form in forms})
        for form in forms:
            for size in range(min(LONGEST_ENDING, len(form) - 1) + 1):
                counts[tag, form[len(form) - size :]][edits] += 1
    found = defaultdict(dict)
    for (tag, ending), row in sorted(counts.items(), key=lambda item: len(item[0][1])):
        least = SHARE * row.total()
        edits = [x for x, count in row.most_common() if count >= least]
        shorter = (found[tag].get(ending[i:]) for i in range(1, len(ending) + 1))
        before = next((x for x in shorter if x is not None), None)
        if before is None or set(before) != set(edits):
            found[tag][ending] = edits
    return dict(found), dict(changes)


def _cases(counts: Mapping[tuple[str, str, str], int]) -> Table:
    totals, found = Counter(), defaultdict(dict)
    for (tag, shape, _), count in counts.items():
        totals[tag, shape] += count
    for (tag, shape, cases), count in sorted(counts.items(), key=lambda x: -x[1]):
        if count > 1 and count >= CASE_SHARE * totals[tag, shape]:
            found[tag].setdefault(shape, []).append(cases)
    return dict(found)
