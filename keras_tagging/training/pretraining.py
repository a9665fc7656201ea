r"""Embeddings of words and labels, learned from their sequences before the tagger.

Dinarelli & Tellier (2016), section 3.2, :cite:`dinarelli2016`, first train language
models of words and of labels; their look-up tables are those all taggers start with.
Row `r` of a table belongs to id `r`; a negative id, such as that of a label outside the
inventory, is nothing.
"""

import keras
import numpy as np
from keras import ops

from keras_tagging.utils.seeds import seeds

# Keras' look-up tables start within these bounds, and so do those here.
_BOUND = 0.05
# gensim drops what a sentence has beyond this many tokens.
_MAX_SENTENCE = 10_000


def window_embeddings(
    ids,
    lengths,
    rows,
    dim,
    *,
    context=3,
    units=100,
    epochs=20,
    batch_size=128,
    learning_rate=0.001,
    seed=0,
    verbose=0,
):
    r"""Train the language model of Dinarelli & Tellier and returns its table.

    "This language model is like the one in [Bengio et al. 2003], except it uses both
    words/labels in the past and in the future to predict next word/label" (section
    3.2). With `E` the table, :math:`v_t` the id at position `t` and `c = context`:

    .. math::
        I_t &= [E(v_{t-c}) \dots E(v_{t-1}) \, E(v_{t+1}) \dots E(v_{t+c})] \\
        h_t &= \sigma(I_t H + b_h) \\
        P(v_t) &= \mathrm{softmax}(h_t O + b_o)

    Beyond the sentence, and where the id is negative, stands a zero vector; a negative
    id is not predicted either. Rows whose id never occurs keep their initial values,
    uniform in :math:`\pm 0.05`; the others are returned as learned. Equal arguments
    give equal tables on a CPU, whatever the global random states.

    Departures: Adam without L2 in place of gradient descent with momentum, which
    predicted held-out words of ATIS worse after 20 epochs (1.21 nats or more against
    1.11). The paper gives neither the size of a batch nor the context; the taggers
    read 3 words on each side and 6 labels. It leaves out the biases in its notation.
    The hidden layer is sigmoid, that of the taggers; Bengio et al. have tanh, and may
    connect the embeddings to the output too.

    Args:
        ids: `(tokens,)` ints below `rows`; negative is nothing.
        lengths: `(sentences,)` ints, the number of tokens of each.
        rows: int. Size of the inventory.
        dim: int. Size of an embedding; 200 in the paper.
        context: int. Positions read on each side.
        units: int. Size of the hidden layer.
        epochs: int. 20 for words and 10 for labels in the paper.
        batch_size: int. Positions a batch.
        learning_rate: float.
        seed: int, not negative. Of the initial weights and the order of the batches.
        verbose: 1 shows a progress bar, as in `keras.Model.fit`.

    Returns:
        `(rows, dim)` float32 array.

    Raises:
        ValueError: if the ids and lengths do not fit each other or `rows`, no id is
            left to predict, or a size is below 1.
    """
    ids, lengths = _checked(
        ids, lengths, rows, dim=dim, context=context, batch_size=batch_size
    )
    draw = seeds(seed)
    model = window_model(rows, dim, context, units, draw)
    model.compile(
        keras.optimizers.Adam(learning_rate),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        # without it Keras runs JAX one operation at a time
        jit_compile=keras.backend.backend() == "jax",
    )
    windows, targets = windows_of(ids, lengths, context)
    model.fit(
        _batches(windows, targets, batch_size, np.random.default_rng(next(draw))),
        steps_per_epoch=-(-len(targets) // batch_size),
        epochs=epochs,
        shuffle=False,
        verbose=verbose,
    )
    table = model.get_layer("embedding").embeddings
    return np.array(ops.convert_to_numpy(table), "float32")


def window_model(rows, dim, context, units, draw):
    """`(batch, 2 * context)` ids to `(batch, rows)` logits; `draw` gives seeds."""
    ids = keras.Input((2 * context,), dtype="int32", name="context")
    table = keras.initializers.RandomUniform(-_BOUND, _BOUND, seed=next(draw))
    embedding = keras.layers.Embedding(rows, dim, table, name="embedding")
    real = ops.cast(ids >= 0, "float32")
    vectors = embedding(ops.maximum(ids, 0)) * real[..., None]

    def dense(size, **options):
        kernel = keras.initializers.GlorotUniform(next(draw))
        return keras.layers.Dense(size, kernel_initializer=kernel, **options)

    hidden = dense(units, activation="sigmoid")(keras.layers.Flatten()(vectors))
    return keras.Model(ids, dense(rows)(hidden))


def windows_of(ids, lengths, context):
    """What is predicted, and from what.

    Returns:
        `(positions, 2 * context)` int32, the ids around each position whose id is not
        negative, from left to right, -1 beyond the sentence and for nothing; and
        `(positions,)` int32, the ids in the middle.
    """
    # sentences are laid out with nothing between them, as wide as a window reaches
    gap = context * (1 + np.arange(len(lengths)))
    places = np.arange(len(ids)) + np.repeat(gap, lengths)
    padded = np.full(len(ids) + context * (1 + len(lengths)), -1, "int32")
    padded[places] = np.maximum(ids, -1)
    offsets = np.delete(np.arange(-context, context + 1), context)
    places = places[ids >= 0]
    return padded[places[:, None] + offsets], padded[places]


def _batches(windows, targets, batch_size, rng):
    """Batches without end; each pass has an order of its own."""
    while True:
        order = rng.permutation(len(targets))
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            yield windows[chosen], targets[chosen]


def cbow_embeddings(ids, lengths, rows, dim, *, context=3, epochs=20, seed=0):
    """Train a table by gensim's continuous bag of words (word2vec), the quick way.

    The paper knows word2vec as the usual pretraining (section 1) but trains its own
    language model, `window_embeddings`, whose arguments these are.

    All vectors are scaled together to the root mean square of a uniform distribution
    in +-0.05, with which look-up tables start; rows whose id never occurs are drawn
    from it. Tokens with a negative id are left out: those around them move together.

    Returns, raises: as `window_embeddings`.
    """
    from gensim.models import Word2Vec

    ids, lengths = _checked(ids, lengths, rows, dim=dim, context=context)
    pieces = []
    for sentence in np.split(ids, np.cumsum(lengths)[:-1]):
        real = sentence[sentence >= 0].astype(str).tolist()
        for start in range(0, len(real), _MAX_SENTENCE):
            pieces.append(real[start : start + _MAX_SENTENCE])
    model = Word2Vec(
        pieces,
        vector_size=dim,
        window=context,
        min_count=1,
        epochs=epochs,
        seed=seed,
        sg=0,
        # in an inventory of some dozens every label is frequent: none is left out
        sample=0,
        workers=1,
    )
    table = np.random.default_rng(seed).uniform(-_BOUND, _BOUND, (rows, dim))
    vectors, seen = model.wv.vectors, np.array(model.wv.index_to_key, "int64")
    table[seen] = vectors * _BOUND / np.sqrt(3 * np.mean(np.square(vectors)))
    return table.astype("float32")


def _checked(ids, lengths, rows, **sizes):
    """The ids and lengths as arrays, once they and the sizes are found sound."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}; it must be at least 1")
    ids, lengths = np.asarray(ids), np.asarray(lengths)
    for name, array in [("ids", ids), ("lengths", lengths)]:
        if array.ndim != 1 or array.dtype.kind not in "iu":
            actual = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{name} must be a flat array of integers, not {actual}")
    if lengths.min(initial=0) < 0 or lengths.sum() != len(ids):
        raise ValueError(
            f"lengths must be the token counts of the sentences: they are at least "
            f"{lengths.min(initial=0)} and sum to {lengths.sum()}, for {len(ids)} ids"
        )
    if not (ids >= 0).any():
        raise ValueError("there is nothing to predict: no id is 0 or more")
    if ids.max() >= rows:
        raise ValueError(f"id {ids.max()} has no row: there are {rows}, from 0")
    return ids.astype("int64"), lengths
