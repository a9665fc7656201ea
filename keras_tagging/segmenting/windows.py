"""Windows of a long text: those of training, and those of prediction."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from keras_tagging.encoding.batching import (
    forget,
    forgetting_rates,
    padded_rows,
    round_up,
)
from keras_tagging.segmenting.symbols import PARAGRAPH, Symbols


class WindowBatches:
    """The batches of windows of a text, of one epoch after another.

    In each epoch the windows begin elsewhere, so that a sentence does not always have
    the same place in its window. The text is a ring: behind its end it begins again.
    Windows, order and content depend only on `(seed, epoch)`.

    Args:
        ids: `(symbols, features)`, the output of `CharacterFeatures`.
        targets: `(symbols,)` labels, -1 where there is nothing to learn.
        window: symbols in a window.
        min_batches: batches of an epoch at least, in as many passes over the text as
            that needs.
        seed: seed of the windows, their order, and of unknown characters.
        batch_size: windows in a batch.
        token_budget: symbols in a batch, if `batch_size` is None.
        multiple, unknown_rate, word_dropout: as in `TrainingBatches`, for characters.
        devices: above 1, rows of padding make each batch divisible by it.
    """

    def __init__(
        self,
        ids: np.ndarray,
        targets: np.ndarray,
        *,
        window: int,
        min_batches: int = 0,
        seed: int = 0,
        batch_size: int | None = None,
        token_budget: int | None = None,
        multiple: int = 1,
        devices: int = 1,
        unknown_rate: float = 0.0,
        word_dropout: float = 0.0,
    ):
        self.ids, self.targets = ids, targets
        self.devices = devices
        self.window = min(window, len(ids))
        self.time = int(round_up(np.array(self.window), multiple))
        self.rows = batch_size or max(1, token_budget // self.time)
        self.num_windows = -(-len(ids) // self.window) if len(ids) else 0
        self._of_a_pass = -(-self.num_windows // self.rows)
        #: how often an epoch reads the text
        self.passes = max(1, -(-min_batches // max(1, self._of_a_pass)))
        self.seed = seed
        self.epoch = 0
        self.rates = None
        if unknown_rate or word_dropout:
            counts = np.bincount(ids[:, 0])
            self.rates = forgetting_rates(counts, unknown_rate, word_dropout)

    def __len__(self) -> int:
        return self.passes * self._of_a_pass

    @property
    def num_targets(self) -> int:
        """The number of predictions in an epoch."""
        return self.passes * int((self.targets >= 0).sum())

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Ids `(batch, time, features)`, targets and weights `(batch, time)`."""
        for number in range(self.passes):
            yield from self._pass([number] if number else [])

    def _pass(self, number: list[int]):
        rng = np.random.default_rng([self.seed, self.epoch, *number])
        shift = int(rng.integers(len(self.ids)))
        order = rng.permutation(self.num_windows)
        for start in range(0, self.num_windows, self.rows):
            chosen = order[start : start + self.rows]
            # this window is behind the end of the text, and empty
            empty = np.full(-len(chosen) % self.devices, self.num_windows)
            chosen = np.append(chosen, empty)
            places = chosen[:, None] * self.window + np.arange(self.time)
            # the last window ends with the text, and padding follows each
            real = (places < len(self.ids)) & (np.arange(self.time) < self.window)
            places = (places + shift) % len(self.ids)
            ids = np.where(real[..., None], self.ids[places], 0)
            if self.rates is not None:
                forget(ids[..., 0], self.rates, rng)
            targets = np.where(real, self.targets[places], -1)
            yield ids, targets, (targets >= 0).astype("float32")


@dataclass(frozen=True)
class Windows:
    """A batch of windows for prediction, and the symbols that it is to tell of.

    Args:
        ids: `(rows, time, features)`.
        symbols: those of the windows without what they read around.
        following: `(symbols,)`, for each the code point of the next symbol; behind the
            last one of a text stands the end of a paragraph.
        size: symbols of a window.
        lead: `(windows,)`, the symbols that each window reads before.
    """

    ids: np.ndarray
    symbols: Symbols
    following: np.ndarray
    size: int
    lead: np.ndarray

    def of_symbols(self, outputs: np.ndarray) -> np.ndarray:
        """The outputs for `symbols`, from those of `ids` `(rows, time, outputs)`."""
        rows, columns = np.divmod(np.arange(len(self.symbols)), self.size)
        return outputs[rows, columns + self.lead[rows]]


def windows_of(
    pieces: Iterable[Symbols],
    encode: Callable[[np.ndarray], np.ndarray],
    *,
    size: int,
    context: int,
    rows: int,
    multiple: int = 1,
) -> Iterator[Windows]:
    """A stream of symbols as batches of windows, the same however it is cut.

    Args:
        pieces: the stream.
        encode: function from code points to ids: that of `CharacterFeatures`.
        size: symbols of a window.
        context: symbols that it reads before and after these.
        rows: windows in a batch.
        multiple: as in `EncodedSentences.batch`.
    """
    codes, offsets, end = np.zeros(0, "uint32"), np.zeros(0, int), 0
    begin = 0  # of the symbols that no window has had
    for piece in chain(pieces, [None]):
        if piece is not None:
            codes = np.concatenate([codes, piece.codes])
            offsets = np.concatenate([offsets, piece.offsets])
            end = piece.end
        while begin < len(codes):
            count = min(rows * size, len(codes) - begin)
            if piece is not None and len(codes) - begin < rows * size + context:
                break
            last = begin + count
            starts = np.arange(begin, last, size)
            leads = np.minimum(context, starts)
            stops = np.minimum(np.minimum(starts + size, last) + context, len(codes))
            time = int(round_up((stops - starts + leads).max(), multiple))
            height = padded_rows(len(starts), rows) if multiple > 1 else len(starts)
            places = (starts - leads)[:, None] + np.arange(time)
            real = places < stops[:, None]
            encoded = encode(codes[: stops[-1]])
            ids = np.zeros((height, time, encoded.shape[1]), "int32")
            ids[: len(starts)][real] = encoded[places[real]]
            following = np.append(codes[begin + 1 : last + 1], PARAGRAPH)[:count]
            stop = int(offsets[last]) if last < len(codes) else end
            symbols = Symbols(codes[begin:last], offsets[begin:last], stop)
            yield Windows(ids, symbols, following, size, leads)
            keep = max(0, last - context)
            codes, offsets, begin = codes[keep:], offsets[keep:], last - keep
