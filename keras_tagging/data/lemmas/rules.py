"""Which of the scripts of `data.lemmas` a word may have, so that no lemma is invented.

A network ranks the scripts, and its best one may make *ly* of *lying*. `LemmaRules` are
learnt from annotated sentences, and from a list of words if there is one:

* A word that training has, or the list, has one of its scripts there if that script is
  none of its ending.
* Any other word may have the scripts of its ending: those that at least a fifth of the
  words of training have that share its tag and its last letters, as many as training
  knows, up to five. If there are several, one whose lemma is known goes before.
* Where the list has nearly all lemmas of a part of speech, any other word has a lemma
  of the list, or else its own form. It loses letters only if most words do that have
  its ending and are not in the list, as those in -s (*woodrows*), but not those in -es
  (*Achilles*); or if its tag is one of `REGULAR` and its lemma ends as one of the list
  does (*refactored*, as *factor* is there). Such words are mostly names or have a wrong
  tag: they keep their capitals, or have the lemma that they have with another tag.
* A lemma has its capitals where the same word of training has them, or else words of
  this tag that are written alike. *YouTube* keeps its own, and so do short names in
  capitals (*CPA*).
* A number keeps its digits; it loses the separators that numbers of training lose.

Of the scripts that are left, the most probable one wins.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keras_tagging.data.lemmas.scripts import lemma_of, script_of
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.records import CorpusError

#: a script that fewer words have is theirs alone, and not one of their ending
WORDS_OF_SCRIPT = 3
LONGEST_ENDING = 5
LONGEST_PART = 15
#: the least share of the words of an ending that have a script of it
SHARE = 0.2
#: the least share of the words of a shape that have its capitals, and of equal words
CASE_SHARE, OWN_CASE_SHARE = 0.02, 0.1
#: words in capitals of at most so many letters have cases of their own
SHORT = 4
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
    changes = defaultdict(dict)
    for (tag, edits), forms in seen.items():
        if _has_many(edits, forms):
            changes[tag][edits] = sorted({changed(form, edits) for form in forms})
    return dict(changes)


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
    table = defaultdict(dict)
    for (tag, ending), edits in rows.items():
        shorter = (table[tag].get(ending[i:]) for i in range(1, len(ending) + 1))
        before = next((x for x in shorter if x is not None), None)
        if before is None or set(before) != set(edits):
            table[tag][ending] = edits
    return dict(table)


def cases_of(counts: Mapping[tuple[str, str, str], int]) -> Table:
    """The cases of each tag and spelling, the most frequent first.

    Args:
        counts: words by tag, one of their `spellings`, and cases.
    """
    totals, table = Counter(), defaultdict(dict)
    for (tag, spelling, _), count in counts.items():
        totals[tag, spelling] += count
    for (tag, spelling, cases), count in sorted(counts.items(), key=lambda x: -x[1]):
        share = CASE_SHARE if spelling in SHAPES else OWN_CASE_SHARE
        if count > 1 and count >= share * totals[tag, spelling]:
            table[tag].setdefault(spelling, []).append(cases)
    for row in table.values():  # a word that its shape decides needs no row
        for own in [x for x in row if x[:1] == "="]:
            _, *others = spellings(own[1:], shape_of(own[1:]))
            if row[own] == _most_exact(row, others):
                del row[own]
    return dict(table)


#: the share of the lemmas of training that a list has if it has nearly all
LISTED = 0.75
#: a known lemma wins over one that is up to so many times more probable
KNOWN = 100.0
NUMBER = re.compile(r"[-+\u2212]?\d+(?:[.,:/' \u00a0\u202f-]\d+)*")
LETTERS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
#: the capitals of a mixed form such as YouTube, as they are
KEPT = "="
MIXED = "xX"
SHAPES = ("", "x", "X", "Xx", "XX", MIXED)
#: by Penn Treebank's tags of inflected words, the edits of regular ones, and endings of
#: the words that they fit
_ED = {"|--": "ed", "|-": "ed", "|---": r"(?:([^aeiou])\1|ck)ed", "|---+y": "ied"}
_ING = {"|---": "ing", "|---+e": "ing", "|----": r"(?:([^aeiou])\1|ck)ing"}
_S = {"|-": "[^s']s", "|--": "(?:[sxzo]|[cs]h)es", "|---+y": "ies"}
REGULAR = {"VBD": _ED, "VBN": _ED, "VBG": _ING, "VBZ": _S, "NNS": _S}
#: the letters that edits change where they undo a doubling
_DOUBLED = re.compile(r"\|([^aeiou])(?:ed|ing)")
#: the cases of words that are written so and are in no list: they are names mostly
NAMES = {"Xx": "U0,L1", MIXED: KEPT}

Ranked = Callable[[Iterable[str]], Iterable[tuple[str, float]]]


@dataclass(frozen=True)
class LemmaRules:
    """See the module. A script is its cases, a semicolon and its edits.

    Args:
        columns: whose labels together are the tag of a word.
        words: edits by tag, or by a label of any column, and by lower-cased form.
        endings: edits by tag and ending; an ending that is not there has those of the
            next shorter one.
        changes: by tag and edits, the letters that they change: see `changed`.
        cases: by tag and spelling, the most frequent first; KEPT in mixed forms.
        lemmas: those that are known, by the label of `lemma_column`.
        lemma_column: None if no column tells parts of speech.
        separators: those that numbers lose.
        listed: labels of `lemma_column` of which nearly all lemmas are known.
    """

    columns: tuple[str, ...]
    words: Table = field(repr=False)
    endings: Table = field(repr=False)
    changes: Table = field(repr=False)
    cases: Table = field(repr=False)
    lemmas: dict[str, list[str]] = field(repr=False)
    lemma_column: str | None = None
    separators: str = ""
    listed: tuple[str, ...] = ()

    def __post_init__(self):
        lowercased, capital = {}, {}
        for label, row in self.lemmas.items():
            # most are lower-cased: a copy of each would take as much memory again
            lowercased[label] = frozenset(x if x.islower() else x.lower() for x in row)
            capital[label] = frozenset(x for x in row if x not in lowercased[label])
        object.__setattr__(self, "_lowercased", lowercased)
        object.__setattr__(self, "_capital", capital)
        object.__setattr__(self, "_last", {})  # letters of these, by label
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
            ranked: function from edits to the scripts that have one of them, with their
                probabilities, best first. It is not called for most words.

        Returns:
            The lemma, and the script that made it, which need not be among those that
            are ranked; None for numbers.
        """
        if NUMBER.fullmatch(form):
            return form.translate(self._lost), None
        tag, shape, lower = tag_of(self.columns, labels), shape_of(form), form.lower()
        label = labels.get(self.lemma_column)
        listed_edits = self._edits_of_word((tag, *labels.values()), lower)
        if listed_edits is None and self.listed and not LETTERS.fullmatch(form):
            listed_edits = ["|"]
        allowed = listed_edits or self._of_ending(tag, lower)
        changes = {} if listed_edits else self.changes.get(tag, {})
        written, by_spelling = spellings(form, shape), self.cases.get(tag, {})
        cases = _most_exact(by_spelling, written)

        def made(script):
            """The lemma of a script that fits, and whether it is known; else None."""
            case, edits = parts_of(script, shape)
            if edits not in allowed and edits not in changes:
                return None
            if not listed_edits and not self._fits(tag, lower, edits):
                return None
            lemma = _made(form, case, edits)
            if cases and case not in cases:
                if written[0] in by_spelling or lemma not in self._capital.get(
                    label, ()
                ):
                    return None
            if listed_edits:
                return lemma, True
            if _digits(lemma) != _digits(form):
                return None
            if lower[-3:] == "ics" and lower in self._lowercased.get(label, ()):
                return (lemma, True) if edits == "|" else None  # *physics*
            is_known = self._knows(label, lemma)
            return (lemma, is_known) if is_known or edits in allowed else None

        best, least = None, 0.0
        if (candidate := made(script)) and candidate[1]:
            return candidate[0], script
        if listed_edits is None or len(listed_edits) > 1:
            for other, probability in ranked({*allowed, *changes}):
                if best and probability < least:
                    break
                if (candidate := made(other)) is None:
                    continue
                if candidate[1]:
                    return candidate[0], other
                if best is None:
                    best, least = (candidate[0], other), probability / KNOWN
        case, edits = parts_of(best[1] if best else script, shape)
        if not best:
            case = case if not cases or case in cases else cases[0]
            edits = listed_edits[0] if listed_edits else "|"
        if listed_edits is None and label in self.listed:
            if lower in self._lowercased[label]:
                edits, best = "|", None  # as *ethos*, which is no plural
            # a wrong tag is more likely than a word that is not listed
            elif shape in ("x", "Xx") and (
                candidate := self._edits_of_word(self.words, lower)
            ):
                edits, best = candidate[0], None
            # but a capital and -s have names
            elif (shape == "x" or shape == "Xx" and REGULAR.get(tag) is not _S) and (
                regular := self._regular(tag, label, lower)
            ):
                edits, best = regular, None
            elif shape in NAMES and not self._knows(None, _made(form, case, edits)):
                case, best = NAMES[shape], None
        return best or (_made(form, case, edits), f"{case};{edits}")

    def _knows(self, label, lemma) -> bool:
        """Whether a lemma, or its part after a hyphen, is one of its class.

        For a class that the list lacks, such as that of names, those of the others are.
        """
        labels = {label} if label in self.listed else {label, *self.listed}
        words = {lemma.lower(), lemma.lower().rpartition("-")[2]}
        return any(not words.isdisjoint(self._lowercased.get(x, ())) for x in labels)

    def _regular(self, tag, label, lower) -> str | None:
        """The edits whose lemma ends most like a known one; of equal ones the first.

        None if the form is known itself, or no lemma ends in two letters of this one.
        """
        if any(lower in known for known in self._lowercased.values()):
            return None
        best, most = None, (0, 0)
        for edits, ending in REGULAR.get(tag, {}).items():
            if re.search(f"{ending}$", lower):
                likeness = self._likeness(label, lemma_of(lower, f";{edits}"))
                if likeness > most:
                    best, most = edits, likeness
        return best

    def _likeness(self, label, lemma) -> tuple[int, int]:
        """The sizes of the longest known lemma at its end, and of an ending of one."""
        known = self._lowercased[label]
        if label not in self._last:
            self._last[label] = {x[-size:] for x in known for size in (4, 3, 2)}
        sizes = range(min(len(lemma), LONGEST_PART), 2, -1)
        whole = next((size for size in sizes if lemma[-size:] in known), 0)
        last = (size for size in (4, 3, 2) if lemma[-size:] in self._last[label])
        return whole, next(last, 0)

    def _edits_of_word(self, tags, lower) -> list[str] | None:
        for tag in tags:
            if (edits := self.words.get(tag, {}).get(lower)) is not None:
                return edits
        return None

    def _of_ending(self, tag, lower) -> list[str]:
        if self.listed and not LETTERS.fullmatch(lower):
            return ["|"]
        endings = self.endings.get(tag, {})
        for begin in range(max(len(lower) - LONGEST_ENDING, 1), len(lower) + 1):
            if (edits := endings.get(lower[begin:])) is not None:
                return edits
        return []

    def _fits(self, tag, lower, edits) -> bool:
        """Whether edits change letters of a form that they change in training.

        Those that undo a doubling fit only two equal letters.
        """
        if edits == "|":
            return True
        letters = changed(lower, edits)
        if doubled := _DOUBLED.fullmatch(letters):  # or has a k behind the c of *panic*
            if lower[-len(letters) :][:1] not in (doubled[1], "c"):
                return False
        return letters in self.changes.get(tag, {}).get(edits, ())

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
        # XPOS, or else UPOS and features: those that say most of an ending
        key = ("xpos",) if "xpos" in names else ("upos", "pos", "feats")
        columns = tuple(name for name in key if name in names)
        about = next((name for name in ("upos", "pos") if name in names), None)
        seen, cases, forms = defaultdict(set), Counter(), defaultdict(Counter)
        lexicon, bases, unlisted = list(lexicon), defaultdict(set), defaultdict(set)
        for form, label, lemma in lexicon:
            if form == lemma:
                bases[label].add(lemma)
        every = set().union(*bases.values())
        lemmas, numbers = defaultdict(Counter), Counter()
        having = defaultdict(set)
        for (form, lemma, *pairs), count in counted.items():
            labels = dict(pairs)
            tag, lower = tag_of(columns, labels), form.lower()
            shape = shape_of(form)
            case, edits = parts_of(script_of(form, lemma), shape)
            seen[tag, edits].add(lower)
            for spelling in spellings(form, shape):
                cases[tag, spelling, case] += count
            forms[tag, lower][edits] += count
            if about:
                lemmas[labels[about]][lemma] += count
            base_forms = bases.get(labels.get(about), every)
            if lemma.lower() not in base_forms and LETTERS.fullmatch(form):
                unlisted[tag, edits].add(lower)
            for label in (tag, *labels.values()):
                having[lower].add(label)
            if NUMBER.fullmatch(form):
                for mark in {x for x in form[1:] if not x.isdecimal()}:
                    numbers[mark] += count if mark not in lemma else -count
        kept = {}
        for label, row in lemmas.items():
            most = Counter()
            for lemma, count in row.items():
                most[lemma.lower()] += count
            kept[label] = [x for x in row if 2 * row[x] >= most[x.lower()]]
            kept[label] += sorted(bases.get(label, set()).difference(row))
        listed = tuple(
            label
            for label, row in lemmas.items()
            if len(bases.get(label, set()) & {*row}) >= LISTED * len(row)
        )
        endings = endings_of_unlisted(unlisted) if listed else endings_of(seen)
        marks = "".join(sorted(mark for mark, count in numbers.items() if count > 0))
        tables = endings, changes_of(seen), cases_of(cases), kept
        rules = cls(columns, {}, *tables, about, marks, listed)
        irregular = defaultdict(dict)
        for (tag, lower), row in forms.items():
            if list(row) != rules._of_ending(tag, lower):
                if edits := [
                    x for x, n in row.most_common() if n > 1 or x[0] not in "=!"
                ]:
                    irregular[tag][lower] = edits
        for form, label, lemma in lexicon:
            lower = form.lower()
            if form != lemma and label not in having[lower]:
                _, edits = parts_of(script_of(lower, lemma.lower()), "x")
                regular = rules._of_ending(label, lower) == [edits]
                if not regular or not rules._fits(label, lower, edits):
                    irregular[label].setdefault(lower, []).append(edits)
        return replace(rules, words=dict(irregular))


