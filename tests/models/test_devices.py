"""Devices that share each batch: on JAX, with a CPU that is divided in two."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_tagging.training import devices_of_batches, share_batches

FLAGS = "--xla_force_host_platform_device_count=2"
TRAIN = """
import json, sys
import numpy as np
import keras_tagging
from keras_tagging.training import share_batches

out, devices = sys.argv[1:]
if devices == "2":
    share_batches(2)
corpus = keras_tagging.load_corpus("demo")
# a batch of one shape for each: JAX compiles for every shape
short = [s for s in corpus.train if len(s) <= 8]
train, dev = short[:7], short[7:14]
found = {}
for name, settings in (
    ("bigru", {"character_network": "cnn"}),
    ("ffn-parser", {}),
):
    # the two devices are stopped after an epoch, and go on
    for epochs in (1, 2) if devices == "2" else (2,):
        model = keras_tagging.build(
            name, seed=1, batch_size=8, units=8, word_dim=8, decay=None, **settings
        )
        history = model.fit(
            train,
            validation_data=dev,
            epochs=epochs,
            verbose=0,
            resume=f"{out}.{name}",
        )
    [weight, *_] = model.network.trainable_variables
    assert len(weight.value.sharding.device_set) == int(devices)
    np.savez(f"{out}.{name}.npz", *model.get_weights())
    found[name] = history.history
with open(f"{out}.json", "w") as file:
    json.dump(found, file)
"""


def test_two_devices_train_as_one(tmp_path):
    if keras.backend.backend() != "jax":
        with pytest.raises(ValueError, match="with JAX only, and the backend is"):
            share_batches(2)
        assert devices_of_batches() == 1
        return
    root = Path(__file__).parents[2]
    environment = {**os.environ, "XLA_FLAGS": FLAGS, "PYTHONPATH": str(root)}
    for devices in ("1", "2"):
        command = [sys.executable, "-c", TRAIN, str(tmp_path / devices), devices]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    one, two = (json.loads((tmp_path / f"{n}.json").read_text()) for n in "12")
    for name in ("bigru", "ffn-parser"):
        for figure, values in one[name].items():
            np.testing.assert_allclose(two[name][figure], values, rtol=1e-5)
        alone, shared = (np.load(tmp_path / f"{n}.{name}.npz") for n in "12")
        for weight in alone.files:
            np.testing.assert_allclose(alone[weight], shared[weight], atol=1e-5)


def test_a_machine_without_so_many_devices_is_told():
    if keras.backend.backend() == "jax":
        with pytest.raises(ValueError, match="has 1 .cpu.*device_count=64"):
            share_batches(64)
