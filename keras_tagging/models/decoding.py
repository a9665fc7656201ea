"""Decoding: from the outputs of the network to tags, probabilities and figures."""

from collections.abc import Callable, Iterable

import numpy as np

from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Corpus, as_sentence, as_sentences
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.metrics import chunk_scores, looks_like_chunks, token_accuracy

# Sentence indices, their logits (batch, time, num_tags) and their best tag ids (batch,
# time). Time may exceed a length; an empty sentence is in no batch.
Batches = Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]


def streamed(sentences: Iterable, predict: Callable[[list], Iterable]):
    """The predictions for sentences, a slice at a time.

    Args:
        sentences: sentences, or lists of words.
        predict: function from a list of sentences to an item for each.

    Returns:
        A list for a list or tuple; for any other iterable a generator, which reads at
        most `PREDICTION_SENTENCES` ahead.

    Raises:
        ValueError: at once, for a string or a whole corpus.
    """
    if isinstance(sentences, (str, Corpus)):
        as_sentences(sentences)
    parts = slices(map(as_sentence, sentences))
    items = (item for part in parts for item in predict(part))
    return list(items) if isinstance(sentences, (list, tuple)) else items


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
    """The probabilities of all tags, `(tokens, num_tags)` for every sentence."""
    by_sentence = [np.zeros((0, num_tags), "float32") for _ in lengths]
    for chosen, logits, _ in batches:
        for i, rows in zip(chosen, softmax(logits), strict=True):
            by_sentence[i] = rows[: lengths[i]]
    return by_sentence


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


def normal_words(model, sentences, encoded) -> dict:
    """The arguments by which `token_accuracy` tells unseen words.

    Args:
        model: a `Tagger`.
        sentences: sentences.
        encoded: the same sentences as `EncodedSentences`.

    Returns:
        The words in normal form as `sentences`, and the training words as
        `known_words`; {} if words are not a feature.
    """
    if "word" not in model.features.vocabularies:
        return {}
    if model.settings.task.embeddings is None:
        # as ids: all except the unknown one come from the training sentences
        words = [encoded.ids[a:b, 0].tolist() for a, b in encoded.spans()]
        known = range(FIRST_ID, model.features.sizes["word"])
        return {"sentences": words, "known_words": known}
    # words that are only in the vectors have ids too
    forms = model.features.normal_forms(flat_strings(sentences)["tokens"])
    words = [forms[a:b] for a, b in encoded.spans()]
    return {"sentences": words, "known_words": model.known_words()}


def figures(sentences, encoded, batches, tags, words) -> dict[str, float]:
    """The figures of `Tagger.evaluate`.

    Args:
        sentences: sentences with gold tags.
        encoded: the same sentences as `EncodedSentences`, with targets.
        batches: the outputs of the network for them.
        tags: the tag inventory.
        words: the output of `normal_words`.
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
    by_name = {"loss": total / known if known else float("nan")}
    for name in ("accuracy", "oov_accuracy", "sentence_accuracy"):
        by_name[name] = scores[name]
    if looks_like_chunks(tags):
        chunks = chunk_scores(gold_tags, predicted)
        for name in ("precision", "recall", "f1"):
            by_name[name] = getattr(chunks, name)
    return by_name
