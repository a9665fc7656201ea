"""Sentences with their moves as flat arrays, and the batches cut from them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keras_tagging.encoding.batching import (
    LEAST_WEIGHT,
    EncodedSentences,
    TrainingBatches,
    round_up,
)
from keras_tagging.transitions import Moves, Outputs, TransitionSystem, gold_moves


@dataclass(frozen=True)
class EncodedMoves:
    """The moves of sentences, end to end.

    Args:
        nodes: `(moves, num_nodes)`, the nodes that the network reads before each move.
        labels: `(moves, num_labels)`, the labels that it reads.
        targets: `(moves,)`, numbers of outputs.
        offsets: `(sentences + 1,)`: sentence `i` has the moves from `offsets[i]` to
            `offsets[i + 1]`.
    """

    nodes: np.ndarray
    labels: np.ndarray
    targets: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(
        cls, system: TransitionSystem, outputs: Outputs, sentences: Sequence[Moves]
    ) -> "EncodedMoves":
        offsets = np.cumsum([0, *(len(moves.actions) for moves in sentences)])
        sentences = sentences or gold_moves(system, [[]], [[]])

        def end_to_end(name, dtype):
            parts = [getattr(moves, name) for moves in sentences]
            return np.concatenate(parts).astype(dtype)

        return cls(
            end_to_end("nodes", "int16"),
            end_to_end("node_labels", "int16"),
            outputs.of(end_to_end("actions", "int32"), end_to_end("labels", "int32")),
            offsets,
        )


class MoveBatches(TrainingBatches):
    """The batches of one epoch after another, of sentences and their moves.

    Args:
        sentences: `EncodedSentences`.
        moves: the `EncodedMoves` of the same sentences.
        chosen: the places of these sentences among all that `fit` was given.
        **kwargs: arguments of `TrainingBatches`.
    """

    def __init__(
        self, sentences: EncodedSentences, moves: EncodedMoves, chosen=None, **kwargs
    ):
        super().__init__(sentences, **kwargs)
        self.moves = moves
        self.chosen = range(len(sentences.lengths)) if chosen is None else chosen
        self.rates = np.ones(len(self.chosen), "float32")

    def weigh(self, weights):
        """Let sentences count differently; one of weight 0 has no moves to learn.

        Args:
            weights: for each sentence that `fit` was given `(tokens,)`, all the same.
        """
        rates = [weights[i].max(initial=0) for i in self.chosen]
        rates, targets = np.array(rates, "float32"), self.moves.targets.copy()
        targets[np.repeat(rates == 0, np.diff(self.moves.offsets))] = -1
        self.moves = replace(self.moves, targets=targets)
        self.rates = np.maximum(rates, np.float32(LEAST_WEIGHT))

    def arrays(self, chosen):
        """Tokens as `EncodedSentences.batch` gives them, nodes `(batch, time,
        num_nodes)`, labels `(batch, time, num_labels)`, targets and mask `(batch,
        time)`. The time is a multiple of two for each of `multiple`. If the words have
        targets too, these and their mask follow, `(batch, words)`."""
        tokens, of_words, rows = super().arrays(chosen)
        starts, ends = self.moves.offsets[chosen], self.moves.offsets[chosen + 1]
        time = round_up(int((ends - starts).max()), 2 * self.multiple)
        places = starts[:, None] + np.arange(time)
        real = np.zeros((len(rows), time), bool)
        real[: len(chosen)] = places < ends[:, None]
        places = places[real[: len(chosen)]]
        arrays = []
        for flat in (self.moves.nodes, self.moves.labels, self.moves.targets):
            padded = np.zeros((*real.shape, *flat.shape[1:]), "int32")
            padded[real] = flat[places]
            arrays.append(padded)
        mask = real.astype("float32")
        mask[: len(chosen)] *= self.rates[chosen, None]
        more = () if self.sentences.targets is None else (of_words, rows)
        return tokens, *arrays, mask, *more

    @property
    def num_targets(self) -> float:
        return float(np.diff(self.moves.offsets) @ self.rates)
