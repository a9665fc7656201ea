"""The search over the mean of several networks, against all sequences of moves."""

import numpy as np
import pytest
from keras import ops

from keras_tagging.cells import ElmanCell
from keras_tagging.layers import TransitionScorer
from keras_tagging.layers.transition_scorer import parse_jointly
from keras_tagging.transitions import JointScorer, transition_system

pytestmark = pytest.mark.usefixtures("eagerly")

SIZE, WORDS = 3, 3
NAMES = [["a", "b"], ["b", "a"]]  # each scorer numbers its labels in its own order


def make_scorer(seed, system="arc-standard", labels=2):
    scorer = TransitionScorer(
        ElmanCell(4, activation="tanh"),  # the ReLU gives equal scores
        labels,
        label_dim=2,
        system=system,
        beam_width=200,
    )
    scorer.build((None, None, SIZE))
    rng = np.random.default_rng(seed)
    scorer.set_weights([rng.normal(0, 1, w.shape) for w in scorer.get_weights()])
    return scorer


def sequences(scorer):
    """All sequences of moves of a sentence: (action, label) each, and what is read."""
    system, outputs = scorer.system, scorer.outputs
    ended = []

    def go_on(state, moves, read):
        may = system.legal(state, np)[0]
        if not may.any():
            ended.append((moves, read, system.result(state, np)))
            return
        here = system.features(state, np)
        legal = [i for i, action in enumerate(outputs.actions) if may[action]]
        for i in legal:
            action, label = outputs.actions[i : i + 1], outputs.labels[i : i + 1]
            after = system.advance(state, action, label, np)
            go_on(after, [*moves, (i, legal)], [*read, here])

    go_on(system.initial(np.array([WORDS], "int32"), WORDS + 2, np), [], [])
    return ended


def all_logits(scorer, tokens, paths, renamed):
    """The logits of each step of each sequence, by the layer as it is in training."""
    rows = []
    for part in (0, 1):
        read = [[step[part][0] for step in read] for _, read, _ in paths]
        rows.append(np.array(read, "int32"))
    nodes, labels = rows
    labels = np.array([0, *renamed], "int32")[labels]
    tokens = np.repeat(tokens, len(paths), 0)
    logits = ops.convert_to_numpy(scorer(tokens, nodes, labels)).astype("float64")
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_the_best_of_all_sequences():
    scorers = [make_scorer(i) for i in (11, 12)]
    paths = sequences(scorers[0])
    assert len({len(moves) for moves, _, _ in paths}) == 1
    rng, sentences = np.random.default_rng(0), 4
    lengths = np.array([WORDS] * sentences)
    tokens = rng.normal(0, 1, (2, sentences, WORDS, SIZE)).astype("float32")
    joint = trees(parse_jointly(JointScorer(scorers, NAMES), tokens, lengths))
    first, second = (
        trees(scorer.parse(own, lengths), names)
        for scorer, own, names in zip(
            scorers, tokens, ([0, 1, 2], [0, 2, 1]), strict=True
        )
    )
    for i in range(sentences):
        one = all_logits(scorers[0], tokens[0, i : i + 1], paths, [1, 2])
        other = all_logits(scorers[1], tokens[1, i : i + 1], paths, [2, 1])
        # the first one's outputs: SHIFT, two of LEFT_ARC, two of RIGHT_ARC
        mean = (one + other[..., [0, 2, 1, 4, 3]]) / 2
        scores = [
            sum(
                np.log(mean[i, t, move] / mean[i, t, legal].sum())
                for t, (move, legal) in enumerate(moves)
            )
            for i, (moves, _, _) in enumerate(paths)
        ]
        [gold] = trees(paths[int(np.argmax(scores))][2])
        assert joint[i] == gold
    # trees that neither network finds alone
    alone = zip(first, second, strict=True)
    assert any(x not in pair for x, pair in zip(joint, alone, strict=True))


def trees(found, names=(0, 1, 2)):
    """Heads and labels of each sentence, by the numbers of the first network."""
    rows = zip(*(ops.convert_to_numpy(x).tolist() for x in found), strict=True)
    return [(heads, [names[label] for label in labels]) for heads, labels in rows]


def test_what_cannot_be_joined():
    with pytest.raises(ValueError, match="systems are 'arc-standard' and 'swap'"):
        JointScorer([make_scorer(1), make_scorer(1, "swap")])
    with pytest.raises(ValueError, match=r"labels of the parsers differ \(b, c\)"):
        JointScorer([make_scorer(1), make_scorer(1)], [["a", "b"], ["a", "c"]])


def test_arcs_that_any_allows():
    one, other = make_scorer(1), make_scorer(2)
    joint = JointScorer([one, other], NAMES)
    assert joint.arc_masks() is None
    one.arc_labels, other.arc_labels = ((1,), (1,)), ((2,), (1,))
    # label 2 of the second is "a", too; its 1 is "b"
    root, word = joint.arc_masks()
    assert root.tolist() == [True, True, False, True, False]
    assert word.tolist() == [True] * 5
    assert transition_system("arc-standard") is joint.system
