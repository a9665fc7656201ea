"""Whole taggers and parsers: what must hold on TensorFlow, JAX and PyTorch alike."""

import keras
import numpy as np
import pytest
from conftest import DRY, TINY, WORDS_ONLY, random_sentences, randomize, reloaded
from models.columns import columned
from models.parsers import DEMO, LEARNING, fitted
from models.parsers import TINY as SMALL

import keras_tagging
from keras_tagging import SoftTargets, training
from keras_tagging.models.distillation import fingerprint_of
from keras_tagging.vectors import WordVectors

SMALLER = TINY | WORDS_ONLY
TREES = DEMO.train[:40]
# TensorFlow does so in the tests of taggers, of parsers, of characters and of training.
ELSEWHERE = pytest.mark.slow("tensorflow")
# Of these the others have each part, which JAX would compile once more.
REPEATED = ("crf", "columns", "labels, beam", "letters, lstm")


def without_graph(model):
    """TensorFlow runs few batches with less work so; JAX compiles them in any case."""
    model.run_eagerly = keras.backend.backend() == "tensorflow"
    return model


LETTERS = TINY | DRY | {"words": False, "suffixes": (), "prefixes": ()}
LETTERS |= {"capitals": False, "shapes": False, "character_units": 8}
COLUMNS = SMALLER | DRY | {"tags": ("upos", "xpos")}
TAGGERS = {
    "tags": SMALLER | DRY,
    "crf": TINY | {"decoder": "crf"},
    "columns": COLUMNS,
    "columns, crf": COLUMNS | {"decoder": "crf"},
    # which read their own labels
    "labels": {"units": 12, "feedback": (1.0, 0.0), "l2": 1e-4, "seed": 3},
    "labels, beam": SMALLER | DRY | {"decoder": "i-rnn", "beam_width": 2},
    # no other feature tells the words apart
    "letters, lstm": LETTERS | {"character_network": "lstm"},
    "letters, cnn": LETTERS | {"character_network": "cnn"},
}


def marked(name):
    others = pytest.mark.slow if name in REPEATED else ELSEWHERE
    return pytest.param(name, marks=[] if name == "tags" else others)


@pytest.mark.parametrize("name", [*map(marked, TAGGERS)])
def test_fit_save_load_and_tag(tmp_path, train_sentences, dev_sentences, name):
    """The labels of a word are always the same ones."""
    settings = TAGGERS[name]
    prepared, figure = list, "accuracy"
    if "tags" in settings:
        prepared, figure = columned, "joint_accuracy"
    train, dev = prepared(train_sentences), prepared(dev_sentences)
    network = "ie-rnn" if name == "labels" else "bigru"
    # one that reads its own labels, which change, learns more slowly
    rate, epochs = (0.05, 40) if name == "labels" else (0.1, 25)
    model = keras_tagging.build(network, **settings, learning_rate=rate)
    # one batch an epoch: JAX compiles for every shape
    model.fit(train, epochs=epochs, batch_size=32, verbose=0)
    without_graph(model)
    assert model.evaluate(train, return_dict=True)[figure] > 0.9
    again = without_graph(reloaded(model, tmp_path))
    assert again.tag(dev) == model.tag(dev)
    assert again.evaluate(dev) == pytest.approx(model.evaluate(dev), nan_ok=True)


@ELSEWHERE
def test_a_pupil_learns_from_soft_targets(train_sentences):
    """From words alone, in two columns; the loss is that of NumPy on each backend."""
    names, words = ("upos", "xpos"), [s.tokens for s in train_sentences]
    gold = columned(train_sentences)
    model = keras_tagging.build("bigru", tags=names, **SMALLER | DRY, learning_rate=0.1)
    model.adapt(gold)
    labels = model.tags
    ids = {n: np.concatenate([_places(s, labels[n], n) for s in gold]) for n in names}
    values = {n: np.tile(np.float32([0.8, 0.1]), (len(ids[n]), 1)) for n in names}
    offsets = np.cumsum([0, *map(len, words)])
    found = SoftTargets(labels, ids, values, offsets, fingerprint_of(gold))
    options = {"soft_targets": found, "soft_weight": 1.0, "temperature": 2.0}
    model.fit(words, epochs=25, batch_size=32, verbose=0, **options)
    history = model.history.history
    assert history["accuracy"][-1] > 0.9
    # softened, 0.8 and 0.1 are q and 1 - q: no loss is below their entropy
    q = 0.8**0.5 / (0.8**0.5 + 0.1**0.5)
    entropy = -(q * np.log(q) + (1 - q) * np.log(1 - q))
    assert history["loss"][-1] > 2 * 4 * entropy - 1e-3
    assert history["loss"][-1] < 2 * 4 * (entropy + 0.5)


