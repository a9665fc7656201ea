import csv

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, spoil

import keras_tagging
from keras_tagging.encoding import batching
from keras_tagging.models.files.run_folder import train_run
from keras_tagging.training import TagLoss, mode_of

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
def run(train_sentences, dev_sentences, tmp_path_factory):
    """Three epochs, the last of which is kept: model, history, spy, log."""
    spy, log = Spy(), tmp_path_factory.mktemp("run") / "new" / "log.csv"
    options = {"spy": spy, "log": log, "restore_best": False}
    model, history = fit(train_sentences, dev_sentences, **options)
    return model, history, spy, log


def test_callbacks_see_the_figures_of_evaluate(run, dev_sentences):
    model, history, spy, _ = run
    expected = model.evaluate(dev_sentences, return_dict=True)
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


@pytest.mark.usefixtures("eager")
def test_training_figures_are_token_means(train_sentences):
    off = {"learning_rate": 0.0, "dropout": 0.0, "layer_dropout": 0.0}
    build = {**off, "unknown_rate": 0.0, "token_budget": 20}
    model, history = fit(train_sentences, epochs=1, build=build)
    expected = model.evaluate(train_sentences, return_dict=True)
    found = {name: values[0] for name, values in history.history.items()}
    assert found["accuracy"] == pytest.approx(expected["accuracy"], rel=1e-5)
    assert found["cross_entropy"] == pytest.approx(expected["loss"], rel=1e-5)


class SpoilLast(Spy):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.params["epochs"] - 1:
            spoil(self.model)


@pytest.mark.usefixtures("eager")
def test_best_development_epoch_is_kept(train_sentences, dev_sentences):
    build = {"learning_rate": 0.05, "decay": None}
    options = {"epochs": 4, "spy": SpoilLast(), "build": build}
    model, history = fit(train_sentences, dev_sentences, **options)
    figures = history.history["val_accuracy"]
    assert max(figures) > figures[-1]
    found = model.evaluate(dev_sentences, return_dict=True)
    assert found["accuracy"] == pytest.approx(max(figures))


@pytest.mark.usefixtures("eager")
def test_a_figure_of_nothing_chooses_no_epoch(train_sentences):
    known = train_sentences[:3]
    with pytest.raises(ValueError, match="monitor='val_oov_accuracy' is no number"):
        fit(train_sentences, known, monitor="val_oov_accuracy")
    fit(train_sentences, known, epochs=1)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("monitor", ["cross_entropy", "val_accuracy"])
def test_a_run_s_best_model_is_that_of_the_monitor(
    tmp_path, train_sentences, dev_sentences, monkeypatch, monitor
):
    modes = []
    real = keras.callbacks.ModelCheckpoint

    def checkpoint(*args, **options):
        modes.append(options["mode"])
        return real(*args, **options)

    monkeypatch.setattr(keras.callbacks, "ModelCheckpoint", checkpoint)
    model = keras_tagging.build("bigru", **SETTINGS)
    model.adapt(train_sentences)
    corpus = keras_tagging.Corpus(train_sentences, dev_sentences)
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


@pytest.mark.usefixtures("eager")
def test_patience_stops(train_sentences, dev_sentences):
    settings = {"learning_rate": 0.0}
    _, history = fit(
        train_sentences, dev_sentences, epochs=9, patience=2, build=settings
    )
    assert history.epoch == [0, 1, 2]


@pytest.mark.usefixtures("eager")
def test_rate_decays_and_a_further_fit_starts_anew(train_sentences):
    build = {"learning_rate": 0.1, "decay": "linear"}
    model, history = fit(train_sentences, epochs=2, build=build)
    assert history.history["learning_rate"] == pytest.approx([0.1, 0.05])
    again = model.fit(train_sentences, epochs=2, verbose=0)
    assert again.history["learning_rate"] == pytest.approx([0.1, 0.05])


def test_batches_of_an_epoch_are_those_of_its_number(train_sentences, monkeypatch):
    seen = []
    original = batching.TrainingBatches.__iter__

    def spy(self):
        for batch in original(self):
            seen.append((self.epoch, batch[0].tobytes()))
            yield batch

    monkeypatch.setattr(batching.TrainingBatches, "__iter__", spy)
    model, _ = fit(train_sentences, build={"unknown_rate": 0.0, "token_budget": 14})
    monkeypatch.undo()
    batches = batching.TrainingBatches(
        model.encode(train_sentences, targets=True),
        seed=1,
        token_budget=14,
        multiple=model.length_multiple,
    )
    for number in range(3):
        batches.epoch = number
        expected = [ids.tobytes() for ids, _, _ in batches]
        found = [content for epoch, content in seen if epoch == number]
        # Keras may look at the first batch before it trains
        assert found[-len(expected) :] == expected


def test_custom_compile_is_kept(train_sentences):
    model = keras_tagging.build("bigru", **SETTINGS, decay=None)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model.compile(keras.optimizers.SGD(schedule), TagLoss())
    history = model.fit(train_sentences, epochs=2, verbose=0).history
    assert history["learning_rate"][1] < history["learning_rate"][0] < 0.1
