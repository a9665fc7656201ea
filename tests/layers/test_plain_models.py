"""Every layer in a functional model as a Keras user writes it.

Token ids, an embedding with a mask, a stock loss, `fit(x, y)`; nothing of `Tagger`.
"""

import keras
import numpy as np
import pytest
from keras import layers, ops
from scipy.special import log_softmax

from keras_tagging import cells
from keras_tagging.layers import (
    BidirectionalStack,
    ContextWindow,
    LabelEmbeddingRNN,
    ProjectedRNN,
)

UNITS, WORD_DIM, NUM_WORDS, NUM_TAGS, TIME = 4, 6, 9, 3, 5
LENGTHS = np.array([5, 2, 1, 4])
MASK = np.arange(TIME) < LENGTHS[:, None]
SEQUENCES = {"return_sequences": True}


def skips(number=3):
    return [cells.SkipLSTMCell(UNITS) for _ in range(number)]


def in_rnn(make_cell):
    return lambda: layers.RNN(make_cell(), **SEQUENCES)


def label_rnn(**options):
    return LabelEmbeddingRNN(
        UNITS, NUM_TAGS, label_dim=2, label_context=2, hidden_context=1, **options
    )


# What reads the word embeddings, and whether its output are the logits.
LAYERS = {
    "skip": in_rnn(lambda: cells.SkipLSTMCell(UNITS)),
    "label cell": in_rnn(lambda: cells.LabelEmbeddingCell(UNITS, NUM_TAGS, 2, 2)),
    "projected": lambda: ProjectedRNN(cells.SkipLSTMCell(UNITS), **SEQUENCES),
    "list": lambda: layers.RNN([cells.GRUCell(UNITS), cells.ElmanCell(3)], **SEQUENCES),
    "skip stack": lambda: layers.RNN(cells.SkipStackCell(skips()), **SEQUENCES),
    "bidirectional": lambda: layers.Bidirectional(LAYERS["skip"]()),
    "bidirectional stack cell": lambda: layers.Bidirectional(LAYERS["skip stack"]()),
    "bidirectional projected": lambda: layers.Bidirectional(LAYERS["projected"]()),
    "stack": lambda: BidirectionalStack(skips()[0], input_layer="tanh"),
    "window": lambda: ContextWindow(3, gated=True, dropout=0.25, seed=1),
    "labels": label_rnn,
    "bidirectional labels": lambda: layers.Bidirectional(label_rnn(), merge_mode="ave"),
    # features, for which `make_model` has a Dense
    "bidirectional labels, concatenated": lambda: layers.Bidirectional(label_rnn()),
}
LOGITS = {"label cell", "labels", "bidirectional labels"}
# On TensorFlow those around others are slow: JAX and PyTorch do them in CI.
AROUND = {name for name in LAYERS if name.startswith("bidirectional")} | {"list"}
AROUND -= {"bidirectional stack cell", "bidirectional labels"}
AROUND |= {"skip stack"}
every_layer = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow("tensorflow")] * (name in AROUND))
        for name in LAYERS
    ],
)


def make_model(name):
    ids = keras.Input((None,), dtype="int32")
    x = layers.Embedding(NUM_WORDS, WORD_DIM, mask_zero=True)(ids)
    if "stack" in name:  # layer 2 skips from its input
        x = layers.Dense(UNITS)(x)
    x = LAYERS[name]()(x)
    if name not in LOGITS:
        x = layers.Dense(NUM_TAGS)(x)
    model = keras.Model(ids, x)
    rng = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(rng.normal(0, 0.7, weight.shape))
    model.compile(
        keras.optimizers.SGD(0.5),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        run_eagerly=keras.backend.backend() == "tensorflow",
    )
    return model


def random_ids():
    return np.random.default_rng(3).integers(1, NUM_WORDS, MASK.shape) * MASK


def random_tags():
    return np.random.default_rng(4).integers(0, NUM_TAGS, MASK.shape)


def cross_entropy(logits, tags):
    """The mean over the real tokens."""
    rows = log_softmax(logits.astype("float64")[MASK], -1)
    return -rows[np.arange(len(rows)), tags[MASK]].mean()


@every_layer
def test_fit(name):
    """The loss is that of the real tokens, and every weight learns."""
    model, ids, tags = make_model(name), random_ids(), random_tags()
    before = [w.copy() for w in model.get_weights()]
    loss = cross_entropy(model.predict(ids, verbose=0), tags)
    history = model.fit(ids, tags, epochs=2, verbose=0, shuffle=False).history["loss"]
    if name != "window":  # whose dropout is at work in training
        assert history[0] == pytest.approx(loss, rel=1e-4)
    assert history[-1] < history[0]
    for old, new, weight in zip(
        before, model.get_weights(), model.weights, strict=True
    ):
        assert abs(new - old).max() > 1e-6 or not weight.trainable, weight.path


def run_label_cell(**options):
    """The cell in a stock layer, and the layer with the same weights."""
    cell = cells.LabelEmbeddingCell(UNITS, NUM_TAGS, label_dim=2, **options)
    rnn = layers.RNN(cell, return_sequences=True, zero_output_for_mask=True)
    layer = LabelEmbeddingRNN(UNITS, NUM_TAGS, label_dim=2, **options)
    rng = np.random.default_rng(0)
    for each in (rnn, layer):
        each.build((None, None, WORD_DIM))
    values = [rng.normal(0, 0.7, w.shape) for w in layer.weights]
    rnn.set_weights(values)
    layer.set_weights(values)
    return rnn, layer


