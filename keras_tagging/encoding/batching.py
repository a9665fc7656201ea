"""Sentences as flat id arrays, and the batches cut from them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from keras_tagging.encoding.vocabulary import UNKNOWN_ID

# Sentences that are read, sorted by length and tagged together.
PREDICTION_SENTENCES = 2000


def slices(sentences: Iterable) -> Iterator[list]:
    """Lists of at most `PREDICTION_SENTENCES`."""
    sentences = iter(sentences)
    while chunk := list(islice(sentences, PREDICTION_SENTENCES)):
        yield chunk


@dataclass(frozen=True)
class EncodedSentences:
    """All tokens of a list of sentences, as ids, end to end.

    Args:
        ids: `(tokens, features)` int32, the output of `TokenFeatures`; 0 pads, so
            no real token has a 0 in any column.
        offsets: `(sentences + 1,)`: sentence `i` is `ids[offsets[i]:offsets[i + 1]]`.
        targets: `(tokens,)` int32 tag ids, -1 for a tag outside the inventory, or
            None without gold tags.
    """

    ids: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray | None = None

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def spans(self) -> list[tuple[int, int]]:
        """Where each sentence begins and ends."""
        ends = self.offsets.tolist()
        return list(zip(ends[:-1], ends[1:], strict=True))

    def batch(
        self,
        sentences: np.ndarray,
        multiple: int = 1,
        *,
        batch_size: int | None = None,
        token_budget: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pads the chosen sentences on the right to the longest of them.

        Args:
            sentences: their indices.
            multiple: the padded length is the next multiple of this. Above 1, the
                rows become `padded_rows`: those that follow the sentences are
                padding from end to end.
            batch_size, token_budget: those given to `plan_batches`, which rows of
                padding must not exceed. Without either there are none.

        Returns:
            ids `(batch, time, features)` int32, targets `(batch, time)` int32 (-1
            in the padding) and mask `(batch, time)` float32, 1 for a real token.
        """
        lengths = self.lengths[sentences]
        time = int(round_up(lengths, multiple).max(initial=0))
        rows = len(sentences)
        if multiple > 1 and time:
            rows = padded_rows(rows, batch_size or (token_budget or 0) // time)
        real = np.arange(time) < np.pad(lengths, (0, rows - len(lengths)))[:, None]
        tokens = self.offsets[sentences][:, None] + np.arange(time)
        tokens = tokens[real[: len(sentences)]]
        ids = np.zeros((*real.shape, self.ids.shape[1]), "int32")
        ids[real] = self.ids[tokens]
        targets = np.full(real.shape, -1, "int32")
        if self.targets is not None:
            targets[real] = self.targets[tokens]
        return ids, targets, real.astype("float32")


def round_up(lengths: np.ndarray, multiple: int) -> np.ndarray:
    """The lengths, each raised to the next multiple."""
    return -(-lengths // multiple) * multiple


def padded_rows(rows: int, most: int) -> int:
    """The next power of two, but at most `most`; never less than `rows`."""
    return max(rows, min(1 << (rows - 1).bit_length(), most))


def plan_batches(
    lengths: np.ndarray,
    *,
    batch_size: int | None = None,
    token_budget: int | None = None,
    rng: np.random.Generator | None = None,
) -> list[np.ndarray]:
    """Splits sentences into batches of similar length.

    Sentences are sorted by length and cut either every `batch_size` sentences or
    where the padded batch would exceed `token_budget` tokens; a longer sentence is
    a batch of its own, never cut. Empty sentences are in no batch. With `rng`,
    sentences of equal length change places and the batches come in random order;
    the number of batches depends on the lengths alone. `batch_size=1` (online
    learning) is a plain permutation.

    Args:
        lengths: `(sentences,)` token counts.
        batch_size: sentences a batch.
        token_budget: padded tokens a batch; used when `batch_size` is None.
        rng: source of randomness; None gives the order of length.

    Returns:
        Arrays of sentence indices.

    Raises:
        ValueError: unless exactly one of the two sizes is a positive integer.
    """
    if (batch_size is None) == (token_budget is None):
        raise ValueError("give either batch_size or token_budget, and not both")
    if (token_budget if batch_size is None else batch_size) < 1:
        raise ValueError("batch_size and token_budget must be at least 1")
    order = np.flatnonzero(lengths)
    if rng is not None:
        order = rng.permutation(order)
    if batch_size == 1:
        return list(order[:, None])
    order = order[np.argsort(lengths[order], kind="stable")]
    if batch_size is not None:
        cuts = np.arange(batch_size, len(order), batch_size)
    else:
        cuts, start = [], 0
        for position, length in enumerate(lengths[order].tolist()):
            if (position - start + 1) * length > token_budget and position > start:
                cuts.append(position)
                start = position
    batches = np.split(order, cuts) if len(order) else []
    if rng is not None:
        batches = [batches[i] for i in rng.permutation(len(batches))]
    return batches


class TrainingBatches:
    """The batches of one epoch after another.

    Their order and content depend only on `(seed, epoch)`, so that a resumed run
    sees what an uninterrupted one would have seen.

    Args:
        sentences: `EncodedSentences` with targets.
        seed: int.
        batch_size, token_budget: as in `plan_batches`.
        multiple: padded lengths are multiples of this. XLA compiles anew for every
            shape, so that it wants few of them: above 1, rows of padding follow
            where a batch is not full.
        unknown_rate: probability with which a word that occurs once in these
            sentences becomes the unknown word, drawn anew every epoch, so that the
            unknown vector is trained.
        word_column: column of `ids` that holds the word id.
    """

    def __init__(
        self,
        sentences: EncodedSentences,
        *,
        seed: int = 0,
        batch_size: int | None = None,
        token_budget: int | None = None,
        multiple: int = 1,
        unknown_rate: float = 0.0,
        word_column: int | None = 0,
    ):
        self.sentences = sentences
        self.seed = seed
        self.sizes = {"batch_size": batch_size, "token_budget": token_budget}
        self.lengths = round_up(sentences.lengths, multiple)
        self.multiple = multiple
        self.unknown_rate = unknown_rate
        self.word_column = word_column
        self.epoch = 0
        if unknown_rate and word_column is not None:
            self.singletons = np.bincount(sentences.ids[:, word_column]) == 1

    def __len__(self) -> int:
        return len(plan_batches(self.lengths, **self.sizes))

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        for chosen in plan_batches(self.lengths, rng=rng, **self.sizes):
            ids, *others = self.arrays(chosen)
            if self.unknown_rate and self.word_column is not None:
                words = ids[..., self.word_column]
                rare = self.singletons[words]
                rare &= rng.random(words.shape) < self.unknown_rate
                words[rare] = UNKNOWN_ID
            yield ids, *others

    def arrays(self, chosen):
        """Ids, targets and mask of these sentences."""
        return self.sentences.batch(chosen, self.multiple, **self.sizes)

    @property
    def num_targets(self) -> int:
        """What is to be predicted in an epoch."""
        return int(self.sentences.lengths.sum())