def read_lexicon(path) -> list[tuple[str, str, str]]:
    """The rows of a list of words: form, label and lemma, with tabs between.

    Args:
        path: of a text file in UTF-8, which may be compressed (`.gz`).

    Raises:
        CorpusError: if there is no such file, or a line has other than three fields.
    """
    name, entries = source_name(path), []
    for number, line in numbered_lines(path, name, None):
        row = line.split("\t") if isinstance(line, str) else []
        if len(row) != 3 or not all(row):
            what = "no row of a list of words; write a form, a label and a lemma"
            raise CorpusError(f"{name}:{number}: {what}, with tabs between")
        entries.append(tuple(map(to_nfc, row)))
    return entries


def tag_of(columns: Sequence[str], labels: Mapping[str, str]) -> str:
    """The labels in these columns as one."""
    return " ".join(labels[name] for name in columns)


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


def spellings(form: str, shape: str) -> list[str]:
    """How a form is written, the most exact first: itself, a short one, its shape."""
    short = [f"XX{SHORT}"] if shape == "XX" and len(form) <= SHORT else []
    return [f"={form}", *short, shape]


def _most_exact(row: Mapping[str, list[str]], names: Iterable[str]):
    """Look up the first of these names that a row has; None without any."""
    return next((row[name] for name in names if name in row), None)


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
