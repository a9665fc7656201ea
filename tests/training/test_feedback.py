"""What label networks read in training: gold labels, their share; and the penalty."""

import keras
import numpy as np
import pytest
from conftest import DRY, WORDS_ONLY, random_sentences, reloaded
from keras import ops

import keras_tagging
from keras_tagging import Sentence

SENTENCES = random_sentences(16, 4, longest=3)
WORDS = ["the", "dog", "sees", "a", "Paris", "quickly", "barks"]
CONTEXT = 2
SIZES = {"units": 5, "word_dim": 4, "label_dim": 3, "window": 3, "seed": 3}
SIZES |= {"label_context": CONTEXT}
SIZES |= {"layer_dropout": 0.0, "pretrain": None, **WORDS_ONLY}
DECODER = {"decoder": "i-rnn", "label_units": 4, "label_dim": 3}
DECODER |= {"units": 4, "num_layers": 1, "word_dim": 4, "label_context": CONTEXT}
DECODER |= WORDS_ONLY


def build(name="i-rnn", **overrides):
    sizes = DECODER | {"seed": 3} if name == "bigru" else SIZES
    return keras_tagging.build(name, **sizes | overrides)


def randomize(model):
    """Random values for all weights that are learned; equal models get equal ones."""
    rng = np.random.default_rng(5)
    for variable in model.trainable_variables:
        variable.assign(rng.normal(0, 0.7, variable.shape))


def adapted(name="i-rnn", **overrides):
    """Random weights, no dropout."""
    model = build(name, **DRY | overrides)
    model.adapt(SENTENCES)
    model.run_eagerly = True  # nothing is run often enough to be worth compiling
    randomize(model)
    return model


def shares(model):
    """The values of all `gold_share`."""
    found = [v for v in model.network.variables if v.name == "gold_share"]
    return [round(float(ops.convert_to_numpy(v)), 5) for v in found]


# Gold labels


def logits(model, rows, training):
    """Of a sentence with each of these rows of labels."""
    ids, _, _ = model.encode([Sentence(WORDS)] * len(rows)).batch(np.arange(len(rows)))
    inputs = ids if rows[0] is None else (ids, np.array(rows, "int32"))
    return ops.convert_to_numpy(model(inputs, training=training)["logits"])


NOTHING, FIRST = [-1] * len(WORDS), [0] * len(WORDS)


def changed(model, at, training):
    """The positions whose logits change with the gold label at one position, and the
    logits where all labels are nothing, or the first."""
    gold = np.arange(len(WORDS)) % len(model.tags)
    other = gold.copy()
    other[at] = (other[at] + 1) % len(model.tags)
    rows = logits(model, [gold, other, NOTHING, FIRST], training)
    return np.flatnonzero(abs(rows[0] - rows[1]).max(-1)).tolist(), rows[2:]


READ = {
    "forward": [4, 5],
    "backward": [1, 2],
    "bidirectional": [1, 2, 4, 5],
}


@pytest.mark.parametrize(
    "name, direction, feedback",
    [
        ("i-rnn", "forward", "gold"),
        ("i-rnn", "bidirectional", 1.0),
        ("jordan-rnn", "backward", 1.0),
        ("jordan-rnn", "bidirectional", "gold"),
        ("bigru", "forward", "gold"),  # a decoder
    ],
)
def test_the_positions_around_read_a_gold_label_in_training(name, direction, feedback):
    directed = {} if name == "bigru" else {"direction": direction}
    model = adapted(name, feedback=feedback, **directed)
    if feedback != "gold":
        assert shares(model) == [1] * (2 if direction == "bidirectional" else 1)
    places, (nothing, first) = changed(model, 3, training=True)
    # -1, which is nothing, is a label like another; in inference no labels will do
    assert places == READ[direction] and (nothing != first).any()
    places, expected = changed(model, 3, training=False)
    assert places == []
    found = logits(model, [None] * 4, False)
    np.testing.assert_array_equal(found[2:], expected)


@pytest.mark.parametrize(
    "name, direction",
    [("i-rnn", "forward"), ("ie-rnn", "bidirectional"), ("jordan-rnn", "backward")],
)
def test_predicted_labels_are_read_in_training_as_in_inference(name, direction):
    model = adapted(name, direction=direction, feedback="predicted")
    places, found = changed(model, 3, training=True)
    assert places == []
    np.testing.assert_allclose(found, logits(model, [None] * 2, False), atol=1e-5)


def test_hidden_states_alone_are_read_whatever_the_labels():
    model = adapted("elman-rnn", hidden_context=2)
    assert changed(model, 3, training=True)[0] == []


# The share of gold labels


