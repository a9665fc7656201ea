"""Against NumPy, token by token, with ragged masks and unknown gold tags (-1)."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_tagging.training import (
    TagLoss,
    TokenAccuracy,
    TokenCrossEntropy,
    compile_arguments,
)
from keras_tagging.training.settings import OptimizerSettings

BATCHES = [([4, 1, 2], 0), ([7], 1), ([1, 1, 1, 1, 5], 2)]
NUM_TAGS = 6


def batch(lengths, seed):
    rng = np.random.default_rng(seed)
    shape = (len(lengths), max(lengths))
    mask = (np.arange(shape[1]) < np.array(lengths)[:, None]).astype("float32")
    targets = np.where(mask > 0, rng.integers(-1, NUM_TAGS, shape), -1).astype("int32")
    targets[0, 0] = -1
    logits = rng.normal(0, 3, (*shape, NUM_TAGS)).astype("float32")
    logits[mask == 0] *= 100  # what stands in the padding must not matter
    return targets, logits, mask


def tokens(targets, logits, mask):
    """(cross-entropy, is right) of every real token, one at a time."""
    found = []
    for row in range(len(mask)):
        for t in range(int(mask[row].sum())):
            scores = logits[row, t].astype("float64")
            gold = targets[row, t]
            loss = np.log(np.exp(scores).sum()) - scores[gold] if gold >= 0 else 0.0
            found.append((loss, gold == scores.argmax()))
    return np.array(found)


def as_tensors(*arrays):
    return [ops.convert_to_tensor(array) for array in arrays]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("lengths, seed", BATCHES)
def test_loss_is_the_mean_over_real_tokens(lengths, seed, smoothing):
    """Szegedy et al. (2016), section 7: a share of the gold tag goes to all tags."""
    targets, logits, mask = batch(lengths, seed)
    found = TagLoss(label_smoothing=smoothing)(*as_tensors(targets, logits, mask))
    losses = []
    for row in range(len(mask)):
        for t in range(int(mask[row].sum())):
            p = np.exp(logits[row, t].astype("float64"))
            gold = np.full(NUM_TAGS, smoothing / NUM_TAGS)
            gold[targets[row, t]] += 1 - smoothing
            known = targets[row, t] >= 0
            losses.append(-(gold @ np.log(p / p.sum())) if known else 0.0)
    assert float(ops.convert_to_numpy(found)) == pytest.approx(np.mean(losses), 1e-5)


def test_loss_stays_finite_where_no_gold_tag_is_known():
    _, logits, mask = batch([2, 1], 0)
    targets = np.full(mask.shape, -1, "int32")
    assert float(TagLoss()(*as_tensors(targets, 1e4 * logits, mask))) == 0


@pytest.mark.parametrize(
    "metric, column, name",
    [(TokenCrossEntropy, 0, "cross_entropy"), (TokenAccuracy, 1, "accuracy")],
)
def test_metrics_are_means_over_the_tokens_of_all_batches(metric, column, name):
    metric = metric()
    found = []
    for lengths, seed in BATCHES:
        targets, logits, mask = batch(lengths, seed)
        metric.update_state(*as_tensors(targets, logits, mask))
        found.append(tokens(targets, logits, mask)[:, column])
    expected = np.concatenate(found).mean()
    assert float(metric.result()) == pytest.approx(expected, rel=1e-5)
    # a mean of the batches' means would be another figure
    assert abs(np.mean([part.mean() for part in found]) - expected) > 1e-3
    assert metric.name == name
    metric.reset_state()
    assert float(metric.result()) == 0


@pytest.mark.parametrize("thing", [TagLoss(), TokenAccuracy(), TokenCrossEntropy()])
def test_config_round_trip(thing):
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(thing)
    )
    assert type(again) is type(thing) and again.get_config() == thing.get_config()
    assert getattr(again, "reduction", None) in (None, "mean_with_sample_weight")


def compiled(**settings):
    return compile_arguments(OptimizerSettings(**settings))


def test_compile_arguments():
    settings = compiled(learning_rate=0.5, momentum=0.9, clipnorm=2.0)
    optimizer = settings["optimizer"]
    assert isinstance(optimizer, keras.optimizers.SGD)
    assert (float(optimizer.learning_rate), optimizer.momentum) == (0.5, 0.9)
    assert optimizer.global_clipnorm == 2.0 and settings["jit_compile"] is False
    adam = compiled(optimizer="adam")["optimizer"]
    assert isinstance(adam, keras.optimizers.Adam)
    adadelta = compiled(optimizer="adadelta", learning_rate=1.0)["optimizer"]
    assert isinstance(adadelta, keras.optimizers.Adadelta)
    assert float(adadelta.learning_rate) == 1.0
    for other in ("adam", "adamw", "adadelta"):
        with pytest.raises(ValueError, match="momentum"):  # Keras refuses it
            compiled(optimizer=other, momentum=0.9)
    with pytest.raises(ValueError, match="optimizer='adagrad': .*'sgd', 'adam'"):
        compiled(optimizer="adagrad")
