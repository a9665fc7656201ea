"""From the labels of characters to sentences with their surfaces.

A label says whether a character ends a token or a sentence.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from unicodedata import category

import numpy as np

from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.encoding.batching import (
    forget,
    forgetting_rates,
    padded_rows,
    round_up,
)
from keras_tagging.segmenting.characters import CharacterFeatures
from keras_tagging.segmenting.guards import Guarded, guarded
from keras_tagging.segmenting.multiword import MultiwordSplitter
from keras_tagging.segmenting.symbols import (
    PARAGRAPH,
    Symbols,
    TextStream,
    are_white,
    text_of_codes,
)
from keras_tagging.utils import limits


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
        multiple, unknown_rate, word_dropout, embedding_dropout: as in
            `TrainingBatches`, for characters.
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
        embedding_dropout: float = 0.0,
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
        rates = unknown_rate, word_dropout, embedding_dropout
        if any(rates):
            counts = np.bincount(ids[:, 0])
            self.rates = forgetting_rates(counts, *rates)

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
        guarded: what the patterns of `segmenting.guards` say of the symbols.
        size: symbols of a window.
        lead: `(windows,)`, the symbols that each window reads before.
    """

    ids: np.ndarray
    symbols: Symbols
    following: np.ndarray
    guarded: Guarded
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

    The end of a text that ends in no white space is read as that of a paragraph.

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
    is_first = True
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
            read = codes
            if piece is None and not are_white(codes[-1:])[0]:
                read = np.append(codes, np.uint32(PARAGRAPH))
            stops = np.minimum(np.minimum(starts + size, last) + context, len(read))
            time = int(round_up((stops - starts + leads).max(), multiple))
            height = padded_rows(len(starts), rows) if multiple > 1 else len(starts)
            places = (starts - leads)[:, None] + np.arange(time)
            real = places < stops[:, None]
            encoded = encode(read[: stops[-1]])
            ids = np.zeros((height, time, encoded.shape[1]), "int32")
            ids[: len(starts)][real] = encoded[places[real]]
            following = np.append(codes[begin + 1 : last + 1], PARAGRAPH)[:count]
            stop = int(offsets[last]) if last < len(codes) else end
            symbols = Symbols(codes[begin:last], offsets[begin:last], stop)
            known = guarded(read[: stops[-1]], is_first)
            known = Guarded(*(column[begin:last] for column in known))
            yield Windows(ids, symbols, following, known, size, leads)
            keep, is_first = max(0, last - context), is_first and last <= context
            codes, offsets, begin = codes[keep:], offsets[keep:], last - keep


#: in the order of the network's outputs
LABELS = ("inside", "token", "sentence", "multiword", "multiword-sentence")
#: no end, or the end of: a token, and of its sentence; the same for multiword tokens
INSIDE, TOKEN, SENTENCE, MULTIWORD, MULTIWORD_SENTENCE = range(len(LABELS))
ENDS = (TOKEN, SENTENCE, MULTIWORD, MULTIWORD_SENTENCE)
SENTENCE_ENDS = (SENTENCE, MULTIWORD_SENTENCE)
#: of each label that of a token inside of a sentence
WITHIN = np.array([INSIDE, TOKEN, TOKEN, MULTIWORD, MULTIWORD])
#: Two rules hold unless the logit of the opposite is higher by this. A full stop that
#: ends a sentence is a token of its own, and so are brackets: "nooo." may look like an
#: abbreviation. And a token ends on both sides of one of the joints between letters or
#: digits, or on neither one; but a French pronoun keeps its hyphen.
DOUBT = 3.0
_JOINTS, _BRACKETS = ([ord(sign) for sign in signs] for signs in ("-–/=", "()[]{}`"))
#: a joint that is a token: "K+-ATPase", "-5%/10%", "1/[S]"
_JOINT = re.compile(r"[^\W_][-–/=][\[(]|\+[-–/][^\W_]|[%)\]]/[^\W_]")
#: between characters that are one picture: U+200D
JOINER = 0x200D
#: soft hyphens, and other characters without a width that are in no word of training
INVISIBLE = np.array([0xAD, 0x200B, 0x200C, 0x2060, 0xFEFF], "uint32")
#: these, and tones of skin, which are no marks
_JOINING = {JOINER, *INVISIBLE.tolist(), *range(0x1F3FB, 0x1F400)}


