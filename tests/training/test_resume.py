"""A run that is killed and resumed ends with the weights of one that was not.

Processes are killed by the tests of reproductions and of hostile moments.
"""

import csv
import json
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, spoil
from models.parsers import equal, weights

import keras_tagging
from keras_tagging.pipelines.training import ProgressCallback, Silent

pytestmark = pytest.mark.usefixtures("eagerly")

TRAIN, DEV = random_sentences(9, 1, longest=3), random_sentences(6, 2, longest=3)
EPOCHS = 4
# Dropout and unknown words draw random numbers; an epoch has several batches.
SETTINGS = {**TINY, **WORDS_ONLY, "learning_rate": 0.05, "decay": "linear"}
SETTINGS |= {"token_budget": 9}


class Trouble(keras.callbacks.Callback):
    """A bad last epoch.

    With a path, the folder of the run is copied there in the middle of the third epoch:
    files get their names when they are whole, so that kill -9 would leave the same.
    """

    def __init__(self, folder, killed=None):
        super().__init__()
        self._folder, self._killed = folder, killed  # no part of what identifies a run

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch
        if epoch == EPOCHS - 1:  # the best epoch comes before the last
            spoil(self.model)

    def on_train_batch_end(self, batch, logs=None):
        if self._killed and self.now == 2 and batch == 1:
            shutil.copytree(self._folder, self._killed)


def train(folder, killed=None, **options):
    """Trains in the folder: model and history."""
    settings = SETTINGS | options.pop("settings", {})
    model = keras_tagging.build("bigru", **settings)
    options = {"epochs": EPOCHS, "validation_data": DEV, "patience": 3} | options
    options = {"callbacks": [Trouble(folder, killed)], **options}
    history = model.fit(
        options.pop("x", TRAIN),
        resume=folder,
        log=Path(folder) / "log.csv",
        verbose=0,
        **options,
    )
    return model, history


def logged(folder):
    with open(folder / "log.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What kill -9 would have left in the third epoch."""
    return tmp_path_factory.mktemp("killed") / "run"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, killed):
    folder = tmp_path_factory.mktemp("uninterrupted")
    model, history = train(folder, killed)
    return folder, weights(model), history


def test_killed_and_resumed_equals_uninterrupted(uninterrupted, killed):
    folder, expected, history = uninterrupted
    assert [row["epoch"] for row in logged(killed)] == ["1", "2"]
    with np.load(killed / "resume.npz") as file:
        assert '"epoch": 2,' in str(file["header"])
    model, resumed = train(killed)
    assert equal(weights(model), expected)
    assert (killed / "log.csv").read_text() == (folder / "log.csv").read_text()
    epochs = [str(epoch) for epoch in range(1, EPOCHS + 1)]
    assert [row["epoch"] for row in logged(killed)] == epochs
    assert resumed.epoch == history.epoch == list(range(EPOCHS))


def test_best_weights_are_of_an_epoch_before_the_last(uninterrupted):
    """Else the run above would not tell whether they survive."""
    figures = uninterrupted[2].history["val_accuracy"]
    assert int(np.argmax(figures)) < EPOCHS - 1


def test_a_finished_run_is_not_trained_again(uninterrupted, monkeypatch):
    folder, expected, history = uninterrupted
    before = (folder / "log.csv").read_text()

    def fail(*args, **kwargs):
        raise AssertionError("a batch was trained")

    monkeypatch.setattr(Trouble, "on_train_batch_end", fail)
    model, again = train(folder)
    assert equal(weights(model), expected)
    assert again.epoch == history.epoch
    for name, values in history.history.items():
        assert again.history[name] == pytest.approx(values, nan_ok=True)
    assert (folder / "log.csv").read_text() == before


def rewrite(path, old, new):
    """Replaces a text of the header of a state."""
    with np.load(path) as file:
        arrays = dict(file)
    header = str(arrays["header"])
    assert old in header
    np.savez(path, **arrays | {"header": header.replace(old, new)})


class Kill(keras.callbacks.Callback):
    def __init__(self, epoch):
        super().__init__()
        self._epoch = epoch  # no part of what identifies a run

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self._epoch:
            raise KeyboardInterrupt


