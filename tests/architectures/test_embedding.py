import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops
from reference import context_window

from keras_tagging.architectures import architecture
from keras_tagging.architectures.embedding import embed_features, token_inputs
from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.utils.seeds import seeds

SENTENCES = [["The", "dog", "barks", "loudly"], ["Yes"], ["A", "1984"], []]
VECTOR_WORDS = ["dog", "cat", "99"]
VECTOR_DIM = 4
DIMS = {"word_dim": 3, "character_dim": 2, "affix_dim": 5}
WU = {"suffixes": (), "characters": 5, "characters_of": "normalised"}


def adapted(**options):
    features = TokenFeatures(normalise="wu", **WU | options)
    tokens = [word for sentence in SENTENCES for word in sentence]
    features.adapt({"tokens": tokens}, VECTOR_WORDS)
    return features


def network(features, seed=1, vector_dim=VECTOR_DIM, **settings):
    ids = keras.Input((None, len(features.names)), dtype="int32")
    settings = architecture("bigru").settings(**DIMS | settings)
    x = embed_features(ids, None, features, settings, seed, vector_dim)
    return keras.Model(ids, x)


def padded_ids(features):
    """Ids `(sentences, time, features)`, 0 at padding."""
    ids = np.zeros((len(SENTENCES), 4, len(features.names)), "int32")
    for row, words in zip(ids, SENTENCES, strict=True):
        row[: len(words)] = features.encode({"tokens": words})
    return ids


@pytest.mark.parametrize(
    "features, settings, size",
    [
        # W16 6.1.2: 600 for the words; 5 + 5 characters of 5, a capital of 5
        ({}, {"word_dim": 200, "window_gated": True}, 655),
        ({"words": False, "vectors": True}, {"window_gated": True}, 655),
        # W17 5.1
        ({}, {"word_dim": 100, "window_over": "features"}, 465),
        ({"words": False, "capitals": False}, {"window_over": "features"}, 150),
    ],
)
def test_sizes_are_the_papers(features, settings, size):
    settings = {"window": 3, "character_dim": 5, "vector_dim": 200, **settings}
    model = network(adapted(**features), **settings)
    assert model.output_shape == (None, None, size)


@pytest.mark.parametrize(
    "window, over, gated",
    [(0, "words", True), (3, "words", True), (3, "features", False)],
)
def test_equals_the_reference_on_a_ragged_batch(window, over, gated):
    features = adapted(vectors=True, suffixes=(2,))
    options = {"window": window, "window_over": over, "window_gated": gated}
    model = network(features, **options, window_dropout=0.25)
    randomize(model)  # the rows of padding too
    tables = {
        layer.name.removesuffix("_embedding"): layer.get_weights()[0]
        for layer in model.layers
        if isinstance(layer, keras.layers.Embedding)
    }
    assert set(tables) == {"word", "vector", "suffix2", "capital", "character"}
    gate = model.get_layer("context_window").get_weights()
    assert len(gate) == 2 * gated
    ids = padded_ids(features)
    found = model.predict(ids, verbose=0)
    assert found.shape[-1] == model.output_shape[-1]
    for row, words, sentence in zip(found, SENTENCES, ids, strict=True):
        parts = {"words": [], "others": []}
        for name, column in zip(features.names, sentence[: len(words)].T, strict=True):
            kind = "words" if name in ("word", "vector") else "others"
            table = "character" if name[:4] in ("firs", "last") else name
            parts[kind].append(tables[table][column])
        if over == "features":
            parts = {"words": parts["words"] + parts["others"], "others": []}
        first = np.concatenate(parts["words"], axis=-1)
        first = context_window.run(first, max(window, 1), *gate)
        expected = np.concatenate([first, *parts["others"]], axis=-1)
        np.testing.assert_allclose(row[: len(words)], expected, rtol=1e-4, atol=1e-5)


def test_without_window_gate_and_dropout_there_is_no_layer_for_it():
    features = adapted()
    names = [layer.name for layer in network(features).layers]
    assert "context_window" not in names
    dropped = network(features, window_dropout=0.25)
    layer = dropped.get_layer("context_window")
    assert (layer.size, layer.gated, layer.dropout) == (1, False, 0.25)


def test_all_tables_and_dropouts_have_seeds_of_their_own():
    features = adapted(vectors=True, suffixes=(1, 2), shapes=True)
    options = dict.fromkeys([*DIMS, "vector_dim"], 50)
    options |= {"window": 3, "window_gated": True, "window_dropout": 0.25}
    first, again, other = (network(features, seed, **options) for seed in (1, 1, 2))
    for one, two in zip(first.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    tables = [w for w in first.get_weights() if w.shape[-1] == 50]
    tables += [w for w in other.get_weights() if w.shape[-1] == 50]
    rows = [table[:3].ravel() for table in tables]
    correlations = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
    # of 150 independent pairs of values: the standard deviation is 0.08
    assert len(rows) == 14 and abs(correlations).max() < 0.4
    seeds = [model.get_layer("context_window").seed for model in (first, other)]
    assert seeds[0] != seeds[1]


def test_initializers_are_those_of_the_tables_and_the_gates():
    sizes = dict.fromkeys(DIMS, 2000) | {"initializer": "gaussian"}
    model = network(adapted(), **sizes, window=3, window_gated=True)
    for weights in model.weights:
        table = np.array(weights)
        if table.ndim == 2:  # the bias is 0
            gate = weights.name == "gate_kernel"
            sigma = 0.1 / np.sqrt(len(table)) if gate else 0.1
            assert table.std() == pytest.approx(sigma, rel=0.05)


@pytest.mark.parametrize("variational", [False, True])
def test_variational_dropout_drops_the_same_inputs_of_all_tokens(variational):
    features, settings = adapted(), architecture("bigru").settings(word_dim=40)
    options = {"dropout": 0.5, "variational": variational}
    inputs, _, x = token_inputs(settings, features, seeds(1), **options)
    [ids] = inputs
    model = keras.Model(ids, x)
    for weight in model.trainable_weights:
        weight.assign(np.ones(weight.shape))
    ids = np.ones((8, 5, len(features.names)), "int32")
    kept = ops.convert_to_numpy(model(ids, training=True)) > 0
    assert 0.4 < kept.mean() < 0.6
    of_first_token = kept[:, :1]
    assert (kept == of_first_token).all() == variational
    # each sentence has its own draw
    assert (kept[0] != kept[1]).any()
