"""From what the network gives to tags, probabilities and figures."""

from collections.abc import Iterable

import numpy as np

from keras_tagging.metrics import chunk_scores, looks_like_chunks, token_accuracy

# Sentence indices, their logits (batch, time, num_tags) and their best tag ids (batch,
# time). Time may exceed a length; an empty sentence is in no batch.
Batches = Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]


def best_tags(
    batches: Batches, lengths: np.ndarray, tags: list[str]
) -> list[list[str]]:
    """The best tag of every token; [] for an empty sentence."""
    tagged = [[] for _ in lengths]
    for chosen, _, tag_ids in batches:
        for i, best in zip(chosen, tag_ids, strict=True):
            tagged[i] = [tags[j] for j in best[: lengths[i]].tolist()]
    return tagged


def tag_probabilities(
    batches: Batches, lengths: np.ndarray, num_tags: int
) -> list[np.ndarray]:
    """`(tokens, num_tags)` for every sentence."""
    found = [np.zeros((0, num_tags), "float32") for _ in lengths]
    for chosen, logits, _ in batches:
        for i, rows in zip(chosen, softmax(logits), strict=True):
            found[i] = rows[: lengths[i]]
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


def with_probability(
    batches: Batches, lengths: np.ndarray, tags: list[str]
) -> list[list[tuple[str, float]]]:
    """The best tag of every token with its probability."""
    tagged = [[] for _ in lengths]
    for chosen, logits, tag_ids in batches:
        values = np.take_along_axis(softmax(logits), tag_ids[:, :, None], -1)[:, :, 0]
        for i, best, row in zip(chosen, tag_ids, values, strict=True):
            names = [tags[j] for j in best[: lengths[i]].tolist()]
            tagged[i] = list(zip(names, row[: lengths[i]].tolist(), strict=True))
    return tagged


def figures(sentences, encoded, batches, tags, words) -> dict[str, float]:
    """What `Tagger.evaluate` returns.

    Args:
        sentences: with gold tags.
        encoded: the same as `EncodedSentences`, with targets.
        batches: what the network gives for them.
        tags: the tag inventory.
        words: what `token_accuracy` tells unseen words by, or {} if words are no
            feature.
    """
    predicted = [[] for _ in sentences]
    total, known = 0.0, 0
    for chosen, logits, best in batches:
        _, targets, _ = encoded.batch(chosen)
        seen = targets >= 0
        gold = targets[seen]
        rows = logits[:, : seen.shape[1]][seen]
        rows = rows - rows.max(-1, keepdims=True)
        losses = np.log(np.exp(rows).sum(-1)) - rows[np.arange(len(rows)), gold]
        total += float(losses.sum(dtype="float64"))
        known += len(gold)
        for i, tag_ids in zip(chosen, best, strict=True):
            predicted[i] = [tags[j] for j in tag_ids[: len(sentences[i])]]
    gold_tags = [sentence.tags for sentence in sentences]
    scores = token_accuracy(gold_tags, predicted, **words)
    found = {"loss": total / known if known else float("nan")}
    for name in ("accuracy", "oov_accuracy", "sentence_accuracy"):
        found[name] = scores[name]
    if looks_like_chunks(tags):
        chunks = chunk_scores(gold_tags, predicted)
        for name in ("precision", "recall", "f1"):
            found[name] = getattr(chunks, name)
    return found
