import numpy as np
import pytest

from keras_tagging.encoding.batching import (
    EncodedSentences,
    TrainingBatches,
    forgetting_rates,
    padded_rows,
    plan_batches,
    slices,
)
from keras_tagging.encoding.vocabulary import UNKNOWN_ID

LENGTHS = np.array([3, 0, 7, 1, 1, 12, 4, 3, 0, 2, 5, 3, 9, 1])
SIZES = [{"batch_size": size} for size in (1, 3, 100)]
SIZES += [{"token_budget": size} for size in (1, 10, 1000)]


def encoded(lengths=LENGTHS, seed=0):
    """Words (column 0) from few, the token's position in the corpus in column 1."""
    rng = np.random.default_rng(seed)
    total = int(np.sum(lengths))
    words = rng.integers(1, 20, total)
    ids = np.stack([words, np.arange(1, total + 1)], 1).astype("int32")
    targets = rng.integers(-1, 5, total).astype("int32")
    return EncodedSentences(ids, np.cumsum([0, *lengths]), targets)


@pytest.mark.parametrize("budget", [1, 5, 10, 30])
def test_token_budget_holds_with_padding_and_batches_are_full(budget):
    batches = plan_batches(LENGTHS, token_budget=budget)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * LENGTHS[batch].max() <= budget
    for batch, after in zip(batches, batches[1:], strict=False):
        # in order of length: one sentence more would have been too many
        assert (len(batch) + 1) * LENGTHS[after].min() > budget


