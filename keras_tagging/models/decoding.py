"""Decoding: from the outputs of the network to labels and probabilities."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from keras_tagging.architectures.output import read_outputs
from keras_tagging.data.label_columns import by_column
from keras_tagging.data.lemmas import shown_pairs
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.encoding.batching import round_up, slices
from keras_tagging.encoding.label_column import LabelColumn
from keras_tagging.metrics import within_beta
from keras_tagging.metrics.multi_tagging import betas_of, entries_of

# Sentence indices, and for each column of labels the logits (batch, time, labels) and
# the best label ids (batch, time). Time may exceed a length; an empty sentence is in no
# batch.
Batches = Iterable[tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]]
#: from the logits (tokens, labels), the best ids (tokens,) and the tokens to an item
#: for each token
Decoder = Callable[[np.ndarray, np.ndarray, Sequence[str]], Sequence]


def streamed(
    sentences: Iterable, predict: Callable[[list], Iterable], entries: int = 1
):
    """The predictions for sentences, a slice at a time.

    Args:
        sentences: sentences, or lists of words.
        predict: function from a list of sentences to an item for each.
        entries: as in `encoding.batching.slices`.

    Returns:
        A list for a list or tuple; for any other iterable a generator, which reads at
        most `PREDICTION_SENTENCES` ahead.

    Raises:
        ValueError: at once, for a string or a whole corpus.
    """
    if isinstance(sentences, (str, Corpus)):
        as_sentences(sentences)
    whole = isinstance(sentences, (list, tuple))
    parts = slices(map(as_sentence, sentences), entries, growing=not whole)
    items = (item for part in parts for item in predict(part))
    return list(items) if whole else items


def network_outputs(model, encoded, calls) -> Batches:
    """The outputs of the network of a tagger, a batch at a time.

    Args:
        model: a `Tagger`.
        encoded: `EncodedSentences`.
        calls: the `NetworkCalls`.
    """
    lengths = round_up(encoded.lengths, model.length_multiple)
    budget = model.batch_tokens
    sizes = calls.sizes(budget)
    for chosen in calls.plan(lengths, budget):
        ids, _, _ = encoded.batch(
            chosen, model.length_multiple, devices=model.devices, **sizes
        )
        outputs = model.predict_on_batch(ids)
        found = []
        for column in model.label_columns:
            read = read_outputs(column.part(outputs), np.argmax)
            # without the rows of padding
            logits, best = (np.asarray(part)[: len(chosen)] for part in read)
            found.append((logits.astype("float32", copy=False), best))
        yield chosen, found


def decoded(
    batches: Batches,
    sentences: Sequence[Sentence],
    columns: Sequence[LabelColumn],
    decoders: Sequence[Decoder],
) -> list:
    """The items that the decoders of the columns give for every sentence, empty or not.

    Returns:
        For each sentence the items of its tokens; with named columns a dict of them.
    """
    names = [column.name for column in columns]
    nothing = [
        (np.zeros((0, len(column)), "float32"), np.zeros(0, int)) for column in columns
    ]
    items = [decode(*none, []) for decode, none in zip(decoders, nothing, strict=True)]
    empty = by_column(names, items)
    found = [None if len(sentence) else empty for sentence in sentences]
    for chosen, outputs in batches:
        for row, i in enumerate(chosen):
            tokens = sentences[i].tokens
            n = len(tokens)
            items = [
                decode(logits[row, :n], best[row, :n], tokens)
                for decode, (logits, best) in zip(decoders, outputs, strict=True)
            ]
            found[i] = by_column(names, items)
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


def all_probabilities(logits, best, tokens) -> np.ndarray:
    """The decoder that gives the probabilities of all labels."""
    return softmax(logits)


def decoder_of(column: LabelColumn, beta=None, probabilities=False) -> Decoder:
    """The decoder of a column for the options of `Tagger.tag`."""

    def labels(logits, best, tokens):
        return column.shown([column.labels[i] for i in best.tolist()], tokens)

    def with_probability(logits, best, tokens):
        rows = np.take_along_axis(softmax(logits), best[:, None], -1)[:, 0]
        return list(zip(labels(logits, best, tokens), rows.tolist(), strict=True))

    def close_to_best(logits, best, tokens):
        found = within_beta(softmax(logits), column.labels, beta)
        return shown_pairs(found, tokens) if column.scripts else found

    if beta is not None:
        return close_to_best
    return with_probability if probabilities else labels


def decoders_of(columns, beta=None, probabilities=False) -> tuple[list[Decoder], int]:
    """The decoder of each column for the options of `Tagger.tag`.

    Returns:
        The decoders, and the `entries` that they give for each token.
    """
    levels = betas_of(beta, [column.name for column in columns])
    decoders = [
        decoder_of(column, level, probabilities)
        for column, level in zip(columns, levels, strict=True)
    ]
    return decoders, entries_of(levels, list(map(len, columns)))
