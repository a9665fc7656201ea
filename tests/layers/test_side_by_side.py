"""Recurrent layers that share a time loop in training."""

import keras
import numpy as np
import pytest
from cells.cases import (
    CASES,
    FEATURES,
    LENGTHS,
    MASK,
    UNITS,
    expected_run,
    make,
    named_weights,
    op_by_op,
    random_sentences,
    randomize,
    width,
)
from keras import ops
from layers.gradients import gradients

from keras_tagging.cells import ElmanCell, FeedForwardCell, GRUCell
from keras_tagging.layers import BidirectionalStack, ProjectedRNN
from keras_tagging.layers.side_by_side import fits, run_side_by_side

SEQUENCES = {"return_sequences": True, "zero_output_for_mask": True}
# in training these draw their gates
FIXED = [name for name in CASES if "bernoulli" not in name]
OTHERS = {
    "gru": lambda: GRUCell(UNITS),
    "gru-keep": lambda: GRUCell(UNITS, update="keep"),
    "elman": lambda: ElmanCell(UNITS),
}
# their steps read biases, peepholes or the weights of a depth gate
ALONE = ["highway-lstm", "highway-lstm-peepholes", "highway-lstm-first-layer-peepholes"]
ALONE += [name for name in CASES if name.startswith("rhn")]


def make_cell(name):
    return OTHERS[name]() if name in OTHERS else make(CASES[name])


def directions(name, **options):
    """A layer for each direction, with other weights, and what each reads."""
    rnns = [
        ProjectedRNN(make_cell(name), go_backwards=backwards, **options)
        for backwards in (False, True)
    ]
    for seed, rnn in enumerate(rnns):
        rnn.build((None, None, width(rnn.cell)))
        randomize(rnn, seed)
    return rnns, [random_sentences(width(rnns[0].cell), seed) for seed in (3, 4)]


def one_by_one(rnns, inputs, mask):
    """The layers by themselves, in the order of the sentence."""
    pairs = zip(rnns, inputs, strict=True)
    found = [rnn(x, mask=mask, training=True) for rnn, x in pairs]
    if not rnns[0].return_sequences:
        return found
    return [found[0], ops.flip(found[1], axis=1)]


def arrays(outputs):
    return [ops.convert_to_numpy(output) for output in outputs]


@pytest.mark.parametrize("name", [n for n in FIXED if n not in ALONE])
def test_outputs_are_those_of_the_papers_equations(name):
    rnns, inputs = directions(name, **SEQUENCES)
    assert fits(rnns, "float32")
    with op_by_op():
        found = arrays(run_side_by_side(rnns, inputs, MASK))
    for rnn, x, outputs in zip(rnns, inputs, found, strict=True):
        weights = named_weights(rnn.cell)
        for row, sentence, n in zip(outputs, x, LENGTHS, strict=True):
            assert not row[n:].any()
            if n:
                args = CASES[name], sentence[:n], weights, rnn.go_backwards
                np.testing.assert_allclose(row[:n], expected_run(*args), atol=2e-5)


GRADIENTS = ["outputs-joint", "block", "mixed", "gru", "gru-keep", "elman"]


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "padded"])
@pytest.mark.parametrize(
    "name",
    [
        name if name in GRADIENTS else pytest.param(name, marks=pytest.mark.one_backend)
        for name in [*FIXED, *OTHERS]
        if name not in ALONE
    ],
)
def test_gradients_are_those_of_each_layer_alone(name, mask):
    rnns, inputs = directions(name, **SEQUENCES)
    rng = np.random.default_rng(5)
    factors = [rng.normal(size=(*x.shape[:2], UNITS)) for x in inputs]
    variables = [keras.Variable(x) for x in inputs]
    variables += [v for rnn in rnns for v in rnn.trainable_variables]

    def loss(run):
        outputs = run(rnns, variables[:2], mask)
        pairs = zip(outputs, factors, strict=True)
        return sum(ops.sum(x * ops.cast(f, "float32")) for x, f in pairs)

    with op_by_op():
        found = gradients(variables, lambda: loss(run_side_by_side))
        expected = gradients(variables, lambda: loss(one_by_one))
    for variable, gradient, same in zip(variables, found, expected, strict=True):
        assert abs(same).max() > 1e-4, variable.path
        np.testing.assert_allclose(gradient, same, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["gru", "coupled-lstm", "mixed"])
def test_last_outputs(name):
    rnns, inputs = directions(name)
    with op_by_op():
        found = arrays(run_side_by_side(rnns, inputs, MASK))
        expected = arrays(one_by_one(rnns, inputs, MASK))
    assert found[0].shape == (len(LENGTHS), UNITS)
    for outputs, same in zip(found, expected, strict=True):
        np.testing.assert_allclose(outputs, same, atol=1e-5)


def test_with_the_cells_of_all_steps():
    rnns, inputs = directions("skip-none", return_cell=True, **SEQUENCES)
    with op_by_op():
        found = arrays(run_side_by_side(rnns, inputs, MASK))
        expected = arrays(one_by_one(rnns, inputs, MASK))
    assert found[0].shape[-1] == 2 * UNITS
    for outputs, same in zip(found, expected, strict=True):
        np.testing.assert_allclose(outputs, same, atol=1e-5)


@pytest.mark.one_backend
@pytest.mark.parametrize("name", ALONE)
def test_a_step_with_weights_of_its_own_has_a_loop_of_its_own(name):
    assert not fits(directions(name, **SEQUENCES)[0], "float32")


@pytest.mark.one_backend
def test_a_cell_that_reads_no_state():
    rnns = [ProjectedRNN(FeedForwardCell(UNITS), **SEQUENCES) for _ in range(2)]
    assert not fits(rnns, "float32")  # it has nothing to gain


@pytest.mark.one_backend
def test_other_dtypes_have_a_loop_of_their_own():
    """A layer that is called by itself casts what it reads."""
    options = {**SEQUENCES, "dtype": "mixed_bfloat16"}
    rnns = [ProjectedRNN(GRUCell(UNITS, dtype="mixed_bfloat16"), **options)] * 2
    assert fits(rnns, "bfloat16") and not fits(rnns, "float32")
    stack = BidirectionalStack(GRUCell(UNITS, dtype="mixed_bfloat16"), 1)
    x = random_sentences(FEATURES)
    training, found = (stack(x, mask=MASK, training=t) for t in (True, False))
    pair = [ops.convert_to_numpy(ops.cast(v, "float32")) for v in (training, found)]
    np.testing.assert_allclose(*pair, atol=1e-6)
