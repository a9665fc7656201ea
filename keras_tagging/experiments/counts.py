"""What the figures of a model are counted from, unit by unit."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from keras_tagging.data import Sentence
from keras_tagging.experiments.papers.table import Column
from keras_tagging.metrics import assigned, chunk_scores, looks_like_chunks
from keras_tagging.models.decoding import slices
from keras_tagging.models.parser import Parser

OF_TAGGERS = ("accuracy", "f1", "word", "sent")
OF_PARSERS = ("uas", "las")
BY_TOKENS = ("accuracy", "word")  # one row of evidence is a token, else a sentence


def evidence(
    model,
    sentences: Iterable[Sentence],
    column: Column,
    *,
    punctuation: str = "keep",
) -> np.ndarray:
    """What a figure of a model is counted from, unit by unit.

    Args:
        model: a tagger or parser.
        sentences: with gold tags, or trees.
        column: of a table; its figure and beta are read. A gold tag that is unseen in
            training is an error.
        punctuation: of a parser, see `metrics.attachment_scores`.

    Returns:
        `(units, counts)`, int. Of accuracy a row a token, `[1, right]`; of word
        too, `[1, right, assigned tags]`; of sent a row a sentence with tokens, `[1,
        right]`; of uas and las a row a sentence, `[words that count, right]`; of f1 a
        row a sentence, `[gold, found, correct]` chunks. `figure_of` gives the function
        that makes a figure of sums.

    Raises:
        ValueError: if the model has no such figure, or a sentence no annotation.
    """
    [found] = all_evidence(model, sentences, [column], punctuation=punctuation)
    return found


def all_evidence(
    model,
    sentences: Iterable[Sentence],
    columns: Sequence[Column],
    *,
    punctuation: str = "keep",
) -> list[np.ndarray]:
    """As `evidence`, for several columns with one pass over the sentences.

    Figures that need the probabilities of all tags, word and sent, take another one.
    """
    known = OF_PARSERS if isinstance(model, Parser) else OF_TAGGERS
    for column in columns:
        if column.figure not in known:
            kind = "parser" if isinstance(model, Parser) else "tagger"
            raise ValueError(
                f"a {kind} has no {column.figure!r}; it has {', '.join(known)}"
            )
        if column.figure in ("word", "sent") and column.beta is None:
            raise ValueError(f"{column.figure} needs a level: beta=0.075 or another")
    figures = {column.figure for column in columns}
    sentences = model.annotated(sentences)
    if isinstance(model, Parser):
        counts = model.scores(sentences, punctuation=punctuation).by_sentence
        found = {"uas": counts[:, [0, 1]], "las": counts[:, [0, 2]]}
        return [found[column.figure] for column in columns]
    tags, hits = [], {}
    if figures & {"accuracy", "f1"}:
        tags = model.tag(sentences)
    if figures & {"word", "sent"}:
        betas = {column.beta for column in columns} - {None}
        hits = _hits(model, sentences, sorted(betas))
    return [_counts(sentences, tags, hits.get(c.beta), c.figure) for c in columns]


def _hits(model, sentences, betas) -> dict[float, list[np.ndarray]]:
    """For each beta and sentence, of each token two counts, `(tokens, 2)`.

    They are whether the gold tag is among the assigned ones, and how many these are.
    """
    ids = {tag: i for i, tag in enumerate(model.tags)}
    hits = {beta: [] for beta in betas}
    for chunk in slices(sentences):  # all probabilities would fill the memory
        for sentence, rows in zip(chunk, model.predict(chunk), strict=True):
            gold = np.array([ids.get(tag, -1) for tag in sentence.tags], int)
            for beta in betas:
                among = assigned(rows, beta)
                right = among[np.arange(len(gold)), gold] & (gold >= 0)
                hits[beta].append(np.stack([right, among.sum(-1)], 1))
    return hits


def _counts(sentences, tags, hits, figure) -> np.ndarray:
    """The rows of one figure of a tagger, from its tags or hits."""
    if figure == "f1":
        gold = [sentence.tags for sentence in sentences]
        # one scheme for all, which a sentence alone might not show
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


def figure_of(figure: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function that makes a figure, in per cent, of summed evidence.

    Args:
        figure: accuracy, f1, uas, las, word or sent.

    Returns:
        Of sums `(..., counts)` it gives `(...)`: F1 is 200 * correct / (gold + found),
        0 if there is no chunk; all others are 100 * right / all, nan if there is
        nothing to count. The third count of word has no part in it.

    Raises:
        ValueError: for an unknown figure.
    """
    if figure not in OF_TAGGERS + OF_PARSERS:
        known = ", ".join(OF_TAGGERS + OF_PARSERS)
        raise ValueError(f"unknown figure {figure!r}; known are {known}")
    return _f1 if figure == "f1" else _share


def _f1(sums):
    gold, found, correct = np.moveaxis(np.asarray(sums, float), -1, 0)
    return 200 * correct / np.maximum(gold + found, 1)


def _share(sums):
    every, right, *_ = np.moveaxis(np.asarray(sums, float), -1, 0)
    return 100 * right / np.where(every > 0, every, np.nan)