@pytest.mark.parametrize(
    "options",
    [
        {"label_context": 2, "hidden_context": 3},
        {"label_context": 3, "label_input": "one-hot", "combine": "concat"},
        {"label_context": 2, "label_input": "probabilities"},
        {"label_input": None, "hidden_context": 2},
        {"label_input": None},
    ],
    ids=str,
)
def test_label_cell_in_a_stock_layer_is_the_label_layer(options):
    """Outputs, and one step of training on its own labels."""
    rnn, layer = run_label_cell(**options)
    x = np.random.default_rng(1).normal(size=(*MASK.shape, WORD_DIM)).astype("float32")
    found, expected = (
        ops.convert_to_numpy(each(x, mask=MASK)) for each in (rnn, layer)
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not found[~MASK].any()
    target = np.random.default_rng(2).normal(size=(*MASK.shape, NUM_TAGS))
    for each in (rnn, layer):
        inputs = keras.Input((TIME, WORD_DIM))
        model = keras.Model(inputs, each(inputs))
        model.compile("sgd", "mse", run_eagerly=True)
        model.train_on_batch(x, target)
    for one, other in zip(rnn.get_weights(), layer.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.one_backend
def test_a_cell_reads_no_future():
    cell = cells.LabelEmbeddingCell(UNITS, NUM_TAGS, future_label_context=1)
    with pytest.raises(ValueError, match="use LabelEmbeddingRNN"):
        layers.RNN(cell)(np.zeros((1, 2, WORD_DIM), "float32"))


@pytest.mark.parametrize("merge_mode", ["ave", None])
def test_label_layer_in_both_directions(merge_mode):
    """Each direction on its own; the backward one reads the mirrored sentence."""
    both = layers.Bidirectional(label_rnn(), merge_mode=merge_mode)
    x = np.random.default_rng(1).normal(size=(*MASK.shape, WORD_DIM)).astype("float32")
    found = both(x, mask=MASK)
    forward = ops.convert_to_numpy(both.forward_layer(x, mask=MASK))
    assert both.backward_layer.go_backwards and not both.forward_layer.go_backwards
    twin = label_rnn()
    twin.build(x.shape)
    twin.set_weights(both.backward_layer.get_weights())
    backward = np.zeros_like(forward)
    for row, sentence, n in zip(backward, x, LENGTHS, strict=True):
        row[:n] = ops.convert_to_numpy(twin(sentence[None, :n][:, ::-1]))[0, ::-1]
    expected = {
        "ave": (forward + backward) / 2,
        None: np.stack([forward, backward]),
    }[merge_mode]
    found = ops.convert_to_numpy(ops.stack(found) if merge_mode is None else found)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    shape = both.compute_output_shape(x.shape)
    assert shape == (expected.shape if merge_mode else (forward.shape, forward.shape))


def test_gold_labels_as_an_input():
    """The mask of the tokens counts though there are two inputs."""
    ids, gold = (keras.Input((None,), dtype="int32") for _ in range(2))
    x = layers.Embedding(NUM_WORDS, WORD_DIM, mask_zero=True)(ids)
    layer = label_rnn(feedback="gold")
    model = keras.Model([ids, gold], layer(x, labels=gold))
    model.compile("sgd", "mse", run_eagerly=True)
    tokens, tags = random_ids(), random_tags()
    found = model.predict([tokens, tags], verbose=0)
    assert not found[~MASK].any() and found[MASK].all()
    for row, sentence, n in zip(found, tokens, LENGTHS, strict=True):
        alone = model.predict([sentence[None, :n], tags[:1, :n]], verbose=0)
        np.testing.assert_allclose(row[:n], alone[0], atol=1e-5)
    embedded = model.layers[1](tokens)
    one, other = (
        layer(embedded, labels=labels, training=True)
        for labels in (tags, (tags + 1) % NUM_TAGS)
    )
    assert abs(ops.convert_to_numpy(one - other)).max() > 1e-3


@pytest.mark.one_backend
def test_label_layer_lacks_options_of_other_layers():
    same = label_rnn(return_sequences=True, return_state=False, stateful=False)
    assert same.get_config().keys() == label_rnn().get_config().keys()
    with pytest.raises(ValueError, match="has stateful=False"):
        label_rnn(stateful=True)
    with pytest.raises(ValueError, match="no initial_state"):
        label_rnn()(np.zeros((1, 2, WORD_DIM), "float32"), initial_state=[1])


def test_label_layer_is_regularized():
    layer = label_rnn(
        kernel_regularizer="l1", recurrent_regularizer="l2", bias_constraint="non_neg"
    )
    layer.build((None, None, WORD_DIM))
    assert len(layer.losses) == 3 and layer.output_bias.constraint is not None
    config = layer.get_config()
    assert LabelEmbeddingRNN.from_config(config).get_config() == config
    del config["return_dict"]  # as it was saved before there was the keyword
    assert LabelEmbeddingRNN.from_config(config).return_dict
