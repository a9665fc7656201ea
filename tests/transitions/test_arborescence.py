"""The best tree with one root: against all trees, another search, other engines."""

from functools import cache

import numpy as np
import pytest
from transitions.crossing import random_tree
from transitions.engines import ENGINES

from keras_tagging.data.trees import check_tree, find_cycle
from keras_tagging.transitions.arborescence import LONG, best_heads
from keras_tagging.transitions.search import NumPy

ODD = np.array([-1, -0.0, 0.0, 1, np.nan, np.inf, -np.inf], "float32")


def searched(scores, lengths=None):
    """The heads by NumPy; by default sentences have no padding."""
    lengths = [scores.shape[1]] * len(scores) if lengths is None else lengths
    return best_heads(NumPy(), scores.astype("float32"), np.array(lengths, "int32"))


def values_of(scores, heads):
    return np.take_along_axis(scores, np.array(heads)[..., None], -1)[..., 0].sum(-1)


def whole(count, length, rng):
    """Scores with many ties."""
    return rng.integers(0, 3, (count, length, length + 1)).astype("float32")


def normal(count, length, rng):
    return rng.normal(size=(count, length, length + 1)).astype("float32")


def nested(count, length, rng):
    """Words are the nearer, the more digits of their numbers agree: cycles of cycles,
    which ROOT enters last."""
    numbers = np.arange(length)
    far = np.ceil(np.log2(1 + (numbers[:, None] ^ numbers)))
    far = np.pad(far, [(0, 0), (1, 0)], constant_values=9)
    return whole(count, length, rng) - 4 * far


@cache
def all_trees(length):
    """The heads of each tree with one root, `(trees, length)`."""
    found = np.indices((length + 1,) * length).reshape(length, -1).T
    found = found[(found == 0).sum(1) == 1]
    at = np.pad(found, [(0, 0), (1, 0)])
    for _ in range(3):
        at = np.take_along_axis(at, at, 1)
    return found[(at == 0).all(1)]


@pytest.mark.parametrize("make", [whole, normal, nested])
def test_no_tree_is_better(make):
    """Of all trees of a sentence of up to 7 words, for 10,000 matrices."""
    rng, searches = np.random.default_rng(1), 0
    for length, count in enumerate((5, 500, 1000, 1000, 700, 200, 20), 1):
        trees = all_trees(length)
        assert len(trees) == length ** (length - 1)
        scores = make(count, length, rng)
        heads = searched(scores)
        for row in heads:
            check_tree(row)
        arcs = np.eye(length + 1, dtype="float32")[trees].reshape(len(trees), -1)
        values = scores.reshape(count, -1) @ arcs.T
        found = values_of(scores, heads)
        np.testing.assert_allclose(found, values.max(1), atol=1e-5)
        own = np.eye(length, length + 1, 1, dtype=bool)
        greedy = np.where(own, -np.inf, scores).argmax(-1)
        searches += (heads != greedy).any(1).sum()
    assert searches > 1000  # the best heads alone would not do


# Chu-Liu-Edmonds as in textbooks, one root after the other


def contracted(scores):
    """The head of each node in the best tree from node 0, by `scores[node][head]`."""
    nodes = range(len(scores))
    heads = [max({*nodes} - {i}, key=scores[i].__getitem__) for i in nodes]
    cycle = find_cycle(heads[1:])
    if not cycle:
        return heads
    others = [i for i in nodes if i not in cycle]
    leaves = [max(cycle, key=lambda j: scores[i][j]) for i in others]

    def gain(i, head):
        return scores[i][head] - scores[i][heads[i]]

    enters = [max(cycle, key=lambda i: gain(i, head)) for head in others]
    rows = [
        [*(scores[i][j] for j in others), scores[i][leaf]]
        for i, leaf in zip(others, leaves, strict=True)
    ]
    pairs = zip(enters, others, strict=True)
    *inner, into = contracted([*rows, [*(gain(*pair) for pair in pairs), 0]])
    for i, head, leaf in zip(others, inner, leaves, strict=True):
        heads[i] = [*others, leaf][head]
    heads[enters[into]] = others[into]
    return heads


