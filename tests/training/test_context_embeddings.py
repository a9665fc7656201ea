"""The window language model against NumPy, and what both kinds of tables are worth."""

import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops
from reference import window_lm

from keras_tagging.training import (
    cbow_embeddings,
    context_embeddings,
    window_embeddings,
)
from keras_tagging.utils.seeds import seeds

ROWS = 8
BOTH = pytest.mark.parametrize("method", [window_embeddings, cbow_embeddings])


def ragged(seed=0, rows=ROWS):
    """Random ids, some of them nothing, in sentences of 0 to 9 tokens."""
    rng = np.random.default_rng(seed)
    lengths = np.array([6, 1, 0, 9, 2, 4, 0])
    return rng.integers(-2, rows, lengths.sum()), lengths


def pairs(count=300, seed=0):
    """Sentences in which pair k follows pair k - 1, and chance chooses from the pair.

    The words 0 and 1, 2 and 3, 4 and 5, 6 and 7 can replace each other everywhere.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 12, count)
    starts = rng.integers(0, ROWS // 2, count)
    sentences = [
        2 * ((start + np.arange(length)) % (ROWS // 2)) + rng.integers(0, 2, length)
        for start, length in zip(starts, lengths, strict=True)
    ]
    return np.concatenate(sentences), lengths


def trained(monkeypatch, *args, **kwargs):
    """The table, and the model it was taken from."""
    models = []

    def keep(*of):
        models.append(make(*of))
        return models[0]

    make = context_embeddings.window_model
    monkeypatch.setattr(context_embeddings, "window_model", keep)
    return window_embeddings(*args, **kwargs), models[0]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("context, units", [(1, 3), (6, 4)])
def test_logits_and_loss_equal_the_reference(context, units, monkeypatch):
    ids, lengths = ragged()
    options = dict(context=context, units=units, epochs=1)
    _, model = trained(monkeypatch, ids, lengths, ROWS, 4, **options)
    randomize(model, 1)
    weights = [w.astype("float64") for w in model.get_weights()]
    windows, targets = context_embeddings.windows_of(ids, lengths, context)
    expected = window_lm.positions(ids, lengths, context)
    assert targets.tolist() == [target for target, _ in expected]
    np.testing.assert_allclose(
        ops.convert_to_numpy(model(windows)),
        [window_lm.logits(around, *weights) for _, around in expected],
        rtol=1e-4,
        atol=1e-5,
    )
    loss = model.evaluate(windows, targets, batch_size=len(targets), verbose=0)
    cost = window_lm.cross_entropy(ids, lengths, context, weights)
    assert loss == pytest.approx(cost, rel=1e-5)


def test_windows_end_with_the_sentence_and_nothing_is_not_predicted():
    ids = np.array([1, 2, 3, 4, -7, 5, 0])
    windows, targets = context_embeddings.windows_of(ids, np.array([3, 0, 3, 1]), 2)
    assert targets.tolist() == [1, 2, 3, 4, 5, 0]
    assert windows.tolist() == [
        [-1, -1, 2, 3],
        [-1, 1, 3, -1],
        [1, 2, -1, -1],
        [-1, -1, -1, 5],
        [4, -1, -1, -1],
        [-1, -1, -1, -1],
    ]


@pytest.mark.usefixtures("eager")
@BOTH
def test_seed_decides_and_global_random_states_do_not_matter(method):
    ids, lengths = pairs(8)
    tables, later = [], []
    for seed, world in [(3, 1), (3, 2), (4, 2)]:
        keras.utils.set_random_seed(world)
        tables.append(method(ids, lengths, ROWS, 4, context=2, epochs=2, seed=seed))
        drawn = keras.random.normal((2,)), np.random.normal(size=2)
        later.append(np.concatenate([ops.convert_to_numpy(x) for x in drawn]))
    np.testing.assert_array_equal(tables[0], tables[1])
    assert np.abs(tables[1] - tables[2]).min() > 0
    keras.utils.set_random_seed(2)
    drawn = keras.random.normal((2,)), np.random.normal(size=2)
    for found in later[1:]:
        np.testing.assert_array_equal(
            found, np.concatenate([ops.convert_to_numpy(x) for x in drawn])
        )


def assert_pairs_are_neighbours(table):
    """Each word is much closer to the other of its pair than to the rest."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosines = unit @ unit.T
    pair = np.arange(ROWS) // 2
    own = cosines[np.arange(ROWS), np.arange(ROWS) ^ 1]
    others = np.where(pair == pair[:, None], -1, cosines).max(axis=1)
    assert (own > 0.8).all() and (own > others + 0.3).all()