def test_the_share_is_what_the_network_reads():
    gold, predicted = (adapted(feedback=name) for name in ("gold", "predicted"))
    mixed = adapted(feedback=0.5)
    labels = [(i * 5 + 1) % len(gold.tags) for i in range(len(WORDS))]
    [first], [last] = (logits(model, [labels], True) for model in (gold, predicted))
    assert abs(first - last).max() > 0.01
    [share] = [v for v in mixed.network.variables if v.name == "gold_share"]
    assert share.path not in {v.path for v in mixed.trainable_variables}
    found = {}
    for value in (0.0, 0.5, 1.0):
        share.assign(value)
        found[value] = logits(mixed, [labels] * 12, True)
    for rows in found[0.0]:
        np.testing.assert_allclose(rows, last, atol=1e-5)
    for rows in found[1.0]:
        np.testing.assert_allclose(rows, first, atol=1e-5)
    assert len({rows.tobytes() for rows in found[0.5]}) > 3


class Shares(keras.callbacks.Callback):
    """Notes the shares while an epoch is trained."""

    def __init__(self):
        super().__init__()
        self._seen = []  # no part of what a resumed run goes on with

    def on_train_batch_end(self, batch, logs=None):
        self._seen.append(shares(self.model))


@pytest.mark.parametrize(
    "name, feedback, epochs, expected",
    [
        ("i-rnn", (1.0, 0.0), 4, [1, 0.66667, 0.33333, 0]),
        ("jordan-rnn", [0.2, 0.8], 3, [0.2, 0.5, 0.8]),
        ("bigru", (1, 0), 2, [1, 0]),
        ("ie-rnn", (0.75, 0.5), 1, [0.75]),
        ("i-rnn", 0.5, 2, [0.5, 0.5]),
    ],
)
def test_a_pair_of_shares_is_a_schedule(name, feedback, epochs, expected):
    model = build(name, feedback=feedback, batch_size=16)
    model.adapt(SENTENCES)
    model.run_eagerly = True
    seen = Shares()
    model.fit(SENTENCES, epochs=epochs, callbacks=[seen], verbose=0)
    assert seen._seen == [[share] for share in expected]


def test_both_directions_follow_the_schedule_after_a_load_too(tmp_path):
    model = build(direction="bidirectional", feedback=(1.0, 0.0), batch_size=16)
    model.adapt(SENTENCES)
    model = reloaded(model, tmp_path)
    seen = Shares()
    for _ in range(2):  # a further fit begins anew
        model.fit(SENTENCES, epochs=2, callbacks=[seen], verbose=0)
    assert seen._seen == [[share] * 2 for share in [1, 0] * 2]


# The penalty


def numpy_loss(model, batch):
    """Cross-entropy and the sum of squares of all weights, by hand."""
    ids, targets, mask = batch
    outputs = model((ids, targets), training=True)
    outputs = outputs if isinstance(outputs, dict) else {"logits": outputs}
    rows = ops.convert_to_numpy(outputs["logits"]).astype("float64")
    rows = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    known = targets >= 0
    picked = np.take_along_axis(rows, np.maximum(targets, 0)[..., None], -1)[..., 0]
    weights = map(ops.convert_to_numpy, model.trainable_variables)
    squares = sum(np.square(w.astype("float64")).sum() for w in weights)
    return -picked[known].sum() / mask.sum(), squares


def compiled_loss(model, batch):
    ids, targets, mask = (ops.convert_to_tensor(x) for x in batch)
    outputs = model((ids, targets), training=True)
    return float(model.compute_loss(None, targets, outputs, mask))


@pytest.mark.parametrize("name", ["i-rnn", "elman-rnn", "bigru"])
def test_a_batch_bears_its_share_of_the_penalty(name):
    model = adapted(name, l2=0.3, batch_size=16)
    encoded = model.encode(SENTENCES, targets=True)
    batch = encoded.batch(np.arange(3))
    assert (batch[2] == 0).any()
    entropy, squares = numpy_loss(model, batch)
    assert compiled_loss(model, batch) == pytest.approx(entropy, rel=1e-5)

    model.optimizer.learning_rate = 0.0
    for corpus in (SENTENCES, SENTENCES[:4]):
        model.fit(corpus, epochs=1, verbose=0)
        tokens = sum(map(len, corpus))
        penalty = 0.3 / 2 * batch[2].sum() / tokens * squares
        assert penalty > 0.1
        expected = entropy + penalty
        assert compiled_loss(model, batch) == pytest.approx(expected, rel=1e-5)


def test_a_step_of_gradient_descent_shrinks_what_is_not_read():
    """Rows of words that the batch has not: theta - rate * l2 * theta."""
    options = {"optimizer": "sgd", "learning_rate": 0.5, "decay": None, "l2": 0.2}
    model = adapted(**options, batch_size=16)
    table = model.network.get_layer("word_embedding").embeddings
    before = np.array(ops.convert_to_numpy(table))
    model.fit([Sentence(["the"], ["D"])], epochs=1, verbose=0)
    [[the]] = model.encode([Sentence(["the"])]).ids
    others = np.delete(np.arange(len(before)), the)
    after = ops.convert_to_numpy(table)
    np.testing.assert_allclose(after[others], 0.9 * before[others], rtol=1e-4)
    assert abs(after[the] - 0.9 * before[the]).max() > 1e-4