def test_batch_pads_on_the_right():
    sentences = EncodedSentences(
        ids=np.array([[5, 1], [6, 2], [7, 1], [8, 2]], "int32"),
        offsets=np.array([0, 1, 1, 4]),
        targets=np.array([2, -1, 0, 1], "int32"),
    )
    ids, targets, mask = sentences.batch(np.array([2, 0, 1]))
    assert ids.tolist() == [
        [[6, 2], [7, 1], [8, 2]],
        [[5, 1], [0, 0], [0, 0]],
        [[0, 0], [0, 0], [0, 0]],
    ]
    assert targets.tolist() == [[-1, 0, 1], [2, -1, -1], [-1, -1, -1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert (ids.dtype, targets.dtype, mask.dtype) == ("int32", "int32", "float32")


def epochs(batches, *numbers):
    """The content of some epochs, each as a list of (ids, targets, mask) lists."""
    content = []
    for batches.epoch in numbers:
        content.append([[part.tolist() for part in batch] for batch in batches])
    return content


@pytest.mark.parametrize("sizes", [SIZES[0], SIZES[1], SIZES[4]], ids=str)
def test_epochs_depend_on_seed_and_number_alone(sizes):
    options = {"unknown_rate": 0.5, **sizes}
    batches = TrainingBatches(encoded(), seed=3, **options)
    first, second, again = epochs(batches, 0, 1, 0)
    assert first == again != second and len(first) == len(second) == len(batches)
    # a run that begins with epoch 1 sees what the other saw there
    assert epochs(TrainingBatches(encoded(), seed=3, **options), 1) == [second]
    assert epochs(TrainingBatches(encoded(), seed=4, **options), 0) != [first]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_epoch_has_every_token_once_with_its_target(sizes):
    sentences = encoded()
    for epoch in epochs(TrainingBatches(sentences, **sizes), 0, 1):
        found = []
        for ids, targets, mask in epoch:
            ids, targets, real = np.array(ids), np.array(targets), np.array(mask) > 0
            assert not ids[~real].any() and (targets[~real] == -1).all()
            found += np.column_stack([ids[real], targets[real]]).tolist()
        expected = np.column_stack([sentences.ids, sentences.targets]).tolist()
        assert sorted(found, key=lambda row: row[1]) == expected


def test_only_words_seen_once_become_unknown_at_about_the_rate():
    total, once, rate = 4000, 1000, 0.3
    rng = np.random.default_rng(0)
    words = np.concatenate([np.arange(2, 2 + once), np.full(total - once, 1500)])
    ids = np.stack([rng.permutation(words), np.full(total, 7)], 1).astype("int32")
    sentences = EncodedSentences(
        ids, np.arange(0, total + 1, 10), np.zeros(total, "int32")
    )
    batches = TrainingBatches(sentences, token_budget=100, unknown_rate=rate)
    dropped = []
    for batches.epoch in range(2):
        found = np.concatenate([ids[mask > 0] for ids, _, mask in batches])
        assert (found[:, 1] == 7).all()
        assert (found[:, 0] == 1500).sum() == total - once
        kept = found[(found[:, 0] != 1500) & (found[:, 0] != UNKNOWN_ID), 0]
        assert (found[:, 0] == UNKNOWN_ID).sum() == once - len(set(kept.tolist()))
        assert abs((found[:, 0] == UNKNOWN_ID).sum() - rate * once) < 60
        dropped.append(set(range(2, 2 + once)) - set(kept.tolist()))
    assert dropped[0] != dropped[1]
    np.testing.assert_array_equal(sentences.ids, ids)


def test_word_dropout_forgets_rare_words_more_often():
    """alpha / (alpha + n); a word seen once at the greater of the two rates."""
    counts = np.array([0, 0, 1, 4, 16, 979])  # by id
    words = np.repeat(np.arange(6), counts).astype("int32")
    sentences = EncodedSentences(
        words[:, None], np.arange(0, 1001, 10), np.zeros(1000, "int32")
    )
    batches = TrainingBatches(
        sentences, token_budget=100, unknown_rate=0.1, word_dropout=1.0
    )
    kept = np.zeros(6)
    for batches.epoch in range(200):
        found = np.concatenate([ids[mask > 0, 0] for ids, _, mask in batches])
        kept += np.bincount(found, minlength=6)
    shares = 1 - kept[2:] / counts[2:] / 200
    np.testing.assert_allclose(shares, 1 / (1 + counts[2:]), atol=0.08)
    assert abs(shares[2] - 1 / 17) < 0.02 and 0.0005 < shares[3] < 0.002
    assert forgetting_rates(counts, 0.9, 1.0)[2] == 0.9
    assert forgetting_rates(counts, 0.9, 1.0)[0] == 0.0


def test_without_a_word_column_nothing_becomes_unknown():
    sentences = encoded()
    batches = TrainingBatches(
        sentences,
        batch_size=100,
        unknown_rate=1.0,
        word_dropout=1.0,
        word_column=None,
    )
    ((ids, _, mask),) = batches
    found = sorted(ids[mask > 0].tolist(), key=lambda row: row[1])
    assert found == sentences.ids.tolist()


@pytest.mark.parametrize("sizes", [SIZES[0], SIZES[1], SIZES[4]], ids=str)
def test_padded_lengths_are_multiples_within_the_budget(sizes):
    sentences = encoded()
    batches = TrainingBatches(sentences, multiple=4, **sizes)
    found = []
    for ids, targets, mask in batches:
        assert ids.shape[1] % 4 == 0 and mask[:, -4:].any()
        assert len(ids) == 1 or mask.size <= sizes.get("token_budget", mask.size)
        assert not ids[mask == 0].any() and (targets[mask == 0] == -1).all()
        found += ids[mask > 0].tolist()
    assert sorted(found, key=lambda row: row[1]) == sentences.ids.tolist()
    assert len(list(batches)) == len(batches)


@pytest.mark.parametrize(
    "rows, most, expected",
    [(1, 9, 1), (2, 9, 2), (3, 9, 4), (5, 9, 8), (9, 9, 9), (5, 6, 6), (3, 0, 3)],
)
def test_rows_are_a_power_of_two_or_a_full_batch(rows, most, expected):
    assert padded_rows(rows, most) == expected


def test_rows_of_padding_follow_the_sentences():
    ids, targets, mask = encoded().batch(np.array([0, 6, 3]), 4, batch_size=9)
    assert (ids.shape, targets.shape, mask.shape) == ((4, 4, 2), (4, 4), (4, 4))
    assert mask.sum(axis=1).tolist() == [3, 4, 1, 0]
    assert not ids[3].any() and (targets[3] == -1).all()
    # only where few shapes are wanted, and not beyond the size of a batch
    for multiple, sizes in [(1, {"batch_size": 9}), (4, {}), (4, {"batch_size": 3})]:
        assert len(encoded().batch(np.array([0, 6, 3]), multiple, **sizes)[0]) == 3
    assert encoded().batch(np.array([1, 8]), 4, token_budget=9)[0].shape == (2, 0, 2)


@pytest.mark.parametrize(
    "sizes, most",
    [({"batch_size": 32}, 6), ({"token_budget": 500}, 16), ({"batch_size": 1}, 5)],
    ids=str,
)
def test_multiples_give_few_shapes(sizes, most):
    lengths = np.random.default_rng(0).integers(0, 40, 999)
    batches = TrainingBatches(encoded(lengths), multiple=8, **sizes)
    shapes = {mask.shape for batches.epoch in range(3) for _, _, mask in batches}
    assert 5 <= len(shapes) <= most
    full = {(rows, time) for rows, time in shapes if rows & (rows - 1)}
    assert all(rows == 500 // time for rows, time in full)


def test_slices_of_a_stream_grow():
    sizes = [len(part) for part in slices(range(9000), growing=True)]
    assert sizes == [125, 250, 500, 1000, 2000, 2000, 2000, 1125]
    assert [len(part) for part in slices(range(2001))] == [2000, 1]
    # 2 ** 21 entries at once, 25 tokens a sentence
    assert [len(part) for part in slices(range(300), entries=425)] == [197, 103]
    whole = [i for part in slices(range(300), 425, growing=True) for i in part]
    assert whole == list(range(300))
