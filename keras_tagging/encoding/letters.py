"""All characters of a token, in a TensorFlow graph, for the character network.

A token is cut before anything else: of one that is longer than `most` characters the
first and the last half remain, so that no token makes a batch long. Each distinct token
then has one row of character ids, however often it stands in a batch.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf


def cut(text: tf.Tensor, most: int) -> tf.Tensor:
    """The tokens, those of more than `most` characters without their middle.

    Args:
        text: strings of any shape, in valid UTF-8.
        most: characters that remain, the first `(most + 1) // 2` and the last
            `most // 2`.
    """
    length = tf.strings.length(text, unit="UTF8_CHAR")
    first, last = most - most // 2, most // 2
    # only long tokens have a second piece, and one that begins behind the first
    start = tf.where(length > most, length - last, length)
    whole = tf.where(length > most, first, length)
    head = tf.strings.substr(text, tf.zeros_like(length), whole, "UTF8_CHAR")
    tail = tf.strings.substr(text, start, length - start, "UTF8_CHAR")
    return tf.strings.join([head, tail])


def count_letters(tokens: Mapping[str, int]) -> Counter:
    """How often each character occurs, from how often each token does."""
    counts = Counter()
    for token, count in tokens.items():
        for letter in token:
            counts[letter] += count
    return counts


def distinct(text: tf.Tensor, table) -> tuple[tf.Tensor, tf.Tensor]:
    """The rows of tokens, and the characters in each row.

    Args:
        text: strings of any shape, in valid UTF-8.
        table: from characters to ids.

    Returns:
        rows of that shape, int64, which count from 1; and ids `(rows + 1, characters)`
        int32, 0 behind the end of a token. Row 0 is padding, and there is at least one
        column: a recurrent loop needs a step.
    """
    tokens, rows = tf.unique(tf.reshape(text, [-1]), tf.int64)
    letters = tf.strings.unicode_split(tokens, "UTF-8")
    ids = tf.ragged.map_flat_values(table.lookup, letters).to_tensor(0)
    missing = tf.maximum(1 - tf.shape(ids)[1], 0)
    ids = tf.pad(tf.cast(ids, tf.int32), [[1, 0], [0, missing]])
    return tf.reshape(rows + 1, tf.shape(text)), ids


def joined(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The rows of several calls of `distinct` in one array.

    Args:
        parts: ids `(rows + 1, characters)` of each call.

    Returns:
        ids `(rows + 1, characters)` without repetition, and for each part the new
        numbers of its rows.
    """
    width = max((part.shape[1] for part in parts), default=1)
    wide = [np.pad(part[1:], [(0, 0), (0, width - part.shape[1])]) for part in parts]
    every = np.concatenate([np.zeros((0, width), "int32"), *wide])
    letters, rows = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([len(part) for part in wide])
    pieces = np.split(rows.reshape(-1) + 1, ends[:-1]) if parts else []
    return np.pad(letters, [(1, 0), (0, 0)]), [np.pad(p, (1, 0)) for p in pieces]
