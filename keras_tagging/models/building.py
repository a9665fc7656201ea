"""From training sentences to vocabularies, a network, and ids for it."""

import numpy as np
from keras import ops

from keras_tagging import training
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.models.given_vectors import (
    GivenVectors,
    joined_words,
    vector_table,
    word_table,
)


def refuse_second_adapt(model) -> None:
    """Raise a ValueError if the model has vocabularies."""
    if model.network is not None:
        raise ValueError(
            "this model has vocabularies already, and its weights belong to them; "
            "build a new model for other sentences"
        )


def count_features(model, sentences) -> dict[str, list[str]]:
    """Count the vocabularies of the features.

    The vocabulary of words has the words of training, whose number the model keeps; the
    network's has those of the vectors behind them.
    """
    strings = flat_strings(sentences, model.features.columns)
    vectors = model.given_vectors.vectors
    words = [to_nfc(word) for word in vectors.words] if vectors else ()
    lengths, classes = list(map(len, sentences)), model.given_vectors.classes
    model.features.adapt(strings, words, lengths, classes)
    vocabularies = dict(model.features.vocabularies)
    model.training_words = len(vocabularies.get("word", ()))
    return vocabularies


def checked_inventories(model, labels):
    """The labels that `count_labels` gives, which must be those of `inventories`.

    Raises:
        ValueError: if they are not.
    """
    if set(labels) != set(model.inventories):
        raise ValueError(
            f"count_labels of a {model.kind} gives {sorted(labels)}, but its "
            f"inventories are {sorted(model.inventories)}: name the same in both"
        )
    return labels


def build_network(model, vocabularies) -> None:
    """Build the network and the optimizer, and put vectors into word tables."""
    training.check_alike({**model.get_config(), "vocabularies": vocabularies})
    start, rows = model.given_vectors.embeddings, None
    vectors = model.given_vectors.vectors
    if start:
        words = list(map(to_nfc, start.words))
        joined, rows = joined_words(model.features, words)
        vocabularies = vocabularies | {"word": joined}
    model._restore(vocabularies)
    if start:
        table = model.network.get_layer("word_embedding").embeddings
        initial = ops.convert_to_numpy(table)
        table.assign(word_table(initial, vocabularies["word"], rows, start))
    if vectors:
        table = model.network.get_layer("vector_embedding").embeddings
        table.assign(vector_table(vectors, table.shape[0]))
    model.given_vectors = GivenVectors()
    model.optimizer.build(model.trainable_variables)


def encoded(model, sentences, targets) -> EncodedSentences:
    """The ids of all tokens; with `targets` those to learn, too.

    Raises:
        ValueError: for targets that are no integers, or not one a token.
    """
    offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
    strings = flat_strings(sentences, model.features.columns, model.marks)
    found = model.features.encode(strings)
    if model.features.letters:
        found["letter_column"] = model.features.names.index("letters")
    else:
        found = {"ids": found}
    if targets:
        found["targets"] = _checked(model, model.targets(sentences), offsets[-1])
    return EncodedSentences(offsets=offsets, **found)


def _checked(model, targets, count):
    if len(targets) != count:
        raise ValueError(
            f"targets of a {model.kind} gives {len(targets)} for {count} tokens: "
            "give one a token, or define batches and dataset"
        )
    if targets.dtype.kind not in "iu":  # which TensorFlow would cut
        raise ValueError(
            f"the targets of a {model.kind} are {targets.dtype}, but should be "
            "int32: scale and round them, and scale them back in batch_loss, or "
            "define batches and dataset"
        )
    return targets
