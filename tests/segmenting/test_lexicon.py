"""Words of training in text without spaces, and small texts read several times."""

import re

import numpy as np
import pytest
from treebanks import TINY

import keras_tagging
from keras_tagging import runtime
from keras_tagging.data.sentence import document_of, text_of
from keras_tagging.data.surface import Surface
from keras_tagging.encoding.vocabulary import grouped
from keras_tagging.segmenting.characters import (
    LONGEST,
    CharacterFeatures,
    Lexicon,
    encoded_apart,
    needs_lexicon,
)
from keras_tagging.segmenting.segmentation import WindowBatches
from keras_tagging.segmenting.symbols import codes_of, symbols_of


def longest(text, words):
    """The same columns, by looking at each stretch of the text."""
    found = np.zeros((len(text), 3), int)
    small = {word.lower() for word in words}
    for size in range(1, LONGEST + 1):
        for start in range(len(text) - size + 1):
            if text[start : start + size].lower() in small:
                found[start, 0] = found[start + size - 1, 1] = size
                found[start : start + size - 1, 2] = size
    return found


@pytest.mark.parametrize("words", [[], ["a"], ["ab", "BA", "abab", "b", "a" * 13, ""]])
def test_longest_words_at_each_character(words):
    rng = np.random.default_rng(1)
    text = "".join(rng.choice(list("aAbB c"), 300)) + "a" * 20
    found = Lexicon(words).columns(codes_of(text))
    assert np.array_equal(found, longest(text, words))


def sentence_of(*tokens, start=0, joint=""):
    text, ends = joint.join(tokens), np.cumsum([len(t) + len(joint) for t in tokens])
    spans = [
        (int(end) - len(t) - len(joint), int(end) - len(joint))
        for t, end in zip(tokens, ends, strict=True)
    ]
    surface = Surface(text, spans, [1] * len(tokens), start, joint)
    return keras_tagging.Sentence(list(tokens), surface=surface)


def test_which_text_needs_a_lexicon(treebanks):
    needed = {
        language: needs_lexicon(document_of(sentences)[1])
        for language, sentences in treebanks.items()
    }
    # no spaces between tokens, and spaces inside of them
    assert {name for name, needs in needed.items() if needs} == {
        "japanese",
        "vietnamese",
    }


def test_a_part_of_the_text_does_not_know_its_own_words():
    sentences = [sentence_of("once", "twice"), sentence_of("twice"), sentence_of("c")]
    text, surfaces = document_of(sentences)
    symbols, features = symbols_of(text), CharacterFeatures()
    features.adapt(symbols, [token for s in surfaces for token in s.tokens])
    assert features.vocabularies["lexicon"] == ["once", "twice", "c"]
    known = features.encode(symbols.codes)[:, 2] - 1
    apart = encoded_apart(features, symbols, surfaces)[:, 2] - 1
    assert known[text.index("once")] == 4 and known[4] == 5
    # "once" and "c" are of one sentence, "twice" is of two; "c" is inside of others
    assert apart[0] == 0 and apart[4] == 5 and apart[2] == 1
    assert apart[len(symbols) - 1] == 0


def test_each_letter_has_the_class_of_its_word():
    features = CharacterFeatures()
    classes = grouped({"Oak": "b", "oak": "a", "Elm": "b"})
    features.adapt(symbols_of("an oak"), classes=classes)
    text, expected = "Oak-ELM, 2 oaks\u00e9 x_oak\u0301 ", []
    for part in re.split(r"([^\W\d_]+)", text):
        word = {"oak": 2, "elm": 3}.get(part.lower(), 1)
        expected += [word if part.isalpha() else 0] * len(part)
    assert features.encode(codes_of(text))[:, 2].tolist() == expected
    assert features.sizes["cluster"] == 4
    features.set_vocabularies({"character": ["a"], "cluster": ["no words"]})
    assert features.encode(codes_of("a.")).tolist() == [[2, 3, 1], [1, 10, 0]]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("classes", [None, {"\u96e8": "a", "\u3092": "b"}])
def test_saved_and_exported_with_a_lexicon(classes, treebanks, tmp_path):
    sentences = treebanks["japanese"]
    model = keras_tagging.build("segmenter", **TINY | {"lexicon": None})
    model.adapt(sentences, classes)
    assert "a lexicon of " in model.size
    assert len(model.features.names) == 5 + bool(classes)
    assert "passes" not in model.size
    files = [tmp_path / "model.keras", tmp_path / "model.onnx"]
    model.save(files[0])
    model.export(files[1], format="onnx")
    text = text_of(sentences)
    found = list(model.segment(text))
    assert list(keras_tagging.load(files[0]).segment(text)) == found
    assert list(runtime.load(files[1]).segment(text)) == found


def test_a_small_text_is_read_several_times_in_an_epoch():
    ids, targets = np.arange(2, 62).reshape(-1, 1), np.ones(60, int)
    settings = {"window": 10, "batch_size": 4, "seed": 3}
    once = WindowBatches(ids, targets, **settings)
    often = WindowBatches(ids, targets, min_batches=5, **settings)
    assert (len(once), len(often), often.num_targets) == (2, 6, 180)
    batches = [batch for batch, _, _ in often]
    # the first pass is that of a text that is large enough
    for batch, (own, _, _) in zip(batches, once, strict=False):
        assert np.array_equal(batch, own)
    for place in range(0, 6, 2):
        seen = np.concatenate([b.ravel() for b in batches[place : place + 2]])
        assert sorted(seen) == list(range(2, 62))
    assert not np.array_equal(batches[0], batches[2])
