"""Parsers on a small part of the demo corpus: training, trees, saving, errors."""

import json
from dataclasses import replace

import keras
import numpy as np
import pytest
import tensorflow as tf
from cells.cases import randomize
from keras import ops
from layers.gradients import gradients

import keras_tagging
from keras_tagging import Corpus, Sentence
from keras_tagging.data.vocabulary import FIRST_ID, UNKNOWN_ID
from keras_tagging.embeddings import WordVectors
from keras_tagging.models import PARSERS, decoding, parser
from keras_tagging.models.lstm_parser import parser_lstm
from keras_tagging.parsing import check_tree, is_projective

# A parser of some thousand weights.
TINY = {"units": 8, "word_dim": 6, "affix_dim": 4, "label_dim": 3, "seed": 1}
DEMO = keras_tagging.load_corpus("demo")
TRAIN, DEV = DEMO.train[:40], DEMO.dev[:14]
# "What did she say he read ?" and its like
CROSSING = [
    sentence
    for sentence in DEMO.train[:300]
    if not is_projective(list(map(int, sentence.columns["head"])))
][:2]
EMPTY = Sentence([], None, {"pos": [], "head": [], "deprel": []})


def build(name="lstm-parser", **options):
    return keras_tagging.build(name, **TINY | options)


def fitted(name="lstm-parser", sentences=TRAIN, epochs=1, fitting=(), **options):
    model = build(name, **options)
    model.fit(sentences, epochs=epochs, verbose=0, **dict(fitting))
    return model


def gold(sentences):
    return [(list(map(int, s.columns["head"])), s.columns["deprel"]) for s in sentences]


def weights(model):
    return [np.array(weight) for weight in model.get_weights()]


