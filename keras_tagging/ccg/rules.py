"""The rules of a grammar as numbers, for parsers that ask for them a million times."""

from collections import Counter
from math import log

from keras_tagging.ccg.grammar import Grammar, head_of

#: the result, the part with the head, and the logarithms of the rule's share, and of
#: the odds that it comes late: see `Grammar.orders`
Rule = tuple[int, int, float, float]
#: the share of what combinators make of a pair that training does not have
_UNSEEN = log(1e-4)


class Rules:
    """What each pair of categories can be, and each category alone.

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
        changes: for each category what it alone becomes, `(result, logarithm)`.
        roots: the logarithm of the share of each root.
    """

    def __init__(self, grammar: Grammar, more=(), unseen: bool = False):
        totals = Counter()
        for wholes in grammar.rules.values():
            totals.update(wholes)
        names = {*grammar.roots, *totals, *more}.union(*grammar.rules)
        self.names = sorted(names)
        self.ids = ids = {name: i for i, name in enumerate(self.names)}
        self.changes: list[list[tuple[int, float]]] = [[] for _ in ids]
        self._pairs: list[dict[int, list[Rule]]] = [{} for _ in ids]
        for parts, wholes in grammar.rules.items():
            for whole, count in wholes.items():
                share = log(count / totals[whole])
                if len(parts) == 1:
                    self.changes[ids[parts[0]]].append((ids[whole], share))
                    continue
                row = self._pairs[ids[parts[0]]].setdefault(ids[parts[1]], [])
                late = self._late(grammar.orders.get((*parts, whole), (0, 0)))
                row.append((ids[whole], head_of(*parts, whole), share, late))
        every = sum(grammar.roots.values())
        self.roots = {ids[x]: log(n / every) for x, n in grammar.roots.items()}
        self._grammar = grammar if unseen else None

    @staticmethod
    def _late(order: tuple[int, int]) -> float:
        """The logarithm of the odds that a rule comes late, at most 0."""
        return min(0.0, log((order[1] + 0.5) / (order[0] + 0.5)))

    def after(self, left: int) -> dict[int, list[Rule]]:
        """What a category on the left makes with those on its right.

        Returns:
            For each number of a right one a list of the result, the head (0 is the left
            one) and the logarithm of the rule's share.
        """
        return self._pairs[left]

    def of(self, left: int, right: int) -> list[Rule]:
        """The same for one pair; with `unseen` what combinators make of it."""
        found = self._pairs[left].get(right)
        if found is None and self._grammar is not None:
            found = [
                (self.ids[result.category], result.head, _UNSEEN, 0.0)
                for result in self._grammar.combine(self.names[left], self.names[right])
                if result.category in self.ids
            ]
            self._pairs[left][right] = found
        return found or []
