"""Bi-GRU supertagger of Kadari et al. (2018)."""

import keras
from keras import ops

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack
from keras_tagging.models.embedding import embed_features


def build_network(
    features,
    num_tags,
    *,
    seed,
    vector_dim=0,
    word_dim=100,
    affix_dim=5,
    units=300,
    num_layers=2,
    merge="layer",
    update="new",
    dropout=0.2,
    layer_dropout=0.0,
):
    r"""Look-up tables, a stack of bidirectional GRU layers, and a softmax layer.

    .. math::
        x_t &= [e(w_t); v(w_t); e(\mathrm{suffix}_t); e(\mathrm{capital}_t)] \\
        h_t &= [\overrightarrow{h}_t; \overleftarrow{h}_t], \quad
        y_t = \mathrm{softmax}(W h_t + b)

    Kadari et al. (2018), section 2.2 and Fig. 2, :cite:`kadari2018`; the recurrence
    is in :class:`keras_tagging.cells.GRUCell`. Departures: the paper does not give
    the sizes of the embeddings other than the pretrained ones (here `word_dim` and
    `affix_dim`), nor the initialisation (Keras' defaults).

    Args:
        features: an adapted `TokenFeatures`.
        num_tags: int.
        seed: int. Seed of the initial weights and of dropout.
        vector_dim: size of the pretrained vectors, 0 without.
        word_dim: size of the word index embeddings.
        affix_dim: size of the embeddings of each suffix, prefix, character,
            shape, capitalisation and further column.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "layer" (each layer reads both directions, as in the paper) or "top".
        update: "new" (Eq. 6) or "keep", see `GRUCell`.
        dropout: of the input layer.
        layer_dropout: of the output of every recurrent layer; 0 in the paper.

    Returns:
        A functional model: ids `(batch, time, features)` to logits
        `(batch, time, num_tags)`.
    """
    ids = keras.Input((None, len(features.names)), dtype="int32", name="ids")
    mask = ops.not_equal(ids[:, :, 0], 0)

    # Look-up tables
    dims = {"word": word_dim, "vector": vector_dim, "column": affix_dim}
    x = embed_features(ids, features, dims, seed)
    x = keras.layers.Dropout(dropout, seed=seed, name="input_dropout")(x)

    # Recurrent layers
    cell = GRUCell(
        units,
        update=update,
        kernel_initializer=keras.initializers.GlorotUniform(seed),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seed),
    )
    stack = BidirectionalStack(
        cell,
        num_layers=num_layers,
        merge=merge,
        dropout=layer_dropout,
        seed=seed + 1,
        name="stack",
    )
    x = stack(x, mask=mask)

    # Softmax layer; the softmax itself is in the loss and in prediction
    logits = keras.layers.Dense(
        num_tags,
        kernel_initializer=keras.initializers.GlorotUniform(seed),
        name="logits",
    )(x)
    return keras.Model(ids, logits, name="bigru")


# K18 sections 2.2, 3.1 and 3.2
PAPER = {
    "words": True,
    "suffixes": (2,),
    "capitals": True,
    "normalise": "kadari",
    "lookup": "normalised",
    "optimizer": "sgd",
    "learning_rate": 0.01,
    "batch_size": 1,
    "epochs": 90,
}

# What a user with a laptop wants: more subword features, mini-batches, Adam.
FAST = {
    "suffixes": (1, 2, 3, 4),
    "prefixes": (1, 2, 3),
    "shapes": True,
    "lookup": "cascade",
    "affix_dim": 25,
    "dropout": 0.5,
    "layer_dropout": 0.5,
    "optimizer": "adam",
    "learning_rate": 2e-3,
    "decay": "linear",
    "clipnorm": 1.0,
    "batch_size": None,
    "token_budget": 400,
    "unknown_rate": 0.3,
    "epochs": 10,
}
