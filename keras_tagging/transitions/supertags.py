"""A supertagger beside a scorer of moves."""

from collections.abc import Callable, Sequence

import numpy as np

from keras_tagging.transitions.search import LARGEST, search
from keras_tagging.transitions.shift_reduce import CATEGORIES, FRONT, RuleTables


class Supertags:
    r"""Lets SHIFT take one of the categories that a tagger gives the next word.

    .. math::
        s'_c = \log \sum_k e^{s_k}
            + \log \mathrm{softmax}(s + \lambda \log p(\cdot | b_0))_c

    for the logit :math:`s_c` of SHIFT with the category c, and the tagger's probability
    p of the categories of the next word: how probable SHIFT is, is left to the parser,
    and both say which category. Categories with :math:`p < \beta \max p` are not taken,
    the multi-tagging of Clark & Curran (2007), section 4.3, :cite:`clark2007`, that
    Zhang & Clark (2011), section 3, :cite:`zhang2011`, shift too.

    Args:
        tags: the categories of the tagger, in the order of its logits.
        rules: of the parser.
        beta: the least share of the highest probability.
        weight: :math:`\lambda`, of the logarithm of the tagger's probability.
    """

    def __init__(
        self, tags: Sequence[str], rules: RuleTables, beta: float, weight: float
    ):
        self.level, self.weight = np.float32(np.log(beta)), np.float32(weight)
        self.shifts = rules.sizes[CATEGORIES]
        self.places = np.full(self.shifts, len(tags), "int32")  # of no tag
        for i, tag in reversed([*enumerate(tags)]):  # of two notations the first
            if label := rules.id_of(tag):
                self.places[label - 1] = i

    def scored(
        self, engine, score: Callable, logits, batch, words, beam: int
    ) -> Callable:
        """The function `score` of `transitions.search`, with the tagger's categories.

        Args:
            engine: as of `search`.
            score: that of the parser alone.
            logits: of the tagger, `(batch, words, tags)`.
            batch, words: the lengths of its first axes.
            beam: hypotheses of each sentence.
        """
        xp, shifts = engine.xp, self.shifts
        # the terms to add to the logits of SHIFT, (batch * words, categories)
        tags = engine.log_softmax(xp.reshape(logits, (-1, logits.shape[-1])))
        chosen = xp.greater_equal(tags, xp.max(tags, -1, keepdims=True) + self.level)
        tags = xp.where(chosen, tags * self.weight, np.float32(-LARGEST))
        none = xp.zeros_like(tags[:, :1]) - np.float32(LARGEST)
        table = xp.take(xp.concatenate([tags, none], 1), self.places, axis=1)
        first = xp.expand_dims(xp.arange(batch, dtype="int32"), 1)
        first = xp.reshape(xp.tile(first, (1, beam)), (-1,)) * words

        def scored(nodes, labels, states):
            logits, states = score(nodes, labels, states)
            # without a next word SHIFT is not legal, whatever stands there
            rows = xp.maximum(nodes[:, FRONT] - 2, 0) + first
            shift, others = logits[:, :shifts], logits[:, shifts:]
            # a NaN spreads to all categories, for which the search has a rule
            total = shift - engine.log_softmax(shift)
            chosen = engine.log_softmax(shift + xp.take(table, rows, axis=0))
            return xp.concatenate([total + chosen, others], 1), states

        return scored

    def search(
        self, engine, scorer, part: tuple, logits, lengths, words, beam_width: int
    ):
        """The moves of derivations, best first.

        Args:
            engine: as of `search`.
            scorer: a `layers.TransitionScorer` with the grammar.
            part: its function `score`, and its initial states.
            logits: of the tagger, `(batch, words, tags)`.
            lengths: `(batch,)` int32.
            words: the length of the second axis of the logits.
            beam_width: hypotheses.

        Returns:
            The moves that begin in the row of each word, for each hypothesis, `(batch,
            words, beam_width * c)` int32: 4 times the label, and the action; and the
            log probabilities of all moves, `(batch, beam_width)` float32.
        """
        xp, batch = engine.xp, engine.xp.shape(lengths)[0]
        score, states = part
        score = self.scored(engine, score, logits, batch, words, beam_width)
        actions, labels, scores = search(
            engine,
            scorer.system,
            scorer.outputs,
            score,
            states,
            lengths,
            words + 2,
            beam_width,
            ranked=True,
        )
        size = scorer.system.fields.moves[-1]
        # a row more than there are words, which stays empty
        moves = xp.reshape(labels * 4 + actions, (batch, beam_width, words + 1, size))
        moves = xp.transpose(moves[:, :, :words], (0, 2, 1, 3))
        return xp.reshape(moves, (batch, words, beam_width * size)), scores
