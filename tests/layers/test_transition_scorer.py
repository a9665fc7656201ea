"""The scores of moves against NumPy, and what is dropped in training."""

import keras
import numpy as np
import pytest
from cells.cases import named_weights, op_by_op_but, randomize
from keras import ops
from keras.ops import convert_to_numpy as array
from layers.gradients import gradients
from layers.scorers import (
    CELLS,
    LABEL_DIM,
    NUM_LABELS,
    SIZE,
    make_scorer,
    random_tokens,
    random_tree,
)
from reference import arc_standard
from reference import parser as reference

from keras_tagging.cells import FeedForwardCell
from keras_tagging.layers import TransitionScorer
from keras_tagging.transitions import ARC_STANDARD, gold_moves
from keras_tagging.transitions.arc_standard import NUM_LABELS as LABELS
from keras_tagging.transitions.arc_standard import NUM_NODES as NODES

EVERY = pytest.mark.parametrize("name", CELLS)
DROPPED = pytest.mark.parametrize("dropped", ["configurations", "tokens"])
LENGTHS = [5, 1, 3, 4]
TIME = 2 * max(LENGTHS)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
# Keras' models look ahead with shapes that are not known.
loops = op_by_op_but("compiled", "file")


def random_trees(seed=3):
    rng = np.random.default_rng(seed)
    return [random_tree(length, rng) for length in LENGTHS]


def given_moves(trees):
    """Nodes and labels before each move, padded to the longest sentence."""
    nodes = np.zeros((len(trees), TIME, NODES), "int32")
    labels = np.zeros((len(trees), TIME, LABELS), "int32")
    for i, moves in enumerate(gold_moves(ARC_STANDARD, *zip(*trees, strict=True))):
        nodes[i, : len(moves.actions)] = moves.nodes
        labels[i, : len(moves.actions)] = moves.node_labels
    return nodes, labels


TREES, TOKENS = random_trees(), random_tokens(LENGTHS)
INPUTS = (TOKENS, *given_moves(TREES))


def expected_logits(weights, gates):
    """The reference's, for each sentence alone."""
    return [
        reference.oracle_logits(
            tokens[: len(heads)].astype("float64"), heads, labels, weights, gates
        )
        for tokens, (heads, labels) in zip(TOKENS, TREES, strict=True)
    ]


def many_configurations(time=200):
    rng = np.random.default_rng(8)
    nodes = rng.integers(0, max(LENGTHS) + 2, (len(LENGTHS), time, NODES))
    labels = rng.integers(0, NUM_LABELS + 1, (len(LENGTHS), time, LABELS))
    return nodes.astype("int32"), labels.astype("int32")


# Scores


@EVERY
@pytest.mark.parametrize("training", [False, True])
@DROPPED
def test_logits_equal_the_papers_equations(name, training, dropped):
    scorer = make_scorer(name, dropped=dropped)
    found = array(scorer(*INPUTS, training=training))
    assert found.shape == (len(LENGTHS), TIME, 2 * NUM_LABELS + 1)
    expected = expected_logits(named_weights(scorer), CELLS[name][2])
    for row, alone in zip(found, expected, strict=True):
        np.testing.assert_allclose(row[: len(alone)], alone, **CLOSE)
        assert len(alone) == 2 or np.ptp(alone, axis=0).max() > 0.1


# Gradients


def found_gradients(scorer, target, inputs=INPUTS, training=True):
    """By name: of the logits times the target."""
    target = ops.convert_to_tensor(target)
    found = gradients(
        scorer.weights, lambda: ops.sum(target * scorer(*inputs, training=training))
    )
    return dict(zip([w.name for w in scorer.weights], found, strict=True))


def random_target():
    """0 in the padding."""
    shape = (len(LENGTHS), TIME, 2 * NUM_LABELS + 1)
    target = np.random.default_rng(6).normal(size=shape).astype("float32")
    real = np.arange(TIME) < 2 * np.array(LENGTHS)[:, None]
    return target * real[:, :, None]


@EVERY
def test_gradients_reach_every_weight_and_are_the_references(name):
    """By differences of the reference along a random direction."""
    target, rng = random_target(), np.random.default_rng(7)
    found = {
        dropped: found_gradients(
            make_scorer(name, dropped=dropped, truncation_limit=None), target
        )
        for dropped in ("configurations", "tokens")
    }
    weights = named_weights(make_scorer(name))
    gates = CELLS[name][2]

    def loss(moved):
        rows = expected_logits(weights | moved, gates)
        return sum(
            np.sum(row * part[: len(row)])
            for row, part in zip(rows, target, strict=True)
        )

    for key, weight in weights.items():
        direction = rng.normal(size=weight.shape)
        ends = [loss({key: weight + size * direction}) for size in (1e-6, -1e-6)]
        slope = (ends[0] - ends[1]) / 2e-6
        assert abs(slope) > 1e-2
        for dropped in found:
            assert np.sum(found[dropped][key] * direction) == pytest.approx(
                slope, rel=1e-3
            )
    for key, gradient in found["tokens"].items():
        np.testing.assert_allclose(
            found["configurations"][key], gradient, rtol=1e-3, atol=1e-4
        )


