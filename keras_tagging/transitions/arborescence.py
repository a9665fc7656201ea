r"""The best tree of a sentence with one root, from a score for each arc.

.. math::
    \hat{y} = \arg\max_{y} \sum_i s_{i y_i}

over the trees y of the words whose root has one dependent. Where the best head of each
word gives such a tree, it is that one. Else cycles are contracted (Chu and Liu 1965,
:cite:`chu1965`; Edmonds 1967, :cite:`edmonds1967`), all cycles of all sentences of a
batch in one round, and the heads are read from the last round back to the first. It is
written once for NumPy, Keras and ONNX: see `transitions.search`.

Of trees with equal scores all engines give the same one: of equal arcs the first head,
of equal entries of a cycle the first word.
"""

import math

import numpy as np

from keras_tagging.transitions.search import FORBIDDEN, LARGEST

MOST = 1 << 14  # nodes of a graph, whose sentences may have any length
NEVER = np.float32(FORBIDDEN)
#: words of the longest sentence of which the best tree is searched: of 1,000 words, as
#: many sentences have them, that takes half a minute
LONG = 256


def best_heads(engine, scores, lengths):
    """The heads of the best tree of each sentence, which has one root.

    Where the best head of each word gives a tree already, it is that tree. Of more than
    `LONG` words nothing is searched: the first word of each cycle of best heads then
    depends on the best root, and so do other roots.

    Args:
        engine: as of `transitions.search`.
        scores: `(batch, time, time + 1)` float32: of ROOT and of each word as the head
            of each word. Those of a word as its own head, and those beyond the end, are
            not read; NaN counts as 0.
        lengths: `(batch,)` int32.

    Returns:
        `(batch, time)` int32: 0 is ROOT, -1 is beyond the end.
    """
    xp = engine.xp
    nodes = xp.shape(scores)[1] + 1
    # also for -0, which Keras with TensorFlow takes for less than 0
    nothing = xp.isnan(scores) | (scores == 0)
    scores = xp.where(nothing, np.float32(0), scores)
    scores = xp.clip(scores, -LARGEST, LARGEST)
    # a row for ROOT, which has no head
    scores = xp.pad(scores, [(0, 0), (1, 0), (0, 0)])
    places = xp.reshape(xp.arange(nodes, dtype="int32"), (1, -1))
    words = (places > 0) & (places <= xp.expand_dims(lengths, 1))
    heads = _best(_arcs(xp, places, words), scores * 0, scores, xp)[-1]
    jump, least = _orbits(xp, xp.where(words, heads, 0), _most(nodes))
    # the first word of each cycle of a long sentence becomes a root
    is_long = xp.expand_dims(lengths > LONG, 1)
    begins = words & (jump > 0) & xp.equal(places, _at(xp, least, jump))
    heads = xp.where(is_long & begins, 0, heads)
    wrong = (xp.max(jump, 1) > 0) | _has_several_roots(xp, heads, words)
    # a tree with several roots that is better than any with one is seldom
    for rank in (0, -1):
        rows = engine.places(wrong & (lengths <= LONG))
        most = xp.where(xp.shape(rows)[0] > 0, nodes, 0)
        chosen = (xp.take(x, rows, axis=0) for x in (scores, words))
        trees = _searched(engine, *chosen, places, nodes, most, np.float32(rank))
        heads = engine.put(heads, rows, trees)
        wrong = _has_several_roots(xp, heads, words)
    # of a long sentence the best root stays, and the others depend on it
    roots = words & (heads == 0)
    best = xp.argmax(xp.where(roots, scores[:, :, 0], NEVER), 1)
    best = xp.expand_dims(best, 1)
    heads = xp.where(roots & ~(places == best), best, heads)
    return xp.where(words, heads, -1)[:, 1:]


