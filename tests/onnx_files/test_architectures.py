"""Every tagger as an ONNX file: the tags and probabilities of `tag` and `predict`."""

import pytest
from conftest import WORDS_ONLY, exported, random_sentences
from onnx_files.odd import assert_same, request, sentences, tagger
from selection import slow_but

from keras_tagging import Sentence
from keras_tagging.architectures import TAGGERS
from keras_tagging.metrics import is_consistent

ODD = sentences()
# without the one of 200 words, which takes long where there is no graph
SHORT = [s for s in ODD if len(s) < 20]
# what the defaults of the architectures leave out; `test_layers` has the cells
NETWORKS = {
    "i-rnn behind": ("bigru", {"decoder": "i-rnn", "num_layers": 1}),
    "crf, columns": ("bigru", {"decoder": "crf", "columns": ("pos",)}),
    "gated window": ("bigru", {"window": 3, "window_gated": True, "characters": 3}),
    "wide window": ("bigru", {"window": 5, "window_over": "features"}),
    "both ways": ("i-rnn", {"direction": "bidirectional"}),
    "both ways, states": (
        "jordan-rnn",
        {"direction": "bidirectional", "hidden_context": 2, "combine": "concat"},
    ),
    "backward, beam": ("ie-rnn", {"direction": "backward", "beam_width": 3}),
    "one-hot": ("jordan-rnn", {"label_input": "one-hot", "activation": "mish"}),
    "paper": ("bigru", {"recipe": "paper"}),
    "coupled, hidden layer": ("bilstm-crf", {"coupled": True, "hidden_layer": "tanh"}),
    "peepholes": ("bilstm", {"peepholes": True}),
    "word classes": ("bigru", {"word_classes": {"the": "0101", "dog": "01"}}),
    "letters, window": ("bigru", {"character_network": "gru", "window": 3}),
    "few letters": ("bilstm", {"character_network": "cnn", "max_characters": 7}),
    "letters, crf": ("bilstm-crf", {"recipe": "paper"}),  # "coupled-lstm"
    "letters, labels, columns": (
        "i-rnn",
        {"character_network": "gru", "columns": ("pos",)},
    ),
}

# Those whose parts others have too, which run in CI: here, above and in `test_layers`.
SLOW_NETWORKS = {"both ways", "peepholes", "coupled, hidden layer"}
SLOW_NETWORKS |= {"letters, window", "letters, labels, columns"}
SLOW_TAGGERS = {"skip-bilstm", "highway-bilstm", "bilstm", "elman-rnn", "i-rnn"}
EVERY = [
    pytest.param(name, {}, marks=[pytest.mark.slow] * (name in SLOW_TAGGERS))
    for name in TAGGERS
]
LETTERS = ("bigru", {"character_network": "lstm"})


def eager(model):
    """It predicts for a batch or two, which is less work than a graph."""
    model.run_eagerly = True
    return model


@pytest.mark.parametrize("name, options", [*EVERY, LETTERS])
def test_every_tagger_on_odd_sentences(name, options, train_sentences, tmp_path):
    # all tables of one: those of the others are the same
    tables = {} if name == "bigru" else WORDS_ONLY
    model = tagger(name, train_sentences, tables, **options)
    found = exported(model, tmp_path)
    assert_same(found, model, ODD)
    check_batches_of_any_size_with_junk_in_the_padding(found, found.tag(ODD))


def check_batches_of_any_size_with_junk_in_the_padding(found, expected):
    at = 0
    # without what only the runtime does to strings
    given = [s for s in ODD if "\x00" not in "".join(s.tokens)]
    numbers = [i for i, s in enumerate(ODD) if "\x00" not in "".join(s.tokens)]
    for size in (1, 2, 3, 5, 8, 13, 21, 34, 64):
        batch, here = given[at : at + size], numbers[at : at + size]
        at += size
        [tags] = found.session.run(["tags"], request(batch, junk="É9"))
        for row, sentence, i in zip(tags.tolist(), batch, here, strict=True):
            assert row[: len(sentence)] == expected[i]
            assert not any(row[len(sentence) :])


@pytest.mark.parametrize("case", slow_but(NETWORKS.keys() - SLOW_NETWORKS, NETWORKS))
def test_every_network(case, train_sentences, tmp_path):
    name, options = NETWORKS[case]
    tables = {} if "recipe" in options else WORDS_ONLY  # its own
    model = eager(tagger(name, train_sentences, tables, **options))
    assert_same(exported(model, tmp_path), model, SHORT[:60])


@pytest.mark.parametrize("decoder", ["softmax", "crf"])
def test_chunk_tags_are_consistent(decoder, tmp_path):
    chunks = {"D": "B-NP", "N": "I-NP", "P": "B-PP", "M": "I-PP", "V": "O", "R": "O"}
    training = [
        Sentence(s.tokens, [chunks[tag] for tag in s.tags])
        for s in random_sentences(60, 1)
    ]
    training = [s for s in training if is_consistent(s.tags, "iob2")]
    model = eager(tagger("bigru", training, decoder=decoder, num_layers=1))
    assert model.chunk_scheme == "iob2"
    assert_same(exported(model, tmp_path), model, SHORT[:60])
