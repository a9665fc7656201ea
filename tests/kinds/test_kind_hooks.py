"""What a model of a further kind may say of itself, and what it is told if it errs."""

import keras
import numpy as np
import pytest
from keras import ops

import keras_tagging
from keras_tagging import cli

pytestmark = pytest.mark.usefixtures("installed")
WORDS = "the dog barks quickly and a cat sees two houses".split()
VOWELS = [str(sum(letter in "aeiou" for letter in word)) for word in WORDS]
GOLD = [
    keras_tagging.Sentence(WORDS[i : i + 3], None, {"vowels": VOWELS[i : i + 3]})
    for i in range(8)
]


@pytest.fixture
def changed(installed, monkeypatch):
    """Function: a model of the kind `counter` whose class has other attributes."""

    def make(**attributes):
        cls = installed.at("model")
        for name, value in attributes.items():
            monkeypatch.setattr(cls, name, value, raising=False)
        return keras_tagging.build("counter", seed=1)

    return make


def figures_of(values):
    """An evaluator that finds one error after the other."""
    left = iter(values)
    return lambda self, sentences, *calls: lambda: {"error": next(left)}


def test_the_best_epoch_has_the_least_error(changed):
    found = figures_of([0.5, 0.25, 1.0])
    own = {"figures": ("error",), "lower_is_better": ("error",), "evaluator": found}
    model = changed(**own)
    assert model.default_monitor == "val_error"
    seen = {}
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.setdefault(epoch, model.get_weights())
    )
    history = model.fit(
        GOLD, validation_data=GOLD, epochs=3, verbose=0, callbacks=[keep]
    )
    assert history.history["val_error"] == [0.5, 0.25, 1.0]
    for value, best in zip(model.get_weights(), seen[1], strict=True):
        np.testing.assert_array_equal(value, best)


def test_an_error_is_not_printed_in_per_cent():
    scores = {"dev": {"error": 1.25, "accuracy": 0.5}}
    text = cli.output.figures(scores, ("error",))
    assert "accuracy %" in text and "50.00" in text
    assert "error %" not in text and "1.2500" in text
    many = {"dev": scores["dev"] | {f"figure{i}": 0.5 for i in range(8)}}
    assert "error %" not in cli.output.figures(many, ("error",))


def square(self, compiled, y, y_pred, sample_weight):
    error = ops.square(y_pred[..., 0] - ops.cast(y, "float32")) * sample_weight
    return ops.sum(error) / ops.sum(sample_weight)


def test_a_loss_that_is_no_cross_entropy(changed, installed):
    inherited = installed.at("model").objectives

    def objectives(self):
        return {**inherited(self), "weighted_metrics": []}

    model = changed(batch_loss=square, objectives=objectives)
    history = model.fit(GOLD, epochs=30, verbose=0).history
    assert set(history) == {"loss", "learning_rate"}
    first = [[int(n) for n in s.columns["vowels"]] for s in GOLD]
    found = [np.asarray(model(model.encode([s]).ids[None]))[0, :, 0] for s in GOLD]
    error = np.mean(np.square(np.array(first) - np.array(found)))
    assert history["loss"][-1] < 0.1 * history["loss"][0] and error < 0.1


def test_targets_that_would_be_cut_are_refused(changed):
    model = changed(targets=lambda self, s: np.array([0.5] * sum(map(len, s))))
    with pytest.raises(ValueError, match="counter are float64, .* be int32: scale"):
        model.fit(GOLD, epochs=1, verbose=0)