def test_a_halved_rate_averages_and_a_schedule_of_labels_go_on(tmp_path):
    settings = {"decay": "halve", "optimizer": "sgd", "learning_rate": 0.5}
    settings |= {"weight_average": 0.9, "decoder": "i-rnn", "feedback": (1.0, 0.0)}
    settings |= {"label_units": 3, "label_dim": 3, "label_context": 1, "l2": 0.01}
    options = {"settings": settings, "x": TRAIN[2:4], "epochs": 4, "patience": None}
    options["validation_data"] = DEV[:2]

    def run(folder, kill=None):
        (tmp_path / folder).mkdir(exist_ok=True)
        model, history = train(tmp_path / folder, callbacks=[Kill(kill)], **options)
        return weights(model), history.history

    expected, whole = run("whole")
    assert len({*whole["learning_rate"]}) > 1
    with pytest.raises(KeyboardInterrupt):
        run("parts", kill=2)
    for _ in range(2):  # a finished run gives the averages again
        found, history = run("parts")
        assert equal(found, expected)
        for name, values in whole.items():
            np.testing.assert_array_equal(history[name], values)


def test_an_early_stopped_run_stays_stopped_and_counters_go_on(tmp_path):
    # with this rate nothing gets better: stops after 1 + 2 epochs
    still = {"settings": {"learning_rate": 0.0}, "patience": 2, "x": TRAIN[:4]}
    model, history = train(tmp_path, **still)
    assert history.epoch == [0, 1, 2]
    expected = weights(model)
    model, history = train(tmp_path, **still)
    assert history.epoch == [0, 1, 2]
    assert equal(weights(model), expected)


@pytest.mark.parametrize("stored", [False, True])
def test_a_callback_of_the_user_stops_where_it_would_have(tmp_path, stored):
    """Keras changes the sign of `min_delta` once; version 0.4.0 stored it."""
    plain = {"settings": {"decay": None}, "patience": None, "x": TRAIN[:4]}

    def run(epochs):
        stop = keras.callbacks.EarlyStopping("loss", min_delta=10, patience=1)
        _, history = train(tmp_path, epochs=epochs, callbacks=[stop], **plain)
        return history.epoch, stop.min_delta

    assert run(1) == ([0], -10)
    path = tmp_path / "resume.npz"
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    state = header["callbacks"][header["run"]["callbacks"].index("EarlyStopping")]
    assert "min_delta" not in json.dumps(header)
    if stored:
        state["min_delta"] = -10
        np.savez(path, **arrays | {"header": json.dumps(header)})
    assert run(9) == ([0, 1], -10)


@pytest.mark.parametrize(
    "changes, what",
    [
        ({"x": TRAIN[1:]}, "training sentences"),
        ({"validation_data": DEV[1:]}, "development sentences"),
        ({"settings": {"seed": 2}}, "seed"),
        ({"settings": {"units": 6}}, "units"),
        ({"settings": {"dropout": 0.1}}, "dropout"),
        ({"settings": {"learning_rate": 0.1}}, "learning_rate"),
        ({"settings": {"optimizer": "sgd"}}, "optimizer"),
        ({"token_budget": 10}, "token_budget"),
        ({"epochs": EPOCHS + 1}, "epochs"),
        ({"patience": 5}, "patience"),
        ({"monitor": "val_loss"}, "monitor"),
        ({"callbacks": []}, "callbacks"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_run_is_refused(uninterrupted, changes, what):
    folder = uninterrupted[0]
    before = (folder / "resume.npz").read_bytes()
    with pytest.raises(ValueError, match=f"resume.npz: .* other {what};") as error:
        train(folder, **changes)
    assert "\n" not in str(error.value)
    assert (folder / "resume.npz").read_bytes() == before


def test_a_part_of_a_pipeline_of_0_2_0_can_be_made_longer(tmp_path):
    """Its callback had another name. Without decay, runs may grow."""

    def run(folder, epochs):
        told = [ProgressCallback(Silent(), "val_accuracy")]
        plain = {"settings": {"decay": None}, "patience": None, "x": TRAIN[:4]}
        model, history = train(
            tmp_path / folder, epochs=epochs, callbacks=told, **plain
        )
        assert history.epoch == list(range(epochs))
        return weights(model)

    run("a", 1)
    rewrite(tmp_path / "a" / "resume.npz", '"ProgressCallback"', '"Told"')
    assert equal(run("a", 2), run("b", 2))