def _are_joining(codes: np.ndarray) -> np.ndarray:
    """Which code points belong to the character before them."""
    others = np.unique(codes[codes > 127]).tolist()
    joining = [c for c in others if c in _JOINING or category(chr(c))[0] == "M"]
    return np.isin(codes, joining)


def targets_of(symbols: Symbols, surfaces: Sequence[Surface]) -> np.ndarray:
    """The label of each symbol, `(symbols,)` int32; -1 for what is never asked.

    That is white space, which ends nothing, and characters that are `INVISIBLE`.

    Args:
        symbols: those of a document.
        surfaces: of its sentences, with their `start` in it.
    """
    offsets, labels = [], []
    for surface in surfaces:
        offsets += [end - 1 for _, end in surface.offsets]
        labels += [MULTIWORD if words > 1 else TOKEN for words in surface.words]
        labels[-1] += SENTENCE - TOKEN
    targets = np.full(len(symbols), INSIDE, "int32")
    places = np.searchsorted(symbols.offsets, np.array(offsets, int), "right") - 1
    targets[_visible(symbols.codes)[places]] = labels
    # white space ends nothing: what it looks like is the `class` of the symbol
    targets[symbols.are_white | np.isin(symbols.codes, INVISIBLE)] = -1
    return targets


def _visible(codes: np.ndarray) -> np.ndarray:
    """The place of each symbol, or of the one before that is not `INVISIBLE`."""
    places = np.arange(len(codes))
    hidden = np.isin(codes, INVISIBLE)
    return (
        np.maximum.accumulate(np.where(hidden, 0, places)) if hidden.any() else places
    )


def best_labels(
    scores: np.ndarray, windows: Windows, spaces: bool, paragraphs: bool
) -> np.ndarray:
    """The best labels that fit the text.

    White space ends nothing, and no token ends before a mark that belongs to the
    character before it, or inside of a joined emoji. A sentence ends before the end of
    a paragraph, and, unless tokens may have `spaces`, a token before any white space.
    So the guards come before that.

    Args:
        scores: `(symbols, labels)`.
        windows: the symbols, and what guards say of them; behind the last one of a
            text follows the end of a paragraph.
        spaces: whether training had tokens with white space inside.
        paragraphs: whether a sentence ends nowhere else.

    Returns:
        `(symbols,)` labels.
    """
    codes, following = windows.symbols.codes, windows.following
    known, scores = windows.guarded, scores[_visible(codes)]
    best = scores.argmax(-1)
    best[known.inside | _are_joining(following) | (codes == JOINER)] = INSIDE
    is_end = (following == PARAGRAPH) | known.stops
    ends = known.ends | (is_end if spaces else are_white(following))
    for places, allowed in ((ends, ENDS), (is_end, SENTENCE_ENDS)):
        best[places] = np.take(allowed, scores[places][:, allowed].argmax(-1))
    within = following != PARAGRAPH if paragraphs else known.within & ~is_end
    best[within] = WITHIN[best[within]]
    best[:-1][known.shortened[:-1] & ~np.isin(best[1:], SENTENCE_ENDS)] = INSIDE
    _mend_doubtful(best, scores, codes, known)
    best[are_white(codes)] = INSIDE
    return best


def _mend_doubtful(best, scores, codes, known) -> None:
    """Change labels by the rules that are beside `DOUBT`.

    Args:
        best: the labels, `(symbols,)`; they change.
        scores, codes: of the symbols.
        known: where no token may end, and where one does.
    """
    labels, inside = (INSIDE, TOKEN, MULTIWORD), known.inside
    stop = codes == ord(".")
    apart = stop[1:] & np.isin(best[1:], SENTENCE_ENDS)
    apart |= np.isin(codes[1:], _BRACKETS) | np.isin(codes[:-1], _BRACKETS)
    apart = np.flatnonzero(~stop[:-1] & apart & (best[:-1] == INSIDE) & ~inside[:-1])
    best[apart] = np.take(labels, (scores[apart][:, labels] - (DOUBT, 0, 0)).argmax(-1))
    cut = best != INSIDE
    joint = np.isin(codes[1:-1], _JOINTS) & (cut[:-2] != cut[1:-1])
    for place in (1 + np.flatnonzero(joint & ~inside[:-2] & ~inside[1:-1])).tolist():
        around, pair = text_of_codes(codes[place - 1 : place + 2]), [place - 1, place]
        margins = scores[pair][:, labels[1:]].max(-1) - scores[pair, INSIDE]
        side = place - 1 + (doubts := np.abs(margins)).argmin()
        is_sure = doubts.min() > DOUBT or best[side] in SENTENCE_ENDS
        if _JOINT.fullmatch(around) or around[1] == "/" and known.ends[pair].any():
            best[place - 1 + cut[place - 1]] = TOKEN  # the side that has none
        elif around[::2].isalnum() and not is_sure:
            best[side] = TOKEN if best[side] == INSIDE else INSIDE


