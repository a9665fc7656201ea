"""From scores of a network to derivations: grammar, search, and fragments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from keras_tagging.ccg.astar import AStar, Item, Rules, Weights
from keras_tagging.ccg.auto import FRAGMENTS, Leaf, Node, escaped
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, normal
from keras_tagging.utils.checks import Checked, Level, Rate, whole
from keras_tagging.utils.limits import AGENDA, CHART_WORDS


@dataclass(frozen=True, kw_only=True)
class Search(Checked):
    """How derivations are searched for.

    Args:
        beta: a word has the categories with p >= beta * max p.
        head_weight, rule_weight: of the logarithms of the probabilities of heads, and
            of the shares of rules in training, beside those of categories.
        agenda: steps of the search for a sentence, after which it takes fragments.
        unseen: whether combinators join pairs that training does not have.
    """

    beta: Level = 0.05
    head_weight: Rate = 1.0
    rule_weight: Rate = 0.1
    agenda: Annotated[int, whole(1, AGENDA)] = 20_000
    unseen: bool = False


class CCGDecoder:
    """Finds derivations by the scores of categories and heads.

    Args:
        grammar: its rules and roots.
        tags: the categories that words may have, in the order of their scores.
        search: how.
    """

    def __init__(self, grammar: Grammar, tags: Sequence[str], search: Search):
        tags = [normal(tag) for tag in tags]
        self.search = search
        self.rules = Rules(grammar, tags, search.unseen)
        self._numbers = [self.rules.ids[tag] for tag in tags]
        weights = Weights(search.head_weight, search.rule_weight)
        self._astar = AStar(self.rules, weights, search.agenda)

    def derive(
        self,
        words: Sequence[str],
        pos: Sequence[str],
        tags: np.ndarray,
        heads: np.ndarray,
        beta: float | None = None,
        nbest: int = 1,
    ) -> list[tuple[Derivation, float]]:
        """The best derivations with their scores, best first.

        Where the grammar has none, there is one of fragments, whose root has the
        category `FRAG`. A sentence of more than `limits.CHART_WORDS` words is cut into
        pieces, which are fragments too.

        Args:
            words: at least one.
            pos: the part of speech of each word.
            tags: `(words, tags)`, logits of their categories.
            heads: `(words, words + 1)`, logits of their heads; first is ROOT.
            beta: as in `Search`; None for that of the search.
            nbest: how many, at most.
        """
        tags, heads = map(log_softmax, (tags, heads))
        level = np.log(self.search.beta if beta is None else beta)
        possible = [self._possible(row, level) for row in tags]
        count = len(words)
        leaves = list(zip(words, pos, strict=True))
        if count > CHART_WORDS:
            return [self._in_pieces(possible, heads, leaves)]
        results = self._astar.search(possible, heads, nbest)
        return [(_joined(self._trees(x.items, leaves)), x.score) for x in results]

    def _possible(self, row: np.ndarray, level: float) -> list[tuple[int, float]]:
        chosen = np.flatnonzero(row >= row.max() + level).tolist()
        return [(self._numbers[i], float(row[i])) for i in chosen]

    def _in_pieces(self, possible, heads: np.ndarray, leaves):
        score, trees = 0.0, []
        for begin in range(0, len(possible), CHART_WORDS):
            end = min(begin + CHART_WORDS, len(possible))
            heads_inside = np.concatenate(
                [heads[begin:end, :1], heads[begin:end, begin + 1 : end + 1]], 1
            )
            [result] = self._astar.search(possible[begin:end], heads_inside)
            score += result.score
            trees += self._trees(result.items, leaves[begin:end])
        return _joined(trees), score

    def _trees(self, roots: list[Item], leaves) -> list[Node | Leaf]:
        """The nodes of items, without recursion."""
        order, waiting = [], [*roots]
        while waiting:
            item = waiting.pop()
            order.append(item)
            waiting += item.parts
        made: dict[int, Node | Leaf] = {}
        for item in reversed(order):
            name = self.rules.names[item.category]
            if item.parts:
                children = tuple(made[id(part)] for part in item.parts)
                made[id(item)] = Node(name, item.side, children)
            else:
                word, pos = map(escaped, leaves[item.begin])
                made[id(item)] = Leaf(name, pos, pos, word, name)
        return [made[id(root)] for root in roots]


def _joined(trees: list[Node | Leaf]) -> Derivation:
    """A derivation; several trees are its fragments."""
    whole = trees[0] if len(trees) == 1 else Node(FRAGMENTS, 0, tuple(trees))
    return Derivation(whole)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities, in double precision."""
    rows = logits.astype("float64")
    rows = rows - rows.max(-1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(-1, keepdims=True))


def search_of(fields, kind: type[Checked] = Search):
    """The search of a kind that a file describes; one without a field has its default.

    Raises:
        ValueError: if it cannot be one.
    """
    try:
        return kind(**fields)
    except (TypeError, ValueError):
        raise ValueError("does not say how derivations are searched for") from None
