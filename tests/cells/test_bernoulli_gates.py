"""The stochastic gates of Wu et al. (2017), section 3.2, Eq. 17 and 18."""

import keras
import numpy as np
import pytest
from cells.cases import (
    BATCH,
    FEATURES,
    UNITS,
    after_step,
    block,
    build,
    build_with,
    make,
    mixed,
    named_weights,
    random_inputs,
    random_states,
    randomize,
    width,
)
from cells.test_degenerate_cells import assert_equal_steps
from keras import ops

from keras_tagging.layers import ProjectedRNN

MANY = 1500  # rows: 6000 draws, their mean within 0.03 (4.6 standard errors) of p
BLOCKS = pytest.mark.parametrize("kind", [block, mixed])
STOCHASTIC = pytest.mark.parametrize("gate", ["bernoulli", "learned-bernoulli"])


def far_from_zero(*shape, seed=5):
    """Skipped outputs of 1 to 2 and -2 to -1, so that a shortcut shows."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(1, 2, shape) * rng.choice([-1, 1], shape)
    return values.astype("float32")


def inputs_of(*leading):
    return np.concatenate(
        [random_inputs(*leading, FEATURES), far_from_zero(*leading, UNITS)], axis=-1
    )


@pytest.mark.one_backend
@BLOCKS
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("p, how", [(1.0, "plain"), (0.0, None)])
def test_certain_gates_equal_plain_and_no_shortcuts(kind, p, how, training):
    cell = build(make(kind(gate="bernoulli", bernoulli_p=p)))
    other = make(kind(internal=how, output=how, gate=None))
    other = build_with(other, named_weights(cell))
    assert_equal_steps(cell, other, inputs_of(BATCH), training=training)


def sampled_gates(cell, inputs):
    """The gates of a training step, from the two outputs they choose between.

    Asserts that each output is one of the two: all gates 0 or 1, and the same one in
    both places.
    """
    states = random_states(cell, len(inputs))
    config, weights = cell.get_config(), named_weights(cell)
    kind = mixed if config["self_connection"] else block
    shut = {"internal": None, "output": None, "gate": None}
    opened = {"gate": None}
    for place in ("internal", "output"):
        opened[place] = "plain" if config[place] == "gated" else None
    # A block without shortcut reads the layer input alone.
    h_0, h_1 = (
        after_step(other, inputs[:, : width(other)], states)[0]
        for other in (
            build_with(make(kind(**settings)), weights) for settings in (shut, opened)
        )
    )
    found = after_step(cell, inputs, states, training=True)[0]
    apart = abs(h_1 - h_0) > 1e-2
    assert apart.mean() > 0.9
    is_one = abs(found - h_1) < 1e-4
    is_zero = abs(found - h_0) < 1e-4
    assert (is_one | is_zero)[apart].all()
    return np.where(apart, is_one, np.nan)


PLACES = [
    {"internal": "gated", "output": "gated"},
    {"internal": "gated", "output": None},
    {"internal": None, "output": "gated"},
]


@BLOCKS
@STOCHASTIC
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_gates_are_drawn_with_p(kind, gate, places):
    """Each is 0 or 1, one sample in both places, and its mean is p."""
    settings = {"bernoulli_p": 0.3} if gate == "bernoulli" else {}
    cell = build(make(kind(gate=gate, **settings, **places)))
    inputs = inputs_of(MANY)
    gates = sampled_gates(cell, inputs)
    if gate == "bernoulli":
        assert abs(np.nanmean(gates) - 0.3) < 0.03
        # Independent in the units of one row: all equal would be seldom mixed.
        mixed_rows = (np.nanmin(gates, 1) == 0) & (np.nanmax(gates, 1) == 1)
        assert 0.5 < mixed_rows.mean()
        return
    weights = named_weights(cell)
    logits = inputs[:, :FEATURES] @ weights["gate_kernel"] + weights["gate_bias"]
    p = 1 / (1 + np.exp(-logits))
    for likely in (p > 0.8, p < 0.2, (p > 0.3) & (p < 0.7)):
        assert likely.sum() > 300
        assert abs(np.nanmean((gates - p)[likely])) < 0.08


@STOCHASTIC
def test_every_time_step_and_call_draws_anew(gate):
    # Without recurrent weights equal inputs give equal outputs, but for the gates.
    cell = make(block(gate=gate, internal=None), recurrent_initializer="zeros")
    layer = ProjectedRNN(cell, return_sequences=True)
    sentence = np.tile(inputs_of(1, 1), (20, 30, 1))
    first, second, plain = (
        ops.convert_to_numpy(layer(sentence, training=training))
        for training in (True, True, False)
    )
    assert np.ptp(plain, axis=(0, 1)).max() < 1e-6
    for axis in (0, 1):  # sentences, time steps
        assert (np.ptp(first, axis=axis) > 1e-2).any()
    assert abs(first - second).max() > 1e-2


def product(target, output):
    """A loss whose gradient with respect to the output is the target."""
    return ops.sum(target * output, axis=-1)


@pytest.mark.parametrize("compiled", [False, True])
def test_gradient_of_a_learned_gate_is_straight_through(compiled):
    """dL/dg stands for dL/dp, so dL/dH = x^T (dL/dh * k * p * (1 - p)).

    It depends on no sample where the shortcut is added to the output alone.
    """
    layer = ProjectedRNN(
        make(block(gate="learned-bernoulli", internal=None)), return_sequences=True
    )
    inputs = keras.Input((1, FEATURES + UNITS))
    model = keras.Model(inputs, layer(inputs))
    weights = named_weights(randomize(layer.cell))
    model.compile(
        keras.optimizers.SGD(1.0),
        product,
        run_eagerly=not compiled and keras.backend.backend() != "jax",
        jit_compile=False,
    )
    x = inputs_of(BATCH, 1)
    target = random_inputs(BATCH, 1, UNITS, seed=9)
    model.train_on_batch(x, target)
    x, k = x[:, 0, :FEATURES].astype("float64"), x[:, 0, FEATURES:]
    p = 1 / (1 + np.exp(-(x @ weights["gate_kernel"] + weights["gate_bias"])))
    slope = target[:, 0] * k * p * (1 - p) / BATCH
    after = named_weights(layer.cell)
    for name, gradient in (("gate_kernel", x.T @ slope), ("gate_bias", slope.sum(0))):
        np.testing.assert_allclose(
            weights[name] - after[name], gradient, rtol=1e-4, atol=1e-5
        )