_LINE_END = re.compile("[ \t\r\n]*[\t\r\n][ \t\r\n]*")

#: symbols of a window, without those that it reads around them
WINDOW = 1000
#: padded symbols in one call of the network
SYMBOLS = 1 << 16
#: where a token begins and ends, and its label
LabelledSpan = tuple[int, int, int]
#: symbols, and the label of each
Labelled = Iterable[tuple[Symbols, np.ndarray]]


@dataclass(frozen=True)
class Segmentation:
    """From a text to its sentences, by a network that gives each character logits.

    Args:
        features: with vocabularies.
        splitter: of multiword tokens.
        spaces: whether training had tokens with white space inside.
        context: characters that a window reads before and after its own.
        logits: function from ids `(windows, time, features)` to
            `(windows, time, labels)`.
        multiple: as in `windows_of`.
    """

    features: CharacterFeatures
    splitter: MultiwordSplitter
    spaces: bool
    context: int
    logits: Callable[[np.ndarray], np.ndarray]
    multiple: int = 1

    def segment(
        self, text: str | Iterable[str], lines: bool = False
    ) -> Iterator[Sentence]:
        """The sentences of a text, each with its surface, in constant memory.

        With `lines` each line is one, but for those beyond the limits.
        """
        stream = TextStream(text, lines)
        return self.sentences(stream, self.scored(stream))

    def segment_each(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """The sentences of each text, which is read alone.

        Windows of several texts share a call of the network.
        """
        group, rows = [], 0
        for text in texts:
            windows = 1 + len(text) // WINDOW
            if group and rows + windows > self._rows:
                yield from self._together(group)
                group, rows = [], 0
            group.append(text)
            rows += windows
        yield from self._together(group)

    def _together(self, texts: list[str]) -> Iterator[list[Sentence]]:
        if len(texts) == 1:  # which may be long
            yield list(self.segment(texts[0]))
            return
        streams = [TextStream(text) for text in texts]
        windows = [list(self._windows(stream)) for stream in streams]
        logits = self._logits_of([each.ids for of_text in windows for each in of_text])
        for stream, of_text in zip(streams, windows, strict=True):
            scored = [(each, each.of_symbols(next(logits))) for each in of_text]
            yield list(self.sentences(stream, scored))

    def _logits_of(self, parts: list[np.ndarray]) -> Iterator[np.ndarray]:
        """The logits of several batches of windows, computed as one."""
        if not parts:
            return
        sizes = [len(part) for part in parts]
        rows, time = sum(sizes), max(part.shape[1] for part in parts)
        rows = padded_rows(rows, self._rows) if self.multiple > 1 else rows
        ids, ends = np.zeros((rows, time, parts[0].shape[2]), "int32"), np.cumsum(sizes)
        for part, end in zip(parts, ends, strict=True):
            ids[end - len(part) : end, : part.shape[1]] = part
        yield from np.split(self.logits(ids), ends)[:-1]

    @property
    def _rows(self) -> int:
        """Windows in one call of the network."""
        return max(1, SYMBOLS // (WINDOW + 2 * self.context))

    def _windows(self, stream: TextStream) -> Iterator[Windows]:
        return windows_of(
            stream,
            self.features.encode,
            size=WINDOW,
            context=self.context,
            rows=self._rows,
            multiple=self.multiple,
        )

    def scored(self, stream: TextStream) -> Iterator[tuple[Windows, np.ndarray]]:
        """The windows of a stream, and the logits `(symbols, labels)` of each."""
        for windows in self._windows(stream):
            yield windows, windows.of_symbols(self.logits(windows.ids))

    def sentences(
        self, stream: TextStream, scored: Iterable[tuple[Windows, np.ndarray]]
    ) -> Iterator[Sentence]:
        """The sentences of what has been scored, of the same stream."""
        labelled = (
            (windows.symbols, best_labels(scores, windows, self.spaces, stream.lines))
            for windows, scores in scored
        )
        return sentences_of(stream, labelled, self.splitter)


def sentences_of(
    stream: TextStream, labelled: Labelled, split: Callable[[str, bool], list[str]]
) -> Iterator[Sentence]:
    """The sentences of a stream, each with its surface, in constant memory.

    Every character but white space is part of one token. What is longer than
    `limits.SEGMENT_TOKENS` or `SEGMENT_CHARACTERS` is cut.

    Args:
        stream: the text; what is before a sentence is forgotten.
        labelled: its symbols with their labels, in their order, from the same stream.
        split: function from a token, and whether it is a multiword token by its label,
            to its words.
    """
    waiting: list[LabelledSpan] = []
    for tokens in _sentences(_tokens(labelled)):
        if waiting:
            yield _sentence(stream, waiting, tokens[0][0], split)
            stream.forget(tokens[0][0])
        waiting = tokens
    if waiting:
        yield _sentence(stream, waiting, stream.end, split)


def _tokens(labelled: Labelled) -> Iterator[LabelledSpan]:
    """The tokens, each when it has ended; the last one ends with the text."""
    begin = last = None  # of the token that has not ended, and of the last character
    for symbols, labels in labelled:
        real = ~symbols.are_white
        offsets, labels = symbols.offsets[real], labels[real]
        if not len(offsets):
            continue
        places = np.flatnonzero(labels != INSIDE)
        begins = np.append(0, places + 1)
        starts = offsets[begins[begins < len(offsets)]].tolist()
        if begin is not None:
            starts[0], offsets = begin, np.append(last, offsets)
        last = offsets[-1]
        ends = (offsets[len(offsets) - len(labels) + places] + 1).tolist()
        # behind the last end a token may begin that has none yet
        tokens = zip(starts, ends, labels[places].tolist(), strict=False)
        for start, end, label in tokens:
            if end - start > limits.SEGMENT_CHARACTERS:
                *parts, (start, end) = _parts(start, end, offsets)
                yield from ((*part, TOKEN) for part in parts)
            yield start, end, label
        begin = None
        if len(starts) > len(ends):
            *parts, (begin, _) = _parts(starts[-1], int(last) + 1, offsets)
            yield from ((*part, TOKEN) for part in parts)
    if begin is not None:
        yield begin, int(last) + 1, SENTENCE


def _parts(begin: int, end: int, offsets: np.ndarray) -> list[tuple[int, int]]:
    """A token, cut into parts that are not too long and do not end in white space.

    Args:
        begin, end: of the token.
        offsets: of the characters but white space, in their order; at least those from
            the last one on that is not beyond the limit.
    """
    parts = []
    while end - begin > limits.SEGMENT_CHARACTERS:
        place = np.searchsorted(offsets, begin + limits.SEGMENT_CHARACTERS)
        parts.append((begin, int(offsets[place - 1]) + 1))
        begin = int(offsets[place])
    return [*parts, (begin, end)]


def _sentences(tokens: Iterable[LabelledSpan]) -> Iterator[list[LabelledSpan]]:
    """The tokens of one sentence after the other."""
    current: list[LabelledSpan] = []
    for token in tokens:
        if current and (
            len(current) == limits.SEGMENT_TOKENS
            or token[1] - current[0][0] > limits.SEGMENT_CHARACTERS
        ):
            yield current
            current = []
        current.append(token)
        if token[2] in SENTENCE_ENDS:
            yield current
            current = []
    if current:
        yield current


def _sentence(stream, tokens: list[LabelledSpan], following: int, split) -> Sentence:
    """A sentence of a stream.

    Args:
        stream, split: as in `sentences_of`.
        tokens: of the sentence.
        following: where the next one begins, or where the text ends.
    """
    begin, end = tokens[0][0], tokens[-1][1]
    text = stream.text(begin, end)
    spans = [(b - begin, e - begin) for b, e, _ in tokens]
    words = [text[b:e] for b, e in spans]
    if not text.isprintable():  # a word may go on in the next line, as a French number
        words = [_LINE_END.sub(" ", word) for word in words]
    parts = [
        split(word, label >= MULTIWORD)
        for word, (_, _, label) in zip(words, tokens, strict=True)
    ]
    words, counts = [word for part in parts for word in part], list(map(len, parts))
    is_long = following - end > limits.WHITE_CHARACTERS
    after = None if is_long else stream.text(end, following)
    return Sentence(words, surface=Surface(text, spans, counts, begin, after))
