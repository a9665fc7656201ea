"""Parsers that learn from parsers: probabilities of moves, against NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from keras import ops
from models.parsers import (
    CROSSING,
    DEV,
    EMPTY,
    PLAIN,
    TRAIN,
    build,
    equal,
    fitted,
    random_parser,
    weights,
)
from training.test_soft_targets import softmax

import keras_tagging
from keras_tagging import Ensemble, SoftTargets
from keras_tagging.data import Corpus
from keras_tagging.models.distillation import Distillation
from keras_tagging.transitions import gold_moves

pytestmark = pytest.mark.usefixtures("eagerly")

SOME = [*TRAIN[:4], EMPTY, TRAIN[4]]
FEW = {"batch_size": 3, **PLAIN}


def up_to(longest, sentences):
    return [sentence for sentence in sentences if len(sentence) <= longest]


@pytest.fixture(scope="module")
def teacher():
    """Two parsers, of other networks, features and orders of labels."""
    other = build("ffn-parser", tags=None, seed=3)
    other.adapt(TRAIN[::-1])
    return Ensemble([random_parser(), other])


def by_hand(model, sentence):
    """The probabilities of all moves before each gold move, `(moves, outputs)`.

    And the gold moves. Each member reads the sentence alone; the state of the system is
    advanced move by move, and asked what is legal.
    """
    first = model.members[0]
    system, outputs = first.scorer.system, first.scorer.outputs
    names = first.move_column.labels
    heads = [*map(int, sentence.columns["head"])]
    total = np.zeros(())
    for member in model.members[::-1]:
        ids = [1 + member.labels.index(x) for x in sentence.columns["deprel"]]
        [moves] = gold_moves(system, [heads], [ids])
        tokens, *_ = member.encode([sentence]).batch(np.arange(1))
        read = moves.nodes[None], moves.node_labels[None]
        logits = ops.convert_to_numpy(member((tokens, *read)))
        own = softmax(logits[0].astype("float64"))
        order = [member.move_column.labels.index(name) for name in names]
        total = total + own[:, order] / len(model.members)
    # the moves are now those of the first one
    state = system.initial(np.array([len(heads)]), len(heads) + 2, np)
    for row, action, label in zip(total, moves.actions, moves.labels, strict=True):
        [may] = system.legal(state, np)
        row[[not may[a] for a in outputs.actions]] = 0
        row /= row.sum()
        state = system.advance(state, np.array([action]), np.array([label]), np)
    return total, outputs.of(moves.actions, moves.labels)


def test_probabilities_of_moves_are_means_of_the_members(teacher):
    found = teacher.predict_moves(SOME)
    for rows, sentence in zip(found, SOME, strict=True):
        if not sentence.tokens:
            assert rows.shape == (0, len(teacher.members[0].move_column))
            continue
        expected, gold = by_hand(teacher, sentence)
        assert rows.shape == expected.shape == (2 * len(sentence), rows.shape[1])
        assert np.allclose(rows, expected, atol=1e-5)
        assert (rows[np.arange(len(gold)), gold] > 0).all() and (rows == 0).any()


def test_soft_targets_of_moves(teacher, tmp_path):
    found = SoftTargets.of(teacher, [*CROSSING, SOME[0]])
    assert np.diff(found.offsets).tolist() == [0] * len(CROSSING) + [2 * len(SOME[0])]
    found = SoftTargets.of(teacher, SOME, top_k=3)
    [name] = found.labels
    assert name == "moves:arc-standard" and found.labels[name][0] == "SHIFT"
    assert np.diff(found.offsets).tolist() == [2 * len(s) for s in SOME]
    rows = np.concatenate(teacher.predict_moves(SOME))
    best = np.argsort(-rows, -1, kind="stable")[:, :3]
    assert (found.ids[name] == best).all()
    found.save(tmp_path / "moves.npz")
    assert SoftTargets.load(tmp_path / "moves.npz").digest() == found.digest()
    columns = {**SOME[0].columns, "deprel": SOME[0].columns["deprel"][::-1]}
    with pytest.raises(ValueError, match="other sentences"):
        found.check([replace(SOME[0], columns=columns), *SOME[1:]])
    found.check(SOME)


def test_the_loss_of_a_batch(teacher, weight=0.3, temperature=2.5):
    given = [*TRAIN[:3], TRAIN[5]]
    targets = SoftTargets.of(teacher, given, top_k=4)
    student = random_parser("lstm-parser", seed=9, **PLAIN)
    options = {"soft_weight": weight, "temperature": temperature}
    student.fit(given, soft_targets=targets, epochs=0, verbose=0, **options)
    batches = student.batches(given, student.settings.fitting)
    student.distil(
        batches,
        Distillation(targets, weight, temperature),
        given,
    )
    tokens, nodes, labels, y, mask = batches.arrays(np.arange(4))
    logits = student((tokens, nodes, labels))
    y = {key: ops.convert_to_tensor(x) for key, x in y.items()}
    loss = student.compute_loss(None, y, logits, ops.convert_to_tensor(mask))

    scores_of = ops.convert_to_numpy(logits)
    names, own = teacher.members[0].move_column.labels, student.move_column.labels
    expected = count = 0.0
    for row, sentence in enumerate(given):
        probabilities, gold = by_hand(teacher, sentence)
        for t, (p, right) in enumerate(zip(probabilities, gold, strict=True)):
            scores = scores_of[row, t].astype("float64")
            right = own.index(names[right])
            expected -= (1 - weight) * np.log(softmax(scores)[right])
            best = sorted(range(len(p)), key=lambda i: -p[i])[:4]
            powers = {own.index(names[i]): p[i] ** (1 / temperature) for i in best}
            logs = np.log(softmax(scores / temperature))
            for i, power in powers.items():
                q = power / sum(powers.values())
                expected -= weight * temperature**2 * q * logs[i]
            count += 1
    loss = float(ops.convert_to_numpy(loss))
    assert loss == pytest.approx(expected / count, rel=1e-3)
    assert mask.sum() == count


def test_without_weight_it_is_training_without_to_the_last_bit(teacher):
    sentences = [*SOME, *CROSSING]
    targets = SoftTargets.of(teacher, sentences)
    soft = {"soft_targets": targets, "soft_weight": 0.0, "temperature": 2.0}
    found = fitted(sentences=sentences, fitting=soft, **FEW)
    assert equal(weights(found), weights(fitted(sentences=sentences, **FEW)))
    soft["soft_weight"] = 0.5
    other = fitted(sentences=sentences, fitting=soft, **FEW)
    assert not equal(weights(other), weights(found))


# Text without annotation


def test_text_is_learnt_by_the_moves_of_the_teachers_trees(teacher):
    """One batch of each, in one step each, against sentences with those trees.

    Trees that the text has are not read.
    """
    settings = {**FEW, "batch_size": 50, "decay": None, "optimizer": "sgd"}
    settings |= {"clipnorm": None, "weight_average": 0.0, "learning_rate": 0.1}
    full, some = Corpus(TRAIN), [EMPTY, *up_to(3, TRAIN)]

    def student():
        model = build("lstm-parser", **settings)
        model.adapt(full.train)
        return model

    soft = {"soft_weight": 1.0, "temperature": 2.0, "epochs": 1, "verbose": 0}
    targets = SoftTargets.of(teacher, some)
    found = student()
    text = keras_tagging.Unlabelled(teacher, [EMPTY, *up_to(4, DEV)])
    found.fit(some, soft_targets=targets, unlabelled=text, **soft)
    expected, parsed = student(), teacher.parse(up_to(4, DEV))
    heads, others = ([s.columns["head"] for s in x] for x in (parsed, up_to(4, DEV)))
    assert heads != others
    for sentences in (some, parsed):
        own = SoftTargets.of(teacher, sentences)
        expected.fit(sentences, soft_targets=own, **soft)
    pairs = zip(weights(found), weights(expected), strict=True)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in pairs)
    alone = student()
    alone.fit(some, soft_targets=targets, **soft)
    assert not equal(weights(alone), weights(found))
