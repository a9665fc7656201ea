"""The first layers of every architecture: tables, characters, context windows."""

import keras
from keras import ops

from keras_tagging.cells.initializers import gaussian, gaussian_table
from keras_tagging.encoding.vocabulary import CLUSTER, VECTOR, prefix_rows
from keras_tagging.layers import CharacterEncoder, ContextWindow, WordClassEmbedding
from keras_tagging.layers.bidirectional_stack import SENTENCE
from keras_tagging.utils.seeds import seeds


def uniform(seed):
    """Keras' own initializer of look-up tables."""
    return keras.initializers.RandomUniform(-0.05, 0.05, seed=seed)


def wide(seed):
    """Tables whose rows are about as long as pretrained vectors."""
    return keras.initializers.RandomNormal(stddev=0.3, seed=seed)


def small(seed):
    """The initializer of all weights in Elkaref & Bohnet (2017), section 5."""
    return keras.initializers.RandomUniform(-0.01, 0.01, seed=seed)


#: name -> initializers of (tables, kernels), each a function of a seed
INITIALIZERS = {
    "uniform": (small, small),
    "glorot": (uniform, keras.initializers.GlorotUniform),
    "wide": (wide, keras.initializers.GlorotUniform),
    "gaussian": (gaussian_table, gaussian),
}


def token_inputs(settings, features, draw, *, dropout, variational=False, vector_dim=0):
    """Begin a network: its inputs, and a vector for each token.

    Args:
        settings: a `Settings`, for the options of tables, characters and window.
        features: an adapted `TokenFeatures`.
        draw: iterator of seeds.
        dropout: of the vectors.
        variational: whether it drops the same components of all tokens of a sentence.
        vector_dim: size of the pretrained vectors that are a feature; 0 without.

    Returns:
        The list of inputs: ids `(batch, time, features)`, and with a character network
        letters `(rows, characters)`; then mask `(batch, time)` and vectors `(batch,
        time, size)`.
    """
    ids = keras.Input((None, len(features.names)), dtype="int32", name="ids")
    mask = ops.not_equal(ids[:, :, 0], 0)
    inputs, letters = [ids], None
    if settings.letters.character_network:
        letters = keras.Input((None,), dtype="int32", name="letters")
        inputs.append(letters)
    x = embed_features(ids, letters, features, settings, next(draw), vector_dim)
    x = keras.layers.Dropout(
        dropout,
        noise_shape=SENTENCE if variational else None,
        seed=next(draw),
        name="input_dropout",
    )(x)
    return inputs, mask, x


def embed_features(ids, letters, features, settings, seed, vector_dim=0):
    """One vector a token: the embeddings of all its features, concatenated.

    The word and its pretrained vector come first. All characters share one look-up
    table, wherever they stand in the word (Wu et al. 2016, section 5.1).

    With `window_over="words"` a gated window over the words is the input of Wu et al.
    (2016), section 5.1: 3 words of 200, 10 characters of 5 and 5 for the capital are
    655. With `"features"` an ungated window over everything is that of Wu et al.
    (2017), Eq. 19-20: 3 x (100 + 5 + 50) = 465.

    Args:
        ids: `(batch, time, features)` from `TokenFeatures`.
        letters: `(rows, characters)`, what the character network reads, or None: see
            `TokenFeatures`.
        features: the `TokenFeatures`, adapted.
        settings: a `Settings`, for the options of tables, characters and window.
        seed: int, not negative; each table draws from a seed of its own.
        vector_dim: size of the pretrained vectors that are a feature; 0 without.

    Returns:
        `(batch, time, size)`.

    Raises:
        ValueError: if a window is to be over words and there are none.
    """
    sizes, characters, window = settings.tables, settings.letters, settings.window
    of_tables, of_kernels = INITIALIZERS[sizes.initializer]
    dims = {
        "word": sizes.word_dim,
        VECTOR: vector_dim,
        "character": sizes.character_dim,
    }
    draw = seeds(seed)
    tables = {}
    for column, (name, rows) in enumerate(features.sizes.items()):
        if name == "letters":
            continue
        name = "character" if name in features.ends else name
        tables.setdefault(name, (rows, []))[1].append(column)
    words, others = [], []
    for name, (rows, columns) in tables.items():
        dim = dims.get(name, sizes.affix_dim)
        if name == CLUSTER:
            lengths = features.settings.class_prefixes
            classes = WordClassEmbedding(
                prefix_rows(features.vocabularies[CLUSTER], lengths),
                dim,
                of_tables(next(draw)),
                name=f"{CLUSTER}_embedding",
            )
            others.append(classes(ids[:, :, columns[0]]))
            continue
        table = keras.layers.Embedding(
            rows,
            dim,
            embeddings_initializer=of_tables(next(draw)),
            trainable=name not in sizes.frozen,
            name=f"{name}_embedding",
        )
        if len(columns) == 1:
            embedded = table(ids[:, :, columns[0]])
        else:
            embedded = table(ids[:, :, columns[0] : columns[-1] + 1])
            size = dim * len(columns)
            embedded = keras.layers.Reshape((-1, size), name=f"{name}s")(embedded)
        (words if name in ("word", VECTOR) else others).append(embedded)
    if letters is not None:
        encoder = CharacterEncoder(
            features.sizes["letters"],
            characters.character_units,
            kind=characters.character_network,
            embedding_dim=characters.character_embedding_dim,
            dropout=characters.character_dropout,
            embeddings_initializer=of_tables(next(draw)),
            kernel_initializer=of_kernels(next(draw)),
            recurrent_initializer=keras.initializers.Orthogonal(seed=next(draw)),
            seed=next(draw),
            name="character_network",
        )
        rows = ids[:, :, features.names.index("letters")]
        # once for each distinct token, then to where it stands
        others.append(ops.take(encoder(letters), rows, axis=0))
    if window.window > 1 or window.window_gated or window.window_dropout:
        if window.window_over == "features":
            words, others = [*words, *others], []
        windows = ContextWindow(
            window.window,
            gated=window.window_gated,
            dropout=window.window_dropout,
            seed=next(draw),
            kernel_initializer=of_kernels(next(draw)),
            name="context_window",
        )
        mask = ops.not_equal(ids[:, :, 0], 0)
        words = [windows(_concatenate(words), mask=mask)]
    return _concatenate([*words, *others])


def _concatenate(parts):
    return ops.concatenate(parts, -1) if len(parts) > 1 else parts[0]
