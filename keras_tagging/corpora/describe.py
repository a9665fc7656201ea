"""Statistics of a corpus, and a search for problems in it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from keras_tagging.corpora.problems import (
    Location,
    duplicates,
    find_damage,
    lonely_tags,
    numbered,
    one_label,
    scheme_of,
    suspicious,
    violations,
)
from keras_tagging.data.records import left_out
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.startup import require

MAX_EXAMPLES = 10
PERCENTILES = (5, 25, 50, 75, 95, 99, 100)
MAX_LABELS = 40  # of a plot
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
    places = []
    for place in problem.locations[:SHOWN]:
        if not isinstance(place, str):
            split, sentence, token = place
            place = f"{split}, sentence {sentence}" + f", token {token}" * bool(token)
        places.append(place)
    width = max(map(len, places))
    some = f"{len(places)} of " if len(places) < problem.count else ""
    lines = [f"{problem.kind} ({some}{problem.count})"]
    for where, what in zip(places, problem.details, strict=False):
        lines.append(f"  {where:{width}}  {what}".rstrip())
    return "\n".join(lines)


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


def describe(corpus: Corpus, *, encoding: str | None = None) -> Description:
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

    A remark is made if all tokens have the same label, which cannot be learnt.

    Args:
        corpus: the corpus.
        encoding: the encoding of the corpus's files; by default UTF-8.
    """
    scheme = scheme_of(corpus)
    rows = chain(_rows(corpus, scheme), lonely_tags(corpus), duplicates(corpus))
    tagged = [s for _, part in corpus.splits() for s in part if s.tags]
    remarks = one_label(tagged), numbered(tagged)
    return Description(
        name=corpus.name,
        format=corpus.format,
        splits=[*statistics(corpus)],
        scheme=scheme,
        problems=_collected(rows),
        skipped=dict(corpus.skipped),
        lengths=[*length_percentiles(corpus)],
        labels=label_counts(corpus),
        leakage=[*leakage(corpus)],
        trees=[*trees(corpus)],
        damage=_collected(find_damage(corpus, encoding)),
        remarks=[*filter(None, remarks)],
    )


def _rows(corpus: Corpus, scheme: str | None) -> Iterator[tuple[str, Location, str]]:
    """(kind, location, excerpt) for each suspicious row and label."""
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            for kind, token, what in suspicious(sentence):
                yield kind, (split, number, token), what
            if scheme and sentence.tags:
                for token, what in violations(sentence.tags, scheme):
                    yield "impossible label sequence", (split, number, token), what


def _collected(rows: Iterable[tuple[str, Location | str, str]]) -> list[Problem]:
    """The problems by kind, with their first locations."""
    problems: dict[str, Problem] = {}
    for kind, location, what in rows:
        problem = problems.setdefault(kind, Problem(kind))
        problem.count += 1
        if len(problem.locations) < MAX_EXAMPLES:
            shown = what if len(what) <= 60 else f"{what[:57]}..."
            problem.locations.append(location)
            problem.details.append(repr(shown) if what else "")
    return list(problems.values())


def statistics(corpus: Corpus) -> Iterator[dict]:
    """The sizes of each split."""
    train_words = {token for sentence in corpus.train for token in sentence.tokens}
    labels = label_counts(corpus)
    for split, sentences in corpus.splits():
        lengths, tags = [len(sentence) for sentence in sentences], labels[split]
        unseen_share = unseen_labels = None
        if split != "train" and corpus.train:
            unseen = sum(t not in train_words for s in sentences for t in s.tokens)
            unseen_share = 100 * unseen / max(1, sum(lengths))
            unseen_labels = len(tags.keys() - labels["train"].keys())
        yield {
            "split": split,
            "sentences": len(sentences),
            "tokens": sum(lengths),
            "mean length": sum(lengths) / len(lengths),
            "max length": max(lengths),
            "labels": len(tags),
            "rare labels": sum(count < 10 for count in tags.values()),
            "unseen words %": unseen_share,
            "unseen labels": unseen_labels,
        }


