"""Chunk precision, recall and F1 as counted by conlleval, the official scorer.

This is our own code, because no maintained library covers all these tags: seqeval
agrees on IOB and IOBES, but misreads bare tags and had its last release in 2020;
nervaluate reads neither IOBES nor bare tags from lists. The rule is that of the
conlleval version that knows the single tag (S) of IOBES. For IOB1, IOB2, IOE1 and IOE2
it agrees with the original of 2004, which would merge adjacent IOBES chunks of one
type.

The schemes that write chunks as tags:

========= ==========================================================================
scheme    a chunk of type X
========= ==========================================================================
`"iob2"`  `B-X I-X I-X`: it begins with B
`"iob1"`  `I-X I-X I-X`; it begins with B only directly after a chunk of its type
`"iobes"` `B-X I-X E-X`, and `S-X` if it is one token; BILOU writes L for E, U for S,
          BMES M for I
========= ==========================================================================
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from keras_tagging.data.surface import chunks, split_tag
from keras_tagging.metrics.accuracy import paired, share
from keras_tagging.utils.checks import check_choice

SCHEMES = ("iob", "bare")


@dataclass(frozen=True)
class ChunkCounts:
    """The numbers of gold, predicted and correct chunks.

    Args:
        gold: chunks in the gold tags.
        found: chunks in the predicted tags.
        correct: chunks in both, with the same type, start and end.
    """

    gold: int
    found: int
    correct: int

    @property
    def precision(self) -> float:
        """`correct / found`; 0 if there is no predicted chunk."""
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """`correct / gold`; 0 if there is no gold chunk."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if both are 0."""
        return _f1(self.precision, self.recall)

    def _row(self) -> str:
        # In conlleval's own order of operations: 100 * (a / b) and 100 * a / b can
        # round to different second decimals.
        precision = 100 * self.correct / self.found if self.found else 0.0
        recall = 100 * self.correct / self.gold if self.gold else 0.0
        return (
            f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; "
            f"FB1: {_f1(precision, recall):6.2f}"
        )


@dataclass(frozen=True)
class ChunkScores(ChunkCounts):
    """Chunk scores of a whole corpus; `str()` is conlleval's table.

    Args:
        gold, found, correct, precision, recall, f1: see `ChunkCounts`.
        tokens: the number of tokens.
        correct_tokens: the number of tokens with the gold tag.
        by_type: the counts of each chunk type, in alphabetical order.
    """

    tokens: int
    correct_tokens: int
    by_type: dict[str, ChunkCounts]

    @property
    def accuracy(self) -> float:
        """The share of tokens with the gold tag; nan if there is no token."""
        return share(self.correct_tokens, self.tokens)

    def __str__(self) -> str:
        lines = [
            f"processed {self.tokens} tokens with {self.gold} phrases; "
            f"found: {self.found} phrases; correct: {self.correct}."
        ]
        if self.tokens:
            accuracy = 100 * self.correct_tokens / self.tokens
            lines.append(f"accuracy: {accuracy:6.2f}%; {self._row()}")
        for name, counts in self.by_type.items():
            lines.append(f"{name:>17}: {counts._row()}  {counts.found}")
        return "\n".join(lines)


def chunk_scores(
    gold: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    scheme: str | None = None,
) -> ChunkScores:
    """Chunk precision, recall and F1, equal to conlleval's.

    Args:
        gold: the gold tags, one list a sentence; a chunk ends with its sentence.
        predicted: the predicted tags, in the same shape. They need not be a valid
            sequence: `chunks` describes how an invalid one is read.
        scheme: `"iob"` for tags like `B-NP` (IOB1, IOB2, IOBES, BILOU: one rule
            covers them all); `"bare"` for tags without a prefix, where every token
            except `O` is a chunk of its own (conlleval's option `-r`); None to tell
            from the gold tags, or from the predicted ones if all gold tags are `O`.

    Raises:
        ValueError: if the scheme is unknown, or gold and predicted differ in length;
            the message has the number of the sentence, counted from 1.
    """
    check_choice("scheme", scheme, (None, *SCHEMES))
    pairs = list(paired(gold, predicted))
    if scheme is None:
        inventory = {tag for tags, _ in pairs for tag in tags}
        if inventory <= {"O"}:
            inventory = {tag for _, tags in pairs for tag in tags}
        scheme = "iob" if looks_like_chunks(inventory) else "bare"
        warn_of_odd_names(inventory)

    in_gold, in_predicted, in_both = Counter(), Counter(), Counter()
    tokens = correct_tokens = 0
    for gold_tags, tags in pairs:
        tokens += len(tags)
        correct_tokens += sum(g == p for g, p in zip(gold_tags, tags, strict=True))
        if scheme == "bare":
            gold_tags, tags = _as_singles(gold_tags), _as_singles(tags)
        gold_chunks, found_chunks = set(chunks(gold_tags)), set(chunks(tags))
        in_gold.update(chunk[0] for chunk in gold_chunks)
        in_predicted.update(chunk[0] for chunk in found_chunks)
        in_both.update(chunk[0] for chunk in gold_chunks & found_chunks)
    return ChunkScores(
        gold=in_gold.total(),
        found=in_predicted.total(),
        correct=in_both.total(),
        tokens=tokens,
        correct_tokens=correct_tokens,
        by_type={
            name: ChunkCounts(in_gold[name], in_predicted[name], in_both[name])
            for name in sorted(in_gold | in_predicted)
        },
    )


