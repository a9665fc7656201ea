"""Tiny sentences and models that several test files share."""

import fcntl
import gc
import os
import random
import sys
from contextlib import contextmanager
from functools import cache
from unittest import mock

import numpy as np
import onnx
import pytest
import selection
import typer.main
from treebanks import LANGUAGES, sentences_of
from treebanks import TINY as TINY_SEGMENTER

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.onnx.builder import Builder

# A process keeps millions of objects of traced graphs. With Python's own thresholds it
# looks for garbage among them so often that tests take a twentieth longer.
gc.set_threshold(20_000, 20, 100)

# A browser's driver brings Trio: Hypothesis would import it, and search all
# objects of the process for who holds its random state.
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"

# As `start_keras` sets it, whatever imports TensorFlow first, and in other processes,
# too: results are compared to the last bit.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

# The folder of real corpora, where there is one.
DATA = os.environ.get("KERAS_TAGGING_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="KERAS_TAGGING_DATA is not set")

TAGS = {
    "the": "D",
    "a": "D",
    "dog": "N",
    "Dog": "N",
    "cats": "N",
    "Paris": "P",
    "1984": "M",
    "12,5": "M",
    "barks": "V",
    "sees": "V",
    "wife\\/mother": "N",
    "quickly": "R",
}
# A model of a few hundred weights, which TensorFlow compiles in a second.
TINY = {"units": 5, "num_layers": 1, "word_dim": 4, "affix_dim": 3, "seed": 1}
# Of its ten tables of embeddings the first alone: half as much to trace and to train.
WORDS_ONLY = {"suffixes": (), "prefixes": (), "shapes": False, "capitals": False}
# Training then draws no random numbers.
DRY = {"dropout": 0.0, "layer_dropout": 0.0, "unknown_rate": 0.0}


def random_sentences(count, seed, longest=7):
    """Sentences of 1 to `longest` words, with the column `pos`."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(count):
        words = rng.choices(list(TAGS), k=rng.randint(1, longest))
        pos = [word[-1] for word in words]
        sentences.append(Sentence(words, [TAGS[w] for w in words], {"pos": pos}))
    return sentences


def short(sentences, count):
    """The first so many of at most 8 tokens: a network computes as long as they are."""
    return [s for s in sentences if len(s) <= 8][:count]


def randomize(model, seed=0):
    """Gives all weights random values, those of padding and the biases too."""
    rng = np.random.default_rng(seed)
    model.network.set_weights(
        [rng.normal(0, 0.7, w.shape) for w in model.network.get_weights()]
    )
    return model


def random_tagger(sentences, seed=0, name="bigru", /, **options):
    """A tiny tagger with random weights, which knows the words of the sentences."""
    model = keras_tagging.build(name, **TINY | WORDS_ONLY | options)
    model.adapt(sentences)
    return randomize(model, seed)


def reloaded(model, folder):
    """The model that its file gives."""
    model.save(folder / "model.keras")
    again = keras_tagging.load(folder)
    again.run_eagerly = model.run_eagerly
    return again


def exported(model, folder):
    """The model that its ONNX file gives, without Keras."""
    model.export(folder / "model.onnx", format="onnx")
    return keras_tagging.load(folder / "model.onnx")


def check_close(found, expected, **tolerance):
    """Arrays one after the other, as many here as there; equal without a tolerance."""
    check = np.testing.assert_allclose if tolerance else np.testing.assert_array_equal
    for one, other in zip(found, expected, strict=True):
        check(one, other, **tolerance)


def spoil(model):
    """Makes a model give its rarest tag to every token."""
    bias = 1e4 * np.eye(len(model.tags), dtype="float32")[-1]
    model.network.get_layer("logits").bias.assign(bias)


@contextmanager
def computing_once(model):
    """The network computes a batch once, for tags and for probabilities."""
    from keras import tree

    compute, known = model.predict_on_batch, {}

    def remembered(batch):
        arrays = tree.flatten(batch)
        key = tuple((x.shape, np.asarray(x).tobytes()) for x in arrays)
        key += (getattr(model, "beam_width", None),)
        if key not in known:
            known[key] = compute(batch)
        return known[key]

    with mock.patch.object(model, "predict_on_batch", remembered):
        yield


@pytest.fixture
def once(model):
    """The model of a test's module computes a batch once."""
    with computing_once(model):
        yield


def pytest_addoption(parser):
    selection.add_options(parser)


def pytest_configure(config):
    config.pluginmanager.register(selection)


def pytest_unconfigure():
    """Looks once for garbage, which warns when it goes: pytest would five times."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def graphs_as_traced(request):
    """TensorFlow runs graphs as they were traced.

    To optimise a graph costs more than all that these tests compute with it. Modules
    whose `OPTIMISED` is true, the served models and all processes of their own, among
    them `make demo`, have what users have.
    """
    if "tensorflow" in sys.modules and not getattr(request.module, "OPTIMISED", False):
        import tensorflow as tf

        options = tf.config.optimizer
        options.set_experimental_options({"disable_meta_optimizer": True})
        yield
        options.set_experimental_options({"disable_meta_optimizer": False})
    else:
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_made_once():
    """Typer makes the commands of the program once, not each time that a test runs it.

    Else that takes 9 of the 10 milliseconds of a short command.
    """
    with mock.patch.object(typer.main, "get_command", cache(typer.main.get_command)):
        yield


@pytest.fixture(scope="session", autouse=True)
def exports_are_sound():
    """Onnx's own tools read every graph that a test makes."""
    make = Builder.model

    def checked(builder, name):
        made = make(builder, name)
        onnx.checker.check_model(made, full_check=True)
        onnx.shape_inference.infer_shapes(made)
        return made

    with mock.patch.object(Builder, "model", checked):
        yield


def _without_graphs():
    """TensorFlow builds no graphs, which pays where a network sees a few batches.

    For what is around a network. Graphs of the same networks are built by the tests of
    layers, models and training.
    """
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(before)


eagerly = pytest.fixture(scope="module", name="eagerly")(_without_graphs)
eager = pytest.fixture(name="eager")(_without_graphs)  # for a single test


@pytest.fixture(scope="session")
def train_sentences():
    return random_sentences(30, 1)


@pytest.fixture(scope="session")
def dev_sentences():
    return random_sentences(12, 2)


@pytest.fixture(scope="session")
def tagger(train_sentences):
    """Random weights, features of the fast recipe: to be read, not changed."""
    model = keras_tagging.build("bigru", **TINY | {"num_layers": 2})
    model.adapt(train_sentences)
    return randomize(model)


def made_once(name, make, tmp_path_factory):
    """A folder that one process of a run fills, while others that need it wait."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tmp_path_factory.mktemp(name)
        make(folder)
        return folder
    folder = tmp_path_factory.getbasetemp().parent / "made" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            make(folder)
            lock.write("made")
    return folder


def trained_once(name, train, tmp_path_factory):
    """A model that one process of a run trains."""
    models = []

    def make(folder):
        models.append(train())
        models[0].save(folder / "model.keras")

    folder = made_once(name, make, tmp_path_factory)
    return models[0] if models else keras_tagging.load(folder / "model.keras")


@pytest.fixture(scope="session")
def ccg_parser(tmp_path_factory):
    """It knows the sentences of `derivations.GOLD` by heart."""
    from derivations import GOLD, SETTINGS

    def train():
        model = keras_tagging.build("ccg-parser", **SETTINGS)
        model.fit(GOLD, epochs=40, verbose=0)
        return model

    return trained_once("ccg", train, tmp_path_factory)


@pytest.fixture(scope="module")
def onnx_file(model, tmp_path_factory):
    """The ONNX file of the model of a test's module."""
    exported(model, folder := tmp_path_factory.mktemp("onnx"))
    return folder / "model.onnx"


@pytest.fixture(scope="module", name="onnx")
def loaded_onnx_file(onnx_file):
    return keras_tagging.load(onnx_file)


@pytest.fixture(scope="session")
def ccg_file(ccg_parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("ccg") / "parser.onnx"
    ccg_parser.export(path)
    return path


@pytest.fixture(scope="module")
def small_taggers():
    """Parsers train small taggers of their own, not those of the fast recipe."""

    def small(architecture, seed):
        sizes = {"units": 8, "word_dim": 4, "num_layers": 1, **WORDS_ONLY}
        return keras_tagging.build(architecture, seed=seed, **sizes)

    with mock.patch("keras_tagging.models.parser.parser.new_tagger", small):
        yield


# Segmenters of five treebanks


@pytest.fixture(scope="session")
def treebanks():
    return {language: sentences_of(language) for language in LANGUAGES}


@pytest.fixture(scope="session")
def everything(treebanks):
    return [sentence for sentences in treebanks.values() for sentence in sentences]


@pytest.fixture(scope="session")
def segmenter(everything, tmp_path_factory):
    """One that learnt all five by heart: to be read, not changed."""
    return trained_once("segmenter", lambda: by_heart(everything), tmp_path_factory)


def by_heart(sentences):
    model = keras_tagging.build(
        "segmenter",
        units=24,
        character_dim=16,
        window=40,
        context=20,
        batch_size=13,
        learning_rate=0.03,
        dropout=0.0,
        layer_dropout=0.0,
        min_batches=0,
        lexicon=False,
        unknown_rate=0.0,
        epochs=40,
        seed=1,
    )
    model.fit(sentences, verbose=0)
    return model


@pytest.fixture(scope="session")
def untrained(everything):
    """Random labels: tokens and sentences end anywhere."""
    model = keras_tagging.build("segmenter", **TINY_SEGMENTER)
    model.adapt(everything)
    return model
