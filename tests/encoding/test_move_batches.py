"""Batches of moves against the sentences they are cut from."""

import numpy as np
import pytest
from transitions.test_dependency_systems import oracle

from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.encoding.move_batches import EncodedMoves, MoveBatches
from keras_tagging.transitions import Outputs, transition_system
from keras_tagging.transitions.arc_standard import LEFT_ARC, RIGHT_ARC, SHIFT

ARC_STANDARD, NUM_LABELS = transition_system("arc-standard"), 3
OUTPUTS = Outputs(ARC_STANDARD, {"labels": NUM_LABELS})
HEADS = [[2, 0, 2], [0], [], [0, 1, 2, 3], [2, 0], [0]]
LABELS = [[1, 2, 3], [3], [], [2, 1, 1, 3], [1, 2], [1]]


def make_batches(**options):
    lengths = [*map(len, HEADS)]
    ids = 1 + np.arange(2 * sum(lengths), dtype="int32").reshape(-1, 2)
    moves = EncodedMoves.of(ARC_STANDARD, OUTPUTS, oracle(HEADS, LABELS))
    return MoveBatches(
        EncodedSentences(ids, np.cumsum([0, *lengths])), moves, **options
    )


def test_outputs_of_moves():
    """0 is SHIFT, 1 to V the left arcs, V + 1 to 2 V the right ones."""
    moves = np.array([SHIFT, LEFT_ARC, LEFT_ARC, RIGHT_ARC, RIGHT_ARC])
    labels = np.array([0, 1, 3, 1, 3])
    assert OUTPUTS.of(moves, labels).tolist() == [0, 1, 3, 4, 6]
    assert len(OUTPUTS) == 7


def test_a_sentence_by_hand():
    """1 <- 2 -> 3: shift, shift, left, shift, right, right."""
    encoded = EncodedMoves.of(ARC_STANDARD, OUTPUTS, oracle(HEADS, LABELS)[:1])
    assert encoded.targets.tolist() == [0, 0, 1, 0, 3 + 3, 3 + 2]


@pytest.mark.parametrize("multiple", [1, 4])
@pytest.mark.parametrize("sizes", [{"batch_size": 2}, {"token_budget": 8}], ids=str)
def test_every_sentence_is_in_one_batch_with_its_moves(sizes, multiple):
    batches = make_batches(multiple=multiple, seed=1, **sizes)
    expected = {}
    for number, moves in enumerate(oracle(HEADS, LABELS)):
        ids = batches.sentences.ids[slice(*batches.sentences.offsets[number:][:2])]
        targets = OUTPUTS.of(moves.actions, moves.labels)
        expected[ids.tobytes()] = moves.nodes, moves.node_labels, targets
    sizes = [len(targets) for _, _, targets in expected.values()]
    assert sizes[0] == 3 * 2 and batches.num_targets == sum(sizes)
    sentences = 0
    for ids, *others, mask in batches:
        assert ids.dtype == "int32" and mask.dtype == "float32"
        assert ids.shape[1] % multiple == mask.shape[1] % (2 * multiple) == 0
        assert mask.shape[1] == 2 * ids.shape[1]
        for row, *parts, real in zip(ids, *others, mask, strict=True):
            n = int((row[:, 0] > 0).sum())
            wanted = expected[row[:n].tobytes()]
            size = len(wanted[-1])
            assert real.tolist() == [1] * size + [0] * (len(real) - size)
            sentences += n > 0
            for part, moves in zip(parts, wanted, strict=True):
                assert part.dtype == "int32"
                np.testing.assert_array_equal(part[:size], moves)
                assert not part[size:].any()
    assert sentences == sum(map(bool, HEADS))


def test_the_order_depends_on_seed_and_epoch():
    def order(seed, epoch):
        batches = make_batches(batch_size=1, seed=seed)
        batches.epoch = epoch
        return [int(ids[0, 0, 0]) for ids, *_ in batches]

    assert order(1, 0) == order(1, 0)
    assert len({tuple(order(*which)) for which in ((1, 0), (1, 1), (2, 0))}) > 1


def test_no_sentences():
    moves = EncodedMoves.of(ARC_STANDARD, OUTPUTS, [])
    assert [len(part) for part in (moves.nodes, moves.labels, moves.targets)] == [0] * 3
    nothing = EncodedSentences(np.zeros((0, 2), "int32"), np.zeros(1, int))
    assert len(MoveBatches(nothing, moves, batch_size=2)) == 0
