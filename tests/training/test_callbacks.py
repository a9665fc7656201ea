import csv

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences

import keras_tagging
from keras_tagging.models.files.run_folder import train_run
from keras_tagging.training import TagLoss, mode_of
from keras_tagging.training.callbacks import Validation

TRAIN, DEV = random_sentences(12, 1, longest=3), random_sentences(6, 2, longest=3)
pytestmark = pytest.mark.usefixtures("eagerly")

SETTINGS = TINY | WORDS_ONLY


class Spy(keras.callbacks.Callback):
    """What a user's callback sees."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(dict(logs))


def fit(train, dev=None, spy=None, **options):
    model = keras_tagging.build("bigru", **SETTINGS, **options.pop("build", {}))
    callbacks = [spy] if spy else []
    options = {"epochs": 3, "verbose": 0, "callbacks": callbacks, **options}
    return model, model.fit(train, validation_data=dev, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three epochs, the last of which is kept: model, history, spy, log."""
    spy, log = Spy(), tmp_path_factory.mktemp("run") / "new" / "log.csv"
    options = {"spy": spy, "log": log, "restore_best": False}
    model, history = fit(TRAIN, DEV, **options)
    return model, history, spy, log


def test_callbacks_see_the_figures_of_evaluate(run):
    model, history, spy, _ = run
    expected = model.evaluate(DEV, return_dict=True)
    assert {f"val_{name}" for name in expected} < set(spy.seen[-1])
    for name, value in expected.items():
        for found in (spy.seen[-1], history.history):
            found = np.ravel(found[f"val_{name}"])[-1]
            assert found == pytest.approx(value, rel=1e-5, nan_ok=True)


def test_history_and_csv_have_each_epoch_once(run):
    _, history, _, path = run
    assert history.epoch == [0, 1, 2]
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert set(rows[0]) == {"epoch", *history.history}
    for name, values in history.history.items():
        found = [float(row[name] or "nan") for row in rows]
        assert found == pytest.approx(values, nan_ok=True)
    assert [p.name for p in path.parent.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(("mode", "figure"), [("max", 0.9), ("min", 0.1)])
def test_of_equal_epochs_that_with_the_lowest_loss_is_the_best(mode, figure):
    worse = figure - 0.1 if mode == "max" else figure + 0.1
    losses = [0.1, 0.5, 0.4, 0.6, 0.3, 0.2, 0.3]
    values = [worse, figure, figure, figure, figure, worse, figure]
    rows = zip(values, losses, strict=True)
    figures = ({"f1": value, "loss": loss} for value, loss in rows)
    validation = Validation(lambda: next(figures), "val_f1", mode)
    best = keras.callbacks.EarlyStopping("val_f1", mode=mode, patience=99)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, callbacks = np.zeros((2, 1)), [validation, best]
    history = model.fit(x, x, epochs=7, verbose=0, callbacks=callbacks).history
    assert best.best_epoch == 4 and best.best == history["val_f1"][4]
    np.testing.assert_allclose(history["val_f1"], values, rtol=1e-6)
    assert history["val_loss"] == losses


def test_a_figure_of_nothing_chooses_no_epoch():
    known = TRAIN[:3]
    with pytest.raises(ValueError, match="monitor='val_oov_accuracy' is no number"):
        fit(known, known, monitor="val_oov_accuracy")
    fit(known, known, epochs=1)


@pytest.mark.parametrize("monitor", ["cross_entropy", "val_accuracy"])
def test_a_run_s_best_model_is_that_of_the_monitor(tmp_path, monkeypatch, monitor):
    modes = []
    real = keras.callbacks.ModelCheckpoint

    def checkpoint(*args, **options):
        modes.append(options["mode"])
        return real(*args, **options)

    monkeypatch.setattr(keras.callbacks, "ModelCheckpoint", checkpoint)
    model = keras_tagging.build("bigru", **SETTINGS)
    model.adapt(TRAIN)
    corpus = keras_tagging.Corpus(TRAIN, DEV)
    options = {"resume": False, "tensorboard": False, "verbose": 0, "epochs": 1}
    (tmp_path / ".77.resume.npz").write_bytes(b"of a killed process")
    train_run(model, corpus, tmp_path, monitor=monitor, **options)
    assert modes == ["max" if monitor == "val_accuracy" else "min"]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "monitor, mode",
    [
        ("val_loss", "min"),
        ("cross_entropy", "min"),
        ("val_f1", "max"),
        ("val_oov_accuracy", "max"),
    ],
)
def test_monitor_knows_which_way_is_better(monitor, mode):
    assert mode_of(monitor) == mode
    assert mode_of("val_error", ["error"]) == "min"


def test_rate_decays_and_a_further_fit_starts_anew():
    build = {"learning_rate": 0.1, "decay": "linear"}
    model, history = fit(TRAIN, epochs=2, build=build)
    assert history.history["learning_rate"] == pytest.approx([0.1, 0.05])
    again = model.fit(TRAIN, epochs=2, verbose=0)
    assert again.history["learning_rate"] == pytest.approx([0.1, 0.05])


def test_custom_compile_is_kept():
    model = keras_tagging.build("bigru", **SETTINGS, decay=None)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model.compile(keras.optimizers.SGD(schedule), TagLoss())
    history = model.fit(TRAIN, epochs=2, verbose=0).history
    assert history["learning_rate"][1] < history["learning_rate"][0] < 0.1
