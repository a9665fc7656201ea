"""Sentences with their moves as flat arrays, and the batches cut from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keras_tagging.encoding.batching import EncodedSentences, TrainingBatches
from keras_tagging.parsing.oracle import Moves, oracle
from keras_tagging.parsing.transitions import RIGHT_ARC, SHIFT


@dataclass(frozen=True)
class EncodedMoves:
    """The moves of sentences, end to end: a sentence of n words has 2 n.

    Args:
        nodes: `(moves, 18)`, the nodes that the network reads before each move.
        labels: `(moves, 12)`, the labels that it reads.
        targets: `(moves,)`, output numbers, see `output_of`.
    """

    nodes: np.ndarray
    labels: np.ndarray
    targets: np.ndarray

    @classmethod
    def of(cls, sentences: Sequence[Moves], num_labels: int) -> "EncodedMoves":
        sentences = sentences or oracle([[]], [[]])

        def end_to_end(name, dtype):
            parts = [getattr(moves, name) for moves in sentences]
            return np.concatenate(parts).astype(dtype)

        moves, labels = end_to_end("moves", "int32"), end_to_end("labels", "int32")
        return cls(
            end_to_end("nodes", "int16"),
            end_to_end("node_labels", "int16"),
            output_of(moves, labels, num_labels),
        )


def output_of(moves, labels, num_labels):
    """The output for each move: 0 is SHIFT, then LEFT_ARC, RIGHT_ARC by label."""
    return np.where(moves == SHIFT, 0, labels + (moves == RIGHT_ARC) * num_labels)


class MoveBatches(TrainingBatches):
    """The batches of one epoch after another, of sentences and their moves.

    Args:
        sentences: `EncodedSentences`.
        moves: the `EncodedMoves` of the same sentences.
        **kwargs: arguments of `TrainingBatches`.
    """

    def __init__(self, sentences: EncodedSentences, moves: EncodedMoves, **kwargs):
        super().__init__(sentences, **kwargs)
        self.moves = moves

    def arrays(self, chosen):
        """Tokens as `EncodedSentences.batch` gives them, nodes `(batch, time, 18)`,
        labels `(batch, time, 12)`, targets and mask `(batch, time)`: two moves for
        each word."""
        tokens, _, real = super().arrays(chosen)
        real = np.repeat(real > 0, 2, axis=1)
        rows = len(real) - len(chosen)
        starts = 2 * np.pad(self.sentences.offsets[chosen], (0, rows))
        places = (starts[:, None] + np.arange(real.shape[1]))[real]
        arrays = []
        for flat in (self.moves.nodes, self.moves.labels, self.moves.targets):
            padded = np.zeros((*real.shape, *flat.shape[1:]), "int32")
            padded[real] = flat[places]
            arrays.append(padded)
        return tokens, *arrays, real.astype("float32")

    @property
    def num_targets(self) -> int:
        return len(self.moves.targets)