def _places(sentence, labels, name):
    """The id of the label of each word, and another one."""
    column = sentence.columns["pos" if name == "upos" else name]
    places = np.array([labels.index(label) for label in column])
    return np.stack([places, (places + 1) % len(labels)], 1)


# That the layers read no padding is tested on every backend; JAX would compile each
# operation of these steps alone.
@pytest.mark.slow("jax")
@pytest.mark.parametrize(
    "decoder", ["softmax", pytest.param("crf", marks=pytest.mark.one_backend)]
)
def test_rows_of_padding_change_neither_loss_nor_gradients(train_sentences, decoder):
    model = keras_tagging.build("bigru", **TINY, **DRY, decoder=decoder)
    model.adapt(train_sentences)
    randomize(model)
    model.compile(
        keras.optimizers.SGD(1.0),
        training.TagLoss(),
        jit_compile=False,  # JAX compiles in any case
    )
    without_graph(model)  # XLA computes the same: see test_compiled.py
    encoded = model.encode(random_sentences(5, 3, longest=4), targets=True)
    before = [w.copy() for w in model.get_weights()]
    losses, changes = [], []
    for sizes, rows in (({}, 5), ({"batch_size": 8}, 8)):
        batch = encoded.batch(np.arange(5), 8, **sizes)
        assert len(batch[0]) == rows
        model.set_weights(before)
        model.reset_metrics()
        losses.append(model.train_on_batch(*batch))
        weights = zip(model.get_weights(), before, strict=True)
        changes.append([new - old for new, old in weights])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for change, same in zip(*changes, strict=True):
        assert abs(change).max() > 1e-5
        np.testing.assert_allclose(change, same, rtol=1e-4, atol=1e-6)


@ELSEWHERE
@pytest.mark.parametrize(
    "name", ["ffn-parser", pytest.param("lstm-parser", marks=pytest.mark.slow)]
)
def test_fit_save_load_and_parse(tmp_path, name):
    """Trees by heart, with an encoder and without."""
    encoder = "bigru" if name == "ffn-parser" else None
    options = LEARNING | {"encoder": encoder}
    if encoder:
        options |= {"encoder_units": 16, "encoder_layers": 1}
    options |= {"units": 32, "word_dim": 16, "affix_dim": 8}
    trees = sorted(TREES, key=len)[:6]
    # one batch an epoch: JAX compiles for every shape
    fitting = {"batch_size": 6, "token_budget": None}
    model = fitted(name, trees, epochs=30, fitting=fitting, **options)
    assert model.evaluate(trees, return_dict=True)["las"] > 0.9
    again = without_graph(reloaded(model, tmp_path))
    assert again.parse(trees) == model.parse(trees)
    again.beam_width = 3
    assert len(again.parse(trees)) == len(trees)


@pytest.mark.parametrize(
    "name", ["bigru", pytest.param("ffn-parser", marks=pytest.mark.one_backend)]
)
def test_frozen_embeddings_stay_as_they_are(tmp_path, train_sentences, name):
    sentences = TREES[:6] if name == "ffn-parser" else train_sentences
    words = [sentences[0].tokens[0].lower(), "unseen"]
    matrix = np.random.default_rng(1).normal(size=(2, 5)).astype("float32")
    options = dict(SMALLER if name == "bigru" else SMALL)
    del options["word_dim"]  # it is that of the vectors
    model = keras_tagging.build(
        name,
        **options,
        embeddings=WordVectors(words, matrix),
        trainable=False,
        decay=None,
        weight_average=0.9,
        l2=0.1,
    )
    model.adapt(sentences)
    without_graph(model)

    def table(model):
        weights = model.network.get_layer("word_embedding").embeddings
        return np.array(keras.ops.convert_to_numpy(weights))

    before = table(model)
    fitting = {"batch_size": 32, "token_budget": None, "verbose": 0}
    fitting |= {"restore_best": False, "resume": tmp_path}
    for epochs in (1, 2):
        model.fit(sentences, epochs=epochs, **fitting)
    np.testing.assert_array_equal(table(model), before)
    variables = [*model.optimizer.variables, *model.trainable_variables]
    assert before.shape not in {tuple(variable.shape) for variable in variables}
    again = without_graph(reloaded(model, tmp_path))
    again.fit(sentences, epochs=1, verbose=0, batch_size=32, restore_best=False)
    np.testing.assert_array_equal(table(again), before)