def looks_like_chunks(tags: Iterable[str]) -> bool:
    """Whether tags are those of chunks: all `O` or `B-...`, with a B or an I.

    Args:
        tags: the tag inventory, or any sample of tags. The prefixes are those of
            IOB, IOBES, BILOU and BMES.
    """
    inventory = set(tags) - {"O"}
    return all(re.match("[BIESLUM]-.", tag) for tag in inventory) and any(
        tag[0] in "BI" for tag in inventory
    )


# How tags of chunks are also written, if all are written so; and what they should be
_ODD = {
    "([BIESLUM])_(.+)": r"\1-\2",
    "(.+)[-_]([BIESLUM])": r"\2-\1",
    "([bieslum])-(.+)": r"\1-\2",
}


def warn_of_odd_names(tags: Iterable[str], stacklevel: int = 2) -> None:
    """Warn of tags that are evidently those of chunks, but not written as `B-X`.

    Args:
        tags: the whole inventory: B_X alone may be a part of speech.
        stacklevel: that of the line to blame.
    """
    inventory = set(tags)
    names = sorted(inventory - {"O", "o"})
    for pattern, written in _ODD.items() if len(names) < len(inventory) else ():
        if all(re.fullmatch(pattern, name) for name in names):
            right = {re.sub(pattern, written, name)[:40]: name[:40] for name in names}
            if begun := min((x for x in right if x[0] in "Bb"), default=None):
                what = f"{right[begun]!r} and the others are not read as tags of chunks"
                what += f": write {'B' + begun[1:]!r}, and 'O'"
                warnings.warn(what, stacklevel=stacklevel + 1)


def _as_singles(tags: Sequence[str]) -> list[str]:
    """Bare tags as chunks of one token."""
    return [tag if tag == "O" else f"S-{tag}" for tag in tags]


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


CHUNK_SCHEMES = ("iob2", "iob1", "iobes")


def may_follow(before: str | None, after: str | None, scheme: str) -> bool:
    """Whether a tag may follow another; None is the end of the sentence.

    Args:
        before, after: tags such as "O" or "B-NP"; None before the first token and
            after the last.
        scheme: "iob2", "iob1" or "iobes".
    """
    prefix, kind = split_tag(before or "O")
    prefix_after, kind_after = split_tag(after or "O")
    continues = prefix != "O" and kind == kind_after
    if scheme != "iobes" and prefix_after in ("E", "S"):
        return False
    if scheme == "iob2":
        return prefix_after != "I" or continues
    if scheme == "iob1":
        return prefix_after != "B" or continues
    if prefix in ("B", "I"):
        return prefix_after in ("I", "E") and continues
    return prefix_after in ("O", "B", "S")


def is_consistent(tags: Sequence[str], scheme: str) -> bool:
    """Whether the tags of one sentence follow the scheme."""
    pairs = zip([None, *tags], [*tags, None], strict=True)
    return all(may_follow(before, after, scheme) for before, after in pairs)


def nearest_scheme(sentences: Sequence[Sequence[str]]) -> tuple[str, int]:
    """The scheme that the fewest sentences break, and how many break it.

    Args:
        sentences: the tags of each sentence, which are those of chunks.
    """
    counts = {
        scheme: sum(not is_consistent(tags, scheme) for tags in sentences)
        for scheme in CHUNK_SCHEMES
    }
    scheme = min(counts, key=counts.get)
    return scheme, counts[scheme]


def scheme_of_names(tags: Iterable[str]) -> str:
    """The scheme that a tag inventory looks like.

    The names cannot always tell IOB1 from IOB2: IOB1 is assumed if a type has I but no
    B. `nearest_scheme` looks at sentences, which do tell.

    Raises:
        ValueError: if the tags are not those of chunks, or are IOE1 or IOE2.
    """
    tags = list(tags)
    parts = {split_tag(tag) for tag in tags}
    prefixes = {prefix for prefix, _ in parts}
    if not looks_like_chunks(tags) or ("E" in prefixes and "B" not in prefixes):
        some = ", ".join(tags[:5])
        raise ValueError(f"these tags are not of IOB1, IOB2, IOBES or BILOU: {some}")
    if prefixes & {"E", "S"}:
        return "iobes"
    inside = {kind for prefix, kind in parts if prefix == "I"}
    begun = {kind for prefix, kind in parts if prefix == "B"}
    return "iob2" if inside <= begun else "iob1"


def allowed_transitions(
    tags: Sequence[str], scheme: str | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tags that may begin a sentence, follow each other, and end a sentence.

    Args:
        tags: the tag inventory, in the order of the ids.
        scheme: "iob2", "iob1" or "iobes"; None to tell by the names.

    Returns:
        Three boolean arrays: `(num_tags,)`, whether a tag may begin a sentence;
        `(num_tags, num_tags)`, whether the column's tag may follow the row's; and
        `(num_tags,)`, whether a tag may end a sentence.

    Raises:
        ValueError: for an unknown scheme, or tags that are not those of chunks.
    """
    check_choice("scheme", scheme, (None, *CHUNK_SCHEMES))
    named = scheme_of_names(tags)
    scheme = scheme or named
    start = [may_follow(None, tag, scheme) for tag in tags]
    between = [[may_follow(one, other, scheme) for other in tags] for one in tags]
    end = [may_follow(tag, None, scheme) for tag in tags]
    return np.array(start), np.array(between), np.array(end)
