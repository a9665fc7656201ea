"""Decoding to consistent chunks, by a CRF and behind a softmax, against all paths."""

from itertools import product

import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops
from keras.ops import convert_to_numpy as array
from reference import crf as reference

from keras_tagging.layers import CRF, ChunkDecoder
from keras_tagging.metrics import is_consistent

TAGS = {
    "iob2": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iob1": ["I-X", "O", "B-X", "I-Y"],
    "iobes": ["S-X", "O", "I-X", "B-X", "E-X"],
}
LENGTHS = np.array([4, 1, 3, 0, 2])
TIME = 4
MASK = np.arange(TIME) < LENGTHS[:, None]
schemes = pytest.mark.parametrize("scheme", TAGS)


def random_scores(scheme, seed=1):
    shape = (*MASK.shape, len(TAGS[scheme]))
    return np.random.default_rng(seed).normal(0, 2, shape).astype("float32")


def best(rows, weights, scheme):
    """The best of the consistent paths, and whether it is not the best of all."""
    names = TAGS[scheme]
    paths, scores = reference.paths(rows, weights)
    consistent = [is_consistent([names[t] for t in path], scheme) for path in paths]
    allowed = np.where(consistent, scores, -np.inf)
    return paths[allowed.argmax()].tolist(), allowed.max() < scores.max()


def zeros(scheme):
    n = len(TAGS[scheme])
    return np.zeros((n, n)), np.zeros(n), np.zeros(n)


@schemes
def test_crf_finds_the_best_consistent_path(scheme):
    changed = 0
    for seed in range(4):
        layer = CRF(tags=TAGS[scheme], constrained=True, scheme=scheme)
        scores = random_scores(scheme, seed)
        layer.build(scores.shape)
        randomize(layer, seed, 1.5)
        found = array(layer(scores, mask=MASK)).argmax(-1)
        for tags, rows, n in zip(found, scores, LENGTHS, strict=True):
            if n:
                path, other = best(rows[:n], layer.get_weights(), scheme)
                assert tags[:n].tolist() == path
                changed += other
    assert changed > 1


@schemes
def test_the_likelihood_counts_all_sequences(scheme):
    scores, gold = random_scores(scheme), np.ones(MASK.shape, "int32")
    found = [
        CRF(tags=TAGS[scheme], constrained=constrained).log_likelihood
        for constrained in (True, False)
    ]
    for method in found:
        method.__self__.build(scores.shape)
    one, other = (array(method(scores, gold, MASK)) for method in found)
    np.testing.assert_array_equal(one, other)


@schemes
@pytest.mark.parametrize("from_logits", [True, False])
def test_softmax_finds_the_best_consistent_path(scheme, from_logits):
    layer = ChunkDecoder(TAGS[scheme], scheme, from_logits=from_logits)
    logits = random_scores(scheme)
    inputs = logits if from_logits else ops.softmax(logits)
    found = array(layer(inputs, mask=MASK))
    assert found.shape == MASK.shape and found.dtype == "int32"
    assert not found[~MASK].any()
    changed = 0
    for tags, rows, n in zip(found, logits, LENGTHS, strict=True):
        if n:
            path, other = best(rows[:n], zeros(scheme), scheme)
            assert tags[:n].tolist() == path
            changed += other
    assert changed


def sharp(kind, dtype, seed):
    """Probabilities `(sentences, 4, tags)` of a network that is all but certain."""
    rng = np.random.default_rng(seed)
    shape = (8, 4, len(TAGS["iob2"]))
    widest = {"float32": 37, "float64": 300, "float16": 4}[dtype]
    if kind == "close":  # small, and they differ in the last digits
        step = np.spacing(np.asarray(2e-3, dtype))
        return (1e-3 + step * rng.integers(0, 9, shape)).astype(dtype)
    exponents = rng.uniform(-widest, 0, shape)
    if kind == "zeros":
        exponents = np.where(rng.random(shape) < 0.5, -np.inf, exponents)
    return (10**exponents).astype(dtype)


@pytest.mark.parametrize("kind", ["wide", "close", "zeros"])
@pytest.mark.parametrize(
    "given, dtype",
    [
        ("float32", "float32"),
        ("float16", "mixed_float16"),
        ("float32", "mixed_bfloat16"),
        ("float64", "float64"),
    ],
)
def test_sharp_probabilities(given, dtype, kind):
    """The product of the probabilities is that of the best of all consistent paths."""
    if given == "float64" and keras.backend.backend() == "jax":
        pytest.skip("JAX computes in single precision unless all of it is double")
    tags = TAGS["iob2"]
    layer = ChunkDecoder(tags, dtype=dtype)
    paths = [
        path
        for path in product(range(len(tags)), repeat=4)
        if is_consistent([tags[t] for t in path], "iob2")
    ]
    changed = impossible = 0
    for seed in range(3):
        p = sharp(kind, given, seed)
        found = array(layer(ops.convert_to_tensor(p)))
        largest = p.max(-1, keepdims=True).astype("float64")
        with np.errstate(divide="ignore"):
            logs = np.log(p / np.where(largest > 0, largest, 1))
        for path, rows in zip(found, logs, strict=True):
            # the fewest zeros, then the product of the others
            lost, kept = np.isinf(rows), np.where(np.isinf(rows), 0, rows)
            scores = {
                path: (-lost[range(4), path].sum(), kept[range(4), path].sum())
                for path in paths
            }
            best, mine = max(scores.values()), scores[tuple(path.tolist())]
            slack = 4 * np.finfo(layer.compute_dtype).eps * max(1, -best[1])
            assert mine[0] == best[0] and mine[1] >= best[1] - slack
            changed += tuple(rows.argmax(-1)) not in scores
            impossible += best[0] < 0
    assert changed and (impossible > 0) == (kind == "zeros")


def test_a_path_does_not_depend_on_other_sentences():
    """Scores count from the best one of each, so that they stay small, and exact."""
    logits = np.random.default_rng(1).normal(0, 0.05, (3, 60, 5)).astype("float32")
    logits[1:] -= 2000
    layer = ChunkDecoder(TAGS["iob2"], from_logits=True)
    alone = [array(layer(row[None]))[0] for row in logits]
    np.testing.assert_array_equal(array(layer(logits)), alone)


def test_without_a_consistent_path_there_is_still_one_tag_a_token():
    """One token cannot be a chunk of B and E."""
    tags = ["B-X", "E-X"]
    found = array(ChunkDecoder(tags)(np.ones((1, 3, 2), "float32")))
    assert found.shape == (1, 3)
    assert array(ChunkDecoder(tags)(np.ones((1, 2, 2), "float32"))).tolist() == [[0, 1]]