def test_language_model_learns_what_depends_on_neighbours(monkeypatch):
    ids, lengths = pairs()
    options = dict(context=2, units=20, epochs=5, batch_size=32, learning_rate=0.01)
    table, model = trained(monkeypatch, ids, lengths, ROWS, 16, **options)
    assert table.shape == (ROWS, 16) and table.dtype == np.float32
    np.testing.assert_array_equal(table, model.get_weights()[0])
    cost = window_lm.cross_entropy(*pairs(30, seed=1), 2, model.get_weights())
    # each word is one of a pair that its neighbours give away: 1 of 3 bits is left
    assert cost == pytest.approx(np.log(2), abs=0.05)
    shares = np.bincount(ids) / len(ids)
    assert cost < 0.5 * -(shares * np.log(shares)).sum()
    assert_pairs_are_neighbours(table)


def test_cbow_learns_which_words_replace_each_other():
    table = cbow_embeddings(*pairs(), ROWS, 16, context=2)
    assert table.shape == (ROWS, 16) and table.dtype == np.float32
    assert_pairs_are_neighbours(table)


def test_rows_that_never_occur_keep_their_first_values(capsys):
    ids = [1, -1, 2, 3, 4, -1, 6, 7]
    table = window_embeddings(ids, [3, 5], ROWS, 4, context=2, units=5, seed=7)
    assert capsys.readouterr().out == ""
    first = context_embeddings.window_model(ROWS, 4, 2, 5, seeds(7)).get_weights()[0]
    assert np.abs(first).max() <= 0.05 and first.std() > 0.02
    changed = np.abs(table - first).max(axis=1) > 1e-3
    assert changed.tolist() == [row not in (0, 5) for row in range(ROWS)]


def test_scale_of_cbow():
    ids, lengths = pairs(40)
    rows = ROWS + 3
    table = cbow_embeddings(ids + 2, lengths, rows, 50, seed=5)
    unseen = [0, 1, rows - 1]
    assert np.abs(table[unseen]).max() <= 0.05 and table[unseen].std() > 0.02
    scale = np.sqrt(np.mean(np.square(table[2:-1])))
    assert scale == pytest.approx(0.05 / np.sqrt(3), rel=1e-5)
    again = cbow_embeddings(ids + 2, lengths, rows, 50, seed=5)
    np.testing.assert_array_equal(again, table)
    other = cbow_embeddings(ids + 2, lengths, rows, 50, seed=6)
    assert np.abs(other[unseen] - table[unseen]).max() > 0.01


def test_cbow_leaves_nothing_out_but_nothing():
    ids, lengths = pairs(40)
    expected = cbow_embeddings(ids, lengths, ROWS, 4)
    # a token that is nothing after each sentence
    ends = np.cumsum(lengths)
    found = cbow_embeddings(np.insert(ids, ends, -1), lengths + 1, ROWS, 4)
    np.testing.assert_array_equal(found, expected)
    # gensim would drop all but 10,000 tokens
    long = np.append(np.zeros(10_000, int), [1, 2, 1, 2])
    cut, whole = (
        cbow_embeddings(long, lengths, 3, 4, epochs=1)
        for lengths in ([10_000, 4], [10_004])
    )
    np.testing.assert_array_equal(whole, cut)