@pytest.mark.parametrize("truncation", ["sliding", "chunked"])
def test_errors_are_truncated_in_training(truncation):
    options = {"truncation": truncation, "truncation_limit": 2}
    # the two shortest sentences: the definition takes long
    some, target = slice(1, 3), random_target()[1:3]
    inputs, scorer = [x[some] for x in INPUTS], make_scorer("elman", **options)
    weights = named_weights(scorer)
    cell = {w.name: weights.pop(w.name) for w in scorer.cell.weights}
    expected = {name: np.zeros_like(weight) for name, weight in cell.items()}
    for i, (heads, labels) in enumerate(TREES[some]):
        xs = []
        configuration = arc_standard.start(len(heads))
        for move in arc_standard.oracle(heads, labels):
            xs.append(reference.read(configuration, inputs[0][i], weights))
            configuration = arc_standard.advance(configuration, *move)
        errors = target[i, : len(xs)] @ weights["output_kernel"].T
        parts = reference.truncated_gradients(
            np.stack(xs)[None], cell, errors[None], "h", 2, truncation
        )
        for name in cell:
            expected[name] += parts[name]
    tokens = make_scorer("elman", dropped="tokens", **options)
    for each in (scorer, tokens):
        found = found_gradients(each, target, inputs)
        for name, gradient in expected.items():
            np.testing.assert_allclose(found[name], gradient, rtol=1e-3, atol=1e-4)
    whole = found_gradients(make_scorer("elman", truncation_limit=None), target, inputs)
    assert all(abs(whole[n] - expected[n]).max() > 0.01 for n in expected)


# Dropout. With an identity for a kernel the logits are the input itself.


def transparent_scorer(**options):
    features = NODES * SIZE + LABELS * LABEL_DIM
    cell = FeedForwardCell(features, activation="linear")
    scorer = TransitionScorer(cell, features // 2, label_dim=LABEL_DIM, **options)
    scorer.build((None, None, SIZE))
    randomize(scorer, 1)
    cell.set_weights([np.eye(features), np.zeros(features)])
    scorer.output_kernel.assign(np.eye(features, scorer.output_kernel.shape[1]))
    return scorer


def what_is_kept(scorer, nodes, labels, tokens=TOKENS):
    """The input in inference, and which of it is kept in training, by features of
    nodes `(batch, time, 18, size)` and of labels."""
    plain, dropped = (
        array(scorer(tokens, nodes, labels, training=training))[:, :, :-1]
        for training in (False, True)
    )
    kept = dropped != 0
    assert (plain != 0).all()
    np.testing.assert_allclose(dropped[kept], plain[kept] / 0.6, rtol=1e-5)
    split = NODES * SIZE
    shape = plain.shape[:2]
    return (
        kept[:, :, :split].reshape(*shape, NODES, SIZE),
        kept[:, :, split:].reshape(*shape, LABELS, LABEL_DIM),
    )


@pytest.mark.one_backend
def test_each_configuration_is_dropped_on_its_own():
    scorer = transparent_scorer(input_dropout=0.4, seed=3)
    nodes, labels = many_configurations()
    of_nodes, of_labels = what_is_kept(scorer, nodes, labels)
    for kept in (of_nodes, of_labels):
        assert kept.mean() == pytest.approx(0.6, abs=0.02)
    # of one token in many configurations, every dimension is kept in about as many
    for node in range(max(LENGTHS) + 2):
        shares = of_nodes[0][nodes[0] == node].mean(0)
        assert (abs(shares - 0.6) < 0.1).all()


@pytest.mark.one_backend
def test_each_token_and_label_is_dropped_once():
    scorer = transparent_scorer(input_dropout=0.4, seed=3, dropped="tokens")
    nodes, labels = many_configurations()
    of_nodes, of_labels = what_is_kept(scorer, nodes, labels)
    found = []
    for sentence, some_nodes in zip(of_nodes, nodes, strict=True):
        for node in range(max(LENGTHS) + 2):
            rows = sentence[some_nodes == node]
            assert len(rows) > 10 and (rows == rows[0]).all()
            found.append(rows[0])
    for label in range(NUM_LABELS + 1):
        rows = of_labels[labels == label]
        assert (rows == rows[0]).all()
    # of sentences and tokens each has its own: 28 vectors of 2
    assert len({row.tobytes() for row in found}) == 4
    assert np.mean(found) == pytest.approx(0.6, abs=0.2)


@pytest.mark.one_backend
def test_hidden_dropout_is_not_on_the_way_to_the_next_step():
    units = 2 * NUM_LABELS + 1
    scorer = make_scorer("elman", units=units, hidden_dropout=0.4, seed=3)
    scorer.output_kernel.assign(np.eye(units))
    plain, dropped = (array(scorer(*INPUTS, training=t)) for t in (False, True))
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], plain[kept] / 0.6, rtol=1e-4)
    assert kept[plain > 0].mean() == pytest.approx(0.6, abs=0.2)
    assert (plain > 0).mean() > 0.2


# Keras


def make_model(name, **options):
    scorer = make_scorer(name, **options)
    inputs = [
        keras.Input((None, SIZE)),
        keras.Input((None, NODES), dtype="int32"),
        keras.Input((None, LABELS), dtype="int32"),
    ]
    return keras.Model(inputs, scorer(*inputs)), scorer


@DROPPED
def test_a_compiled_step_of_training(dropped):
    """The loss of a batch of any size falls; every weight moves."""
    model, scorer = make_model("lstm", dropped=dropped, input_dropout=0.1, seed=4)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.5), loss)
    targets = np.random.default_rng(9).integers(0, 5, (len(LENGTHS), TIME))
    before = scorer.get_weights()
    losses = [float(model.train_on_batch(INPUTS, targets)) for _ in range(8)]
    assert losses[-1] < losses[0]
    for old, new in zip(before, scorer.get_weights(), strict=True):
        assert abs(new - old).max() > 1e-5
