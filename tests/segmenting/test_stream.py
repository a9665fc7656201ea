"""Segmenting: any text, cut into any chunks, and what cannot be one sentence."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest
from segmenters import fitting_labels
from treebanks import spans

from keras_tagging.data.sentence import text_of
from keras_tagging.data.surface import Surface
from keras_tagging.segmenting import segmentation as segmentation_module
from keras_tagging.segmenting import symbols as symbols_module
from keras_tagging.segmenting.segmentation import (
    INSIDE,
    MULTIWORD,
    MULTIWORD_SENTENCE,
    SENTENCE,
    TOKEN,
    WindowBatches,
    sentences_of,
    targets_of,
    windows_of,
)
from keras_tagging.segmenting.symbols import Symbols, TextStream, codes_of, symbols_of
from keras_tagging.utils import limits

ALPHABET = [*"abAB.,!?'-09", "é", "e\u0301", "猫", "\U0001f468\u200d\U0001f469", "\x00"]
ALPHABET += ["\x07", "\x1b", "\x1f", "\x7f", "\u200b", "\ufeff", "\ud800", "\udfff"]
ALPHABET += ["\u202e", "\U0010ffff", "\u00ad", "\ufdd0", "\ue000"]
SPACES = [" ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u2003", "\u3000", "\x85"]


def random_text(rng, size):
    return "".join(rng.choices(ALPHABET + SPACES, k=size))


def chunks_of(text, rng):
    while text:
        size = rng.choice([0, 1, 2, 7, 100])
        yield text[:size]
        text = text[size:]


def check(found, text):
    """Every character but white space is part of one token, in its place."""
    places = [i for i, character in enumerate(text) if not character.isspace()]
    covered, end = [], 0
    for sentence in found:
        surface = sentence.surface
        stop = surface.start + len(surface.text)
        assert end <= surface.start and text[surface.start : stop] == surface.text
        assert not text[end : surface.start].strip()
        for begin, last in surface.offsets:
            assert not (text[begin].isspace() or text[last - 1].isspace())
            covered += [i for i in range(begin, last) if not text[i].isspace()]
        assert (surface.offsets[0][0], surface.offsets[-1][1]) == (surface.start, stop)
        end = stop
        if surface.after is not None:
            assert text.startswith(surface.after, end)
            end += len(surface.after)
            assert not text[end : end + 1].isspace()
    assert covered == places


@pytest.mark.parametrize("size", [0, 1, 40, 400])
def test_any_text(untrained, segmenter, size):
    rng = random.Random(size)
    for model in (untrained, segmenter):
        for _ in range(3):
            text = random_text(rng, size)
            found = list(model.segment(text))
            check(found, text)
            assert list(model.segment(chunks_of(text, rng))) == found


def test_lines_are_sentences(untrained, segmenter):
    rng = random.Random(7)
    for model in (untrained, segmenter):
        text = "".join(random_text(rng, 20) + rng.choice("\n.") for _ in range(20))
        found = list(model.segment(text, lines=True))
        check(found, text)
        # the ends of lines of `symbols_of`
        lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text)
        words = ["".join(line.split()) for line in lines if line.split()]
        assert ["".join(s.surface.text.split()) for s in found] == words
        assert list(model.segment(chunks_of(text, rng), lines=True)) == found


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u00a0\r\n", "a", " a ", "\ud800"])
def test_hardly_any_text(untrained, text):
    found = list(untrained.segment(text))
    check(found, text)
    assert len(found) == bool(text.strip())
    assert list(untrained.segment([])) == []


def test_batches_and_chunks_change_nothing(segmenter, everything, monkeypatch):
    """Where windows end is another thing: what is inside of them is the same."""
    text = text_of(everything)
    whole = list(segmenter.segment(text))
    assert spans(whole) == spans(segmenter.segment(iter(text)))
    monkeypatch.setattr(symbols_module, "PIECE", 10)
    monkeypatch.setattr(segmentation_module, "SYMBOLS", 200)
    monkeypatch.setattr(segmentation_module, "WINDOW", 40)
    rng = random.Random(3)
    for _ in range(2):
        assert spans(segmenter.segment(chunks_of(text, rng))) == spans(whole)


def test_several_texts_share_windows(segmenter, monkeypatch):
    """And each is read as if it were alone."""
    rng, calls = random.Random(5), []
    texts = [random_text(rng, size) for size in 3 * [30, 0, 1, 300, 30, 2_000, 1]]
    network = segmenter.predict_on_batch
    monkeypatch.setattr(
        segmenter,
        "predict_on_batch",
        lambda ids: calls.append(len(ids)) or network(ids),
    )
    together = list(segmenter.segment_each(iter(texts)))
    several, calls[:] = len(calls), []
    assert together == [list(segmenter.segment(text)) for text in texts]
    assert several < len(calls) / 4
    assert list(segmenter.segment_each([])) == []
    assert list(segmenter.segment_each(["", " "])) == [[], []]


def test_memory_is_constant(untrained, monkeypatch):
    """Of a text whose letters are all tokens, and in which no sentence ends."""
    monkeypatch.setattr(symbols_module, "PIECE", 512)
    monkeypatch.setattr(segmentation_module, "SYMBOLS", 2_000)
    monkeypatch.setattr(segmentation_module, "WINDOW", 100)
    read, most = 0, 0

    def endless():
        nonlocal read
        for _ in range(200):
            read += 1_000
            yield "word " * 200

    stream = TextStream(endless())

    def logits(ids):
        return np.eye(5)[np.full(ids.shape[:2], TOKEN)]

    segmentation = replace(untrained.segmentation, logits=logits)
    for sentence in segmentation.sentences(stream, segmentation.scored(stream)):
        most = max(most, read - sentence.surface.start)
        assert sum(len(text) for _, text in stream._kept) < 12_000
    assert read == 200_000 and most < 12_000


# Windows


@pytest.mark.parametrize(
    "size, context, rows", [(5, 2, 4), (1, 3, 2), (2, 9, 4), (4, 9, 1)]
)
def test_windows_read_around_their_own(size, context, rows):
    """Of a model that gives for each symbol what it sees in its window."""
    text = "abcdefghijklmnopqrstuvwxyz"
    codes = codes_of(text)
    for cuts in ([], [13], range(1, 26)):
        edges = [0, *cuts, 26]
        pieces = [
            Symbols(codes[a:b], np.arange(a, b), b)
            for a, b in zip(edges[:-1], edges[1:], strict=True)
        ]
        seen = []
        for found in windows_of(
            pieces,
            lambda codes: codes[:, None].astype("int32"),
            size=size,
            context=context,
            rows=rows,
        ):
            # a short text, or the end of one, costs no windows of padding
            assert len(found.ids) == -(-len(found.symbols) // size) <= rows
            views = ["".join(map(chr, row[row > 0])) for row in found.ids[..., 0]]
            owners = np.broadcast_to(
                np.arange(len(views))[:, None], found.ids.shape[:2]
            )
            own = found.of_symbols(np.stack([found.ids[..., 0], owners], -1))
            assert found.symbols.codes.tolist() == own[:, 0].tolist()
            nexts = found.following.tolist()
            seen += [
                (chr(code), views[row], chr(following))
                for (code, row), following in zip(own.tolist(), nexts, strict=True)
            ]
        expected = []
        for i, character in enumerate(text):
            # a batch begins anew, and so do its windows
            start = i - (i % (rows * size)) % size
            stop = min(start + size, start - start % (rows * size) + rows * size, 26)
            view = (text + "\n")[max(0, start - context) : stop + context]
            expected.append((character, view, (text + "\n")[i + 1]))
        assert seen == expected


@pytest.mark.parametrize("devices", [1, 3])
def test_training_windows_cover_the_text(devices):
    ids = np.stack([np.arange(2, 25), np.full(23, 3)], 1).astype("int32")
    targets = np.arange(23, dtype="int32")
    targets[::4] = -1
    sizes = {"window": 5, "batch_size": 2, "multiple": 4, "devices": devices}
    batches = WindowBatches(ids, targets, **sizes)
    assert (len(batches), batches.num_windows) == (3, 5)
    assert batches.num_targets == (targets >= 0).sum()
    epochs = []
    for epoch in (0, 1):
        batches.epoch = epoch
        found = list(batches)
        assert all(x.shape[1:] == (8, 2) for x, _, _ in found)
        assert not any(len(x) % devices for x, _, _ in found)
        rows = [row for x, _, _ in found for row in x[..., 0]]
        flat = np.concatenate(rows)
        assert sorted(flat[flat > 0]) == list(range(2, 25))
        for row in rows:  # neighbours in the ring of the text
            real = row[row > 0] - 2
            assert (np.diff(real) % 23 == 1).all() and not row[len(real) :].any()
        for x, y, w in found:
            known = np.where(x[..., 0] > 0, targets[x[..., 0] - 2], -1)
            np.testing.assert_array_equal(y, known)
            np.testing.assert_array_equal(w, known >= 0)
        epochs.append([row.tolist() for row in rows])
        again = [row.tolist() for x, _, _ in batches for row in x[..., 0]]
        assert again == epochs[-1]
    assert epochs[0] != epochs[1]


def test_rare_characters_become_unknown():
    ids = np.full((400, 2), 2, "int32")
    ids[7, 0] = 3
    batches = WindowBatches(
        ids, np.zeros(400, "int32"), window=400, batch_size=1, unknown_rate=0.5
    )
    seen = set()
    for batches.epoch in range(20):
        [(x, _, _)] = batches
        seen.add(tuple(sorted(set(x[0, :, 0].tolist()))))
    assert seen == {(2, 3), (1, 2)}
    assert ids[7, 0] == 3


# Labels


def test_targets_tell_the_ends_of_multiword_tokens_and_sentences():
    symbols = symbols_of("a du\nb.")
    first = Surface("a du", [(0, 1), (2, 4)], [1, 2], 0)
    surfaces = [first, Surface("b.", [(0, 1), (1, 2)], [1, 1], 5)]
    ends = [TOKEN, -1, INSIDE, MULTIWORD_SENTENCE, -1, TOKEN, SENTENCE]
    assert targets_of(symbols, surfaces).tolist() == ends


def test_labels_fit_the_text():
    symbols = symbols_of("ab c d\n\ne")
    scores = np.zeros((len(symbols), 5))
    scores[:, INSIDE] = 9
    scores[:, MULTIWORD] = 2
    scores[:, SENTENCE] = 1

    def labels(spaces):
        return fitting_labels(scores, symbols, spaces).tolist()

    inside = [INSIDE] * 3
    assert labels(True) == [*inside, INSIDE, INSIDE, SENTENCE, INSIDE, SENTENCE]
    assert labels(False) == [
        *(INSIDE, MULTIWORD, INSIDE, MULTIWORD, INSIDE, SENTENCE, INSIDE, SENTENCE)
    ]
    scores[:, MULTIWORD_SENTENCE] = 3
    assert labels(True)[-1] == MULTIWORD_SENTENCE


# Limits


def segmented(text, labels, pieces=1):
    """The sentences by labels, which arrive in pieces."""
    stream, symbols = TextStream(text), symbols_of(text)
    assert sum(map(len, stream)) == len(symbols)  # all of it is read
    cuts = np.linspace(0, len(symbols), pieces + 1).astype(int)
    labelled = [
        (Symbols(symbols.codes[a:b], symbols.offsets[a:b], 0), np.array(labels[a:b]))
        for a, b in zip(cuts[:-1], cuts[1:], strict=True)
    ]
    found = list(sentences_of(stream, labelled, lambda token, _: [token]))
    check(found, text)
    return [s.surface.tokens for s in found]


@pytest.mark.parametrize("pieces", [1, 3, 8])
def test_a_sentence_without_end_is_cut(monkeypatch, pieces):
    monkeypatch.setattr(limits, "SEGMENT_TOKENS", 2)
    text = "a b c d e"
    labels = [TOKEN if c != " " else INSIDE for c in text]
    assert segmented(text, labels, pieces) == [["a", "b"], ["c", "d"], ["e"]]
    labels[2] = SENTENCE
    assert segmented(text, labels, pieces) == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("pieces", [1, 5, 30])
def test_characters_of_a_sentence_are_limited(monkeypatch, pieces):
    monkeypatch.setattr(limits, "SEGMENT_CHARACTERS", 7)
    text = "aa bb cc dd"
    labels = [TOKEN if (text + " ")[i + 1] == " " else INSIDE for i in range(len(text))]
    labels = [INSIDE if text[i] == " " else label for i, label in enumerate(labels)]
    assert segmented(text, labels, pieces) == [["aa", "bb"], ["cc", "dd"]]
    # a token that does not end, with white space inside
    text = "x " + "ab " * 6
    labels = [INSIDE] * len(symbols_of(text))
    labels[0] = TOKEN
    found = segmented(text, labels, pieces)
    assert found == [["x"], ["ab ab a"], ["b ab ab"], ["ab"]]


def test_what_nobody_sees_ends_nothing():
    """The network is asked of the character before, in training as in use."""
    text = "ab\u200b c\u00add.\u200b"
    symbols = symbols_of(text)
    surface = Surface(text, [(0, 3), (4, 7), (7, 9)], [1] * 3)
    targets = targets_of(symbols, [surface])
    expected = [INSIDE, TOKEN, -1, -1, INSIDE, -1, TOKEN, SENTENCE, -1]
    assert targets.tolist() == expected
    scores = np.eye(5)[np.where(targets < 0, MULTIWORD, targets)]
    labels = fitting_labels(scores, symbols).tolist()
    assert segmented(text, labels) == [["ab\u200b", "c\u00add", ".\u200b"]]


def test_no_token_ends_before_a_mark():
    """Nor inside of an emoji, whatever the network says."""
    heart, family = "\u2764\ufe0f", "\U0001f469\u200d\U0001f467"
    thumb = "\U0001f44d\U0001f3fd"
    text = f"e\u0301te\u0301 {heart}! {family} {thumb} x\u20dd"
    symbols = symbols_of(text)
    labels = fitting_labels(np.eye(5)[[TOKEN] * len(symbols)], symbols).tolist()
    words = ["e\u0301", "t", "e\u0301", heart, "!", family, thumb, "x\u20dd"]
    assert segmented(text, labels) == [words]


def test_long_white_space_is_not_kept(untrained):
    gap = " " * (limits.WHITE_CHARACTERS + 1)
    [first, second] = untrained.segment(f"a{gap}b\n")
    assert (first.surface.after, second.surface.after) == (None, "\n")
    assert second.surface.start == len(gap) + 1


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\t", " \n "])
def test_a_word_that_goes_on_in_the_next_line(gap):
    """As a French number may; its surface has the text."""
    text = f"paid 10{gap}000 euros"
    stream = TextStream(text)
    ends = {3: TOKEN, text.index(" euros") - 1: TOKEN, len(text) - 1: SENTENCE}

    def labelled():
        for symbols in stream:
            yield symbols, np.array([ends.get(int(x), INSIDE) for x in symbols.offsets])

    [found] = sentences_of(stream, labelled(), lambda word, _: [word])
    assert found.tokens == ["paid", "10 000", "euros"]
    assert found.surface.text == text and found.surface.tokens[1] == f"10{gap}000"
