"""Averages of the weights: what they are, and where they are used."""

from functools import cache, partial

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, check_close, random_sentences, spoil
from models.parsers import equal, weights

import keras_tagging

pytestmark = pytest.mark.usefixtures("eagerly")

# short ones, of which an epoch has two batches
TRAIN, DEV = random_sentences(9, 1, longest=3), random_sentences(9, 2, longest=3)
MOMENTUM = 0.9
assert_close = partial(check_close, rtol=1e-4, atol=1e-5)
SETTINGS = TINY | WORDS_ONLY | {"weight_average": MOMENTUM, "token_budget": 9}
SETTINGS |= {"learning_rate": 0.05, "decay": None}


class Spy(keras.callbacks.Callback):
    """The weights after each batch, and as callbacks see them after each epoch."""

    def __init__(self, stops_after=None):
        super().__init__()
        self.stops_after = stops_after
        self._batches, self._epochs = [], []

    def on_train_batch_end(self, batch, logs=None):
        self._batches.append(weights(self.model))

    def on_epoch_end(self, epoch, logs=None):
        self._epochs.append((len(self._batches), weights(self.model)))
        if epoch == self.stops_after:
            self.model.stop_training = True


def train(spy, **options):
    model = keras_tagging.build("bigru", **SETTINGS | options.pop("settings", {}))
    options = {"epochs": 3, "verbose": 0, "callbacks": [spy], **options}
    history = model.fit(TRAIN, validation_data=DEV, **options)
    return model, history


def averages(batches, steps):
    """Of the weights after each batch, as the optimizer is to keep them."""
    momentum = min(MOMENTUM, steps / (steps + 10))
    found = [[w.astype("float64") for w in batches[0]]]
    for batch in batches[1:]:
        pairs = zip(found[-1], batch, strict=True)
        found.append([momentum * a + (1 - momentum) * w for a, w in pairs])
    return found


@cache
def trained(last):
    """Stopped after this epoch, of 0 and 1, of which only the first is not the last."""
    spy = Spy(stops_after=last)
    return spy, *train(spy, epochs=2, restore_best=False)


@pytest.mark.parametrize("last", [0, 1])
def test_callbacks_see_the_averages_and_the_last_ones_stay(last):
    spy, model, history = trained(last)
    assert history.epoch == list(range(last + 1))
    expected = averages(spy._batches, 4)  # batches of both epochs
    for batches, seen in spy._epochs:
        assert_close(seen, expected[batches - 1])
        # the next batch starts from the weights themselves
        pairs = zip(seen, spy._batches[batches - 1], strict=True)
        assert max(abs(a - w).max() for a, w in pairs) > 1e-3
    assert equal(weights(model), spy._epochs[-1][1])
    found = model.evaluate(DEV, return_dict=True)["loss"]
    assert found == pytest.approx(history.history["val_loss"][-1], rel=1e-5)


def test_training_itself_is_what_it_is_without_averages():
    """Neither the averages nor the swapping reach the trained weights."""
    spy, plain = trained(1)[0], Spy()
    train(plain, settings={"weight_average": 0.0}, epochs=2)
    for one, other in zip(spy._batches, plain._batches, strict=True):
        assert_close(one, other)
    batches, seen = plain._epochs[-1]
    assert equal(seen, plain._batches[batches - 1])


class BadLastEpoch(Spy):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.params["epochs"] - 1:
            spoil(self.model)


def test_the_best_epochs_averages_are_kept():
    spy = BadLastEpoch()
    model, history = train(spy)
    figures = history.history["val_accuracy"]
    assert max(figures) > figures[-1]
    assert equal(weights(model), spy._epochs[int(np.argmax(figures))][1])
