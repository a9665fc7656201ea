"""The answers of shift-reduce CCG parsers: moves, of which derivations are made."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from keras_tagging.ccg.auto import FRAGMENTS
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar
from keras_tagging.ccg.parsing import CCGDecoder, Search
from keras_tagging.data.trees import heads_of
from keras_tagging.kinds.derivations import FIGURES, OF_WORDS, Deriving
from keras_tagging.kinds.kind import Output
from keras_tagging.transitions import RuleTables
from keras_tagging.transitions.agreement import DependencyTree, agreement
from keras_tagging.transitions.search import FORBIDDEN
from keras_tagging.transitions.shift_reduce import FINISH, REDUCE, SHIFT
from keras_tagging.utils.limits import MODEL_STEPS

OUTPUTS = {
    "tags": Output("string", ""),
    "tag_scores": Output("float", 0.0, ranked=True, served=False),
    "moves": Output("int32", 0, ranked=True, served=False),
    "move_scores": Output("float", 0.0, ranked=True, served=False),
}


#: of the chart for sentences that the moves leave in fragments
CHART = Search(beta=0.01)
#: The most words of these: for more the chart takes seconds, and seldom finds anything.
#: Of the development part of EWT 2 % of the sentences are left, the longest with 55.
CHARTED = 80
#: the logit of a head inside of a fragment; that of any other word is 0
INSIDE = 2.0


class MoveSearch(NamedTuple):
    """How derivations were searched for.

    Attributes:
        beam_width: the number of hypotheses.
        head_weight: of `transitions.agreement` with a dependency tree, where there is
            one, beside the log probability of the moves.
    """

    beam_width: int
    head_weight: float = 0.0


def search_of_moves(found) -> MoveSearch:
    """The search that a file describes; an older one has no weight of heads.

    Raises:
        ValueError: if it cannot be one.
    """
    fields = {"head_weight": 0.0, **found} if isinstance(found, dict) else {}
    right = {*fields} == {*MoveSearch._fields}
    if right:
        width, weight = fields["beam_width"], fields["head_weight"]
        right = type(width) is int and 1 <= width <= MODEL_STEPS
        right = right and type(weight) in (int, float) and 0 <= weight < 1e6
    if not right:
        raise ValueError("does not say how derivations were searched for")
    return MoveSearch(**fields)


class MoveDecoder:
    """Makes derivations of moves, and of categories where the moves make none.

    Args:
        grammar: its rules.
        tags: the categories that words may have, in the order of their scores.
        search: how the moves were searched for.
    """

    def __init__(self, grammar: Grammar, tags: Sequence[str], search: MoveSearch):
        self.rules, self._grammar, self._tags = RuleTables(grammar), grammar, tags
        self._most = np.array([*map(len, self.rules.labels.values()), 0])
        self.beam_width, self.head_weight = search

    def derive(
        self,
        words: Sequence[str],
        pos: Sequence[str],
        moves: np.ndarray,
        scores: np.ndarray,
        tags: np.ndarray,
        beta: None = None,
        nbest: int = 1,
        heads: Sequence[int] | None = None,
    ) -> list[tuple[Derivation, float]]:
        """The best derivations with their scores: those without fragments go first.

        With `heads`, a score is the log probability of the moves plus the `head_weight`
        times their `transitions.agreement` with this tree.

        If all hypotheses are fragments, one from a chart is the first, where the
        grammar has one and there are no more than `CHARTED` words: a beam may have
        dropped the moves that lead to it. It knows the categories' scores, and prefers
        heads that the best fragments have. Its score is that of `ccg.astar`.

        Args:
            words: at least one.
            pos: the part of speech of each word.
            moves: `(words, beam_width * c)`, as `transitions.Supertags.search` gives
                them.
            scores: `(words, beam_width)`, the same in each row.
            tags: `(words, tags)`, logits of the categories.
            beta: None: the moves have been found.
            nbest: how many, at most.
            heads: of the words, as `transitions.agreement.DependencyTree` takes them;
                None for none.
        """
        own = moves.reshape(1, len(words), -1)
        own, built, parts = self._hypotheses(own, np.array([len(words)]))
        tree = DependencyTree(heads) if heads is not None and self.head_weight else None
        ranked = []
        for place, score in enumerate(scores[0].tolist()):
            if place and (score < FORBIDDEN / 2 or not built[0, place]):
                continue  # there are not so many
            steps = (own[0, place] % 4).tolist(), (own[0, place] // 4).tolist()
            if tree:
                score += self.head_weight * agreement(tree, self.rules, *steps)
            ranked.append((parts[0, place] > 1, -score, place, steps))
        found = [
            (self.rules.derivation(*steps, words, pos), -score)
            for _, score, _, steps in sorted(ranked)[:nbest]
        ]
        if found[0][0].category == FRAGMENTS and len(words) <= CHARTED:
            heads = heads_inside(found[0][0])
            [(made, score)] = self._chart.derive(words, pos, tags, heads)
            if made.category != FRAGMENTS:
                found.insert(0, (made, score))
        return found[:nbest]

    @cached_property
    def _chart(self) -> CCGDecoder:
        return CCGDecoder(self._grammar, self._tags, CHART)

    def possible(self, moves: np.ndarray, real: np.ndarray) -> bool:
        """Whether the best moves of a batch build derivations; a file may have any.

        Args:
            moves: `(batch, time, any)`.
            real: `(batch, time)`, where there are words.
        """
        if not moves.shape[2] or moves.shape[2] % self.beam_width or (moves < 0).any():
            return False
        moves = np.where(real[:, :, None], moves, FINISH)
        _, built, _ = self._hypotheses(moves, real.sum(1))
        return bool(built[:, 0].all())

    def _hypotheses(self, moves: np.ndarray, lengths: np.ndarray):
        """The moves of each hypothesis, `(batch, beam_width, moves)`; whether they are
        a derivation's, and how many constituents are left, `(batch, beam_width)`."""
        batch, time, _ = moves.shape
        moves = moves.reshape(batch, time, self.beam_width, -1).transpose(0, 2, 1, 3)
        moves = moves.reshape(batch, self.beam_width, -1)
        actions, labels = moves % 4, moves // 4
        going = np.cumsum(actions == FINISH, -1) == 0
        shifts = (going & (actions == SHIFT)).cumsum(-1)
        depth = shifts - (going & (actions == REDUCE)).cumsum(-1)
        right = (labels >= 1) & (labels <= self._most[actions]) & (depth >= 1)
        built = np.all(right | ~going, -1) & (shifts[:, :, -1] == lengths[:, None])
        return moves, built, depth[:, :, -1]