def equal(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


@pytest.fixture(scope="module")
def model():
    """Random weights: to be read, not changed."""
    model = build()
    model.adapt(TRAIN)
    return randomize(model, 3, 0.5)


# Training


@pytest.mark.parametrize("name", PARSERS)
def test_training_learns_the_training_trees(name):
    model = build(name, learning_rate=0.02, input_dropout=0.0, hidden_dropout=0.0)
    history = model.fit(TRAIN, validation_data=TRAIN, epochs=30, verbose=0)
    assert max(history.history["val_las"]) > 0.9
    assert history.history["loss"][-1] < history.history["loss"][0] / 3
    figures = model.evaluate(TRAIN, return_dict=True)
    # the best epoch is restored
    assert figures["las"] == max(history.history["val_las"])
    assert figures["uas"] >= figures["las"]
    assert model.metadata["epochs"] == 30


@pytest.fixture(scope="module")
def dropping():
    """Settings with all that draws random numbers, and a model trained so."""
    options = {"decay": "linear", "unknown_rate": 0.5, "token_budget": 60}
    fitting = {"validation_data": DEV, "patience": 9}
    return options, fitting, fitted(epochs=3, fitting=fitting, **options)


def test_equal_seeds_give_equal_weights(dropping):
    options, fitting, model = dropping
    assert equal(weights(fitted(epochs=3, fitting=fitting, **options)), weights(model))
    other = fitted(epochs=3, fitting=fitting, **options | {"seed": 2})
    assert not equal(weights(other), weights(model))


class Interrupt(keras.callbacks.Callback):
    """Stops the process in the middle of the second epoch, if it is to."""

    def __init__(self, stop):
        super().__init__()
        self.stop = stop

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.stop and (self.epoch, batch) == (1, 2):
            raise KeyboardInterrupt


def test_interrupted_and_resumed_equals_uninterrupted(dropping, tmp_path):
    options, fitting, model = dropping
    fitting = fitting | {"resume": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        fitted(epochs=3, fitting=fitting | {"callbacks": [Interrupt(True)]}, **options)
    resumed = fitted(
        epochs=3, fitting=fitting | {"callbacks": [Interrupt(False)]}, **options
    )
    assert equal(weights(resumed), weights(model))


@pytest.mark.parametrize("encoder", ["bilstm", "shortcut-bilstm"])
@pytest.mark.parametrize("merge", ["layer", "top"])
def test_an_encoder_is_trained_with_the_parser(encoder, merge):
    model = build(encoder=encoder, encoder_units=3, encoder_merge=merge)
    model.adapt(TRAIN)
    randomize(model, 3, 0.5)
    plan = {"batch_size": 40}
    (*inputs, targets, mask), *_ = model.batches(TRAIN[:10], plan)

    def loss():
        logits = model(inputs, training=True)
        return model.compute_loss(inputs, targets, logits, mask)

    found = gradients(model.trainable_variables, loss)
    names = [variable.path for variable in model.trainable_variables]
    assert sum("encoder" in name for name in names) >= 12
    for name, gradient in zip(names, found, strict=True):
        assert np.isfinite(gradient).all()
        assert abs(np.atleast_2d(gradient)).max(0).min() > 0, name
    assert len(model.parse(DEV)) == len(DEV)


@pytest.mark.parametrize("tokens", [1, 2])
def test_the_penalty_is_once_an_epoch(tokens):
    """A batch bears the share of its moves: lambda / 2 |theta|^2 (section 5)."""
    model = build(l2=0.1, input_dropout=0.0, hidden_dropout=0.0)
    plain = build(l2=0.0, input_dropout=0.0, hidden_dropout=0.0)
    sentences = [s for s in TRAIN if len(s) > 5][:2] * tokens
    losses = []
    for each in (model, plain):
        each.adapt(TRAIN)
        randomize(each, 3, 0.5)
        each.compile(keras.optimizers.SGD(0.0), each.loss)
        losses.append(each.fit(sentences, epochs=1, batch_size=99, verbose=0))
    penalised, loss = (history.history["loss"][0] for history in losses)
    size = sum(np.sum(np.square(weight)) for weight in model.trainable_weights)
    assert penalised - loss == pytest.approx(0.1 / 2 * size, rel=1e-4)


# Trees


def test_parse_gives_trees_and_keeps_the_rest(model):
    parsed = model.parse([*DEV, EMPTY])
    for sentence, given in zip(parsed, [*DEV, EMPTY], strict=True):
        assert (sentence.tokens, sentence.tags) == (given.tokens, given.tags)
        assert sentence.columns["pos"] == given.columns["pos"]
        check_tree(sentence.columns["head"])
        assert set(sentence.columns["deprel"]) <= set(model.labels)
    assert gold(parsed) == model.predict([*DEV, EMPTY])
    assert len({tuple(heads) for heads, _ in gold(parsed)}) > 5
    # trees that are given are not read
    bare = [Sentence(s.tokens, None, {"pos": s.columns["pos"]}) for s in DEV]
    assert gold(model.parse(bare)) == gold(parsed)[:-1]


@pytest.mark.parametrize("width", [1, 3])
def test_a_batch_equals_one_by_one(model, width):
    model.beam_width = width
    together = model.predict([EMPTY, *DEV])
    assert together[0] == ([], [])
    for sentence, expected in zip(DEV, together[1:], strict=True):
        assert model.predict([sentence]) == [expected]
    model.beam_width = 1
    if width > 1:
        assert model.predict([EMPTY, *DEV]) != together


def test_lists_give_lists_and_generators_generators(model, monkeypatch):
    monkeypatch.setattr(decoding, "PREDICTION_SENTENCES", 3)
    expected = model.parse(DEV)
    assert isinstance(expected, list) and model.parse(tuple(DEV)) == expected
    read = []
    found = model.parse(read.append(s) or s for s in DEV)
    assert not read
    assert next(found) == expected[0] and len(read) == 3
    assert [expected[0], *found] == expected
    assert model.parse([]) == []
    for whole in (DEMO, "She sleeps"):
        with pytest.raises(ValueError, match="corpus|list of words|string"):
            model.parse(whole)


@pytest.mark.parametrize("subtypes", [False, True])
def test_evaluate_equals_a_hand_count(model, subtypes, monkeypatch):
    monkeypatch.setattr(parser, "PREDICTION_TOKENS", 30)
    monkeypatch.setattr(decoding, "PREDICTION_SENTENCES", 5)
    calls = []
    call = model.predict_on_batch
    monkeypatch.setattr(
        model, "predict_on_batch", lambda ids: calls.append(ids.shape) or call(ids)
    )
    # some figures must be neither 0 nor 1
    parsed = gold(model.parse(DEV))
    given = [*DEV, EMPTY, *model.parse(DEV[:2]), CROSSING[0]]
    found = model.evaluate(given, return_dict=True, subtypes=subtypes)
    assert len({shape[1] for shape in calls}) > 2
    assert list(found.values()) == model.evaluate(given, subtypes=subtypes)

    parsed += [([], []), *parsed[:2], *model.predict(CROSSING[:1])]
    words, heads, arcs, labels, complete = 0, 0, 0, 0, np.zeros(2)
    for (some_heads, some_labels), (own_heads, own_labels) in zip(
        parsed, gold(given), strict=True
    ):
        right = []
        for a, b, c, d in zip(
            some_heads, own_heads, some_labels, own_labels, strict=True
        ):
            if not subtypes:
                c, d = c.split(":")[0], d.split(":")[0]
            right.append((a == b, a == b and c == d))
            labels += c == d
        words += len(right)
        heads += sum(head for head, _ in right)
        arcs += sum(arc for _, arc in right)
        complete += [all(x for x, _ in right), all(x for _, x in right)] * bool(right)
    sentences = len(given) - 1  # the empty one does not count
    expected = [heads / words, arcs / words, labels / words, *complete / sentences]
    assert list(found.values()) == pytest.approx(expected)
    assert list(found) == ["uas", "las", "label_accuracy", "ucm", "lcm"]
    assert 0 < found["lcm"] < 1 and found["las"] < found["uas"] < 1
    assert model.scores(given, subtypes=subtypes).las == found["las"]


def test_punctuation_may_be_left_out(model):
    found = model.scores(DEV, punctuation="ptb")
    stops = [tag for s in DEV for tag in s.columns["pos"] if tag in {".", ","}]
    assert found.words == sum(map(len, DEV)) - len(stops)


# Non-projective trees

FIT = {"learning_rate": 0.05, "input_dropout": 0.0, "hidden_dropout": 0.0, "units": 16}


def test_trees_that_are_not_projective_are_left_out_and_counted():
    model = fitted("ffn-parser", [*TRAIN[:3], *CROSSING])
    treated = {"sentences": 2, "treatment": "left out"}
    assert model.metadata["nonprojective"] == treated
    plain = fitted("ffn-parser", TRAIN[:3])
    assert plain.metadata["nonprojective"] == {**treated, "sentences": 0}
    assert len(CROSSING) == 2
    with pytest.raises(ValueError, match="no tree to learn"):
        fitted("ffn-parser", CROSSING)


def test_lifted_trees_are_restored():
    sentences = [*TRAIN[:3], *CROSSING]
    model = fitted("ffn-parser", sentences, 40, nonprojective="lift", **FIT)
    assert model.metadata["nonprojective"]["sentences"] == 2
    assert any("|" in label for label in model.labels)
    assert gold(model.parse(sentences)) == gold(sentences)


# Features


def random_vectors(words, dim=5):
    rng = np.random.default_rng(5)
    return WordVectors(words, rng.normal(size=(len(words), dim)).astype("float32"))


def test_vectors_are_the_first_values_of_word_embeddings(tmp_path):
    known = TRAIN[0].tokens[1]
    vectors = random_vectors([known, "Unseen", "cafe\u0301", "12"])
    model = build("ffn-parser", vectors=vectors, tags=None)
    model.adapt(TRAIN)
    table = model.network.get_layer("word_embedding").embeddings
    rows = ops.convert_to_numpy(table)
    assert rows.shape[1] == 5
    words = model.features.vocabularies["word"]
    # in the normal form: lower case, NFC, digits 9
    for word, form in zip(
        vectors.words, [known, "unseen", "caf\u00e9", "99"], strict=True
    ):
        row = FIRST_ID + words.index(form)
        expected = vectors.matrix[vectors.index[word]]
        np.testing.assert_array_equal(rows[row], expected)
        ids = model.encode([Sentence([word])]).ids
        assert ids[0, 0] == row
    assert model.encode([Sentence(["elsewhere"])]).ids[0, 0] == UNKNOWN_ID
    assert len(set(words)) == len(words)
    model.fit(TRAIN[:5], epochs=1, verbose=0)
    assert model.settings["vectors"] == "4 vectors given as an object"
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path / "model.keras")
    bare = [s.tokens for s in DEV]
    assert again.predict(bare) == model.predict(bare)


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
    with pytest.raises(ValueError, match="sentence 1 has no column 'pos'"):
        keras_tagging.build("ffn-parser", **TINY, tags="pos").adapt(
            [Sentence(["a"], None, {"head": ["0"], "deprel": ["root"]})]
        )
    with pytest.raises(
        ValueError, match="no tags in a column xpos or pos: .*tags=None"
    ):
        build("ffn-parser").adapt(
            [Sentence(["a"], None, {"head": ["0"], "deprel": ["root"]})]
        )


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
    randomize(model, 3, 0.5)
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
    cell = parser_lstm(3)
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


@pytest.mark.parametrize(
    "options, message",
    [
        ({"unit": 3}, "unknown lstm-parser keyword 'unit'; did you mean 'units'"),
        ({"encoder": "lstm"}, "encoder='lstm'.*'bilstm'"),
        ({"dropped": "all"}, "dropped='all'.*'configurations', 'tokens'"),
        ({"truncation": "no"}, "truncation='no'.*'sliding', 'chunked'"),
        ({"nonprojective": "keep"}, "nonprojective='keep'.*'skip', 'lift'"),
        ({"truncation_limit": 0}, "truncation_limit=0"),
        ({"beam_width": 0}, "beam_width=0"),
        ({"input_dropout": 1.0}, "input_dropout=1.0"),
        ({"initializer": "zeros"}, "initializer='zeros'"),
    ],
)
def test_settings_that_do_not_exist(options, message):
    with pytest.raises(ValueError, match=message) as error:
        build(**options)
    assert "\n" not in str(error.value)


# Sentences that cannot be learnt from


def sentence(heads, deprels="a b c", words="One two three"):
    words = words.split()
    pos = ["N"] * len(words)
    columns = {"head": heads.split(), "deprel": deprels.split(), "pos": pos}
    return Sentence(words, None, columns)


@pytest.mark.parametrize("method", ["adapt", "fit", "evaluate", "validation"])
@pytest.mark.parametrize(
    "second, message",
    [
        (Sentence(["One", "two"], None, {"pos": ["N", "N"]}), "no tree: .* no head"),
        (sentence("2 0 2", "a _ c"), "no tree: a word has no deprel"),
        (sentence("2 _ 2"), "no tree: a word has no head"),
        (sentence("2 x 2"), "a head that is no number"),
        (sentence("2 3 2"), "no word is the root"),
        (sentence("0 3 2"), "words 2 and 3 form a cycle"),
        (sentence("0 0 2"), "words 1 and 2 are roots"),
        (sentence("0 4 2"), "head of word 2 is 4"),
        (["One", "two"], "no tree: a word has no head"),
    ],
)
def test_sentences_without_a_tree(model, method, second, message):
    sentences = [TRAIN[0], second]
    calls = {
        "adapt": lambda: build().adapt(sentences),
        "fit": lambda: build().fit(sentences),
        "evaluate": lambda: model.evaluate(sentences),
        "validation": lambda: build().fit(TRAIN[:1], validation_data=sentences),
    }
    where = r"^sentence 2 \(it begins 'One two"
    with pytest.raises(ValueError, match=f"{where}.*{message}") as error:
        calls[method]()
    assert "\n" not in str(error.value)


def test_other_misuse(model):
    with pytest.raises(ValueError, match="no vocabularies yet: fit or adapt"):
        build().parse([["a"]])
    with pytest.raises(ValueError, match="has vocabularies already"):
        model.adapt(TRAIN)
    with pytest.raises(ValueError, match="no tree to learn"):
        build().fit([EMPTY])
    with pytest.raises(ValueError, match="part of the sentences"):
        model.evaluate(DEV, DEV)
    with pytest.raises(ValueError, match="whole corpus"):
        build().fit(Corpus(TRAIN))
    with pytest.raises(
        ValueError, match="predict takes sentences only, not batch_size"
    ):
        model.predict(DEV, batch_size=3)
    with pytest.raises(ValueError, match="val_uas"):
        build().fit(TRAIN, validation_data=DEV, monitor="val_accuracy")
    other = [sentence("2 0 2", "new root other")]
    with pytest.raises(ValueError, match="does not know .*new, other"):
        model.fit(other, verbose=0)


# Saving and serving


def test_save_and_load(model, tmp_path):
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    assert type(again) is keras_tagging.Parser
    assert again.settings == model.settings and again.labels == model.labels
    assert equal(weights(again), weights(model))
    assert again.parse(DEV) == model.parse(DEV)
    content = json.loads((tmp_path / "metadata.json").read_text())
    assert content["settings"]["tags"] == "pos"
    # a model that is not adapted has no vocabularies to save
    build().save(tmp_path / "new.keras")
    new = keras_tagging.load(tmp_path / "new.keras")
    new.fit(TRAIN[:5], epochs=1, verbose=0)
    assert new.parse(DEV[:1])


@pytest.mark.parametrize("encoder, width", [(None, 1), ("bilstm", 3)])
def test_a_saved_model_equals_parse(encoder, width, tmp_path):
    model = build(encoder=encoder, encoder_units=3, beam_width=width)
    model.adapt(TRAIN)
    randomize(model, 3, 0.5)
    model.export(tmp_path / "served")
    serve = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]

    def trees(sentences, width=None, garbage=""):
        width = max(map(len, sentences), default=0) if width is None else width
        rows = {
            "tokens": [s.tokens for s in sentences],
            "pos": [s.columns["pos"] for s in sentences],
        }
        strings = {
            name: tf.reshape(
                tf.constant(
                    [
                        v
                        for row in values
                        for v in [*row, *[garbage] * (width - len(row))]
                    ],
                    tf.string,
                ),
                (len(sentences), width),
            )
            for name, values in rows.items()
        }
        lengths = tf.constant([len(s) for s in sentences], tf.int32)
        found = serve(lengths=lengths, **strings)
        heads, deprels = found["heads"].numpy(), found["deprels"].numpy()
        assert heads.shape == deprels.shape == (len(sentences), width)
        result = []
        for s, some_heads, some_deprels in zip(sentences, heads, deprels, strict=True):
            n = len(s)
            assert (some_heads[n:] == -1).all() and not any(some_deprels[n:])
            deprels = [deprel.decode() for deprel in some_deprels[:n]]
            result.append((some_heads[:n].tolist(), deprels))
        return result

    expected = model.predict([*DEV, EMPTY])
    assert trees([*DEV, EMPTY]) == expected
    assert trees([*DEV, EMPTY], 40, "She") == expected
    assert trees(DEV[:1]) == expected[:1]
    assert trees([]) == [] and trees([], 3) == []
    assert trees([EMPTY, EMPTY]) == [([], [])] * 2
    assert trees([EMPTY], 2) == [([], [])]
