"""One search in three engines, whose beams have one order."""

import keras
import numpy as np
import pytest
from ccg.sentences import derivations
from keras import ops
from transitions.engines import by_onnx, numpy_score

from keras_tagging.ccg import Grammar
from keras_tagging.cells import FeedForwardCell
from keras_tagging.data.trees import check_tree
from keras_tagging.layers import TransitionScorer
from keras_tagging.onnx.graphs import OnnxEngine, scoring
from keras_tagging.transitions import NumPy, RuleTables, ccg_system, search
from keras_tagging.transitions import system as system_module

LENGTHS = [5, 1, 3, 5, 2, 4, 5, 0]
SIZE, UNITS, LABELS = 3, 5, 2
OF_ARCS = {"arc_labels": ((1,), (1, 2))}


def make_scorer(system, width, seed=0, labels=LABELS, **options):
    """All weights and tokens are whole numbers, so many moves have equal scores, in
    each engine alike."""
    scorer = TransitionScorer(
        FeedForwardCell(UNITS),
        labels,
        label_dim=2,
        system=system,
        beam_width=width,
        **options,
    )
    scorer.build((None, None, SIZE))
    rng = np.random.default_rng(seed)
    weights = [rng.integers(-1, 2, w.shape) for w in scorer.get_weights()]
    scorer.set_weights(weights)
    scorer.output_kernel.assign(30.0 * rng.integers(0, 2, scorer.output_kernel.shape))
    tokens = rng.integers(0, 2, (len(LENGTHS), max(LENGTHS), SIZE)).astype("float32")
    return scorer, tokens


def by_numpy(scorer, tokens, engine=None):
    return search(
        engine or NumPy(),
        scorer.system,
        scorer.outputs,
        numpy_score(scorer, tokens, scorer.beam_width),
        [],
        np.array(LENGTHS, "int32"),
        tokens.shape[1] + 2,
        scorer.beam_width,
        scorer.arc_masks(),
    )


def by_others(scorer, tokens):
    """The trees by Keras, and by ONNX Runtime."""
    lengths = np.array(LENGTHS, "int32")
    given = map(ops.convert_to_tensor, (tokens, lengths))
    yield [ops.convert_to_numpy(part) for part in scorer.parse(*given)]
    if keras.backend.backend() == "tensorflow":  # which alone exports

        def searched(tracer, x, n):
            part = scoring(tracer, scorer, x, scorer.beam_width)
            width = tracer.xp.length(x, 1) + 2
            return scorer.search(OnnxEngine(tracer), part, n, width)

        yield by_onnx(searched, {"tokens": tokens, "lengths": lengths})


def found_by_all(scorer, tokens):
    """The heads and labels that all of them find."""
    expected = by_numpy(scorer, tokens)
    for found in by_others(scorer, tokens):
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)
    return expected


class LastFirst(NumPy):
    """Of equal scores it takes the last ones."""

    def top_k(self, x, k):
        places = np.lexsort((-np.arange(x.shape[-1]) + 0 * x, -x))[..., :k]
        return np.take_along_axis(x, places, -1), places


@pytest.mark.parametrize(
    ("system", "width", "options"),
    [
        *(("arc-standard", 4, {}), ("arc-standard", 3, OF_ARCS)),
        *(("arc-standard", 1, OF_ARCS), ("arc-standard", 1, {})),
    ],
)
def test_equal_scores_have_one_order(system, width, options):
    scorer, tokens = make_scorer(system, width, **options)
    expected = found_by_all(scorer, tokens)
    heads, labels = expected
    for some_heads, some_labels, n in zip(heads, labels, LENGTHS, strict=True):
        check_tree(some_heads[:n])
        assert (some_labels[:n] > 0).all()
        assert (some_heads[n:] == -1).all() and not some_labels[n:].any()
    last = by_numpy(scorer, tokens, LastFirst())
    assert (last[0] != heads).sum() > 4  # the order matters


@pytest.mark.parametrize("width", [1, 3])
def test_labels_that_are_legal_by_a_grammar(monkeypatch, width):
    tables = RuleTables(Grammar.from_derivations(derivations()))
    monkeypatch.setitem(system_module._SYSTEMS, "ccg", ccg_system(tables))
    scorer, tokens = make_scorer("ccg", width, labels=len(tables.categories))
    expected = found_by_all(scorer, tokens)
    for *moves, n in zip(*expected, LENGTHS, strict=True):
        words = [f"w{i}" for i in range(n)]
        if words:
            made = tables.derivation(*moves, words)
            assert [leaf.word for leaf in made.leaves] == words
