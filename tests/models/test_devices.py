"""Devices that share each batch: on JAX, with a CPU that is divided in two.

And on JAX, two processes of a CPU each, as two machines would be.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from keras_tagging.training import devices_of_batches, share_batches

FLAGS = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
FLAGS = {"XLA_FLAGS": FLAGS}
TRAIN = """
import json, sys
import jax
import keras
import numpy as np
import keras_tagging
from keras_tagging.training import share_batches

out, devices, *names = sys.argv[1:]
refused = []
if devices == "2":
    share_batches(2)
if jax.process_count() == 2:
    try:
        share_batches(1)
    except ValueError as error:
        refused.append(str(error))
corpus = keras_tagging.load_corpus("demo")
# a batch of one shape for each: JAX compiles for every shape
short = [s for s in corpus.train if len(s) <= 8]
train, dev = short[:7], short[7:14]
found = {}
for name in names:
    settings = {"character_network": "cnn"} if name == "bigru" else {}
    settings |= {"batch_size": 8, "units": 8, "word_dim": 8, "decay": None}
    # the two devices are stopped after an epoch, and go on
    for epochs in (1, 2) if devices == "2" else (2,):
        model = keras_tagging.build(name, seed=1, **settings)
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
if jax.process_count() == 2:
    model = keras_tagging.build(name, seed=jax.process_index(), **settings)
    try:
        model.fit(train, epochs=1, verbose=0)
    except ValueError as error:
        refused.append(str(error))
    assert "give 2" in refused[0] and "same corpus" in refused[1], refused
with open(f"{out}.json", "w") as file:
    json.dump(found, file)
"""


def start(out, devices, names=("bigru",), **environment):
    """A process that trains with so many devices, and writes to paths with `out`."""
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", TRAIN, str(out), str(devices), *names],
        env={**os.environ, "PYTHONPATH": root, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*processes):
    try:
        for process in processes:
            _, errors = process.communicate(timeout=1200)
            assert process.returncode == 0, errors
    finally:
        for process in processes:  # without the others one would wait
            process.kill()


def check_equal(one, other):
    """What both have written: figures, and weights."""
    figures = [json.loads(Path(f"{out}.json").read_text()) for out in (one, other)]
    for name in figures[0]:
        alone, shared = (found[name] for found in figures)
        for figure, values in alone.items():
            np.testing.assert_allclose(shared[figure], values, rtol=1e-5)
        alone, shared = (np.load(f"{out}.{name}.npz") for out in (one, other))
        for weight in alone.files:
            np.testing.assert_allclose(alone[weight], shared[weight], atol=1e-5)


def on_jax():
    return keras.backend.backend() == "jax"


@pytest.mark.parametrize(
    "name", ["bigru", pytest.param("ffn-parser", marks=pytest.mark.slow)]
)
def test_two_devices_train_as_one(tmp_path, name):
    if not on_jax():
        with pytest.raises(ValueError, match="with JAX only: set KERAS_BACKEND=jax"):
            share_batches(2)
        assert devices_of_batches() == 1
        return
    one, two = tmp_path / "one", tmp_path / "two"
    finish(start(one, 1, [name]), start(two, 2, [name], **FLAGS))
    check_equal(one, two)


@pytest.mark.slow("jax")  # two processes share batches as two devices do
def test_two_processes_train_as_one(tmp_path):
    if not on_jax():
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*free.getsockname())
    together = {"KERAS_DISTRIBUTION_JOB_ADDRESSES": address}
    together |= {"KERAS_DISTRIBUTION_NUM_PROCESSES": "2"}
    outs = [tmp_path / "0", tmp_path / "1"]
    alone = tmp_path / "one"
    finish(start(alone, 1))
    finish(
        *(
            start(out, 2, **together, KERAS_DISTRIBUTION_PROCESS_ID=out.name)
            for out in outs
        )
    )
    for out in outs:
        check_equal(alone, out)
