"""Smaller tables of pretrained vectors in a trained tagger."""

import numpy as np
from keras import ops

from keras_tagging.models.half_precision import half
from keras_tagging.utils.checks import check_choice

#: the vocabularies of tables that may hold pretrained vectors
TABLES = ("word", "vector")


def shrunk(model, words, dtype):
    """The tagger that `Tagger.shrink_vectors` returns.

    Args:
        model: a `Tagger` with vocabularies.
        words, dtype: as in `Tagger.shrink_vectors`.
    """
    check_choice("dtype", dtype, ("float16", "float32"))
    if words is not None and (type(words) is not int or words < 0):
        raise ValueError(f"words={words!r}: give the number of words to keep, or None")
    before = model.vocabularies
    # in the table of words, those of training come first and stay
    own = {"word": model.training_words, "vector": 0}
    tables = {
        name: own[name]
        for name in TABLES
        if name in before and own[name] is not None and len(before[name]) > own[name]
    }
    if not tables:
        raise ValueError("this tagger has no vectors of words that training lacks")
    kept = {
        name: before[name][: None if words is None else first + words]
        for name, first in tables.items()
    }
    twin = type(model).from_config(
        {**model.get_config(), "vocabularies": {**before, **kept}}
    )
    halved = {f"{name}_embedding" for name in tables} if dtype == "float16" else {}
    for source, target in zip(model.network.weights, twin.network.weights, strict=True):
        value = ops.convert_to_numpy(source)
        if source.shape != target.shape:  # a table without its last rows
            value = value[: target.shape[0]]
        if source.path.split("/")[0] in halved:
            value = half(source.path, value).astype(np.float32)
        target.assign(value)
    twin.optimizer.build(twin.trainable_variables)
    twin.metadata["shrunk"] = {
        "words": {name: [len(before[name]), len(kept[name])] for name in tables},
        "dtype": dtype,
    }
    return twin
