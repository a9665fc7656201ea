"""The best derivation by scores of categories, heads and rules: A* (Lewis & Steedman 2014).

A derivation scores the sum of the logarithms of its words' categories, of their heads,
as Yoshikawa et al. (2017) add them, and of its rules. The words outside of a constituent
have at best their best category and their best head, and the head word of the
constituent a head outside of it. So the constituent that may be part of the best
derivation comes first, and the first derivation of the whole is the best one.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from keras_tagging.ccg.rules import Rules

_CHANGES = 3  # changes of one category into another, one after the other


class Item(NamedTuple):
    """A constituent.

    Args:
        score: of what is inside: categories, rules, and heads of all its words but one.
        begin, end: its words.
        category: its number.
        head: the word that has its head outside.
        parts: the items that it is made of, from none to two.
        side: the part with the head.
        changes: how many changes of a category alone lead here.
    """

    score: float
    begin: int
    end: int
    category: int
    head: int
    parts: "tuple[Item, ...]" = ()
    side: int = 0
    changes: int = 0


class Found(NamedTuple):
    """What a search has found.

    Args:
        score: the logarithm; of fragments the sum of theirs.
        items: one, or the fewest that have all words, if no derivation has them.
    """

    score: float
    items: list[Item]


class Weights(NamedTuple):
    """The weights of the logarithms of heads and rules beside those of categories."""

    head: float = 1.0
    rule: float = 0.1
    order: float = 0.3


class AStar:
    """The search.

    Args:
        rules: of the grammar.
        weights: of the parts of a score.
        agenda: the most constituents that are taken from the agenda.
    """

    def __init__(self, rules: Rules, weights: Weights = Weights(), agenda=20_000):
        self.rules, self.weights, self.agenda = rules, weights, agenda

    def search(
        self, tags: list[list[tuple[int, float]]], heads: np.ndarray, nbest: int = 1
    ) -> list[Found]:
        """The best derivations, best first; if there is none, one of fragments.

        Args:
            tags: for each word its possible categories, by their numbers in the rules,
                each with the logarithm of its probability; at least one.
            heads: `(words, words + 1)`, the logarithms of the probabilities that each
                word has ROOT or word i - 1 as its head.
            nbest: how many.
        """
        state = _Sentence(tags, heads * self.weights.head)
        return self._whole(state, nbest) or [state.fragments()]

    def _whole(self, state: "_Sentence", nbest: int) -> list[Found]:
        """The derivations of all words, from the agenda."""
        rules, weight = self.rules, self.weights.rule
        roots, found = rules.roots, []
        for item in state.words():
            state.push(item)
        for _ in range(self.agenda):
            if not state.agenda or len(found) == nbest:
                break
            item = state.pop(nbest)
            if item is None:
                continue
            if item.category < 0:
                found.append(Found(item.score, [*item.parts]))
                continue
            score, begin, end, category, head, *_ = item
            if begin == 0 and end == state.count and category in roots:
                whole = score + state.heads[head][0] + weight * roots[category]
                state.push(Item(whole, begin, end, -1, head, (item,)))
            if item.changes < _CHANGES:
                for result, share in rules.changes[category]:
                    more = score + weight * share
                    changed = (more, begin, end, result, head, (item,), 0)
                    state.push(Item(*changed, item.changes + 1))
            for right in state.beginning[end]:
                for result in rules.of(category, right.category):
                    state.push(self._joined(state, item, right, *result))
            for left in state.ending[begin]:
                for result in rules.of(left.category, category):
                    state.push(self._joined(state, left, item, *result))
        return found

    def _joined(self, state, left: Item, right: Item, result, side, share, late):
        head, other = (right, left) if side else (left, right)
        arc = state.heads[other.head][head.head + 1]
        score = left.score + right.score + arc + self.weights.rule * share
        if right.end > right.head + 1 if side else left.begin < left.head:
            score += self.weights.order * late
        return Item(
            score, left.begin, right.end, result, head.head, (left, right), side
        )


class _Sentence:
    """The agenda and the chart of a sentence."""

    def __init__(self, tags, heads: np.ndarray):
        self.tags, self.count = tags, len(tags)
        best = heads.max(1) + [max(p for _, p in own) for own in tags]
        before = np.concatenate([[0.0], np.cumsum(best)])
        #: of all words outside of what begins and ends there
        self.outside = (before[-1] - (before[None, :] - before[:, None])).tolist()
        # the best head to the left of a place, or ROOT, and from a place on
        low = np.full((len(tags), 1), -np.inf)
        self.left = np.maximum.accumulate(heads, 1).tolist()
        backwards = np.maximum.accumulate(heads[:, ::-1], 1)[:, ::-1]
        self.right = np.concatenate([backwards[:, 1:], low], 1).tolist()
        self.heads = heads.tolist()
        self.agenda: list[tuple[float, int, Item]] = []
        self.beginning: list[list[Item]] = [[] for _ in range(self.count + 1)]
        self.ending: list[list[Item]] = [[] for _ in range(self.count + 1)]
        self._done: dict[tuple[int, ...], int] = {}
        self._best: dict[tuple[int, ...], float] = {}
        self._order = 0

    def words(self):
        for i, own in enumerate(self.tags):
            for category, p in own:
                yield Item(p, i, i + 1, category, i)

    def push(self, item: Item) -> None:
        """Add to the agenda."""
        score, begin, end, category, head, *_ = item
        if category >= 0:
            score += self.outside[begin][end]
            score += max(self.left[head][begin], self.right[head][end])
        self._order += 1
        heappush(self.agenda, (-score, self._order, item))

    def pop(self, nbest: int) -> Item | None:
        """The best of the agenda, which joins the chart; None if there is a better one.

        There are as many of one kind as derivations are wanted.
        """
        item = heappop(self.agenda)[2]
        _, begin, end, category, head, *_ = item
        key = begin, end, category, head
        times = self._done.get(key, 0)
        if times == nbest:
            return None
        self._done[key] = times + 1
        if category >= 0:
            self.beginning[begin].append(item)
            self.ending[end].append(item)
        return item

    def fragments(self) -> Found:
        """The fewest constituents of the chart that have all words, then the best."""
        best: list[tuple[int, float, list[Item]]] = [(0, 0.0, [])]
        likely = {
            i: max(own, key=lambda pair: pair[1]) for i, own in enumerate(self.tags)
        }
        for end in range(1, self.count + 1):
            category, p = likely[end - 1]
            options = [Item(p, end - 1, end, category, end - 1), *self.ending[end]]
            found = None
            for item in options:
                count, score, before = best[item.begin]
                score += item.score + max(self.heads[item.head])
                if found is None or (-count - 1, score) > (-found[0], found[1]):
                    found = count + 1, score, [*before, item]
            best.append(found)
        _, score, items = best[-1]
        return Found(score, items)
