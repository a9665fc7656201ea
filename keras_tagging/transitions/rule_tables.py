"""The rules of a CCG grammar as tables of numbers, and derivations as moves."""

from collections.abc import Iterable, Sequence

import numpy as np

from keras_tagging.ccg.auto import FRAGMENTS, Leaf, Node
from keras_tagging.ccg.categories import category_of
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, head_of, of_fragments
from keras_tagging.ccg.words import escaped
from keras_tagging.utils.limits import RULE_TABLE

SHIFT, REDUCE, UNARY, FINISH = range(4)
#: the sets of labels: all categories, results of pairs, results of one category
CATEGORIES, WHOLES, CHANGED = "categories", "wholes", "changed"


class RuleTables:
    """The rules of a grammar as a parser needs them.

    A category, a pair of categories that have a rule, and a label of each set are
    numbers from 1; 0 is none. Only pairs that training has are known: of these nearly
    all have one result, and combinators would make categories that no rule goes on
    with.

    Args:
        grammar: its rules; counts do not matter here.
        changes: how often a constituent may change its category, one change after the
            other.

    Raises:
        ValueError: if there are so many categories that a table would be larger than
            `limits.RULE_TABLE`.

    Attributes:
        categories: their names.
        labels: by set, the categories that are labels, by their numbers.
        category: `(actions, labels + 1)`, the category that a move makes.
        pairs: `(categories + 1, categories + 1)`, the number of each pair.
        heads: `(pairs + 1, wholes + 1)`: 0 if a pair does not become it, 1 if the head
            is then the left one of the pair, 2 if it is the right one.
        changed: `(categories + 1, changed + 1)` bool, what a category may change into.
    """

    def __init__(self, grammar: Grammar, changes: int = 2):
        self.changes = changes
        names = {*grammar.roots}.union(*grammar.rules, *grammar.rules.values())
        self.categories = sorted(names)
        self._ids = {name: i for i, name in enumerate(self.categories, 1)}
        of_sizes = {1: {}, 2: {}}
        for parts, wholes in grammar.rules.items():
            of_sizes[len(parts)][parts] = wholes
        self.labels = {CATEGORIES: [*self._ids.values()]}
        for name, size in ((WHOLES, 2), (CHANGED, 1)):
            wholes = sorted(set().union(*of_sizes[size].values()))
            self.labels[name] = [self._ids[whole] for whole in wholes]
        self._places = {
            name: {category: i for i, category in enumerate(ids, 1)}
            for name, ids in self.labels.items()
        }
        width = len(names) + 1
        self.pairs = _zeros(width, width)
        self.heads = _zeros(len(of_sizes[2]) + 1, len(self.labels[WHOLES]) + 1)
        self.changed = _zeros(width, len(self.labels[CHANGED]) + 1).astype(bool)
        for number, (pair, wholes) in enumerate(of_sizes[2].items(), 1):
            self.pairs[tuple(self._ids[part] for part in pair)] = number
            for whole in wholes:
                place = self._places[WHOLES][self._ids[whole]]
                self.heads[number, place] = 1 + head_of(*pair, whole)
        for (part,), wholes in of_sizes[1].items():
            for whole in wholes:
                place = self._places[CHANGED][self._ids[whole]]
                self.changed[self._ids[part], place] = True
        self.category = _zeros(4, width)
        for action, name in ((SHIFT, CATEGORIES), (REDUCE, WHOLES), (UNARY, CHANGED)):
            ids = self.labels[name]
            self.category[action, 1 : len(ids) + 1] = ids

    @property
    def sizes(self) -> dict[str, int]:
        """The number of labels of each set."""
        return {name: len(ids) for name, ids in self.labels.items()}

    def id_of(self, category: str) -> int:
        """The number of a category in any notation; 0 if the grammar has none."""
        found = self._ids.get(category)
        return found or self._ids.get(str(category_of(category) or category), 0)

    def moves(self, derivation: Derivation) -> tuple[list[int], list[int]]:
        """The actions that build a derivation, and their labels.

        Raises:
            ValueError: if the grammar lacks a step of it, it changes a category too
                often, or it is one of fragments.
        """
        if of_fragments(derivation):
            raise ValueError("no moves join fragments: leave the derivation out")
        moves, changes = [], 0
        waiting = [(derivation.root, False)]  # nodes, and whether their children's
        while waiting:  # moves are there
            node, ready = waiting.pop()
            parts = () if isinstance(node, Leaf) else node.children
            if parts and not ready:
                waiting.append((node, True))
                waiting += [(child, False) for child in reversed(parts)]
                continue
            moves.append(self._move(node.category, [part.category for part in parts]))
            changes = changes + 1 if moves[-1][0] == UNARY else 0
            if changes > self.changes:
                raise ValueError(
                    f"a category changes more than {self.changes} times to become "
                    f"{node.category}: leave the derivation out, or allow more changes"
                )
        actions, labels = zip(*moves, (FINISH, 0), strict=True)
        return [*actions], [*labels]

    def _move(self, whole: str, parts: list[str]) -> tuple[int, int]:
        """The action and the label that make a category of others, or of a word."""
        ids, label = [self.id_of(part) for part in parts], self.id_of(whole)
        action, known = SHIFT, label
        if parts:
            action = UNARY if len(parts) == 1 else REDUCE
            name = CHANGED if len(parts) == 1 else WHOLES
            label = self._places[name].get(label, 0)
            if len(parts) == 1:
                known = self.changed[ids[0], label]
            else:
                known = len(parts) == 2 and self.heads[self.pairs[*ids], label]
        if not known:
            rule = f"{' '.join(parts)} => {whole}" if parts else f"the category {whole}"
            raise ValueError(
                f"the grammar does not have {rule}: learn it from this derivation too, "
                "or leave the derivation out"
            )
        return action, label

    def derivation(
        self,
        actions: Iterable[int],
        labels: Iterable[int],
        words: Sequence[str],
        pos: Sequence[str] | None = None,
    ) -> Derivation:
        """The derivation that moves build.

        If several constituents are left, they are the children of a root of the
        category "FRAG": fragments.

        Args:
            actions, labels: of the moves, in their order. What comes after FINISH does
                not count.
            words: the words of the sentence, at least one; those of the derivation are
                `ccg.words.escaped`.
            pos: the part of speech of each; by default "X".
        """
        stack: list[Node | Leaf] = []
        rest = iter(zip(words, pos or ["X"] * len(words), strict=True))
        for action, label in zip(actions, labels, strict=True):
            if action == FINISH:
                break
            name = self.categories[self.category[action, label] - 1]
            if action == SHIFT:
                word, tag = map(escaped, next(rest))
                stack.append(Leaf(name, tag, tag, word, name))
            elif action == UNARY:
                stack.append(Node(name, 0, (stack.pop(),)))
            else:
                right, left = stack.pop(), stack.pop()
                head = head_of(left.category, right.category, name)
                stack.append(Node(name, head, (left, right)))
        root = stack[0] if len(stack) == 1 else Node(FRAGMENTS, 0, tuple(stack))
        return Derivation(root)


def _zeros(rows: int, columns: int) -> np.ndarray:
    if rows * columns > RULE_TABLE:
        raise ValueError(
            f"a table of the grammar has {rows:,} rows of {columns:,}: leave out rare "
            "rules of it"
        )
    return np.zeros((rows, columns), "int32")
