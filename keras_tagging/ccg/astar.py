"""The best derivation by scores of categories, heads and rules: A*.

Lewis & Steedman (2014). A derivation scores the sum of the logarithms of its words'
categories, of their heads, as Yoshikawa et al. (2017) add them, and of its rules. The
words outside of a constituent have at best their best category and their best head, and
the head word of the constituent a head outside of it. So the constituent that may be
part of the best derivation comes first, and the first derivation of the whole is the
best one.

Neither categories nor heads say whether a full stop joins a verb before or after an
adverb on its other side. For that the score has, with a weight, the logarithms of the
shares with which such pairs join their head in one order or the other
(`Grammar.orders`). Of two constituents that differ only in what has joined their head
only the better one is kept, so that with this weight the first derivation is not always
the best one, nor is it with `haste`.

All logarithms are rounded to multiples of 1/4096, whose sums are exact: derivations
that differ only in their order have equal scores, whatever computed the network, and
the one that is found first is taken.
"""

from collections import Counter, defaultdict
from heapq import heappop, heappush
from math import inf, log
from typing import NamedTuple

import numpy as np

from keras_tagging.ccg.grammar import Grammar, head_of

#: how often a chart changes a category alone into another, one change after the other
CHANGES = 3
#: the result, the part with the head, and the logarithm of the rule's share
Rule = tuple[int, int, float]
#: the share of what combinators make of a pair that training does not have
_UNSEEN = log(1e-4)
EVEN = (log(0.5), log(0.5))
_STEP = 4096


class Rules:
    """The rules of a grammar: the results of each pair, and of each category alone.

    A rule has the logarithm of its share: how often its result was made in this way in
    training, of all the times that it was made.

    Args:
        grammar: its rules and roots.
        more: further categories, such as the tags of a model.
        unseen: whether combinators make something of pairs that the grammar does not
            have, if the result is one of the categories.

    Attributes:
        names: the categories, by their numbers.
        ids: their numbers.
        pairs: for the numbers of two neighbours what they make: the result, the part
            with the head, and the logarithm of the rule's share.
        changes: for each category what it alone becomes, `(result, logarithm)`.
        roots: the logarithm of the share of each root.
        orders: for the categories of a constituent on the left of a word and of one on
            its right the logarithms of the shares with which the left one, and the
            right one, joins the word first. Other pairs have `EVEN` for both.
    """

    def __init__(self, grammar: Grammar, more=(), unseen: bool = False):
        totals = Counter()
        for wholes in grammar.rules.values():
            totals.update(wholes)
        names = {*grammar.roots, *totals, *more}.union(*grammar.rules)
        self.names = sorted(names)
        self.ids = ids = {name: i for i, name in enumerate(self.names)}
        self.changes: list[list[tuple[int, float]]] = [[] for _ in ids]
        self._pairs: dict[tuple[int, int], list[Rule]] = defaultdict(list)
        for parts, wholes in grammar.rules.items():
            for whole, count in wholes.items():
                share = log(count / totals[whole])
                if len(parts) == 1:
                    self.changes[ids[parts[0]]].append((ids[whole], share))
                    continue
                made = ids[whole], head_of(*parts, whole), share
                self._pairs[ids[parts[0]], ids[parts[1]]].append(made)
        every = sum(grammar.roots.values())
        self.roots = {ids[x]: log(n / every) for x, n in grammar.roots.items()}
        self.orders = {
            (ids[left], ids[right]): (_share(n, m), _share(m, n))
            for (left, right), (n, m) in grammar.orders.items()
        }
        self._grammar = grammar if unseen else None
        self.pairs = _Pairs(self._made)

    def _made(self, left: int, right: int) -> list[Rule]:
        rules = self._pairs.get((left, right))
        if rules is None and self._grammar is not None:
            rules = [
                (self.ids[result.category], result.head, _UNSEEN)
                for result in self._grammar.combine(self.names[left], self.names[right])
                if result.category in self.ids
            ]
        return rules or []


