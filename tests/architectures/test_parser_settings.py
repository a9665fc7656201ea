"""What parsers read, how they are set, and sentences they cannot learn from."""

from dataclasses import replace

import keras
import numpy as np
import pytest
from keras import ops
from models.parsers import DEMO, DEV, EMPTY, TRAIN, build, random_parser

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.architectures import ARCHITECTURES, PARSERS


@pytest.fixture(scope="module")
def model():
    """To be read, not changed."""
    return random_parser()


# Features


def with_column(sentences, name, values):
    return [
        replace(s, columns={**s.columns, name: [values[t] for t in s.columns["pos"]]})
        for s in sentences
    ]


def test_gold_tags_are_the_finest_there_are():
    tags = sorted({tag for s in TRAIN for tag in s.columns["pos"]})
    fine = with_column(TRAIN, "xpos", {tag: f"x{tag}" for tag in tags})
    for sentences, column in (
        (TRAIN, "pos"),
        (fine, "xpos"),
        ([*fine, *TRAIN], "pos"),
        (with_column(TRAIN, "xpos", dict.fromkeys(tags, "_")), "pos"),
        ([*fine, EMPTY], "xpos"),
    ):
        model = build("ffn-parser")
        model.adapt(sentences)
        assert model.settings["tags"] == column
        assert model.features.columns == (column,)
        assert len(model.features.vocabularies[column]) == len(tags)
    bare = [Sentence(["a"], None, {"head": ["0"], "deprel": ["root"]})]
    with pytest.raises(ValueError, match="sentence 1 has no column 'pos'"):
        build("ffn-parser", tags="pos").adapt(bare)
    with pytest.raises(ValueError, match="no tags in a column xpos or pos: .*tags=No"):
        build("ffn-parser").adapt(bare)


def test_tags_are_read(model):
    turned = {tag: tag for s in DEMO.train for tag in s.columns["pos"]}
    turned = dict(zip(turned, reversed(turned), strict=True))
    others = with_column(DEV, "pos", turned)
    assert model.predict(others) != model.predict(DEV)
    with pytest.raises(ValueError, match="sentence 1 has no column 'pos'"):
        model.parse([["She", "sleeps"]])


def test_without_tags_words_are_enough():
    model = build(tags=None)
    model.adapt([Sentence(s.tokens, None, tree(s)) for s in TRAIN])
    found = model.parse([["She", "sleeps", "."], []])
    assert [list(s.columns) for s in found] == [["head", "deprel"]] * 2
    assert [len(s.columns["head"]) for s in found] == [3, 0]


def tree(sentence):
    return {name: sentence.columns[name] for name in ("head", "deprel")}


# Settings


def test_the_papers_settings():
    """Elkaref & Bohnet (2017), section 5, and 3.2 and 3.3 on biases."""
    for name in PARSERS:
        model = keras_tagging.build(name, recipe="paper", seed=1)
        model.adapt(TRAIN)
        labels = len(model.labels)
        arrays = {v.path: ops.convert_to_numpy(v) for v in model.trainable_variables}
        shapes = {path.split("/")[-1]: array.shape for path, array in arrays.items()}
        gates = {"gru-parser": 3, "lstm-parser": 4}.get(name, 1)
        # 18 words and tags, 12 labels, of 100 each
        assert shapes["kernel"] == (18 * 200 + 12 * 100, gates * 256)
        assert shapes["output_kernel"] == (256, 2 * labels + 1)
        assert shapes["label_embeddings"] == (labels + 1, 100)
        tables = [shape for key, shape in shapes.items() if key == "embeddings"]
        assert all(shape[1] == 100 for shape in tables)
        for path, array in arrays.items():
            if not path.endswith("bias"):
                assert 0.009 < abs(array).max() <= 0.01, path
        bias = ops.convert_to_numpy(model.scorer.cell.bias)
        start = {"gru-parser": 0, "lstm-parser": None}.get(name, 0.02)
        if start is None:
            start = np.repeat([0, 1, 0, 0], 256)
        np.testing.assert_allclose(bias, np.broadcast_to(start, bias.shape))
        optimizer = model.optimizer
        assert type(optimizer) is keras.optimizers.SGD
        assert float(optimizer.learning_rate) == pytest.approx(0.05)
        assert optimizer.momentum == 0.9
        assert model.settings["l2"] == 1e-8
        rates = model.scorer.input_dropout, model.scorer.hidden_dropout
        assert rates == (0.3, 0.3)
        limits = model.scorer.truncation, model.scorer.truncation_limit
        assert limits == ("sliding", 5)
        assert model.scorer.dropped == "configurations"


def test_the_forget_gate_starts_as_in_keras_lstm():
    """Section 3.3's 1, which Keras calls `unit_forget_bias`; its gates are ifco."""
    cell = ARCHITECTURES["lstm-parser"].settings("paper").cell(3)
    cell.build((None, 2))
    stock = keras.layers.LSTM(3, unit_forget_bias=True)
    stock.build((None, None, 2))
    i, f, o, s = np.split(ops.convert_to_numpy(cell.bias), 4)
    np.testing.assert_array_equal(np.concatenate([i, f, s, o]), stock.get_weights()[2])


def test_the_width_of_the_beam_may_be_set(model):
    assert model.beam_width == 1
    greedy = model.predict(DEV)
    model.beam_width = 4
    assert model.settings["beam_width"] == model.scorer.beam_width == 4
    beam = model.predict(DEV)
    model.beam_width = 1
    assert model.predict(DEV) == greedy != beam
    with pytest.raises(ValueError, match="beam_width=0"):
        model.beam_width = 0


# Sentences that cannot be learnt from


def sentence(heads, deprels="a b c", words="One two three"):
    words = words.split()
    pos = ["N"] * len(words)
    columns = {"head": heads.split(), "deprel": deprels.split(), "pos": pos}
    return Sentence(words, None, columns)


@pytest.mark.parametrize(
    "second, message",
    [
        (Sentence(["One", "two"], None, {"pos": ["N", "N"]}), "no tree: .* no head"),
        (sentence("2 0 2", "a _ c"), "no tree: a word has no deprel"),
        (sentence("2 x 2"), "invalid literal for int"),
        (sentence("0 3 2"), "words 2 and 3 form a cycle"),
        (["One", "two"], "no tree: a word has no head"),
    ],
)
def test_sentences_without_a_tree(model, second, message):
    sentences = [TRAIN[0], second]
    for call in (
        lambda: build().adapt(sentences),
        lambda: build().fit(sentences),
        lambda: model.evaluate(sentences),
        lambda: build().fit(TRAIN[:1], validation_data=sentences),
    ):
        where = r"^sentence 2 \(it begins 'One two"
        with pytest.raises(ValueError, match=f"{where}.*{message}") as error:
            call()
        assert "\n" not in str(error.value)


def test_other_misuse(model):
    with pytest.raises(ValueError, match="no vocabularies yet: fit or adapt"):
        build().parse([["a"]])
    with pytest.raises(ValueError, match="has vocabularies already"):
        model.adapt(TRAIN)
    with pytest.raises(ValueError, match="no tree to learn"):
        build().fit([EMPTY])
    with pytest.raises(ValueError, match="y is one list"):
        model.evaluate(DEV, DEV)
    with pytest.raises(ValueError, match="val_uas"):
        build().fit(TRAIN, validation_data=DEV, monitor="val_accuracy")
    other = [sentence("2 0 2", "new root other")]
    with pytest.raises(ValueError, match="not know 2 of .*'new', 'other'.* own are"):
        model.fit(other, verbose=0)