def length_percentiles(corpus: Corpus) -> Iterator[dict]:
    """Percentiles of the sentence lengths in tokens, for each split."""
    for split, sentences in corpus.splits():
        lengths = sorted(map(len, sentences))
        ranks = {p: -(-p * len(lengths) // 100) for p in PERCENTILES}  # rounded up
        yield {"split": split} | {f"{p} %": lengths[ranks[p] - 1] for p in ranks}


def label_counts(corpus: Corpus) -> dict[str, Counter]:
    """The number of times each label occurs in each split."""
    return {
        split: Counter(tag for sentence in sentences for tag in sentence.tags or ())
        for split, sentences in corpus.splits()
    }


def leakage(corpus: Corpus) -> Iterator[dict]:
    """The sentences of a split that an earlier one contains too.

    "alike" counts sentences that are equal except for case, digits and tokens without a
    letter or digit, including the equal ones.
    """
    before = []
    for split, sentences in corpus.splits():
        sentences = [sentence for sentence in sentences if sentence.tokens]
        for other, tags_of, outlines in before:
            same = [s for s in sentences if tuple(s.tokens) in tags_of]
            retagged = sum(s.tags not in tags_of[tuple(s.tokens)] for s in same)
            alike = sum(_outline(s) in outlines for s in sentences)
            tokens = sum(map(len, sentences))
            yield {
                "split": split,
                "also in": other,
                "sentences": len(same),
                "sentences %": 100 * len(same) / max(1, len(sentences)),
                "tokens %": 100 * sum(map(len, same)) / max(1, tokens),
                "with other tags": retagged,
                "alike": alike,
                "alike %": 100 * alike / max(1, len(sentences)),
            }
        tags_of: dict[tuple, list] = {}
        for sentence in sentences:
            tags_of.setdefault(tuple(sentence.tokens), []).append(sentence.tags)
        before.append((split, tags_of, set(map(_outline, sentences))))


def _outline(sentence: Sentence) -> tuple[str, ...]:
    words = (re.sub(r"\d", "0", token.lower()) for token in sentence.tokens)
    outline = tuple(word for word in words if any(map(str.isalnum, word)))
    return outline or tuple(sentence.tokens)


def trees(corpus: Corpus) -> Iterator[dict]:
    """The number of trees, and of non-projective ones, among sentences with heads."""
    from keras_tagging.data.trees import check_tree, is_projective  # NumPy

    for split, sentences in corpus.splits():
        count, broken, crossing = 0, 0, []
        for number, sentence in enumerate(sentences, 1):
            heads = sentence.columns.get("head", ["_"])
            if not heads or set(heads) == {"_"}:
                continue
            count += 1
            try:
                heads = list(map(int, heads))
                check_tree(heads)
            except ValueError:
                broken += 1
                continue
            if not is_projective(heads):
                crossing.append(number)
        if count:
            yield {
                "split": split,
                "with heads": count,
                "no trees": broken,
                "not projective": len(crossing),
                "not projective %": 100 * len(crossing) / count,
                "the first": crossing[0] if crossing else None,
            }


def plot_description(description: Description, path: str | Path) -> Path:
    """Draw the shares of the most frequent labels, by split, and the sentence lengths.

    Args:
        description: the output of `describe`.
        path: the file to write; its ending tells the format: .png, .pdf, .svg.

    Raises:
        ImportError: if matplotlib is not installed.
        ValueError: if it cannot write this format.
    """
    require("matplotlib", "plots")
    from matplotlib.figure import Figure

    counts = {split: c for split, c in description.labels.items() if c}
    figure = Figure(figsize=(10, 9 if counts else 4), layout="constrained")
    rows = 2 if counts else 1
    if counts:
        _draw_labels(figure.add_subplot(rows, 1, 1), counts)
    _draw_lengths(figure.add_subplot(rows, 1, rows), description.lengths)
    figure.suptitle(description.name, parse_math=False)
    path = Path(path)
    with replacing(path) as partial:
        figure.savefig(partial)
    return path


def _draw_labels(axes, counts) -> None:
    total = sum(counts.values(), type(next(iter(counts.values())))())
    names = [name for name, _ in total.most_common(MAX_LABELS)]
    width = 0.8 / len(counts)
    for index, (split, count) in enumerate(counts.items()):
        shares = [100 * count[name] / count.total() for name in names]
        positions = [i - 0.4 + (index + 0.5) * width for i in range(len(names))]
        axes.bar(positions, shares, width, label=split)
    # a label such as PRP$ is not a formula
    axes.set_xticks(range(len(names)), names, rotation=90, parse_math=False)
    axes.set_yscale("log")
    axes.set_ylabel("% of the tokens")
    shown = f"the {len(names)} most frequent of {len(total)} labels"
    axes.set_title(shown if len(names) < len(total) else f"{len(total)} labels")
    axes.legend()


def _draw_lengths(axes, lengths) -> None:
    for row in lengths:
        percentiles = {int(k.split()[0]): v for k, v in row.items() if k != "split"}
        axes.plot(percentiles.values(), percentiles.keys(), "o-", label=row["split"])
    axes.set_xlabel("tokens in a sentence")
    axes.set_ylabel("% of sentences not longer")
    axes.legend()