class _Pairs(dict):
    """The results of pairs of categories; most, asked a million times, have none."""

    def __init__(self, made):
        super().__init__()
        self._made = made

    def __missing__(self, pair: tuple[int, int]) -> list[Rule]:
        self[pair] = rules = self._made(*pair)
        return rules


def _share(count: int, other: int) -> float:
    return log((count + 0.5) / (count + other + 1))


def _rounded(x: float) -> float:
    return round(x * _STEP) / _STEP


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
        joined: the categories of what has joined the head word on its left, and right.
    """

    score: float
    begin: int
    end: int
    category: int
    head: int
    parts: "tuple[Item, ...]" = ()
    side: int = 0
    changes: int = 0
    joined: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


class Result(NamedTuple):
    """The result of a search.

    Args:
        score: the logarithm; of fragments the sum of theirs.
        items: one, or the fewest that have all words, if no derivation has them.
    """

    score: float
    items: list[Item]


class Weights(NamedTuple):
    """The weights of a score beside the logarithms of categories.

    Args:
        head, rule, order: of the logarithms of heads, rules and orders.
        haste: what each word outside of a constituent costs in the agenda, beside its
            best category and head. With 0 the first derivation of the whole is the best
            one; otherwise larger constituents come first, and it is found sooner.
    """

    head: float = 1.0
    rule: float = 0.1
    order: float = 0.5
    haste: float = 0.3


class AStar:
    """The search.

    Args:
        rules: of the grammar.
        weights: of the parts of a score.
        agenda: the most constituents that are taken from the agenda.
    """

    def __init__(self, rules: Rules, weights: Weights, agenda: int):
        self.rules, self.weights, self.agenda = rules, weights, agenda

    def search(
        self, tags: list[list[tuple[int, float]]], heads: np.ndarray, nbest: int = 1
    ) -> list[Result]:
        """The best derivations, best first; if there is none, one of fragments.

        Args:
            tags: for each word its possible categories, by their numbers in the rules,
                each with the logarithm of its probability; at least one.
            heads: `(words, words + 1)`, the logarithms of the probabilities that each
                word has ROOT or word i - 1 as its head.
            nbest: how many.
        """
        weights = self.weights
        tags = [[(name, _rounded(p)) for name, p in row] for row in tags]
        heads = np.round(heads * weights.head * _STEP) / _STEP
        state = _Sentence(tags, heads, weights.haste, nbest)
        return self._whole(state) or [state.fragments()]

    def _whole(self, state: "_Sentence") -> list[Result]:
        """The derivations of all words, from the agenda."""
        rules, weight = self.rules, self.weights.rule
        roots, results = rules.roots, []
        for item in state.words():
            state.push(item)
        for _ in range(self.agenda):
            if not state.agenda or len(results) == state.nbest:
                break
            item = state.pop()
            if item is None:
                continue
            if item.category < 0:
                results.append(Result(item.score, [*item.parts]))
                continue
            score, begin, end, category, head, *_ = item
            if begin == 0 and end == state.count and category in roots:
                whole = score + state.heads[head][0]
                whole += _rounded(weight * roots[category])
                state.push(Item(whole, begin, end, -1, head, (item,)))
            if item.changes < CHANGES:
                for result, share in rules.changes[category]:
                    more = score + _rounded(weight * share)
                    changed = (more, begin, end, result, head, (item,), 0)
                    state.push(Item(*changed, item.changes + 1, item.joined))
            for other, rights in state.beginning[end].items():
                for result in rules.pairs[category, other]:
                    for right in rights:
                        self._join(state, item, right, *result)
            for other, lefts in state.ending[begin].items():
                for result in rules.pairs[other, category]:
                    for left in lefts:
                        self._join(state, left, item, *result)
        # the agenda's order is that of scores and `haste`
        return sorted(results, key=lambda one: -one.score)

    def _join(self, state, left: Item, right: Item, result, side, share) -> None:
        head, other = (right, left) if side else (left, right)
        if state.has(left.begin, right.end, result, head.head):
            return  # a better one
        arc = state.heads[other.head][head.head + 1]
        score = left.score + right.score + arc
        orders, (lefts, rights), new = self.rules.orders, head.joined, other.category
        if side:
            shares = [orders.get((new, x), EVEN)[1] for x in rights]
            joined = (*lefts, new), rights
        else:
            shares = [orders.get((x, new), EVEN)[0] for x in lefts]
            joined = lefts, (*rights, new)
        score += _rounded(self.weights.rule * share + self.weights.order * sum(shares))
        made = (score, left.begin, right.end, result, head.head, (left, right), side)
        state.push(Item(*made, 0, joined))


class _Sentence:
    """The agenda and the chart of a sentence."""

    def __init__(self, tags, heads: np.ndarray, haste: float, nbest: int):
        self.tags, self.count, self.nbest = tags, len(tags), nbest
        best = heads.max(1) + [max(p for _, p in row) for row in tags]
        before = np.concatenate([[0.0], np.cumsum(best)])
        #: of all words outside of what begins and ends there
        outside = before[-1] - (before[None, :] - before[:, None])
        places = np.arange(self.count + 1)
        outside -= _rounded(haste) * (self.count - (places[None, :] - places[:, None]))
        self.outside = outside.tolist()
        # the best head to the left of a place, or ROOT, and from a place on
        low = np.full((len(tags), 1), -np.inf)
        self.left = np.maximum.accumulate(heads, 1).tolist()
        backwards = np.maximum.accumulate(heads[:, ::-1], 1)[:, ::-1]
        self.right = np.concatenate([backwards[:, 1:], low], 1).tolist()
        self.heads = heads.tolist()
        self.agenda: list[tuple[float, int, Item]] = []
        #: by place and category
        places = range(self.count + 1)
        self.beginning: list[dict[int, list[Item]]] = [{} for _ in places]
        self.ending: list[dict[int, list[Item]]] = [{} for _ in places]
        self._done: dict[tuple[int, ...], int] = {}
        #: the best scores so far, where one derivation is wanted
        self._best: dict[tuple[int, ...], float] = {}
        self._order = 0

    def words(self):
        for i, row in enumerate(self.tags):
            for category, p in row:
                yield Item(p, i, i + 1, category, i)

    def push(self, item: Item) -> None:
        """Add to the agenda."""
        score, begin, end, category, head, *_ = item
        if self.nbest == 1:
            key = begin, end, category, head
            if self._best.get(key, -inf) >= score:
                return  # the one before it is no worse
            self._best[key] = score
        if category >= 0:
            score += self.outside[begin][end]
            score += max(self.left[head][begin], self.right[head][end])
        self._order += 1
        heappush(self.agenda, (-score, self._order, item))

    def has(self, *kind: int) -> bool:
        """Whether the chart has the best constituents of these words, category, head.

        They are as many as derivations are wanted.
        """
        return self._done.get(kind, 0) == self.nbest

    def pop(self) -> Item | None:
        """The best of the agenda, which joins the chart; None if it is no news."""
        item = heappop(self.agenda)[2]
        _, begin, end, category, head, *_ = item
        key = begin, end, category, head
        if self.has(*key):
            return None
        self._done[key] = self._done.get(key, 0) + 1
        if category >= 0:
            self.beginning[begin].setdefault(category, []).append(item)
            self.ending[end].setdefault(category, []).append(item)
        return item

    def fragments(self) -> Result:
        """The fewest constituents of the chart that have all words, then the best."""
        best: list[tuple[int, float, list[Item]]] = [(0, 0.0, [])]
        likely = [max(row, key=lambda pair: pair[1]) for row in self.tags]
        for end in range(1, self.count + 1):
            category, p = likely[end - 1]
            options = [Item(p, end - 1, end, category, end - 1)]
            options += [item for items in self.ending[end].values() for item in items]
            kept = None
            for item in options:
                count, score, before = best[item.begin]
                score += item.score + max(self.heads[item.head])
                if kept is None or (-count - 1, score) > (-kept[0], kept[1]):
                    kept = count + 1, score, [*before, item]
            best.append(kept)
        _, score, items = best[-1]
        return Result(score, items)
