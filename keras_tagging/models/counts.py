"""The counts behind a model's figures, unit by unit, for tests of significance."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from keras_tagging import kinds
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds import Kind
from keras_tagging.metrics import assigned, chunk_scores, looks_like_chunks
from keras_tagging.metrics.derivations import derivation_counts

#: a figure and its level of beta, which only word and sent have
Figure = tuple[str, float | None]


def check_figures(kind: Kind, figures: Sequence[Figure]) -> None:
    """Raise a ValueError for a figure that a kind of model does not have."""
    for figure, beta in figures:
        if figure not in kind.figures:
            known = ", ".join(kind.figures)
            raise ValueError(f"a {kind} has no {figure!r}; it has {known}")
        if figure in ("word", "sent") and beta is None:
            raise ValueError(f"{figure} needs a level: beta=0.075 or another")


def tag_counts(model, sentences, figures: Sequence[Figure]) -> list[np.ndarray]:
    """The counts of a tagger's figures, from one pass over the sentences.

    The figures word and sent need the probabilities of all tags, and another pass.

    Args:
        model: a `Tagger`.
        sentences: sentences with gold tags. A tag unseen in training is an error.
        figures: names, each with its level of beta or None.

    Returns:
        For each figure `(units, counts)`, int. A row of accuracy is a token, `[1,
        right]`; a row of word too, `[1, right, assigned tags]`; a row of sent is a
        sentence with tokens, `[1, right]`; a row of f1 is a sentence, with its chunks
        `[gold, predicted, correct]`.

    Raises:
        ValueError: if a tagger has no such figure, or a sentence has no tags.
    """
    check_figures(kinds.of(model), figures)
    sentences = model.annotated(sentences)
    names = {name for name, _ in figures}
    tags, hits = [], {}
    if names & {"accuracy", "f1"}:
        tags = model.tag(sentences)
    if names & {"word", "sent"}:
        hits = _hits(model, sentences, sorted({beta for _, beta in figures} - {None}))
    return [_rows(sentences, tags, hits.get(beta), name) for name, beta in figures]


def tree_counts(model, sentences, figures, *, punctuation="keep") -> list[np.ndarray]:
    """The counts of a parser's figures, from one pass over the sentences.

    Args:
        model: a `Parser`.
        sentences: sentences with gold trees.
        figures: names, each with None.
        punctuation: see `metrics.attachment_scores`.

    Returns:
        For each figure `(sentences, 2)`, int: `[words that count, right]`.

    Raises:
        ValueError: if a parser has no such figure, or a sentence has no tree.
    """
    check_figures(kinds.of(model), figures)
    counts = model.scores(sentences, punctuation=punctuation).by_sentence
    by_figure = {"uas": counts[:, [0, 1]], "las": counts[:, [0, 2]]}
    return [by_figure[name] for name, _ in figures]


def counts_of_derivations(model, sentences, figures) -> list[np.ndarray]:
    """The counts of a CCG parser's figures, from one pass over the sentences.

    Args:
        model: a `CCGParser`.
        sentences: sentences with derivations. One without words has no row.
        figures: names, each with None.

    Returns:
        For each figure those of `metrics.derivations.derivation_counts`.

    Raises:
        ValueError: if a CCG parser has no such figure, or a sentence has no derivation.
    """
    check_figures(kinds.of(model), figures)
    sentences = [s for s in model.annotated(sentences) if len(s)]
    gold = [sentence.derivation for sentence in sentences]
    found = [sentence.derivation for sentence in model.annotate(sentences)]
    counts = derivation_counts(gold, found)
    return [counts[name] for name, _ in figures]


def _hits(model, sentences, betas) -> dict[float, list[np.ndarray]]:
    """For each beta and sentence, two counts a token, `(tokens, 2)`.

    They are whether the gold tag is among the assigned ones, and their number.
    """
    [column] = model.label_columns
    hits = {beta: [] for beta in betas}
    for chunk in slices(sentences):  # all probabilities would fill the memory
        for sentence, rows in zip(chunk, model.predict(chunk), strict=True):
            gold = column.targets([sentence])
            for beta in betas:
                among = assigned(rows, beta)
                right = among[np.arange(len(gold)), gold] & (gold >= 0)
                hits[beta].append(np.stack([right, among.sum(-1)], 1))
    return hits


def _rows(sentences, tags, hits, figure) -> np.ndarray:
    """The rows of one figure of a tagger, from its tags or hits."""
    if figure == "f1":
        gold = [sentence.tags for sentence in sentences]
        # one scheme for all sentences, as a single one might not show it
        inventory = set(chain(*gold)) - {"O"} or set(chain(*tags))
        scheme = "iob" if looks_like_chunks(inventory) else "bare"
        scores = (
            chunk_scores([right], [row], scheme)
            for right, row in zip(gold, tags, strict=True)
        )
        rows = [(s.gold, s.found, s.correct) for s in scores]
        return np.array(rows, int).reshape(-1, 3)
    if figure == "accuracy":
        right = [
            g == t
            for sentence, row in zip(sentences, tags, strict=True)
            for g, t in zip(sentence.tags, row, strict=True)
        ]
    elif figure == "word":
        counts = np.concatenate([np.zeros((0, 2), int), *hits])
        return np.insert(counts, 0, 1, axis=1)
    else:
        right = [row[:, 0].all() for row in hits if len(row)]
    return np.stack([np.ones(len(right), int), np.array(right, int)], 1)
