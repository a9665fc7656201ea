from functools import partial

import keras
import pytest
from conftest import TINY, WORDS_ONLY
from models.parsers import TRAIN as TREES
from models.parsers import build as build_parser

import keras_tagging
from keras_tagging.training import HalvingDecay
from keras_tagging.training.callbacks import WarmupStableDecay


def rates(errors, start=0.02, **options):
    """The rate after each epoch, given the error rate after each."""
    decay = HalvingDecay(**options)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(start))
    decay.set_model(model)
    decay.on_train_begin()
    found = []
    for epoch, error in enumerate(errors):
        decay.on_epoch_end(epoch, {"val_accuracy": 1 - error})
        found.append(float(model.optimizer.learning_rate))
    return found


@pytest.mark.parametrize(
    "errors, expected",
    [
        # nothing to compare with; -20%; -0.4%; +0.4%; +2%; -0.8%; -0.49%
        (
            [0.1, 0.08, 0.07968, 0.08, 0.0816, 0.081, 0.0806],
            [0.02, 0.02, 0.01, 0.005, 0.005, 0.005, 0.0025],
        ),
        # with the previous epoch it is compared, not with the best one
        ([0.05, 0.5, 0.4, 0.4], [0.02, 0.02, 0.02, 0.01]),
        # 0.000625 is the last rate that is halved
        (
            [0.3] * 9,
            [0.02, 0.01, 0.005, 0.0025, 0.00125, 0.000625, *[0.0003125] * 3],
        ),
        # no errors: no change is small, any change is not
        ([0.0, 0.0, 0.1, 0.0], [0.02, 0.01, 0.01, 0.01]),
    ],
)
def test_rates_by_hand(errors, expected):
    assert rates(errors) == pytest.approx(expected)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "name, figures", [("bigru", ("accuracy", "loss")), ("ffn-parser", ("las", "uas"))]
)
def test_models_halve_by_one_figure_and_a_further_fit_starts_anew(name, figures):
    """By their second figure they would halve at another time."""
    build = build_parser if "parser" in name else partial(keras_tagging.build, **TINY)
    sentences = [s for s in TREES if len(s) < 4][:1]
    model = build(name, decay="halve", learning_rate=0.02, **WORDS_ONLY)
    rows = iter([(0.5, 0.3), (0.5, 0.4), (0.6, 0.4), (0.6, 0.5), (0.6, 0.5)])
    model.evaluator = lambda dev: lambda: dict(zip(figures, next(rows), strict=True))
    data = {"validation_data": sentences, "restore_best": False, "verbose": 0}
    history = model.fit(sentences, epochs=4, **data)
    found = history.history["learning_rate"]
    assert found == pytest.approx([0.02, 0.02, 0.01, 0.01])
    assert float(model.optimizer.learning_rate) == pytest.approx(0.02)
    again = model.fit(sentences, epochs=1, **data)
    assert again.history["learning_rate"] == pytest.approx([0.02])


def test_a_rate_that_rises_stays_and_falls():
    """By the number of the batch alone: a resumed run has the rates of the whole."""

    def found(first):
        decay, rates = WarmupStableDecay(0.02, batches=250, epochs=4), []
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.5))
        decay.set_model(model)
        for epoch in range(first, 4):
            decay.on_epoch_begin(epoch)
            for batch in range(250):
                decay.on_train_batch_begin(batch)
                rates.append(float(model.optimizer.learning_rate))
        return rates

    rates = found(0)
    assert rates[:2] == pytest.approx([0.0002, 0.0004])
    assert rates[98:401] == pytest.approx([0.0198] + [0.02] * 302)
    # of the 600 batches after the 400th, 300 are left
    assert [rates[700], rates[-1]] == pytest.approx([0.01, 0.02 / 50])
    assert rates == sorted(rates[:400]) + sorted(rates[400:], reverse=True)
    assert found(2) == rates[500:]