def heads_inside(fragments: Derivation) -> np.ndarray:
    """Logits of heads, `(words, words + 1)`: those inside of fragments are likely."""
    logits, begin = np.zeros((len(fragments), len(fragments) + 1)), 0
    for part in map(Derivation, fragments.root.children):
        for word, head in enumerate(part.heads(by_category=True)):
            if head:
                logits[begin + word, begin + head] = INSIDE
        begin += len(part)
    return logits


class DerivingByMoves(Deriving):
    """A shift-reduce CCG parser, with Keras or without.

    Attributes:
        tags: the categories of words, in the order of their scores.
        grammar: the rules that derivations keep to.
        search: how they are searched for.
    """

    kind = "ccg-shift-reduce"
    figures = tuple(name for name in FIGURES if name not in OF_WORDS[1:])
    reads, of_words = ["moves", "move_scores", "tag_scores"], ["tag_scores"]
    search: MoveSearch

    @property
    def reads_heads(self):
        return self.search.head_weight > 0

    @classmethod
    def outputs(cls, about):
        return OUTPUTS

    @cached_property
    def decoder(self) -> MoveDecoder:
        """The part that makes derivations of moves."""
        return MoveDecoder(self.grammar, self.tags, self.search)

    def _search(self, sentence, arrays, beta=None, nbest=1):
        heads = heads_of(sentence) if self.reads_heads else None
        return super()._search(sentence, arrays, beta, nbest, heads=heads)

    def nothing(self, name):
        return np.zeros(0, object) if name == "tags" else np.zeros((0, 0), "float32")
