r"""Embeddings of words and labels, learned from their sequences before the tagger.

Dinarelli & Tellier (2016), section 3.2, :cite:`dinarelli2016`, first train language
models of words and of labels; all taggers start with the look-up tables of these. Row
`r` of a table belongs to id `r`. Negative ids, such as that of a label outside the
inventory, are ignored.
"""

import keras
import numpy as np
from keras import ops

from keras_tagging.utils.seeds import seeds

# The initial values of look-up tables are within these bounds, as in Keras.
_BOUND = 0.05
# gensim ignores the tokens of a sentence beyond this many.
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
    r"""Train the language model of Dinarelli & Tellier and return its table.

    "This language model is like the one in [Bengio et al. 2003], except it uses both
    words/labels in the past and in the future to predict next word/label" (section
    3.2). With `E` the table, :math:`v_t` the id at position `t` and `c = context`:

    .. math::
        I_t &= [E(v_{t-c}) \dots E(v_{t-1}) \, E(v_{t+1}) \dots E(v_{t+c})] \\
        h_t &= \sigma(I_t H + b_h) \\
        P(v_t) &= \mathrm{softmax}(h_t O + b_o)

    Positions outside the sentence, and negative ids, have a zero vector; negative ids
    are not predicted either. Rows whose id never occurs keep their initial values,
    uniform in :math:`\pm 0.05`; the others are returned as learned. Equal arguments
    give equal tables on a CPU, whatever the global random states.

    Departures: the optimizer is Adam without L2. Gradient descent with momentum
    predicted held-out words of ATIS worse after 20 epochs (1.21 nats or more, Adam
    1.11). The paper gives neither the batch size nor the context; its taggers read 3
    words on each side and 6 labels. Its notation omits the biases. The hidden layer is
    sigmoid, as in the taggers; Bengio et al. use tanh, and optionally connect the
    embeddings to the output.

    Args:
        ids: `(tokens,)` ints below `rows`; negative ids are ignored.
        lengths: `(sentences,)` ints, the number of tokens of each sentence.
        rows: int. Size of the inventory.
        dim: int. Size of an embedding; 200 in the paper.
        context: int. Positions read on each side.
        units: int. Size of the hidden layer.
        epochs: int. 20 for words and 10 for labels in the paper.
        batch_size: int. Positions a batch.
        learning_rate: float.
        seed: int, not negative. Seed of the initial weights and the order of batches.
        verbose: 1 shows a progress bar, as in `keras.Model.fit`.

    Returns:
        `(rows, dim)` float32 array.
    """
    ids, lengths = np.asarray(ids, "int64"), np.asarray(lengths)
    draw = seeds(seed)
    model = window_model(rows, dim, context, units, draw)
    model.compile(
        keras.optimizers.Adam(learning_rate),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        # without jit_compile Keras runs JAX one operation at a time
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
    """The model from `(batch, 2 * context)` ids to `(batch, rows)` logits.

    Args:
        draw: function that returns a new seed with each call.
    """
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
    """The windows of ids, and the ids in the middle, which are predicted.

    Returns:
        `(positions, 2 * context)` int32, the ids around each position whose id is not
        negative, from left to right, -1 outside the sentence and for negative ids; and
        `(positions,)` int32, the ids in the middle.
    """
    # between sentences there is a gap as wide as a window reaches
    gap = context * (1 + np.arange(len(lengths)))
    places = np.arange(len(ids)) + np.repeat(gap, lengths)
    padded = np.full(len(ids) + context * (1 + len(lengths)), -1, "int32")
    padded[places] = np.maximum(ids, -1)
    offsets = np.delete(np.arange(-context, context + 1), context)
    places = places[ids >= 0]
    return padded[places[:, None] + offsets], padded[places]


def _batches(windows, targets, batch_size, rng):
    """An endless sequence of batches; each pass has an order of its own."""
    while True:
        order = rng.permutation(len(targets))
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            yield windows[chosen], targets[chosen]


def cbow_embeddings(ids, lengths, rows, dim, *, context=3, epochs=20, seed=0):
    """Train a table with gensim's continuous bag of words (word2vec), which is faster.

    The paper mentions word2vec as the usual pretraining (section 1) but trains its own
    language model, `window_embeddings`, which has the same arguments.

    All vectors are scaled by one factor to the root mean square of the initial values
    of look-up tables, which are uniform in +-0.05; rows whose id never occurs are drawn
    from that distribution. Tokens with a negative id are removed from the sentence.

    Result and errors are those of `window_embeddings`.
    """
    from gensim.models import Word2Vec

    ids, lengths = np.asarray(ids, "int64"), np.asarray(lengths)
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
        # in an inventory of a few dozen labels all are frequent: keep all of them
        sample=0,
        workers=1,
    )
    table = np.random.default_rng(seed).uniform(-_BOUND, _BOUND, (rows, dim))
    vectors, seen = model.wv.vectors, np.array(model.wv.index_to_key, "int64")
    table[seen] = vectors * _BOUND / np.sqrt(3 * np.mean(np.square(vectors)))
    return table.astype("float32")
