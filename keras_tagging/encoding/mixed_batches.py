"""Batches of annotated sentences and, between them, of text with a teacher."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from keras_tagging.data.sentence import Sentence, as_sentence
from keras_tagging.encoding.batching import (
    TrainingBatches,
    plan_batches,
    round_up,
    slices,
)


class TextPlan:
    """The batches of a text, and those of them that an epoch learns from.

    The text is cut into windows of 2,000 sentences, and each of these into batches of
    sentences of similar length. The first epoch has the first batches, the next one
    goes on, and after the last batch the first one follows. All that depends on the
    number of the epoch alone, so a resumed run reads what an uninterrupted one does.
    Of the text, one window is in memory, and the batches of one epoch.

    Args:
        sentences: sentences, or lists of words, which can be read again and again.
            Those without a token are left out.
        most: batches of an epoch, if there are as many.
        sizes: `batch_size` and `token_budget` of `plan_batches`.
        multiple: as in `TrainingBatches`.
        seed: of the order of sentences.

    Attributes:
        sentences, tokens: their numbers.
        sha256: of the words.

    Raises:
        ValueError: if there is no token.
    """

    def __init__(self, sentences: Iterable, most: int, sizes, multiple=1, seed=0):
        self._source, self._sizes = sentences, sizes
        self._multiple, self._seed = multiple, seed
        self._reader, self._next, self._held = None, 0, None
        digest, counts = hashlib.sha256(), []
        self.sentences = self.tokens = 0
        for window in self._windows():
            counts.append(len(self._plan(len(counts), window)))
            self.sentences += len(window)
            for sentence in window:
                self.tokens += len(sentence)
                text = "\x01".join(sentence.tokens) + "\x03"
                digest.update(text.encode("utf-8", "surrogatepass"))
        if not counts:
            raise ValueError("the text without annotation has no token: give some")
        self.sha256 = digest.hexdigest()
        self._ends = np.cumsum(counts)
        self.batches = min(most, int(self._ends[-1]))

    def __len__(self) -> int:
        """The batches of an epoch."""
        return self.batches

    @property
    def tokens_of_epoch(self) -> float:
        """The number of tokens of an epoch, on average."""
        return self.tokens * self.batches / int(self._ends[-1])

    def epoch(self, number: int) -> list[list[Sentence]]:
        """The sentences of each batch of an epoch, which is counted from 0.

        Raises:
            ValueError: if the text is not the one that was counted.
        """
        total = int(self._ends[-1])
        places = (number * self.batches + np.arange(self.batches)) % total
        of_window = np.searchsorted(self._ends, places, side="right")
        chosen: list = [None] * self.batches
        for window in np.unique(of_window).tolist():
            sentences = self._window(window)
            plan = self._plan(window, sentences)
            first = int(self._ends[window - 1]) if window else 0
            if len(plan) != self._ends[window] - first:
                raise self._changed()
            for i in np.flatnonzero(of_window == window):
                chosen[i] = [sentences[j] for j in plan[places[i] - first]]
        return chosen

    def _plan(self, number: int, window: list[Sentence]) -> list[np.ndarray]:
        lengths = np.array([len(sentence) for sentence in window])
        rng = np.random.default_rng([self._seed, number])
        return plan_batches(round_up(lengths, self._multiple), rng=rng, **self._sizes)

    def _windows(self) -> Iterator[list[Sentence]]:
        return slices(s for s in map(as_sentence, self._source) if s.tokens)

    def _window(self, number: int) -> list[Sentence]:
        """A window; a later one than the last is read on from there."""
        if self._held is not None and self._held[0] == number:
            return self._held[1]
        if self._reader is None or number < self._next:
            self._reader, self._next = self._windows(), 0
        for window in self._reader:
            self._next += 1
            if self._next > number:
                self._held = number, window
                return window
        raise self._changed()

    def _changed(self) -> ValueError:
        return ValueError(
            "the text without annotation has changed since the training began: leave "
            "it as it is, or begin again"
        )


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
        self._text_batches: TrainingBatches | None = None
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
        self._text_batches = self._teach([s for batch in batches for s in batch])

    def __len__(self) -> int:
        return len(self.gold) + len(self.text)

    def __iter__(self):
        if self._text_batches is None:  # Keras looks at a batch before the first epoch
            yield from self.gold
            return
        rng = np.random.default_rng([self.gold.seed, self.epoch, 1])
        most, of_text = len(self.gold), iter(self._chosen)
        count = 0
        for number, batch in enumerate(self.gold, 1):
            yield batch
            while count * most < number * len(self.text):
                arrays = self._text_batches.arrays(next(of_text))
                yield self.gold.drawn(arrays, rng)
                count += 1

    @property
    def num_targets(self) -> float:
        """The number of predictions in an epoch, on average."""
        rate = self.gold.num_targets / max(1, int(self.gold.sentences.lengths.sum()))
        return self.gold.num_targets + rate * self.text.tokens_of_epoch
