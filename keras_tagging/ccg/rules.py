"""The rules of a grammar as numbers, for parsers that ask for them a million times."""

from collections import Counter, defaultdict
from math import log

from keras_tagging.ccg.grammar import Grammar, head_of

#: how often a chart changes a category alone into another, one change after the other
CHANGES = 3
#: the result, the part with the head, and the logarithm of the rule's share
Rule = tuple[int, int, float]
#: the share of what combinators make of a pair that training does not have
_UNSEEN = log(1e-4)
EVEN = (log(0.5), log(0.5))


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
