"""Checks for suspicious sentences of a corpus."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.metrics.chunk_schemes import may_follow

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


def suspicious(sentence: Sentence) -> Iterator[tuple[str, int | None, str]]:
    """(problem, token, excerpt) for each suspicious row."""
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


def scheme_of(corpus: Corpus) -> str | None:
    """The chunk notation that all labels follow, if any.

    In IOB1 a chunk begins with B- only directly after another one of its type, so every
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


def violations(tags: list[str], scheme: str) -> Iterator[tuple[int, str]]:
    """(token, the two labels) for each label that cannot follow the one before it."""
    pairs = zip(["O", *tags], [*tags, "O"], strict=True)
    for position, (before, tag) in enumerate(pairs, 1):
        if not may_follow(before, tag, scheme.lower()):
            yield min(position, len(tags)), f"{before} {tag}"


def lonely_tags(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
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


def duplicates(corpus: Corpus) -> Iterator[tuple[str, Location, str]]:
    """Every sentence that occurred before: in this split, or in an earlier one."""
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
