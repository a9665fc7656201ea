"""The most probable derivation by a grammar's rules alone: a plain baseline (CKY).

A rule has the probability that its category was made in this way in training. Nothing
looks at words, so this is what a parser has to beat, and no parser itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from keras_tagging.ccg.auto import Leaf, Node
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, head_of, normal
from keras_tagging.ccg.rules import CHANGES
from keras_tagging.utils.limits import CHART_WORDS


class ChartParser:
    """CKY over the rules of a grammar.

    Args:
        grammar: its rules and roots; combinators are not asked.
    """

    def __init__(self, grammar: Grammar):
        totals = Counter()
        for wholes in grammar.rules.values():
            totals.update(wholes)
        names = {*grammar.roots, *totals}.union(*grammar.rules)
        self._names = sorted(names)
        self._ids = {name: i for i, name in enumerate(self._names)}
        rules = {1: [], 2: []}
        for parts, wholes in grammar.rules.items():
            for whole, count in wholes.items():
                row = (*(self._ids[p] for p in (whole, *parts)), count / totals[whole])
                rules[len(parts)].append(row)
        self._pairs = _columns(sorted(rules[2]), 4)
        self._changes = _columns(sorted(rules[1]), 3)
        # the first rule of each result, for a maximum over the rules of each
        self._wholes, self._firsts = np.unique(self._pairs[0], return_index=True)
        self._roots = np.full(len(self._names), -np.inf)
        for root, count in grammar.roots.items():
            share = count / sum(grammar.roots.values())
            self._roots[self._ids[root]] = np.log(share)

    def parse(
        self, words: Sequence[str], tags: Sequence[Mapping[str, float]]
    ) -> Derivation | None:
        """The most probable derivation; None if the rules have none.

        Args:
            words: the words of a sentence.
            tags: for each word its possible categories, in any notation, with
                probabilities.

        Raises:
            ValueError: if there are no words, more than `limits.CHART_WORDS`, or not as
                many tags.
        """
        if not 0 < len(words) <= CHART_WORDS or len(words) != len(tags):
            raise ValueError(
                f"{len(words)} words and tags of {len(tags)}: a chart takes 1 to "
                f"{CHART_WORDS} words, and categories for each"
            )
        tags = [{normal(name): p for name, p in own.items()} for own in tags]
        chart = self._fill(tags)
        scores = chart[0, len(words)] + self._roots
        top = int(scores.argmax())
        if scores[top] == -np.inf:
            return None
        return Derivation(self._follow(chart, words, tags, top))

    def _fill(self, tags) -> np.ndarray:
        """The best score of each category over each span, (begin, end, category)."""
        count = len(tags)
        chart = np.full((count, count + 1, len(self._names)), -np.inf, np.float32)
        for i, possible in enumerate(tags):
            for name, probability in possible.items():
                if name in self._ids and probability > 0:
                    chart[i, i + 1, self._ids[name]] = np.log(probability)
        whole, left, right, logp = self._pairs
        for width in range(1, count + 1):
            begins = np.arange(count - width + 1)
            cells = chart[begins, begins + width]
            best = np.full((len(begins), len(whole)), -np.inf, np.float32)
            for split in range(1, width):
                one = chart[begins, begins + split][:, left]
                two = chart[begins + split, begins + width][:, right]
                np.maximum(best, one + two + logp, out=best)
            if width > 1 and len(whole):
                cells[:, self._wholes] = np.maximum.reduceat(best, self._firsts, axis=1)
            chart[begins, begins + width] = self._changed(cells)
        return chart

    def _changed(self, cells: np.ndarray) -> np.ndarray:
        whole, part, logp = self._changes
        for _ in range(CHANGES):
            rows = (cells[:, part] + logp).T
            np.maximum.at(cells.T, whole, rows)
        return cells

    def _follow(self, chart, words, tags, top: int) -> Node | Leaf:
        """The derivation of the scores, from the top down, without recursion."""
        done: list[Node | Leaf] = []
        waiting: list[tuple] = [(0, len(words), top, frozenset())]
        while waiting:
            if len(waiting[-1]) == 3:
                name, head, count = waiting.pop()
                children = tuple(done[-count:])
                del done[-count:]
                done.append(Node(name, head, children))
                continue
            i, k, category, seen = waiting.pop()
            name, score = self._names[category], chart[i, k, category]
            found = self._split(chart, i, k, category) if k > i + 1 else None
            if found is not None and found[0] >= score - 1e-3:
                _, j, left, right = found
                pair = self._names[left], self._names[right]
                waiting.append((name, head_of(*pair, name), 2))
                waiting += [(j, k, right, frozenset()), (i, j, left, frozenset())]
            elif k == i + 1 and np.log(tags[i].get(name, 0) or 1e-300) >= score - 1e-3:
                done.append(Leaf(name, "X", "X", words[i], name))
            else:
                part = self._change(chart[i, k], category, seen)
                waiting.append((name, 0, 1))
                waiting.append((i, k, part, seen | {category}))
        return done[0]

    def _split(self, chart, i: int, k: int, category: int):
        """The best score, place and two categories that make the category."""
        whole, left, right, logp = self._pairs
        of_it = slice(*np.searchsorted(whole, [category, category + 1]))
        if of_it.start == of_it.stop:
            return None
        splits = np.arange(i + 1, k)
        one = chart[i, splits][:, left[of_it]]
        scores = one + chart[splits, k][:, right[of_it]] + logp[of_it]
        at, rule = np.unravel_index(scores.argmax(), scores.shape)
        place = of_it.start + rule
        return scores[at, rule], int(splits[at]), int(left[place]), int(right[place])

    def _change(self, cell, category: int, seen) -> int:
        whole, part, logp = self._changes
        scores = np.where(whole == category, cell[part] + logp, -np.inf)
        scores[np.isin(part, [*seen, category])] = -np.inf
        return int(part[scores.argmax()])


def _columns(rows: list[tuple], width: int) -> list[np.ndarray]:
    """The places and the logarithm of the probability, of rules sorted by result."""
    columns = np.array(rows, dtype=np.float64).reshape(-1, width).T
    return [*columns[:-1].astype(int), np.log(columns[-1]).astype(np.float32)]
