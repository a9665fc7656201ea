r"""A grammar that is learnt from derivations: their rules, with counts.

Treebanks have rules that no combinator makes (`S\NP => NP\NP`, `NP NP => NP`), and of
what combinators allow they have little. So a pair of categories that was seen has the
results that were seen, and the combinators speak for pairs that were not.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from keras_tagging.ccg.auto import FRAGMENTS, Leaf, Node, bottom_up
from keras_tagging.ccg.categories import CategoryError, category_of, normalise
from keras_tagging.ccg.combinators import combine, step_of
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.utils.atomic import write_text
from keras_tagging.utils.limits import GRAMMAR_RULES
from keras_tagging.utils.stored import read_object


class Result(NamedTuple):
    """A category that one or two others can become.

    Args:
        category: in normal form.
        head: the child that has the head, by the categories.
        count: how often training had it; 0 if a combinator makes it.
    """

    category: str
    head: int
    count: int


class Coverage(NamedTuple):
    """How many derivations and steps a grammar has.

    Args:
        derivations: the number of derivations.
        whole: those whose every step, and whose root, it has.
        steps: the number of steps, those with one child included.
        known: those that it has.
    """

    derivations: int
    whole: int
    steps: int
    known: int


class Grammar:
    """Rules with counts, and the categories of roots.

    Args:
        rules: for each one or two categories, as a tuple of texts in normal form, how
            often they became which category.
        roots: how often a category was that of a whole derivation.
        orders: for the categories of a constituent on the left of a word and of one on
            its right, both of which hang from it, how often the left one joined first,
            and the right one. It tells whether a full stop comes after an adverb,
            which no rule and no head does.
    """

    def __init__(
        self,
        rules: dict[tuple[str, ...], dict[str, int]],
        roots: dict[str, int],
        orders: dict[tuple[str, str], tuple[int, int]] | None = None,
    ):
        self.rules, self.roots, self.orders = rules, roots, orders or {}

    @classmethod
    def from_derivations(cls, derivations: Iterable[Derivation]) -> "Grammar":
        """The grammar of derivations, such as those of the sentences of a treebank.

        Raises:
            ValueError: if there is no derivation, or one is of fragments.
        """
        rules: dict[tuple[str, ...], Counter] = defaultdict(Counter)
        roots: Counter = Counter()
        orders: dict[tuple[str, ...], Counter] = defaultdict(Counter)
        for derivation in derivations:
            whole = derivation is not None and not of_fragments(derivation)
            if not whole or any(len(n.children) > 2 for n in derivation.nodes()):
                what = f"{derivation} is no derivation of a whole sentence"
                raise ValueError(f"{what}, in steps of one or two parts: leave it out")
            roots[normal(derivation.category)] += 1
            for node in derivation.nodes():
                rules[_parts(node)][normal(node.category)] += 1
            for pair, right_first in _orders(derivation):
                orders[pair][right_first] += 1
        if not roots:
            raise ValueError("no derivation: give those of a treebank")
        return cls(
            {parts: dict(rules[parts]) for parts in sorted(rules)},
            dict(roots),
            {pair: (n[False], n[True]) for pair, n in sorted(orders.items())},
        )

    def combine(self, left: str, right: str) -> list[Result]:
        """All that two neighbours can be, the most frequent first.

        Combinators make those of a pair that training does not have.

        Raises:
            CategoryError: if training does not have the pair, and one is no category.
        """
        left, right = normal(left), normal(right)
        seen = self.rules.get((left, right))
        if seen is None:
            steps = combine(left, right)
            return [Result(str(step.category), step.head, 0) for step in steps]
        results = [
            Result(whole, head_of(left, right, whole), n) for whole, n in seen.items()
        ]
        return sorted(results, key=lambda result: -result.count)

    def has(self, node: Node, combinators: bool = True) -> bool:
        """Whether it has the step, from training or by a combinator."""
        whole, parts = normal(node.category), _parts(node)
        if parts in self.rules or not combinators or len(parts) != 2:
            return whole in self.rules.get(parts, {})
        one, two = map(category_of, parts)  # some treebanks have what is none
        steps = combine(one, two) if one and two else ()
        return any(str(step.category) == whole for step in steps)

    def coverage(
        self, derivations: Iterable[Derivation], combinators: bool = True
    ) -> Coverage:
        """How much of derivations, such as those of a test set, it has.

        Args:
            derivations: the derivations.
            combinators: whether a step that a combinator makes of a pair that training
                does not have counts as known.
        """
        counts = Counter()
        for derivation in derivations:
            steps = [self.has(node, combinators) for node in derivation.nodes()]
            whole = all(steps) and normal(derivation.category) in self.roots
            counts.update(
                derivations=1, whole=whole, steps=len(steps), known=sum(steps)
            )
        return Coverage(*(counts[name] for name in Coverage._fields))

    def to_dict(self) -> dict[str, Any]:
        """An object for JSON: each category once, and rules as places in their list."""
        names = sorted({*self.roots}.union(*self.rules, *self.rules.values()))
        places = {name: place for place, name in enumerate(names)}
        rules = [
            [[places[part] for part in parts], places[whole], count]
            for parts, wholes in self.rules.items()
            for whole, count in wholes.items()
        ]
        roots = [[places[root], count] for root, count in self.roots.items()]
        orders = [[places[a], places[b], *n] for (a, b), n in self.orders.items()]
        return {"categories": names, "rules": rules, "roots": roots, "orders": orders}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Grammar":
        """The grammar of an object of `to_dict`.

        Raises:
            ValueError: if the object is none, or beyond `limits`.
        """
        try:
            names, listed, tops = (fields[k] for k in ("categories", "rules", "roots"))
            pairs = fields.get("orders", [])  # older files have none
            if max(map(len, (names, listed, tops, pairs))) > GRAMMAR_RULES:
                raise ValueError(f"more than {GRAMMAR_RULES:,} rules")
            if not all(name.strip() for name in names):
                raise ValueError("an empty category")
            rules: dict[tuple[str, ...], dict[str, int]] = {}
            for parts, whole, count in listed:
                key = tuple(_at(names, place) for place in parts)
                if len(key) not in (1, 2):
                    raise ValueError("a rule without one or two parts")
                rules.setdefault(key, {})[_at(names, whole)] = _count(count)
            orders = {
                (_at(names, left), _at(names, right)): (_count(n, 0), _count(m, 0))
                for left, right, n, m in pairs
            }
            roots = {_at(names, root): _count(count) for root, count in tops}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is no grammar ({str(error)[:80]})") from None
        return cls(rules, roots, orders)

    def save(self, path: str | Path) -> None:
        """Write it as a file of JSON, such as `grammar.json` beside a model."""
        write_text(Path(path), json.dumps(self.to_dict()))

    @classmethod
    def load(cls, path: str | Path) -> "Grammar":
        """Read a file of `save`.

        Raises:
            OSError: if it cannot be opened.
            ValueError: if it holds anything else; the message names it.
        """
        remedy = "save the grammar again"
        fields = read_object(Path(path), remedy)
        try:
            return cls.from_dict(fields)
        except ValueError as error:
            raise ValueError(f"{path}: {error}: {remedy}") from None

    def __repr__(self) -> str:
        pairs = sum(len(parts) == 2 for parts in self.rules)
        alone = sum(len(w) for parts, w in self.rules.items() if len(parts) == 1)
        counts = {"pair": pairs, "unary rule": alone, "root": len(self.roots)}
        counted = (f"{n} {noun}{'s' * (n != 1)}" for noun, n in counts.items())
        return f"<Grammar of {', '.join(counted)}>"


def _orders(derivation: Derivation):
    """The pairs of constituents that hang from a word, one on either side of it.

    Yields:
        The categories of the left and of the right one, and whether the right one
        joined first.
    """
    # of each node its head word; of each word what joined it on the left and right
    words, joined = {}, defaultdict(lambda: ([], []))
    for i, node, below, word in bottom_up(derivation.root):
        if isinstance(node, Leaf):
            words[i] = word
            continue
        head = node.head_by_category
        words[i] = words[below[head]]
        if len(below) == 2:
            other, right = normal(node.children[1 - head].category), head == 0
            sides = joined[words[i]]
            for before in sides[not right]:
                pair = (before, other) if right else (other, before)
                yield pair, not right
            sides[right].append(other)


def _parts(node: Node) -> tuple[str, ...]:
    return tuple(normal(child.category) for child in node.children)


@lru_cache(maxsize=1 << 14)
def normal(category: str) -> str:
    """The normal form; the text itself where it is no category."""
    try:
        return normalise(category)
    except CategoryError:
        return category


def of_fragments(derivation: Derivation) -> bool:
    """Whether it is one of fragments, in any notation, and none of the whole."""
    return normal(derivation.category) == FRAGMENTS


@lru_cache(maxsize=1 << 14)
def head_of(left: str, right: str, whole: str) -> int:
    """The head by the categories; of a pair that no combinator joins, the like one."""
    one, two, three = map(category_of, (left, right, whole))
    step = step_of(one, two, three) if one and two and three else None
    return step.head if step else int(left != whole and right == whole)


def _at(names: list[str], place) -> str:
    if type(place) is not int or not 0 <= place < len(names):
        raise ValueError(f"{place!r} is no place of a category")
    return names[place]


def _count(value, least: int = 1) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"{value!r} is no count")
    return value
