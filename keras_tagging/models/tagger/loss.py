"""The loss of a tagger, and the metrics of its training."""

import keras
from keras import ops

from keras_tagging.architectures.output import path_loss
from keras_tagging.models.distillation import (
    joined,
    mean_soft,
    measured_targets,
    without_share,
)


def check_pupil(model) -> None:
    """Raise a ValueError if a tagger cannot learn from soft targets."""
    if model.settings.get("decoder") == "crf":
        raise ValueError(
            "soft targets are of single tokens, and a CRF learns whole paths: give "
            "the pupil decoder='softmax'; the teacher may have a CRF"
        )
    if model.settings.label_options is not None:
        raise ValueError(
            f"soft targets cannot teach {model.architecture}, which reads its own "
            "labels: give the pupil decoder='softmax', or another architecture, "
            "such as 'bigru'"
        )


def tagger_loss(model, compiled, y, y_pred, sample_weight):
    """The loss of a batch: that of each column, with the weight of the column.

    It is the compiled loss; a CRF has its likelihood instead. A bidirectional network
    that reads labels adds the losses of both directions. With soft targets see
    `training.soft_cross_entropy`.

    Args:
        model: a `Tagger`.
        compiled: Keras' own `compute_loss`, which adds the losses of layers.
        y: `(batch, time)` label ids; with named columns `(batch, time, columns)`; with
            soft targets a dict: see `EncodedSentences.batch`.
        y_pred: what the network gave.
        sample_weight: `(batch, time)`, 0 in the padding.
    """
    y = without_share(model, y)
    if isinstance(y, dict):
        gold = _of_columns(model, y["gold"], y_pred, sample_weight)
        soft = _of_teacher(model, y, y_pred, sample_weight)
        return sum(model.losses, joined(model, gold, soft))
    if model.column_names[0] is not None:
        return sum(model.losses, _of_columns(model, y, y_pred, sample_weight))
    outputs = y_pred if isinstance(y_pred, dict) else {"logits": y_pred}
    if "emissions" in outputs:
        crf = model.network.get_layer("crf")
        return sum(
            model.losses, path_loss(crf, y, outputs, sample_weight, model.weighted)
        )
    names = [name for name in ("logits", "other_logits") if name in outputs]
    return sum(compiled(None, y, outputs[name], sample_weight) for name in names)


def _of_columns(model, y, y_pred, sample_weight):
    total = 0.0
    weights = model.settings.task.weights
    for (gold, outputs, column), weight in zip(
        columns_of(model, y, y_pred), weights, strict=True
    ):
        if isinstance(outputs, dict) and "emissions" in outputs:
            crf = model.network.get_layer(column.layer("crf"))
            loss = path_loss(crf, gold, outputs, sample_weight, model.weighted)
        elif isinstance(model.loss, keras.Loss):
            # a copy: on PyTorch, Keras multiplies it in place by the mask of the logits
            loss = model.loss(gold, logits_of(outputs), 1.0 * sample_weight)
        else:
            raise ValueError(
                f"compiled with loss={model.loss!r}: a tagger of named columns, or "
                "with soft targets, needs one keras.Loss, for all columns"
            )
        total = total + weight * ops.cast(loss, "float32")
    return total


def _of_teacher(model, y, y_pred, sample_weight):
    """The mean cross-entropy with the soft targets of each column, weighted alike."""
    total, weights = 0.0, model.settings.task.weights
    _, temperature = model.soft_share
    for i, (_, outputs, _) in enumerate(columns_of(model, y["gold"], y_pred)):
        soft = y["ids"][:, :, i], y["probabilities"][:, :, i]
        logits = logits_of(outputs)
        total = total + weights[i] * mean_soft(
            *soft, logits, sample_weight, temperature
        )
    return total


def tagger_metrics(compiled, model, y, y_pred, sample_weight):
    """The metrics of the logits: with several columns, of all of them.

    Args:
        compiled: Keras' own `compute_metrics`.
        model, y, y_pred, sample_weight: as in `tagger_loss`.
    """
    found = {}
    for gold, outputs, _ in columns_of(model, measured_targets(y), y_pred):
        found = compiled(None, gold, logits_of(outputs), sample_weight)
    return found


def columns_of(model, y, y_pred):
    """The targets and outputs of each column, with the column."""
    for i, column in enumerate(model.label_columns):
        gold = y if column.name is None else y[..., i]
        yield gold, column.part(y_pred), column


def logits_of(outputs):
    """The logits of a column, which are log marginals in a CRF."""
    return outputs["logits"] if isinstance(outputs, dict) else outputs