def _searched(engine, scores, words, places, nodes, most, rank):
    """The heads of all nodes, by at most so many rounds of contraction.

    An arc from ROOT has this rank, others 0, and ranks are compared before scores: with
    -1, a tree with two roots is worse than any with one, whatever its score. No arc of
    a cycle is from ROOT, so that ranks stay as they are.
    """
    xp, searched = engine.xp, min(_most(nodes), LONG + 1)
    is_arc = _arcs(xp, places, words)
    from_root = xp.expand_dims(places, 1) == 0
    ranks = xp.where(from_root, rank, np.float32(0)) + xp.zeros_like(scores)
    group = xp.where(words, places, 0)
    rounds = xp.zeros_like(scores, dtype="int32") - 1

    def contract(group, scores, groups, chosen):
        """One round: each group chooses an arc that enters it; cycles become groups."""
        into, from_group = xp.expand_dims(group, 2), xp.expand_dims(group, 1)
        may = is_arc & ~(into == from_group)
        rank, score, head = _best(may, ranks, scores, xp)
        member = (xp.expand_dims(places, 2) == from_group) & xp.expand_dims(words, 1)
        rank, score = xp.expand_dims(rank, 1), xp.expand_dims(score, 1)
        of_groups = _best(member, rank, score + xp.zeros_like(scores), xp)
        score, entry = (_at(xp, x, group) for x in of_groups[1:])
        is_entry = words & (entry == places)
        groups = xp.concatenate([from_group, groups[:, :-1]], 1)
        latest = xp.expand_dims(xp.where(is_entry, head, -1), 1)
        chosen = xp.concatenate([latest, chosen[:, :-1]], 1)
        parent = _at(xp, group, _at(xp, head, entry))
        jump, least = _orbits(xp, xp.where(words, parent, 0), searched)
        reached = xp.expand_dims(jump, 1) == xp.expand_dims(places, 2)
        in_cycle = xp.any(reached & xp.expand_dims(words, 1), 2) & (places > 0)
        in_cycle = _at(xp, in_cycle, group)
        scores = scores - xp.expand_dims(xp.where(in_cycle, score, 0), 2)
        group = xp.where(in_cycle, _at(xp, least, group), group)
        return xp.any(in_cycle), group, scores, groups, chosen

    values = [group, scores, rounds, rounds]
    shapes = [(None, None), *[(None, None, None)] * 3]
    *_, groups, chosen = engine.loop(contract, values, most, shapes)

    def expand(heads, groups, chosen):
        """One round back: groups that no later arc enters keep the arc they chose."""
        group, entered = groups[:, 0], xp.expand_dims(heads >= 0, 1)
        member = xp.expand_dims(group, 2) == xp.expand_dims(group, 1)
        free = ~xp.any(member & entered, 2)
        latest = chosen[:, 0]
        heads = xp.where(free & (latest >= 0), latest, heads)
        groups, chosen = (
            xp.concatenate([x[:, 1:], x[:, :1]], 1) for x in (groups, chosen)
        )
        return xp.any(chosen[:, 0] >= 0), heads, groups, chosen

    values = [group * 0 - 1, groups, chosen]
    return engine.loop(expand, values, most, [shapes[0], *shapes[2:]])[0]


def _has_several_roots(xp, heads, words):
    """Whether more than one word of a sentence has the head ROOT, `(batch,)`."""
    return xp.sum(xp.where(words & (heads == 0), 1, 0), 1) > 1


def _arcs(xp, places, words):
    """Which arcs there are: `(batch, word, head)`, no word being its own head."""
    is_head = words | (places == 0)
    pairs = xp.expand_dims(words, 2) & xp.expand_dims(is_head, 1)
    return pairs & ~(xp.expand_dims(places, 2) == xp.expand_dims(places, 1))


def _best(may, ranks, scores, xp):
    """The highest rank on the last axis, the best score of it, and its first place."""
    rank = xp.max(xp.where(may, ranks, NEVER), -1, keepdims=True)
    scores = xp.where(may & (ranks == rank), scores, NEVER)
    return xp.squeeze(rank, -1), xp.max(scores, -1), xp.argmax(scores, -1)


def _most(nodes) -> int:
    return nodes if isinstance(nodes, int) else MOST


def _orbits(xp, parent, nodes: int):
    """Where each node arrives by at least as many steps as there are nodes.

    And the least node on its way there, itself not counted.
    """
    jump = least = parent
    for _ in range(math.ceil(math.log2(nodes))):
        least = xp.minimum(least, _at(xp, least, jump))
        jump = _at(xp, jump, jump)
    return jump, least


def _at(xp, x, places):
    return xp.take_along_axis(x, places, axis=1)
