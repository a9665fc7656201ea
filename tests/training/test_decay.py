import keras
import pytest
from conftest import TINY, WORDS_ONLY
from models.parsers import PLAIN
from models.parsers import TRAIN as TREES
from models.parsers import build as build_parser

import keras_tagging
from keras_tagging.training import HalvingDecay


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


# its error rates change by less than 5% in some epochs and by more in others
SETTINGS = {
    **TINY,
    **WORDS_ONLY,
    "optimizer": "sgd",
    "learning_rate": 0.5,
    "decay": "halve",
}


def train(sentences, dev, epochs=8, **options):
    model = keras_tagging.build("bigru", **SETTINGS)
    data = {"validation_data": dev, "restore_best": False, "verbose": 0}
    return model, model.fit(sentences, epochs=epochs, **data, **options)


def expected_rates(history, rate=0.5, figure="val_accuracy"):
    """The rate of each epoch, by the formula from the errors that were logged."""
    errors, found = [1 - a for a in history.history[figure]], [rate]
    for e_p, e_c in zip(errors, errors[1:], strict=False):
        small = abs(e_p - e_c) / e_p <= 0.005 if e_p else e_c == 0
        found.append(found[-1] * (0.5 if small and found[-1] >= 0.0005 else 1))
    # the first comparison is made after the second epoch, and holds from the third
    return [rate, *found][: len(errors)]


@pytest.mark.usefixtures("eager")
def test_tagger_halves_and_a_further_fit_starts_anew(train_sentences, dev_sentences):
    model, history = train(train_sentences, dev_sentences)
    found = history.history["learning_rate"]
    assert found == pytest.approx(expected_rates(history))
    assert 1 < len(set(found)) < len(found)
    assert float(model.optimizer.learning_rate) == 0.5
    again = model.fit(
        train_sentences, validation_data=dev_sentences, epochs=1, verbose=0
    )
    assert again.history["learning_rate"] == [0.5]


@pytest.mark.usefixtures("eager")
def test_a_parser_halves_by_its_own_figure():
    model = build_parser("ffn-parser", decay="halve", learning_rate=0.02, **PLAIN)
    data = {"validation_data": TREES[:5], "restore_best": False, "verbose": 0}
    history = model.fit(TREES[:5], epochs=12, **data)
    found = history.history["learning_rate"]
    assert found == pytest.approx(expected_rates(history, 0.02, "val_las"))
    assert len(set(found)) > 1
