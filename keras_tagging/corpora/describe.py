"""Statistics of a corpus, and a search for problems in it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from keras_tagging.corpora import measures
from keras_tagging.corpora.damage import find_damage
from keras_tagging.corpora.labels import numbered, one_label
from keras_tagging.corpora.suspicions import (
    Location,
    duplicates,
    lonely_tags,
    scheme_of,
    suspicious,
    violations,
)
from keras_tagging.data.records import left_out
from keras_tagging.data.sentence import Corpus

MAX_EXAMPLES = 10
SHOWN = 3  # locations of a problem that the text lists


@dataclass
class Problem:
    """A kind of suspicious data: how often it occurs, and where first.

    `locations` are (split, sentence, token), counted from 1; the token is None if the
    problem concerns the whole sentence. For damaged text they are `FILE:LINE`, or
    `SPLIT, sentence N` without a file. `details` has an excerpt for each location.
    """

    kind: str
    count: int = 0
    locations: list[Location | str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)


@dataclass
class Description:
    """The result of `describe`; `str()` gives it as text.

    Tables are lists of rows, for `pandas.DataFrame`.

    Args:
        name, format: name and format of the corpus.
        splits: one row a split: split, sentences, tokens, mean length, max length,
            labels, rare labels (1 to 9 times), unseen words % (tokens whose exact form
            is not in train) and unseen labels (labels that are not in train).
        scheme: "IOB1", "IOB2" or "IOBES" if all labels are chunk labels, else None.
        problems: the kinds of problems that occur.
        skipped: for each file, the number of sentences that reading left out.
        lengths: for each split, percentiles of the sentence lengths, in tokens.
        labels: for each split, the number of times that each label occurs.
        leakage: for each split and each earlier one, the share that both contain.
        trees: for each split with heads, the numbers of trees and of projective ones.
        coverage: for each split, the share that has a vector; empty without vectors.
        damage: the kinds of wrongly encoded text that occur.
        remarks: further problems, one line each.
    """

    name: str
    format: str
    splits: list[dict]
    scheme: str | None
    problems: list[Problem]
    skipped: dict[str, int]
    lengths: list[dict] = field(default_factory=list)
    labels: dict[str, Counter] = field(default_factory=dict)
    leakage: list[dict] = field(default_factory=list)
    trees: list[dict] = field(default_factory=list)
    coverage: list[dict] = field(default_factory=list)
    damage: list[Problem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def to_text(self) -> str:
        """Aligned tables, followed by the first problems of each kind."""
        scheme = f", labels {self.scheme}" if self.scheme else ""
        head = f"{self.name} (format {self.format}{scheme})"
        parts = [head, _table(self.splits) if self.splits else "no sentences"]
        titled = {
            "Sentence lengths: so many % have no more tokens": self.lengths,
            "Sentences that two splits share": self.leakage,
            "Trees": self.trees,
            "Words with a vector": self.coverage,
        }
        for title, rows in titled.items():
            if rows:
                parts.append(f"{title}\n{_table(rows)}")
        for file, count in self.skipped.items():
            parts.append(f"{file}: {left_out(count)}")
        parts += self.remarks
        suspicious = [*self.problems, *self.damage]
        if not suspicious:
            end = [] if self.remarks else ["No problems found."]
            return "\n\n".join([*parts, *end])
        counts = [{"problem": p.kind, "count": p.count} for p in suspicious]
        parts.append(_table(counts))
        parts += [_examples(problem) for problem in suspicious]
        return "\n\n".join(parts)

    __str__ = to_text


def _examples(problem: Problem) -> str:
    shown = problem.locations[:SHOWN]
    places = [p if isinstance(p, str) else _place(*p) for p in shown]
    width = max(map(len, places))
    some = f"{len(shown)} of " if len(shown) < problem.count else ""
    lines = [f"{problem.kind} ({some}{problem.count})"]
    for where, what in zip(places, problem.details, strict=False):
        lines.append(f"  {where:{width}}  {what}".rstrip())
    return "\n".join(lines)


def _place(split: str, sentence: int, token: int | None) -> str:
    return f"{split}, sentence {sentence}" + (f", token {token}" if token else "")


def _table(rows: list[dict]) -> str:
    """A table as text, with words aligned left and numbers aligned right."""
    columns = []
    for name in rows[0]:
        values = [row[name] for row in rows]
        cells = [name, *map(_shown, values)]
        width = max(map(len, cells))
        is_text = any(isinstance(value, str) for value in values)
        columns.append([f"{cell:{'<' if is_text else '>'}{width}}" for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _shown(value) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def describe(
    corpus: Corpus,
    *,
    vectors: Iterable[str] | None = None,
    encoding: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Description:
    """Count the contents of a corpus and look for problems in it.

    Problems are: labels that cannot follow each other (if all labels are chunk labels;
    IOB1 has no such pair); sentences repeated between or within splits, with the same
    or with other tags; and suspicious rows: empty tokens, white space, control or
    zero-width characters in tokens, tokens of more than 100 characters, sentences
    without tokens, with more than 250 tokens or without tags, empty tags, tags with
    blanks, and tags that occur once and differ from another only in case.

    The corpus's files are searched for damage: bytes that cannot be decoded, UTF-8 that
    was read as Latin-1 or Windows-1252 ("Ã©"), U+FFFD, control characters, characters
    for private use, byte order marks inside the text and HTML entities.

    A remark is made if all tokens have the same label, which cannot be learnt: it names
    the column that looks like the labels.

    Args:
        corpus: the corpus.
        vectors: `WordVectors`, or the words that have a vector.
        encoding: the encoding of the corpus's files; by default UTF-8.
        options: the options that the files were read with, to find that column.
    """
    scheme = scheme_of(corpus)
    problems, damaged = _Collector(), _Collector()
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            for kind, token, what in suspicious(sentence):
                problems.add(kind, (split, number, token), what)
            if scheme and sentence.tags:
                for token, what in violations(sentence.tags, scheme):
                    where = (split, number, token)
                    problems.add("impossible label sequence", where, what)
    for finder in (lonely_tags, duplicates):
        for kind, location, what in finder(corpus):
            problems.add(kind, location, what)
    for kind, source, what in find_damage(corpus, encoding):
        damaged.add(kind, source, what)
    tagged = [s for _, part in corpus.splits() for s in part if s.tags]
    remarks = one_label(tagged, corpus, options), numbered(tagged)
    words = getattr(vectors, "words", vectors)
    return Description(
        name=corpus.name,
        format=corpus.format,
        splits=measures.statistics(corpus),
        scheme=scheme,
        problems=problems.listed(),
        skipped=dict(corpus.skipped),
        lengths=measures.length_percentiles(corpus),
        labels=measures.label_counts(corpus),
        leakage=measures.leakage(corpus),
        trees=measures.trees(corpus),
        coverage=[] if words is None else measures.vector_coverage(corpus, words),
        damage=damaged.listed(),
        remarks=[*filter(None, remarks)],
    )


class _Collector:
    """Collector of problems by kind."""

    def __init__(self):
        self.problems: dict[str, Problem] = {}

    def add(self, kind: str, location: Location | str, what: str) -> None:
        problem = self.problems.setdefault(kind, Problem(kind))
        problem.count += 1
        if len(problem.locations) < MAX_EXAMPLES:
            shown = what if len(what) <= 60 else f"{what[:57]}..."
            problem.locations.append(location)
            problem.details.append(repr(shown) if what else "")

    def listed(self) -> list[Problem]:
        return list(self.problems.values())
