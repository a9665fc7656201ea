"""The shift-reduce CCG parser: sentences in, derivations out, by moves."""

from collections import UserDict

import keras
import numpy as np
from keras import ops

from keras_tagging.architectures.output import run_network
from keras_tagging.ccg.grammar import of_fragments
from keras_tagging.encoding.batching import ids_of
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.kinds.deriving import DerivingByMoves, MoveSearch
from keras_tagging.layers.transition_scorer import KerasEngine
from keras_tagging.models.ccg.ccg_parser import LearningDerivations
from keras_tagging.models.labels import refuse_unknown
from keras_tagging.models.parser.moves import batches_of_moves
from keras_tagging.transitions import Supertags, derivation_moves


def _searching_by(name: str, doc: str) -> property:
    """A setting of the search as an attribute that can be set."""

    def change(self, value):
        self.settings = self.settings.replaced(**{name: value})
        self.__dict__.pop("decoder", None)
        self._others.clear()
        self.predict_function = None  # it was compiled with the old search

    return property(lambda self: self.settings[name], change, doc=doc)


@keras.saving.register_keras_serializable("keras_tagging")
class ShiftReduceParser(DerivingByMoves, LearningDerivations):
    """A CCG parser that takes sentences and builds derivations by moves.

    :func:`keras_tagging.build` makes them: `build("ccg-shift-reduce")`. The `network`
    gives logits of each word's categories, and vectors that the `scorer` reads, a
    :class:`keras_tagging.layers.TransitionScorer` of the rules of the training
    sentences. These need derivations, as `.auto` files have them.

    Its figures are those of `CCGParser` but for those of heads: `accuracy` is that of
    the best categories by the network alone. That of labelled brackets selects the best
    epoch.

    Args:
        architecture, settings, grammar: as in `CCGParser`.
        **kwargs: as there.
    """

    inventories = ("tags",)
    default_monitor = "val_labelled"
    batch_tokens = 1024  # each needs 14 rows of tables

    def __init__(self, architecture, settings, grammar=None, **kwargs):
        self.scorer = None
        # not a dict, which Keras would search for layers
        self._others = UserDict()
        super().__init__(architecture, settings, grammar=grammar, **kwargs)

    def objectives(self):
        return {**super().objectives(), "weighted_metrics": None}

    # Network

    @property
    def tags(self) -> list[str]:
        """The categories of words, in the order of the network's outputs."""
        self._require_network()
        return self.vocabularies["tags"]

    def count_labels(self, sentences):
        return {"tags": count_vocabulary(t for s in sentences for t in s.tags)}

    @property
    def search(self) -> MoveSearch:
        """How derivations are searched for, by its settings."""
        return MoveSearch(self.beam_width, self.head_weight)

    # you may set them
    beam_width = _searching_by("beam_width", "Hypotheses kept; 1 is greedy.")
    beta = _searching_by("beta", "A word has the categories with p >= beta * max p.")
    head_weight = _searching_by("head_weight", "Weight of heads; 0 reads none.")

    @property
    def supertags(self) -> Supertags:
        """The part of the network's categories in the search."""
        task = self.settings.task
        return Supertags(self.tags, self.scorer.rules, task.beta, task.tag_weight)

    def _new_network(self):
        network, self.scorer = super()._new_network(self.vocabularies, self.grammar)
        return network

    def call(self, inputs, training=False):
        """Logits of categories and of all moves, or the moves that are found.

        Args:
            inputs: ids `(batch, words, features)`, nodes `(batch, time, num_nodes)` and
                labels `(batch, time, num_labels)`, as the transition system has them;
                or the ids alone. With a character network, a dict of ids and letters in
                place of the ids.

        Returns:
            A dict of `tags`, logits `(batch, words, tags)`, and `moves`, logits
            `(batch, time, outputs)`; for ids alone `moves` and `scores` of hypotheses,
            as `transitions.Supertags.search` gives them.
        """
        if isinstance(inputs, (tuple, list)):
            tokens, nodes, labels = inputs
            outputs = run_network(self.network, tokens, training=training)
            logits = self.scorer(outputs["states"], nodes, labels, training=training)
            return {"tags": outputs["tags"], "moves": logits}
        ids = ids_of(inputs)
        lengths = ops.sum(ops.cast(ids[:, :, 0] > 0, "int32"), 1)
        outputs = run_network(self.network, inputs)
        moves, scores = self.supertags.search(
            KerasEngine(),
            self.scorer,
            self.scorer.scoring(outputs["states"], self.beam_width),
            outputs["tags"],
            lengths,
            ops.shape(ids)[1],
            self.beam_width,
        )
        return {"tags": outputs["tags"], "moves": moves, "scores": scores}

    # Training

    def check_development(self, sentences):
        tags = dict.fromkeys(tag for s in sentences for tag in s.tags)
        refuse_unknown("categories", tags, self.tags, "development")

    def _with_rules(self, derivations):
        """Those without fragments: no moves join these, so training leaves them out."""
        return (x for x in derivations if not of_fragments(x))

    def targets(self, sentences):
        """The numbers of the categories of all tokens, `(tokens,)`."""
        return LabelColumn(None, self.tags).targets(sentences)

    def batches(self, sentences, fitting):
        moves, chosen = self._gold_moves(sentences)
        encoded = self.encode([sentences[i] for i in chosen], targets=True)
        return batches_of_moves(self, encoded, chosen, moves, fitting)

    def _gold_moves(self, sentences):
        """The moves of the sentences that have some, and the places of these.

        Raises:
            ValueError: if none has; with what is wrong with the first one.
        """
        chosen, wrong = [], []
        for place, sentence in enumerate(sentences):
            try:
                if len(sentence):
                    self.scorer.rules.moves(sentence.derivation)
                    chosen.append(place)
            except ValueError as error:
                wrong.append(f"sentence {place + 1}: {error}")
        if wrong and not chosen:
            raise ValueError(wrong[0])
        self.metadata["left_out"] = {"sentences": len(wrong), "first": wrong[:1]}
        derivations = [sentences[i].derivation for i in chosen]
        return derivation_moves(self.scorer.system, derivations), chosen

    def dataset(self, batches):
        def arranged(tokens, nodes, labels, moves, of_moves, tags, of_words):
            return (tokens, nodes, labels), (moves, tags), (of_moves, of_words)

        return super().dataset(batches).map(arranged)

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The mean cross-entropy of moves, plus that of categories."""
        named = zip(("moves", "tags"), y, sample_weight, strict=True)
        # copies: on PyTorch, Keras multiplies them in place by the mask of the logits
        parts = (
            compiled(None, targets, y_pred[name], 1.0 * mask)
            for name, targets, mask in named
        )
        return sum(parts)

    def penalised(self, loss, sample_weight):
        return super().penalised(loss, sample_weight[0])

    # Derivations

    def derive(self, sentences, *, beta=None, nbest=None, beam_width=None):
        """Find the derivations of sentences.

        Every sentence gets one: where the moves leave several constituents, its root
        has the category `FRAG`, and they are its children. Where sentences have a
        column `head` with a tree, and `head_weight` is above 0, derivations that agree
        with it are better: see `transitions.agreement`.

        Args:
            sentences: as in `CCGParser.derive`.
            beta: a word has the categories with p >= beta * max p; by default that of
                the model.
            nbest: give so many derivations, if there are, each with its score. The
                search then keeps as many hypotheses, and the best one may be another.
            beam_width: hypotheses kept in the search; by default those of the model.

        Returns:
            As `CCGParser.derive`: the score is the log probability of all moves, plus
            the agreement with the heads times `head_weight`. Derivations without
            fragments go before others.

        Raises:
            ValueError: for a `beta` outside of (0, 1], an `nbest` below 1, a beam that
                cannot be, or heads that are no tree.
        """
        task = self.settings.task
        width = task.beam_width if beam_width is None else beam_width
        changes = {
            "beta": task.beta if beta is None else beta,
            "beam_width": max(width, nbest) if nbest else width,
        }
        other = self._searching(changes)
        return super(ShiftReduceParser, other).derive(sentences, nbest=nbest)

    def _searching(self, changes) -> "ShiftReduceParser":
        """The same model with another search: it shares the network."""
        self._require_network()
        settings = self.settings.replaced(**changes)
        if settings.flat() == self.settings.flat():
            return self
        key = tuple(changes.values()), id(self.network)
        if key not in self._others:
            other = type(self).from_config(
                {**self.get_config(), "settings": settings.flat()}
            )
            other.network, other.scorer = self.network, self.scorer
            self._others.clear()  # one is enough, and each has a compiled function
            self._others[key] = other
        return self._others[key]

    def output_arrays(self, outputs, names):
        tags = np.asarray(outputs["tags"])
        moves, scores = (np.asarray(outputs[name]) for name in ("moves", "scores"))
        every = np.broadcast_to(scores[:, None], (*moves.shape[:2], scores.shape[1]))
        arrays = {"tag_scores": tags, "moves": moves, "move_scores": every}
        if "tags" in names:
            arrays["tags"] = np.array(self.tags, object)[tags.argmax(-1)]
        return [arrays[name] for name in names]
