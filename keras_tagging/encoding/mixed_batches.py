"""Batches of annotated sentences and, between them, of text with a teacher."""

from collections.abc import Callable

import numpy as np

from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.batching import TrainingBatches
from keras_tagging.encoding.text_plan import TextPlan


class MixedBatches:
    """The batches of one epoch after another, as `TrainingBatches`.

    Args:
        gold: of annotated sentences.
        text: the `TextPlan` of the text, for the same sizes of batches.
        teach: function from sentences of the text to `TrainingBatches` of them with
            what the teacher says, as `gold` has it. It is called as an epoch begins.
    """

    def __init__(
        self,
        gold: TrainingBatches,
        text: TextPlan,
        teach: Callable[[list[Sentence]], TrainingBatches],
    ):
        self.gold, self.text, self._teach = gold, text, teach
        self._taught: TrainingBatches | None = None
        self._chosen: list[np.ndarray] = []

    @property
    def epoch(self) -> int:
        return self.gold.epoch

    @epoch.setter
    def epoch(self, number: int):
        # here and not while batches are read: those are read in a thread of
        # TensorFlow's, in which a second network may wait for its own threads for ever
        self.gold.epoch = number
        batches = self.text.epoch(number)
        ends = np.cumsum([0, *map(len, batches)])
        self._chosen = [np.arange(*pair) for pair in zip(ends, ends[1:], strict=False)]
        self._taught = self._teach([s for batch in batches for s in batch])

    def __len__(self) -> int:
        return len(self.gold) + len(self.text)

    def __iter__(self):
        if self._taught is None:  # Keras looks at a batch before the first epoch
            yield from self.gold
            return
        rng = np.random.default_rng([self.gold.seed, self.epoch, 1])
        most, of_text = len(self.gold), iter(self._chosen)
        given = 0
        for number, batch in enumerate(self.gold, 1):
            yield batch
            while given * most < number * len(self.text):
                arrays = self._taught.arrays(next(of_text))
                yield self.gold.drawn(arrays, rng)
                given += 1

    @property
    def soft(self):
        """See `TrainingBatches`."""
        return self.gold.soft

    @property
    def target_axes(self) -> int:
        """See `TrainingBatches`."""
        return self.gold.target_axes

    @property
    def num_targets(self) -> float:
        """The number of predictions in an epoch, on average."""
        rate = self.gold.num_targets / max(1, int(self.gold.sentences.lengths.sum()))
        return self.gold.num_targets + rate * self.text.tokens_of_epoch
