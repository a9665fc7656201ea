"""The look-up tables that every architecture starts with."""

from itertools import count

import keras
import numpy as np
from keras import ops

from keras_tagging.data.vocabulary import UNKNOWN_ID

# What the unknown word is called in the vector files in use.
UNKNOWN_ROWS = ("UNKNOWN", "*UNKNOWN*", "<unk>", "<UNK>", "UNK", "unk")


def embed_features(ids, features, dims, seed):
    """One vector a token: the embeddings of all its features, concatenated.

    Args:
        ids: `(batch, time, features)` from `TokenFeatures`.
        features: the `TokenFeatures`, adapted.
        dims: embedding size by the column's name; that of "column" for the others.
        seed: int; each table draws from a seed of its own.

    Returns:
        `(batch, time, sum of the sizes)`.
    """
    seeds = count(seed)
    embedded = []
    for column, (name, size) in enumerate(features.sizes.items()):
        dim = dims.get(name, dims["column"])
        table = keras.layers.Embedding(
            size,
            dim,
            embeddings_initializer=keras.initializers.RandomUniform(
                -0.05, 0.05, seed=next(seeds)
            ),
            name=f"{name}_embedding",
        )
        embedded.append(table(ids[:, :, column]))
    return ops.concatenate(embedded, -1) if len(embedded) > 1 else embedded[0]


def vector_table(vectors, size):
    """The embedding table of pretrained vectors: padding, unknown, the vectors.

    A word without a vector has that of the file's unknown word, or where there is
    none, as in GoogleNews, the mean vector. K18 section 2.2.

    Args:
        vectors: `WordVectors`.
        size: rows of the table.

    Returns:
        `(size, dim)` float32.
    """
    table = np.zeros((size, vectors.matrix.shape[1]), "float32")
    rows = [
        vectors.matrix[vectors.index[n]] for n in UNKNOWN_ROWS if n in vectors.index
    ]
    table[UNKNOWN_ID] = rows[0] if rows else vectors.mean()
    table[size - len(vectors.words) :] = vectors.matrix
    return table
