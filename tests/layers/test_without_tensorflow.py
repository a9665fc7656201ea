"""Cells and layers on JAX and PyTorch, where TensorFlow is not installed."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

USE = """
import importlib.util
import json
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "tensorflow" else find(name)
sys.meta_path.insert(0, Hidden())

import keras

import keras_tagging
from keras_tagging import cells, layers

for room in (cells, layers):
    for name in room.__all__:
        assert getattr(room, name) is not None
try:
    keras_tagging.build("bigru")
except ImportError as error:
    print(error, file=sys.stderr)
words = keras.Input((None,), dtype="int32")
x = keras.layers.Embedding(9, 4, mask_zero=True)(words)
x = layers.BidirectionalStack(keras_tagging.GRUCell(3), 2)(x)
model = keras.Model(words, keras.layers.Dense(3)(x))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.1), loss)
ids = keras.ops.convert_to_numpy([[3, 1, 2], [4, 5, 0]])
print(json.dumps(model.fit(ids, ids % 3, epochs=9, verbose=0).history["loss"]))
"""


@pytest.mark.skipif(
    keras.backend.backend() == "tensorflow", reason="that backend is TensorFlow"
)
def test_all_are_imported_and_a_network_learns():
    command = [sys.executable, "-c", USE]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "TensorFlow is not installed, and this needs it" in done.stderr
    losses = json.loads(done.stdout)
    assert np.isfinite(losses).all() and losses[-1] < 0.5 * losses[0]
