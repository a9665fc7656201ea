"""Fine-tuning: a tagger for other sentences that starts from trained weights."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from keras import ops

from keras_tagging.data.normalisation import flat_strings
from keras_tagging.encoding.label_columns import ColumnRules, is_inventory
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.models.tagger.label_columns import columns_to_learn, schemes_of
from keras_tagging.training.settings import FitSettings, OptimizerSettings
from keras_tagging.utils.checks import check_known

#: further keywords, beside those of training, that do not change shapes of weights
FREE = ("dropout", "layer_dropout", "head_dropout", "constrained", "consistent")
FREE += ("monitor", "tag_weights", "first_weight", "tree_weight")
# metadata of the first tagger that the new one keeps
KEPT = ("training_sentences", "corpus", "scores")
#: the axes with one entry for each tag, by the name of the weight
TAG_AXES = dict.fromkeys(("label_embeddings", "output_bias", "start", "end"), (0,))
TAG_AXES |= {"output_kernel": (1,), "transitions": (0, 1)}
OUTPUT_AXES = {"kernel": (1,), "bias": (0,)}
#: and by the layer, or the first word of its name
LAYER_AXES = dict.fromkeys(("logits", "first", "arc"), OUTPUT_AXES)
LAYER_AXES["fed"] = {"kernel": (0,)}


def retargeted(model, sentences, keep_labels, frozen, seed, changes):
    """The tagger that `Tagger.retarget` returns.

    Args:
        model: a `Tagger` with vocabularies.
        sentences: training sentences with tags.
        keep_labels, frozen, seed, changes: as in `Tagger.retarget`.
    """
    owners = model.settings.architecture.keywords
    free = {name for name in FREE if name in owners}
    free |= {k for k, o in owners.items() if o in (OptimizerSettings, FitSettings)}
    for name in changes:
        check_known("keyword of a network that is kept", name, sorted(free))
    settings = model.settings.replaced(**changes)

    def inventory(old, labels):
        keep = keep_labels
        if keep is None:
            keep = not {*old}.isdisjoint(labels)
        return _joined(old, labels) if keep else labels

    keeping = [partial(inventory, column.labels) for column in model.label_columns]
    columns = columns_to_learn(sentences, model.column_names, settings, keeping)
    inventories = {column.vocabulary: column.labels for column in columns}
    for name, labels in model.count_other_labels(sentences).items():
        inventories[name] = inventory(model.vocabularies[name], labels)
    reads = getattr(settings.label_options, "label_input", None)
    if reads in ("probabilities", "one-hot") and columns[0].labels != model.tags:
        raise ValueError(f"label_input={reads!r} has a weight for each tag: train anew")

    # the words of training come before words that are only in the vectors
    features = model._new_features()
    strings = flat_strings(sentences, features.columns)
    features.adapt(strings, lengths=list(map(len, sentences)))
    counted = features.vocabularies
    before = model.vocabularies
    vocabularies = {
        name: _joined(words, counted.get(name, ()))
        for name, words in before.items()
        if not is_inventory(name)
    }
    if "word" in before:
        trained = before["word"][: model.training_words]
        trained = _joined(trained, counted["word"])
        vocabularies["word"] = _joined(trained, before["word"])
    new = type(model)(
        model.architecture,
        settings,
        training_words=len(trained) if "word" in before else 0,
        chunk_scheme=schemes_of(columns),
        frozen=frozen,
        seed=seed,
        vocabularies=vocabularies | inventories,
        vector_dim=model.vector_dim,
        metadata={
            "started_from": {k: v for k, v in model.metadata.items() if k in KEPT}
        },
    )
    _carry_weights(model, new)
    if settings.task.consistent:
        new.rules = ColumnRules.learnt(sentences, new.label_columns)
    new.optimizer.build(new.trainable_variables)
    return new


def freeze(network, names: Sequence[str]) -> None:
    """Exclude layers from training.

    Raises:
        ValueError: if there is no layer of this name with weights.
    """
    layers = {layer.name: layer for layer in network.layers if layer.weights}
    for name in names:
        check_known("layer to freeze", name, sorted(layers))
        layers[name].trainable = False


def _joined(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words, followed by the others that are not among them."""
    return list(dict.fromkeys([*words, *others]))


def _carry_weights(old, new) -> None:
    """Copy all weights; in tables and outputs, the rows of names that both have."""
    rows = {}  # of the old table for each row of the new one; -1 if there is none
    for name, words in new.vocabularies.items():
        first = 0 if is_inventory(name) else FIRST_ID
        ids = {word: i for i, word in enumerate(old.vocabularies[name], first)}
        places = [*range(first), *(ids.get(word, -1) for word in words)]
        rows[name] = np.array(places, int)
    outputs = {
        column.layer(name): column.vocabulary
        for column in new.label_columns
        for name in ("logits", "crf", "first", "fed")
    } | {"arc_labels": "labels"}
    for source, target in zip(old.network.weights, new.network.weights, strict=True):
        if "int" in str(source.dtype):  # the state of a generator of random numbers
            continue
        layer = source.path.split("/")[0]
        axes = _axes(layer, source.name, outputs)
        values = [ops.convert_to_numpy(weight) for weight in (source, target)]
        picks = [
            rows[axes[axis]] if axis in axes else np.arange(size)
            for axis, size in enumerate(source.shape)
        ]
        here = [np.flatnonzero(pick >= 0) for pick in picks]
        there = [pick[index] for pick, index in zip(picks, here, strict=True)]
        value = np.array(values[1])
        value[np.ix_(*here)] = values[0][np.ix_(*there)]
        target.assign(value)


def _axes(layer: str, weight: str, outputs) -> dict[int, str]:
    """The vocabulary of each axis that has one.

    Args:
        layer, weight: their names.
        outputs: the inventory of each output layer.
    """
    if weight == "embeddings" and layer == "character_network":
        return {0: "letters"}
    if weight == "embeddings" and layer != "capital_embedding":
        return {0: layer.removesuffix("_embedding")}
    axes = LAYER_AXES.get(layer.split("_")[0], TAG_AXES)
    return dict.fromkeys(axes.get(weight, ()), outputs.get(layer, "tags"))
