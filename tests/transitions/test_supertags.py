"""A tagger's categories in the search for a derivation, in three engines."""

import keras
import numpy as np
import pytest
from ccg.sentences import TV, derivations
from keras import ops
from transitions.engines import by_onnx, numpy_score

from keras_tagging.ccg import Grammar
from keras_tagging.cells import FeedForwardCell
from keras_tagging.layers import TransitionScorer
from keras_tagging.layers.transition_scorer import KerasEngine
from keras_tagging.onnx.graphs import OnnxEngine, scoring
from keras_tagging.transitions import NumPy, RuleTables, Supertags
from keras_tagging.transitions.search import FORBIDDEN, LARGEST
from keras_tagging.transitions.shift_reduce import SHIFT

GRAMMAR = Grammar.from_derivations(derivations())
TABLES = RuleTables(GRAMMAR)
# one tag that the grammar lacks, and one in two notations
TAGS = ["N", "NP/N", f"({TV})", TV, "X/X", "NP", "conj", ".", "N/N"]
LENGTHS, SIZE, UNITS = [5, 1, 3, 4, 2, 0], 3, 5


def make_scorer(seed=0, beam_width=1):
    scorer = TransitionScorer(
        FeedForwardCell(UNITS),
        len(TABLES.categories),
        label_dim=2,
        grammar=GRAMMAR,
        beam_width=beam_width,
    )
    scorer.build((None, None, SIZE))
    rng = np.random.default_rng(seed)
    scorer.set_weights([rng.normal(size=w.shape) for w in scorer.get_weights()])
    shape = len(LENGTHS), max(LENGTHS)
    tokens = rng.normal(size=(*shape, SIZE)).astype("float32")
    logits = 3 * rng.normal(size=(*shape, len(TAGS))).astype("float32")
    return scorer, tokens, logits


def by_numpy(scorer, tags, tokens, logits, beam):
    part = numpy_score(scorer, tokens, beam), []
    lengths, words = np.array(LENGTHS, "int32"), tokens.shape[1]
    return tags.search(NumPy(), scorer, part, logits, lengths, words, beam)


def by_keras(scorer, tags, tokens, logits, beam):
    tokens, logits, lengths = map(
        ops.convert_to_tensor, (tokens, logits, np.array(LENGTHS, "int32"))
    )
    part, words = scorer.scoring(tokens, beam), ops.shape(tokens)[1]
    found = tags.search(KerasEngine(), scorer, part, logits, lengths, words, beam)
    return [ops.convert_to_numpy(x) for x in found]


def by_runtime(scorer, tags, tokens, logits, beam):
    def searched(tracer, x, logits, lengths):
        part, words = scoring(tracer, scorer, x, beam), tracer.xp.length(x, 1)
        words, engine = tracer.xp.cast(words, "int32"), OnnxEngine(tracer)
        return tags.search(engine, scorer, part, logits, lengths, words, beam)

    arrays = {"tokens": tokens, "logits": logits, "lengths": np.array(LENGTHS, "int32")}
    return by_onnx(searched, arrays, (3, 2))


@pytest.mark.parametrize("beam", [1, 3])
def test_every_engine_finds_the_same_moves(beam):
    fragments = 0
    scorer, tokens, logits = make_scorer()
    tags = Supertags(TAGS, TABLES, 0.05, 0.7)
    moves, scores = by_numpy(scorer, tags, tokens, logits, beam)
    engines = [by_keras]
    if keras.backend.backend() == "tensorflow":  # which alone exports
        engines.append(by_runtime)
    for engine in engines:
        others, other_scores = engine(scorer, tags, tokens, logits, beam)
        np.testing.assert_array_equal(moves, others)
        np.testing.assert_allclose(scores, other_scores, rtol=1e-4, atol=1e-4)
    assert (np.diff(scores) <= 0).all()
    for i, n in enumerate(LENGTHS):
        words = [f"w{j}" for j in range(n)]
        for hypothesis in range(beam if n else 0):
            if scores[i, hypothesis] < FORBIDDEN / 2:
                continue
            own = moves[i].reshape(max(LENGTHS), beam, -1)[:n, hypothesis].ravel()
            made = TABLES.derivation(own % 4, own // 4, words)
            assert [leaf.word for leaf in made.leaves] == words
            fragments += made.category == "FRAG"
            if not hypothesis:
                shifted = [leaf.category for leaf in made.leaves]
                for row, category in zip(logits[i], shifted, strict=False):
                    best = np.exp(row - row.max())
                    ids = [TABLES.id_of(tag) for tag in TAGS]
                    taken = {
                        ids[j]
                        for j in np.flatnonzero(best >= 0.05)
                        if ids.index(ids[j]) == j  # of two notations the first
                    }
                    assert not any(taken) or TABLES.id_of(category) in taken
    assert fragments


def test_scores_of_shift():
    """SHIFT stays as probable as it is, its category is that of both."""
    scorer, _, logits = make_scorer()
    tags = Supertags(TAGS, TABLES, 0.01, 0.5)
    rng = np.random.default_rng(4)
    nodes = np.zeros((4, scorer.system.num_nodes), "int32")
    nodes[:, 3] = [2, 5, 0, 6]  # b_0: words 0, 3, none and 4
    given = rng.normal(size=(4, len(scorer.outputs)))
    score = tags.scored(NumPy(), lambda *_: (given, []), logits[:2], 2, 5, 2)
    found, _ = score(nodes, None, [])
    shifts = scorer.outputs.actions == SHIFT
    np.testing.assert_array_equal(found[:, ~shifts], given[:, ~shifts])
    for row, (sentence, word) in enumerate([(0, 0), (0, 3), (None, None), (1, 4)]):
        if sentence is None:
            continue
        of_tags = np.exp(logits[sentence, word].astype("float64"))
        of_tags /= of_tags.sum()
        expected = {}
        for label, number in enumerate(TABLES.labels["categories"]):
            same = [i for i, t in enumerate(TAGS) if TABLES.id_of(t) == number]
            if same and of_tags[same[0]] >= 0.01 * of_tags.max():
                expected[label] = np.exp(given[row, label]) * of_tags[same[0]] ** 0.5
        total = np.exp(given[row, shifts]).sum() / sum(expected.values())
        for label, value in enumerate(np.exp(found[row, shifts])):
            np.testing.assert_allclose(value, total * expected.get(label, 0), rtol=1e-5)
        assert found[row, shifts].min() <= -LARGEST + 10
