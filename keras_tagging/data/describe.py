"""What a corpus contains, and what in it looks wrong."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from keras_tagging.data.sentence import Corpus, Sentence

MAX_EXAMPLES = 10
LONG_TOKEN = 100  # characters
LONG_SENTENCE = 250  # tokens
# White space, controls, soft hyphen, zero-width and directional marks, halves of
# surrogate pairs.
_ODD = re.compile(
    "[\\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
    "\ud800-\udfff]"
)
_CHUNK_TAG = re.compile(r"O|[BI]|[BIESLU]-.+", re.DOTALL)

Location = tuple[str, int, int | None]  # split, sentence, token; counted from 1


@dataclass
class Problem:
    """Something suspicious: how often, and where the first times.

    `locations` are (split, sentence, token), counted from 1; the token is None where
    the whole sentence is meant. `details` says, for each, what stands there.
    """

    kind: str
    count: int = 0
    locations: list[Location] = field(default_factory=list)
    details: list[str] = field(default_factory=list)


@dataclass
class Description:
    """What `describe` found; `str()` gives it as text.

    Args:
        name, format: of the corpus.
        splits: one row a split, for `pandas.DataFrame(splits)`: split, sentences,
            tokens, mean length, max length, labels, rare labels (1 to 9 times), unseen
            words % (tokens whose form is not in train, letter for letter) and unseen
            labels (that are not in train).
        scheme: "IOB1", "IOB2" or "IOBES" if all labels are chunk labels, else None.
        problems: the kinds that occur.
        skipped: sentences that reading left out, for each file.
    """

    name: str
    format: str
    splits: list[dict]
    scheme: str | None
    problems: list[Problem]
    skipped: dict[str, int]

    def to_text(self) -> str:
        """Aligned tables of the splits and of the problems."""
        import pandas as pd  # half a second that reading a corpus should not cost

        def table(rows):
            rows = [{k: "-" if v is None else v for k, v in r.items()} for r in rows]
            frame = pd.DataFrame(rows, dtype=object)
            return frame.to_string(index=False, float_format="{:.1f}".format)

        scheme = f", labels {self.scheme}" if self.scheme else ""
        parts = [f"{self.name} (format {self.format}{scheme})", table(self.splits)]
        for file, count in self.skipped.items():
            parts.append(f"{file}: {count} malformed sentences left out")
        if not self.problems:
            return "\n\n".join([*parts, "No problems found."])
        counts = [{"problem": p.kind, "count": p.count} for p in self.problems]
        examples = [
            {"problem": p.kind, "split": split, "sentence": s, "token": t, "what": what}
            for p in self.problems
            for (split, s, t), what in zip(p.locations, p.details, strict=True)
        ]
        parts += [table(counts), f"The first {MAX_EXAMPLES} of each:", table(examples)]
        return "\n\n".join(parts)

    __str__ = to_text


def describe(corpus: Corpus) -> Description:
    """Count what a corpus contains and look for what is wrong with it.

    Problems are: labels that cannot follow each other (where all labels are chunk
    labels; IOB1 has no such pair), sentences repeated between splits and within one,
    with the same and with other tags, and suspicious rows: empty tokens, white space,
    control or zero-width characters in tokens, tokens of more than 100 characters,
    sentences without tokens, of more than 250 tokens or without tags, empty tags, tags
    with blanks, and tags that occur once and differ from another only in case.
    """
    problems: dict[str, Problem] = {}

    def report(kind: str, location: Location, what: str = ""):
        problem = problems.setdefault(kind, Problem(kind))
        problem.count += 1
        if len(problem.locations) < MAX_EXAMPLES:
            shown = what if len(what) <= 60 else f"{what[:57]}..."
            problem.locations.append(location)
            problem.details.append(repr(shown) if what else "")

    scheme = _scheme(corpus)
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            for kind, token, what in _suspicious(sentence):
                report(kind, (split, number, token), what)
            if scheme and sentence.tags:
                for token, what in _violations(sentence.tags, scheme):
                    report("impossible label sequence", (split, number, token), what)
    for kind, location, what in _lonely_tags(corpus):
        report(kind, location, what)
    for kind, location, what in _duplicates(corpus):
        report(kind, location, what)
    return Description(
        name=corpus.name,
        format=corpus.format,
        splits=_statistics(corpus),
        scheme=scheme,
        problems=list(problems.values()),
        skipped=dict(corpus.skipped),
    )


def _statistics(corpus: Corpus) -> list[dict]:
    train_words = {token for sentence in corpus.train for token in sentence.tokens}
    train_tags = {tag for sentence in corpus.train for tag in sentence.tags or ()}
    rows = []
    for split, sentences in corpus.splits():
        lengths = [len(sentence) for sentence in sentences]
        tags = Counter(tag for sentence in sentences for tag in sentence.tags or ())
        unseen = sum(t not in train_words for s in sentences for t in s.tokens)
        is_compared = split != "train" and bool(corpus.train)
        rows.append(
            {
                "split": split,
                "sentences": len(sentences),
                "tokens": sum(lengths),
                "mean length": sum(lengths) / len(lengths),
                "max length": max(lengths),
                "labels": len(tags),
                "rare labels": sum(count < 10 for count in tags.values()),
                "unseen words %": (
                    100 * unseen / max(1, sum(lengths)) if is_compared else None
                ),
                "unseen labels": len(tags.keys() - train_tags) if is_compared else None,
            }
        )
    return rows


def _suspicious(sentence: Sentence) -> Iterator[tuple[str, int | None, str]]:
    """(problem, token, what stands there) for each suspicious row."""
    if not sentence.tokens:
        yield "empty sentence", None, ""
    elif sentence.tags is None:
        yield "no tags", None, " ".join(sentence.tokens)
    if len(sentence) > LONG_SENTENCE:
        yield f"more than {LONG_SENTENCE} tokens", None, f"{len(sentence)} tokens"
    for position, token in enumerate(sentence.tokens, 1):
        if not token:
            yield "empty token", position, ""
        elif _ODD.search(token):
            yield "white space, control or zero-width character", position, token
        if len(token) > LONG_TOKEN:
            yield f"more than {LONG_TOKEN} characters", position, token
    for position, tag in enumerate(sentence.tags or (), 1):
        if not tag:
            yield "empty tag", position, sentence.tokens[position - 1]
        elif re.search(r"\s", tag):
            yield "white space in a tag", position, tag


def _scheme(corpus: Corpus) -> str | None:
    """Which chunk notation all labels follow, if any.

    In IOB1 a chunk begins with B- only right after another of its type, so that every
    I- is possible.
    """
    sequences = [s.tags for _, part in corpus.splits() for s in part if s.tags]
    tags = {tag for sequence in sequences for tag in sequence}
    if not all(map(_CHUNK_TAG.fullmatch, tags)) or not any("-" in tag for tag in tags):
        return None
    if any(tag[0] in "ESLU" for tag in tags):
        return "IOBES"
    is_iob1 = all(
        before != "O" and before[1:] == tag[1:]
        for sequence in sequences
        for before, tag in zip(["O", *sequence], sequence, strict=False)
        if tag[0] == "B"
    )
    return "IOB1" if is_iob1 else "IOB2"


def _violations(tags: list[str], scheme: str) -> Iterator[tuple[int, str]]:
    """(token, the two labels) where a label cannot follow the one before."""
    if scheme == "IOB1":
        return
    for position, (before, tag) in enumerate(
        zip(["O", *tags], [*tags, "O"], strict=True), 1
    ):
        is_inside = tag[0] in "IEL"
        continues = before[0] in "BI" and before[1:] == tag[1:]
        # With end labels, what has begun must also be continued.
        is_broken = scheme == "IOBES" and before[0] in "BI" and not is_inside
        if (is_inside and not continues) or is_broken:
            yield min(position, len(tags)), f"{before} {tag}"


def _lonely_tags(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
    first: dict[str, Location] = {}
    counts: Counter[str] = Counter()
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            for position, tag in enumerate(sentence.tags or (), 1):
                counts[tag] += 1
                first.setdefault(tag, (split, number, position))
    variants = defaultdict(list)
    for tag in counts:
        variants[tag.casefold()].append(tag)
    for alike in variants.values():
        most = max(alike, key=counts.__getitem__)
        for tag in alike:
            if counts[tag] == 1 and tag != most:
                yield "tag that differs in case only", first[tag], f"{tag}, not {most}"


def _duplicates(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
    """Every sentence that stood before: in this split, or in an earlier one."""
    seen: dict[tuple[str, ...], dict[str, list[str] | None]] = {}
    for split, sentences in corpus.splits():
        for number, sentence in enumerate(sentences, 1):
            if not sentence.tokens:
                continue
            before = seen.setdefault(tuple(sentence.tokens), {})
            for other, tags in before.items():
                kind = f"sentence of {split} also in {other}"
                if other == split:
                    kind = f"sentence repeated within {split}"
                if tags != sentence.tags:
                    kind += ", with other tags"
                yield kind, (split, number, None), " ".join(sentence.tokens)
            before.setdefault(split, sentence.tags)
