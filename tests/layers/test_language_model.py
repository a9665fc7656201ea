"""The objective of Rei (2017) against NumPy, and what it may and may not see."""

import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack, LanguageModelLoss

LENGTHS = np.array([4, 1, 0, 3])
TIME, SIZE, WORDS = 5, 3, 9
MASK = np.arange(TIME) < LENGTHS[:, None]
RNG = np.random.default_rng(0)
STATES = RNG.normal(0, 1, (*MASK.shape, 2 * SIZE)).astype("float32")
IDS = RNG.integers(1, WORDS, MASK.shape) * MASK


def layer(**options):
    found = LanguageModelLoss(WORDS, units=4, seed=1, **options)
    found.build(STATES.shape, STATES.shape, IDS.shape)
    return randomize(found, 2)


def reference(found, states, ids):
    """Sentence by sentence, token by token."""
    weights = {w.name: ops.convert_to_numpy(w).astype("float64") for w in found.weights}
    classes = weights["forward_output"].shape[1]
    total, count = 0.0, LENGTHS.sum()
    for rows, words, n in zip(states, ids, LENGTHS, strict=True):
        words = [w if w < classes else 1 for w in words[:n]]
        around = [0, *words, 0]
        for t in range(n):
            for side, h, target in (
                ("forward", rows[t, :SIZE], around[t + 2]),
                ("backward", rows[t, SIZE:], around[t]),
            ):
                m = np.tanh(
                    h @ weights[f"{side}_kernel"] + weights[f"{side}_kernel_bias"]
                )
                z = m @ weights[f"{side}_output"] + weights[f"{side}_output_bias"]
                p = np.exp(z) / np.exp(z).sum()
                total -= np.log(p[target])
    return total / count


@pytest.mark.parametrize("most_words", [7500, WORDS, 5])
def test_the_loss(most_words):
    found = layer(most_words=most_words)
    assert found.forward_output.shape == (4, min(WORDS, most_words))
    loss = ops.convert_to_numpy(found.language_loss(STATES, IDS, MASK))
    assert loss == pytest.approx(reference(found, STATES, IDS), rel=1e-5)
    # the padding counts for nothing
    junk, words = STATES.copy(), IDS.copy()
    junk[~MASK], words[~MASK] = 9.0, 3
    again = ops.convert_to_numpy(found.language_loss(junk, words, MASK))
    assert again == pytest.approx(float(loss), rel=1e-6)


def test_no_token_at_all():
    loss = layer().language_loss(STATES, IDS, np.zeros_like(MASK))
    assert float(ops.convert_to_numpy(loss)) == 0


def test_inputs_pass_and_the_loss_is_added_in_training_only():
    found = layer(weight=0.5)
    x = np.ones((*MASK.shape, 2), "float32")
    out = found(x, STATES, IDS, mask=MASK, training=False)
    np.testing.assert_array_equal(ops.convert_to_numpy(out), x)
    assert not found.losses
    found(x, STATES, IDS, mask=MASK, training=True)
    [loss] = found.losses
    expected = 0.5 * reference(found, STATES, IDS)
    assert float(ops.convert_to_numpy(loss)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("merge", ["top", "layer"])
def test_the_directions_know_one_side_only(merge):
    """A change behind a token does not reach its forward half, and the reverse."""
    stack = BidirectionalStack(
        GRUCell(4), num_layers=2, merge=merge, return_directions=True
    )
    x = RNG.normal(0, 1, (2, TIME, 3)).astype("float32")
    both, before = map(ops.convert_to_numpy, stack(x))
    changed = x.copy()
    changed[:, 2] += 1
    other, after = map(ops.convert_to_numpy, stack(changed))
    assert both.shape == other.shape == before.shape == (2, TIME, 8)
    moved = np.abs(before - after).max((0,)) > 1e-6
    assert not moved[:2, :4].any() and not moved[3:, 4:].any()
    assert moved[2:, :4].all(1).all() and moved[:3, 4:].all(1).all()
    if merge == "top":
        np.testing.assert_array_equal(before, both)
    plain = BidirectionalStack.from_config(
        {**stack.get_config(), "return_directions": False}
    )
    plain.build(x.shape)
    plain.set_weights(stack.get_weights())
    np.testing.assert_allclose(ops.convert_to_numpy(plain(x)), both, atol=1e-6)


def test_the_padding_of_a_model_is_not_learnt():
    """Keras hands the mask of several inputs over by another name."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(WORDS, 4, mask_zero=True)(ids)
    x, directions = BidirectionalStack(GRUCell(3), 1, return_directions=True)(x)
    found = LanguageModelLoss(WORDS, weight=1.0, seed=1)
    model = keras.Model(ids, [found(x, directions, ids), directions])
    randomize(model, 2)
    _, states = model(IDS, training=True)
    [loss] = map(ops.convert_to_numpy, model.losses)
    expected = ops.convert_to_numpy(found.language_loss(states, IDS, MASK))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert abs(loss - ops.convert_to_numpy(found.language_loss(states, IDS))) > 0.01