def with_one_root(scores):
    """The value of the best tree, each word being the only root in turn."""
    length, found = len(scores), []
    for root in range(length):
        own = np.pad(scores.astype("float64"), [(1, 0), (0, 0)])
        own[:, 0] = np.where(np.arange(length + 1) == root + 1, 0, -1e9)
        heads = contracted(own.tolist())[1:]
        found.append(values_of(scores, heads) if heads.count(0) == 1 else -np.inf)
    return max(found)


@pytest.mark.parametrize("make", [whole, normal, nested])
def test_long_sentences(make):
    rng = np.random.default_rng(2)
    lengths = rng.integers(8, 20, 12)
    scores = make(12, 20, rng)
    for own, heads, n in zip(scores, searched(scores, lengths), lengths, strict=True):
        check_tree(heads[:n])
        expected = with_one_root(own[:n, : n + 1])
        assert values_of(own[:n], heads[:n]) == pytest.approx(expected, abs=1e-4)


def test_the_best_heads_are_taken_where_they_are_a_tree():
    rng = np.random.default_rng(3)
    scores, trees = normal(300, 9, rng), [random_tree(9, rng) for _ in range(300)]
    np.put_along_axis(scores, np.array(trees)[..., None], 9.0, -1)
    np.testing.assert_array_equal(searched(scores), trees)


def test_what_is_no_arc_and_who_else_is_in_the_batch_do_not_matter():
    rng = np.random.default_rng(4)
    lengths = rng.integers(0, 7, 200)
    scores = np.where(rng.random((200, 6, 7)) < 0.7, whole(200, 6, rng), 2.5)
    found = searched(scores, lengths)
    places, n = np.arange(7), lengths[:, None, None]
    unread = (places[1:, None] > n) | (places > n) | (places[1:, None] == places)
    junk = np.where(unread, rng.choice(ODD, scores.shape), scores)
    np.testing.assert_array_equal(searched(junk, lengths), found)
    for own, heads, n in zip(junk, found, lengths, strict=True):
        check_tree(heads[:n])
        assert (heads[n:] == -1).all()
        np.testing.assert_array_equal(searched(own[None, :n, : n + 1])[0], heads[:n])


# Engines


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("width", [0, 1, 8])
def test_engines_give_the_same_tree(engine, width):
    rng = np.random.default_rng(5)
    makers = [whole, normal, nested] if width else [whole]
    made = [make(60, width, rng) for make in makers]
    made += [rng.choice(odd, made[0].shape) for odd in (ODD, ODD[:3])]
    scores = np.concatenate(made).astype("float32")
    lengths = rng.integers(0, width + 1, len(scores)).astype("int32")
    found = searched(scores, lengths)
    np.testing.assert_array_equal(engine(best_heads, scores, lengths), found)
    for heads, n in zip(found, lengths, strict=True):
        check_tree(heads[:n])


@pytest.mark.parametrize("kind", ["random", "equal", "two cycles"])
def test_a_long_sentence_has_a_tree_soon(kind):
    count = LONG + 40
    scores = np.random.default_rng(3).normal(size=(1, count, count + 1))
    if kind != "random":
        scores[:] = 0
    if kind == "two cycles":
        scores[0, [0, 1, 5, 6], [2, 1, 7, 6]] = 1
    lengths = np.array([count], "int32")
    scores = scores.astype("float32")
    [heads] = best_heads(NumPy(), scores, lengths)
    check_tree(heads)
    if kind == "random":
        assert (heads == scores[0].argmax(-1)).mean() > 0.9
    for engine in ENGINES:
        assert (engine(best_heads, scores, lengths)[0] == heads).all()
