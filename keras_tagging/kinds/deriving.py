"""CCG parsers predict the derivation of each sentence, by a chart or by moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from keras_tagging.ccg.auto import FRAGMENTS
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, normal
from keras_tagging.ccg.parsing import CCGDecoder, Search
from keras_tagging.data.named_columns import parts_of_speech
from keras_tagging.data.sentence import Sentence, Sentences, as_sentences, beginning
from keras_tagging.data.trees import heads_of
from keras_tagging.kinds import Output
from keras_tagging.kinds.predictor import Predictor
from keras_tagging.kinds.tagging import Beta, Tagging, logits_of
from keras_tagging.metrics.accuracy import share
from keras_tagging.transitions import RuleTables
from keras_tagging.transitions.agreement import DependencyTree, agreement
from keras_tagging.transitions.search import FORBIDDEN
from keras_tagging.transitions.shift_reduce import FINISH, REDUCE, SHIFT
from keras_tagging.utils.checks import Checked, Level, Weight, checked, whole
from keras_tagging.utils.limits import MODEL_STEPS

Nbest = Annotated[int, whole(1, 1000)]
#: those of single words, and those of derivations
OF_WORDS = ("accuracy", "head_accuracy", "joint_accuracy")
FIGURES = (*OF_WORDS, "supertags", "labelled", "unlabelled", "dependencies")
FIGURES += ("unlabelled_dependencies", "exact", "coverage")


class Deriving(Predictor):
    """A CCG parser, with Keras or without.

    Attributes:
        categories: of words, in the order of their scores.
        grammar: the rules that derivations keep to.
        search: how they are searched for.
        decoder: the search that makes derivations of the outputs `reads`.
        of_words: the outputs of single words, those of categories first.
    """

    inventory = "tags"
    gives = ("tags",)
    gives_probabilities = False
    reads: list[str]
    of_words: list[str]
    #: whether it reads the column `head`, where sentences have one
    reads_heads = False
    grammar: Grammar
    search: Search

    @property
    def categories(self) -> Sequence[str]:
        return self.tags

    def derive(
        self, sentences: Sentences, *, beta: Beta = None, nbest: int | None = None
    ) -> Any:  # sentences, or with `nbest` lists of pairs
        """Find the derivations of sentences.

        Every sentence gets one: where the grammar has none for the whole, its root has
        the category `FRAG`, and its children are the fewest parts that have one. If one
        part covers the sentence, it is the derivation, even where no derivation of
        training has a root of its category.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or tuple
                gives a list; any other iterable gives a generator that reads a limited
                number of sentences ahead.
            beta: a word has the categories with p >= beta * max p; by default that of
                the model.
            nbest: give so many derivations, if there are, each with its score.
                The search then keeps more, and the best one may be another.

        Returns:
            For each sentence the sentence with its `derivation`, whose categories are
            its `tags`. With `nbest` a list of pairs of this and the logarithm that the
            derivation scores, best first. A sentence without words stays as it is.

        Raises:
            ValueError: for a `beta` outside of (0, 1], or `nbest` below 1.
        """
        checked("beta", beta, Level | None, None)
        checked("nbest", nbest, Nbest | None, None)

        def derived(sentence, outputs):
            ranked = self._search(sentence, outputs, beta, nbest or 1)
            return ranked[0][0] if nbest is None else ranked

        return self.decode(sentences, self.reads, derived, len(self.categories))

    def decoding(self):
        return self.reads, lambda *arguments: self._search(*arguments)[0][0]

    def rows(self, outputs, names) -> list[np.ndarray]:
        """The outputs of these names, with logits of labels."""
        return [outputs[name] for name in names]

    def _search(self, sentence: Sentence, outputs, beta=None, nbest=1, **more) -> list:
        """The sentence with each of its best derivations, and their scores."""
        if not len(sentence):
            return [(sentence, 0.0)]
        words, pos = sentence.tokens, parts_of_speech(sentence, "X")
        arrays = self.rows(outputs, self.reads)
        ranked = self.decoder.derive(words, pos, *arrays, beta, nbest, **more)
        derived = []
        for made, score in ranked:
            tags = [leaf.category for leaf in made.leaves]
            derived.append((replace(sentence, tags=tags, derivation=made), score))
        return derived

    def measured(self, sentences, *calls, search=True) -> dict[str, float]:
        """The figures on sentences with derivations: see `metrics.derivation_scores`.

        `accuracy` is that of the network's best category of each word, before there is
        a derivation; `supertags` that of the derivation.

        Args:
            sentences: sentences with derivations.
            *calls: for a model with Keras its `NetworkCalls`.
            search: False for the figures of single words alone.
        """
        from keras_tagging.metrics import derivations  # half a second

        sentences = with_derivations(sentences)
        names = [*dict.fromkeys([*(self.reads if search else ()), *self.of_words])]

        def both(sentence, outputs):
            made = self._search(sentence, outputs)[0][0].derivation if search else None
            return made, self.rows(outputs, self.of_words)

        rows = self.decode(sentences, names, both, len(self.categories), *calls)
        figures = self._of_words(sentences, [outputs for _, outputs in rows])
        if not search:
            return figures
        gold = [s.derivation for s in sentences if len(s)]
        made = [derivation for derivation, _ in rows if derivation is not None]
        counts = derivations.derivation_counts(gold, made)
        figures |= derivations.scores_of(counts)._asdict()
        return {name: float(figures[name]) for name in self.figures}

    def _of_words(self, sentences, scores) -> dict[str, float]:
        right = np.zeros(3, int)
        ids: dict[str, int] = {}  # of categories, in whatever notation
        each = np.array([ids.setdefault(normal(t), len(ids)) for t in self.categories])
        for sentence, (tags, *heads) in zip(sentences, scores, strict=True):
            if not len(sentence):
                continue
            gold = [ids.get(normal(tag), -1) for tag in gold_tags(sentence)]
            same = right_heads = each[tags.argmax(-1)] == gold
            if heads:
                best = heads[0][:, : len(gold) + 1].argmax(-1)
                right_heads = best == gold_heads(sentence)
            right += same.sum(), right_heads.sum(), (same & right_heads).sum()
        count = sum(map(len, sentences))
        shares = (share(int(n), count) for n in right)
        return dict(zip(OF_WORDS, shares, strict=True))


#: what a parser with a chart reads of the heads: those of ROOT and of each word
HEADS = {"all_head_probabilities": Output("float", 0.0, ranked=True, served=False)}
#: for models of the network that only `ccg-parser` had
TRAIN_ANEW = (
    "is of version 0.5 or before, when a ccg-parser had another network: "
    "keras-tagging train ccg-parser makes a new one"
)


class DerivingByChart(Deriving, Tagging):
    """A CCG parser with an A* search, with Keras or without.

    It is a tagger whose column `tags` has the categories, and scores heads too: `tag`
    gives the best category of each word, and other columns that it learns.
    """

    kind = "ccg-parser"
    figures = FIGURES
    reads = of_words = ["all_tags_probabilities", *HEADS]

    @classmethod
    def outputs(cls, about):
        return super().outputs(about) | HEADS

    @property
    def categories(self) -> Sequence[str]:
        return self.tags["tags"]

    @cached_property
    def decoder(self) -> CCGDecoder:
        return CCGDecoder(self.grammar, self.categories, self.search)

    def rows(self, outputs, names):
        return [logits_of(outputs[name]) for name in names]


# Sentences with derivations


def with_derivations(sentences) -> list[Sentence]:
    """The sentences with the categories of their derivations, which they must have.

    Those that have heads lose them: figures and training must not read gold trees.

    Raises:
        ValueError: if one has none.
    """
    sentences = as_sentences(sentences)
    for number, sentence in enumerate(sentences, 1):
        if sentence.derivation is None and len(sentence):
            raise ValueError(
                f"sentence {number}, {beginning(sentence)}, has no derivation, "
                "which a CCG parser learns from: read an .auto file"
            )
    kept = [{k: v for k, v in s.columns.items() if k != "head"} for s in sentences]
    tags = (gold_tags(s) if len(s) else [] for s in sentences)
    rows = zip(sentences, tags, kept, strict=True)
    return [replace(s, tags=own, columns=columns) for s, own, columns in rows]


def gold_tags(sentence: Sentence) -> list[str]:
    """The categories of the words of a derivation."""
    return [leaf.category for leaf in sentence.derivation.leaves]


def gold_heads(sentence: Sentence) -> list[int]:
    """The heads of words by the categories of a derivation; 0 is ROOT."""
    return sentence.derivation.heads(by_category=True)


# By moves

MOVE_OUTPUTS = {
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


@dataclass(frozen=True)
class MoveSearch(Checked):
    """How derivations were searched for.

    Attributes:
        beam_width: the number of hypotheses.
        head_weight: of `transitions.agreement` with a dependency tree, where there is
            one, beside the log probability of the moves.
    """

    beam_width: Annotated[int, whole(1, MODEL_STEPS)]
    head_weight: Weight = 0.0  # as files have it that do not say so


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
        self.beam_width, self.head_weight = search.beam_width, search.head_weight

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
        hypotheses = moves.reshape(1, len(words), -1)
        hypotheses, built, parts = self._hypotheses(hypotheses, np.array([len(words)]))
        tree = DependencyTree(heads) if heads is not None and self.head_weight else None
        ranked = []
        for place, score in enumerate(scores[0].tolist()):
            if place and (score < FORBIDDEN / 2 or not built[0, place]):
                continue  # there are not so many
            labels, actions = (x.tolist() for x in np.divmod(hypotheses[0, place], 4))
            steps = actions, labels
            if tree:
                score += self.head_weight * agreement(tree, self.rules, *steps)
            ranked.append((parts[0, place] > 1, -score, place, steps))
        derivations = [
            (self.rules.derivation(*steps, words, pos), -score)
            for _, score, _, steps in sorted(ranked)[:nbest]
        ]
        if derivations[0][0].category == FRAGMENTS and len(words) <= CHARTED:
            heads = heads_inside(derivations[0][0])
            [(made, score)] = self._chart.derive(words, pos, tags, heads)
            if made.category != FRAGMENTS:
                derivations.insert(0, (made, score))
        return derivations[:nbest]

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
    def reads_heads(self) -> bool:
        return self.search.head_weight > 0

    @classmethod
    def outputs(cls, about):
        return MOVE_OUTPUTS

    @cached_property
    def decoder(self) -> MoveDecoder:
        """The part that makes derivations of moves."""
        return MoveDecoder(self.grammar, self.tags, self.search)

    def _search(self, sentence, outputs, beta=None, nbest=1):
        heads = heads_of(sentence) if self.reads_heads else None
        return super()._search(sentence, outputs, beta, nbest, heads=heads)
