"""Sentences as flat id arrays, and the batches cut from them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from keras_tagging.encoding.vocabulary import UNKNOWN_ID

# Sentences that are read, sorted by length and tagged together.
PREDICTION_SENTENCES = 2000
FIRST_SENTENCES = 125  # of a stream, whose first answers somebody waits for
# Answers for the tokens of a slice, about 90 bytes each, 25 tokens a sentence
PREDICTION_ENTRIES = 2**21
SENTENCE_LENGTH = 25
# of a real token that should not count: what has the weight 0 is padding
LEAST_WEIGHT = 1e-30


def slices(
    sentences: Iterable, entries: int = 1, growing: bool = False
) -> Iterator[list]:
    """Lists of at most `PREDICTION_SENTENCES`.

    Args:
        sentences: sentences, or anything else.
        entries: what is given for each token, such as all tags with probabilities: the
            lists are short if these are many.
        growing: whether the first lists are short, each twice as long as the last one.
    """
    most = max(1, PREDICTION_ENTRIES // (SENTENCE_LENGTH * entries))
    most = min(most, PREDICTION_SENTENCES)
    size = min(most, FIRST_SENTENCES) if growing else most
    sentences = iter(sentences)
    while chunk := list(islice(sentences, size)):
        size = min(most, 2 * size)
        yield chunk


@dataclass(frozen=True)
class EncodedSentences:
    """All tokens of a list of sentences, as ids, end to end.

    Args:
        ids: `(tokens, features)` int32, the output of `TokenFeatures`. 0 is padding, so
            no real token has a 0 in any column.
        offsets: `(sentences + 1,)`: sentence `i` is `ids[offsets[i]:offsets[i + 1]]`.
        targets: `(tokens,)` int32 tag ids, -1 for a tag outside the inventory, or
            None without gold tags. With named columns of labels `(tokens, columns)`.
        letters: `(distinct tokens + 1, characters)` int32, the characters of each
            distinct token; row 0 is padding. None without a character network.
        letter_column: the column of `ids` that holds rows of `letters`.
        soft: what a teacher says of the labels: ids `(tokens, columns, k)` int32, best
            first, and their probabilities, float32; all 0 where it says nothing.
        weights: `(tokens,)` float32 above 0, how much each token counts; None for 1.
    """

    ids: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray | None = None
    letters: np.ndarray | None = None
    letter_column: int | None = None
    soft: tuple[np.ndarray, np.ndarray] | None = None
    weights: np.ndarray | None = None

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def batch(
        self,
        sentences: np.ndarray,
        multiple: int = 1,
        *,
        batch_size: int | None = None,
        token_budget: int | None = None,
        devices: int = 1,
    ) -> tuple[np.ndarray | dict, np.ndarray | dict, np.ndarray]:
        """Pad sentences on the right to the longest of them.

        Args:
            sentences: the indices of the sentences.
            multiple: the padded length is the next multiple of this. Above 1, rows of
                padding follow the sentences: see `padded_rows`.
            batch_size, token_budget: the arguments of `plan_batches`, which limit the
                rows of padding. Without either, there are no such rows.
            devices: above 1, rows of padding make each batch divisible by it.

        Returns:
            ids `(batch, time, features)` int32, targets `(batch, time)` int32 (-1
            in the padding; a last axis has the columns, if there are any), and mask
            `(batch, time)` float32, 1 for a real token, or its weight, and 0 in the
            padding. With `letters`, a dict in place
            of the ids: "ids", and "letters" `(rows, characters)`, the characters of
            each distinct token of the batch, to whose rows the column of the ids now
            points. With `soft`, a dict in place of the targets: "gold", "ids" and
            "probabilities", the last two `(batch, time, columns, k)`.
        """
        lengths = self.lengths[sentences]
        time = int(round_up(lengths, multiple).max(initial=0))
        rows = len(sentences)
        if multiple > 1 and time:
            rows = padded_rows(rows, batch_size or (token_budget or 0) // time)
        rows = int(round_up(rows, devices))
        real = np.arange(time) < np.pad(lengths, (0, rows - len(lengths)))[:, None]
        tokens = self.offsets[sentences][:, None] + np.arange(time)
        tokens = tokens[real[: len(sentences)]]

        def padded(flat, fill=0):
            array = np.full((*real.shape, *flat.shape[1:]), fill, flat.dtype)
            array[real] = flat[tokens]
            return array

        ids = padded(self.ids)
        if self.targets is None:
            targets = np.full(real.shape, -1, "int32")
        else:
            targets = padded(self.targets, -1)
        if self.soft is not None:
            labels, probabilities = map(padded, self.soft)
            targets = {"gold": targets, "ids": labels, "probabilities": probabilities}
        mask = real.astype("float32") if self.weights is None else padded(self.weights)
        if self.letters is None:
            return ids, targets, mask
        letters = self._letters(ids, real, multiple, devices)
        return {"ids": ids, "letters": letters}, targets, mask

    def _letters(self, ids, real, multiple, devices):
        """The letters of the distinct tokens of a batch; makes the ids point to them.

        Above 1, the columns are a multiple of `multiple`, and the rows a power of two.
        The rows are a multiple of `devices`.
        """
        column = ids[..., self.letter_column]
        rows, places = np.unique(column[real], return_inverse=True)
        column[real] = 1 + places.reshape(-1)
        letters = self.letters[rows]
        width = max(1, int(letters.any(0).sum()))
        count = 1 + len(rows)
        if multiple > 1:
            width = int(round_up(width, multiple))
            count = padded_rows(count, 1 + real.size)
        padded = np.zeros((round_up(count, devices), width), "int32")
        padded[1 : 1 + len(rows), : letters.shape[1]] = letters[:, :width]
        return padded


def ids_of(tokens):
    """The ids `(batch, time, features)` of a batch, which may have letters too."""
    return tokens["ids"] if isinstance(tokens, dict) else tokens


def round_up(lengths: np.ndarray | int, multiple: int) -> np.ndarray | int:
    """The lengths, each rounded up to the next multiple."""
    return -(-lengths // multiple) * multiple


def padded_rows(rows: int, most: int) -> int:
    """The next power of two from `rows` on, but at most `most` or `rows`."""
    return max(rows, min(1 << (rows - 1).bit_length(), most))


def plan_batches(
    lengths: np.ndarray,
    *,
    batch_size: int | None = None,
    token_budget: int | None = None,
    rng: np.random.Generator | None = None,
) -> list[np.ndarray]:
    """Group sentences into batches of similar length.

    Sentences are sorted by length. A batch ends after `batch_size` sentences, or before
    its padded size would exceed `token_budget` tokens; a longer sentence is a batch of
    its own and is not truncated. Empty sentences are in no batch. With `rng`, sentences
    of equal length and the batches are shuffled; the number of batches depends on the
    lengths alone. `batch_size=1` (online learning) is a plain permutation.

    Args:
        lengths: `(sentences,)` token counts.
        batch_size: sentences a batch.
        token_budget: padded tokens a batch; used when `batch_size` is None.
        rng: source of randomness; None keeps the order by length.

    Returns:
        Arrays of sentence indices.

    Raises:
        ValueError: unless one of the two sizes is given.
    """
    if (batch_size is None) == (token_budget is None):
        raise ValueError("give either batch_size or token_budget")
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

    Their order and content depend only on `(seed, epoch)`, so a resumed run sees the
    same batches as an uninterrupted one.

    Args:
        sentences: `EncodedSentences` with targets.
        seed: seed of the order and of unknown words, int.
        batch_size, token_budget: as in `plan_batches`.
        multiple: padded lengths are multiples of this. XLA compiles again for every
            shape, so few shapes are better: above 1, rows of padding fill up batches.
        devices: as in `EncodedSentences.batch`.
        unknown_rate: probability with which a word that occurs once in these sentences
            becomes the unknown word, drawn again in every epoch, so that the unknown
            vector is trained. So does a character that occurs once.
        word_dropout: alpha of Kiperwasser & Goldberg (2016), section 4,
            :cite:`kiperwasser2016`: a word that occurs n times in these sentences
            becomes the unknown word with the probability alpha / (alpha + n), if that
            is greater.
        embedding_dropout: the least probability with which any word becomes so.
        word_column: the column of `ids` with the word ids.
    """

    def __init__(
        self,
        sentences: EncodedSentences,
        *,
        seed: int = 0,
        batch_size: int | None = None,
        token_budget: int | None = None,
        multiple: int = 1,
        devices: int = 1,
        unknown_rate: float = 0.0,
        word_dropout: float = 0.0,
        embedding_dropout: float = 0.0,
        word_column: int | None = 0,
    ):
        self.sentences = sentences
        self.seed = seed
        self.sizes = {"batch_size": batch_size, "token_budget": token_budget}
        self.lengths = round_up(sentences.lengths, multiple)
        self.multiple = multiple
        self.devices = devices
        self.word_column = word_column
        self.epoch = 0
        self.word_rates = self.letter_rates = None
        rates = unknown_rate, word_dropout, embedding_dropout
        if any(rates) and word_column is not None:
            counts = np.bincount(sentences.ids[:, word_column])
            self.word_rates = forgetting_rates(counts, *rates)
        if unknown_rate and sentences.letters is not None:
            counts = letter_counts(sentences)
            self.letter_rates = forgetting_rates(counts, unknown_rate)

    def __len__(self) -> int:
        return len(plan_batches(self.lengths, **self.sizes))

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        for chosen in plan_batches(self.lengths, rng=rng, **self.sizes):
            tokens, *_ = arrays = self.arrays(chosen)
            if self.word_rates is not None:
                forget(ids_of(tokens)[..., self.word_column], self.word_rates, rng)
            if self.letter_rates is not None:
                forget(tokens["letters"], self.letter_rates, rng)
            yield arrays

    def arrays(self, chosen):
        """Ids, targets and mask of these sentences."""
        return self.sentences.batch(
            chosen, self.multiple, devices=self.devices, **self.sizes
        )

    def weigh(self, weights: Sequence[np.ndarray]) -> None:
        """Let tokens count differently.

        A token of weight 0 has no target: a CRF takes the sum over all its labels.

        Args:
            weights: for each sentence `(tokens,)` float32, 0 or more.
        """
        flat, targets = np.concatenate(weights), self.sentences.targets.copy()
        targets[flat == 0] = -1
        flat = np.maximum(flat, np.float32(LEAST_WEIGHT))
        self.sentences = replace(self.sentences, targets=targets, weights=flat)

    @property
    def num_targets(self) -> float:
        """The number of predictions in an epoch, or the sum of their weights."""
        weights = self.sentences.weights
        return float(self.sentences.lengths.sum() if weights is None else weights.sum())


def forgetting_rates(
    counts, unknown_rate, word_dropout=0.0, embedding_dropout=0.0
) -> np.ndarray:
    """The probability with which each id becomes unknown: see `TrainingBatches`.

    Padding, and what does not occur, stay as they are.
    """
    rates = word_dropout / (word_dropout + np.maximum(counts, 1))
    rates = np.maximum(rates, embedding_dropout)
    rates = np.where(counts == 1, np.maximum(rates, unknown_rate), rates)
    rates[:1] = 0.0
    return rates


def forget(ids: np.ndarray, rates: np.ndarray, rng: np.random.Generator) -> None:
    """Makes some ids unknown, in their array; those without a rate stay."""
    rates = np.where(ids < len(rates), rates.take(ids, mode="clip"), 0.0)
    ids[rng.random(ids.shape) < rates] = UNKNOWN_ID


def letter_counts(sentences: EncodedSentences) -> np.ndarray:
    """How often each letter occurs in sentences, by its id; 0 for padding."""
    letters = sentences.letters
    tokens = np.bincount(sentences.ids[:, sentences.letter_column], None, len(letters))
    weights = np.repeat(tokens, letters.shape[1])
    counts = np.bincount(letters.ravel(), weights)
    counts[0] = 0
    return counts
