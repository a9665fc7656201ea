"""The gold moves of parsers, and what a parser, or several, thinks of them."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from keras_tagging import training
from keras_tagging.data.named_columns import with_labels
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.trees import trainable, trees_of
from keras_tagging.encoding.batching import plan_batches, round_up
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.encoding.move_batches import EncodedMoves, MoveBatches
from keras_tagging.models.distillation import MOVES, without
from keras_tagging.models.labels import some
from keras_tagging.transitions import Moves, gold_moves, legal_outputs

TREE = ("head", "deprel")


def batches_of_moves(model, encoded, chosen, moves, fitting) -> MoveBatches:
    """The batches of sentences and their moves from which a model learns.

    Args:
        model: a model with a `TransitionScorer`.
        encoded: the `EncodedSentences`.
        chosen: their places among all sentences.
        moves: their `Moves`.
        fitting: the `FitSettings`.
    """
    names, scorer = model.features.names, model.scorer
    return MoveBatches(
        encoded,
        EncodedMoves.of(scorer.system, scorer.outputs, moves),
        chosen,
        word_column=names.index("word") if "word" in names else None,
        **model.batching(fitting),
    )


class LearnsMoves:
    """The moves by which a parser, or an ensemble of them, learns and teaches."""

    def gold_moves(
        self, sentences: Sequence[Sentence]
    ) -> tuple[list[int], int, list[Moves]]:
        """The gold moves of sentences, with the labels of the parser.

        Returns:
            The places of the sentences whose trees it can learn, the number of
            non-projective trees, and the `Moves` of those places.

        Raises:
            ValueError: if a tree is missing or malformed, or a label is unknown.
        """
        treatment = self.settings.task.treatment
        chosen, trees, crossing = trainable(trees_of(sentences), treatment)
        ids = {label: i for i, label in enumerate(self.labels, 1)}
        if unknown := sorted({d for _, deprels in trees for d in deprels} - set(ids)):
            raise ValueError(
                f"this parser does not know {len(unknown):,} of the deprels of the "
                f"training sentences ({some(unknown)}): its own are "
                f"{some(self.labels)}; build a new one for these sentences"
            )
        moves = gold_moves(
            self.scorer.system,
            [heads for heads, _ in trees],
            [[ids[deprel] for deprel in deprels] for _, deprels in trees],
            [f"sentence {i + 1}" for i in chosen],
        )
        return chosen, crossing, moves

    @property
    def move_column(self) -> LabelColumn:
        """The moves of a parser as a column of labels, in the order of its outputs."""
        scorer, labels = self.scorer, ["", *self.labels]
        names = [
            f"{scorer.system.actions[action].name} {labels[label]}".strip()
            for action, label in zip(
                scorer.outputs.actions, scorer.outputs.labels, strict=True
            )
        ]
        return LabelColumn(f"{MOVES}{scorer.system.name}", names)

    @property
    def move_labels(self) -> dict[str, list[str]]:
        """The names of the moves, as `SoftTargets` has labels by column."""
        column = getattr(self, "members", [self])[0].move_column
        return {column.name: column.labels}

    def predict_moves(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each move, before each of the gold moves of sentences.

        They are the means of those of the members, among the moves that are legal.

        Args:
            sentences: with trees.

        Returns:
            For each sentence `(moves, outputs)` float64, in the order of `move_labels`.
            A sentence whose tree the parser cannot learn has no moves.

        Raises:
            ValueError: if a tree is missing or malformed, or a label is unknown.
        """
        members = getattr(self, "members", [self])
        first, names = members[0], members[0].move_column.labels
        places, _, moves = first.gold_moves(sentences)
        kept = [sentences[i] for i in places]
        legal = legal_outputs(
            first.scorer.system, first.scorer.outputs, moves, [*map(len, kept)]
        )
        totals = [np.zeros(may.shape) for may in legal]
        for member in members:
            ids = member.move_column.ids
            order = [ids[name] for name in names]
            for i, rows in member._scored_moves(kept):
                totals[i] += rows[:, order]
        probabilities = [np.zeros((0, len(names)))] * len(sentences)
        for i, total, may in zip(places, totals, legal, strict=True):
            # no move has the probability 0, however sure the members are
            total = np.where(may, np.maximum(total, np.finfo("float32").tiny), 0)
            probabilities[i] = total / total.sum(-1, keepdims=True)
        return probabilities

    def _scored_moves(self, sentences):
        """The numbers of sentences, and the probabilities of outputs at their moves."""
        _, _, moves = self.gold_moves(sentences)
        moves = EncodedMoves.of(self.scorer.system, self.scorer.outputs, moves)
        size = {"token_budget": self.batch_tokens}
        devices = training.devices_of_batches()
        shape = {"multiple": self.length_multiple, "devices": devices}
        batches = MoveBatches(self.encode(sentences), moves, **shape, **size)
        lengths = round_up(batches.sentences.lengths, self.length_multiple)
        for chosen in plan_batches(lengths, **size):
            inputs = batches.arrays(chosen)[:3]
            logits = np.asarray(self.predict_on_batch(inputs), "float64")
            logits -= logits.max(-1, keepdims=True)
            rows = np.exp(logits)
            rows /= rows.sum(-1, keepdims=True)
            for row, i in zip(rows, chosen.tolist(), strict=False):
                yield i, row[: moves.offsets[i + 1] - moves.offsets[i]]

    def distil(self, batches, distillation, unannotated=(), learn_gold=True) -> None:
        """Give the batches of a parser what a teacher says of their moves.

        Args:
            batches: of its training sentences.
            distillation: the `Distillation`, whose soft targets are of all sentences.
            learn_gold: False for moves that are no gold ones: their targets are -1.

        Raises:
            ValueError: if the soft targets are of the moves of another system, or of
                other trees.
        """
        column, targets = self.move_column, distillation.targets
        ids, values = distillation.softened(column)
        offsets, counts = batches.moves.offsets, np.diff(targets.offsets)
        soft = np.zeros((2, int(offsets[-1]), 1, ids.shape[1]))
        for row, i in enumerate(batches.chosen):
            here = slice(offsets[row], offsets[row + 1])
            if counts[i]:
                theirs = slice(targets.offsets[i], targets.offsets[i + 1])
                soft[0, here, 0], soft[1, here, 0] = ids[theirs], values[theirs]
        batches.soft = soft[0].astype("int32"), soft[1].astype("float32")
        if not learn_gold:
            none = np.full_like(batches.moves.targets, -1)
            batches.moves = replace(batches.moves, targets=none)

    def unlabelled_batches(self, sentences, teacher, distilled, like):
        """The batches of sentences of a text, by the moves of the teacher's trees.

        Args:
            sentences: what they have of trees is not read.
            teacher: a parser, or an ensemble of them.
            distilled: function from sentences to their `Distillation`.
            like: the batches of the training sentences.

        Raises:
            ValueError: if the teacher gives deprels that the student does not have.
        """
        bare = [without(sentence, TREE) for sentence in sentences]
        parsed = [
            with_labels(sentence, {name: tree.columns[name] for name in TREE})
            for sentence, tree in zip(bare, teacher.parse(bare), strict=True)
        ]
        chosen, _, moves = self.gold_moves(parsed)
        if len(chosen) < len(parsed):
            raise ValueError("teacher and student have other system= or nonprojective=")
        batches = copy(like)  # with its sizes, and what they are rounded to
        batches.sentences = self.encode(bare)
        scorer = self.scorer
        batches.moves = EncodedMoves.of(scorer.system, scorer.outputs, moves)
        batches.chosen, batches.rates = chosen, np.ones(len(parsed), "float32")
        self.distil(batches, distilled(parsed), learn_gold=False)
        return batches
