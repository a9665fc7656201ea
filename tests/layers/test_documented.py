"""The examples of docs/layers.rst and docs/keras-models.rst run; the former show every
cell and layer."""

import keras
import numpy as np
import pytest
from pages import DOCS, examples

import keras_tagging.cells
import keras_tagging.layers
from keras_tagging.metrics import is_consistent

SETUP, *EXAMPLES = examples("layers")
# of the other page the first example makes the network that the others go on with
WHOLE_MODELS = examples("keras-models")
# fewer and shorter sentences: each step of a loop takes its time
SMALLER = {"(8, 12)": "(2, 3)", "9:": "2:", "(-1, 12,": "(-1, 3,"}
# not for models: bases of the cells, and the parser's own
NOT_SHOWN = {"LayeredCell", "RecurrentCell", "RegularizedLayer", "TransitionScorer"}
NOT_SHOWN |= {"CRFLoss", "CRFAccuracy"}  # as crf.loss and crf.accuracy


def run(*parts):
    names = {}
    for part in parts:
        for size, smaller in SMALLER.items():
            part = part.replace(size, smaller)
        exec(part, names)
    return names


@pytest.fixture
def eager(monkeypatch):
    """TensorFlow would take seconds to compile each of the models."""
    compile_model = keras.Model.compile

    def compile_eagerly(self, *args, **kwargs):
        eagerly = keras.backend.backend() == "tensorflow"
        compile_model(self, *args, run_eagerly=eagerly, **kwargs)

    monkeypatch.setattr(keras.Model, "compile", compile_eagerly)


@pytest.mark.one_backend
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number, eager):
    keras.utils.set_random_seed(0)
    lines = "".join(EXAMPLES[:number]).splitlines()
    before = [line for line in lines if line.startswith(("from ", "names = "))]
    names = run(SETUP, *before, EXAMPLES[number])
    model = names["model"]
    assert len(EXAMPLES[number].strip().splitlines()) <= 12
    assert all(np.isfinite(w).all() for w in model.get_weights())
    assert model.output_shape[-1] == 5
    if "names[tag]" in EXAMPLES[number]:
        assert is_consistent(names["tags"][:3], "iob2")


@pytest.mark.one_backend
@pytest.mark.parametrize("number", range(1, len(WHOLE_MODELS)))
def test_whole_model(number, eager):
    keras.utils.set_random_seed(0)
    names = run(*WHOLE_MODELS[: min(number, 2)], WHOLE_MODELS[number])
    assert all(np.isfinite(w).all() for w in names["model"].get_weights())
    assert names["model"].output_shape[-1] == 5
    if "names[tag]" in WHOLE_MODELS[number]:
        assert is_consistent(names["tags"][:3], "iob2")


@pytest.mark.one_backend
def test_every_cell_and_layer_is_on_the_page():
    page = (DOCS / "layers.rst").read_text("utf-8")
    every = {*keras_tagging.cells.__all__, *keras_tagging.layers.__all__}
    assert {name for name in every if f".{name}`" not in page} == NOT_SHOWN
