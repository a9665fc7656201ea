"""A network that learns the moves of derivations by heart."""

import keras
import numpy as np
from ccg.sentences import derivations
from keras import ops
from layers.scorers import CELLS

from keras_tagging.ccg import Grammar
from keras_tagging.layers import TransitionScorer
from keras_tagging.metrics import derivation_scores
from keras_tagging.transitions import RuleTables, ccg_system, derivation_moves
from keras_tagging.transitions import system as system_module

SIZE = 16


def test_derivations_are_learnt_by_heart(monkeypatch):
    gold = derivations()
    tables = RuleTables(Grammar.from_derivations(gold))
    system = ccg_system(tables)
    monkeypatch.setitem(system_module._SYSTEMS, "ccg", system)
    keras.utils.set_random_seed(0)
    cell, settings, _ = CELLS["gru"]
    scorer = TransitionScorer(
        cell(32, **settings),
        len(tables.categories),
        label_dim=8,
        system="ccg",
        truncation_limit=None,
        beam_width=3,
    )
    lengths = np.array([*map(len, gold)], "int32")
    words = [[leaf.word for leaf in one.leaves] for one in gold]
    known = sorted({word for some in words for word in some})
    vectors = np.random.default_rng(0).normal(size=(len(known), SIZE))
    tokens = np.zeros((len(gold), lengths.max(), SIZE), "float32")
    moves = derivation_moves(system, gold)
    most = max(len(some.actions) for some in moves)
    nodes = np.zeros((len(gold), most, system.num_nodes), "int32")
    labels = np.zeros((len(gold), most, system.num_labels), "int32")
    targets = np.zeros((len(gold), most), "int32")
    weights = np.zeros((len(gold), most), "float32")
    for i, (some, text) in enumerate(zip(moves, words, strict=True)):
        tokens[i, : len(text)] = vectors[[known.index(word) for word in text]]
        count = len(some.actions)
        nodes[i, :count], labels[i, :count] = some.nodes, some.node_labels
        targets[i, :count] = scorer.outputs.of(some.actions, some.labels)
        weights[i, :count] = 1
    given = [
        keras.Input((None, x.shape[-1]), dtype=x.dtype.name)
        for x in (tokens, nodes, labels)
    ]
    model = keras.Model(given, scorer(*given))
    model.compile(
        keras.optimizers.Adam(0.03),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(
        [tokens, nodes, labels], targets, sample_weight=weights, epochs=60, verbose=0
    )
    found = scorer.parse(ops.convert_to_tensor(tokens), ops.convert_to_tensor(lengths))
    made = [
        tables.derivation(*found_moves, text)
        for *found_moves, text in zip(
            *map(ops.convert_to_numpy, found), words, strict=True
        )
    ]
    assert derivation_scores(gold, made).exact == 1
