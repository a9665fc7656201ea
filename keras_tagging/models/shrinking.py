"""Smaller tables of pretrained vectors in a trained model."""

from collections.abc import Collection

import numpy as np
from keras import ops

from keras_tagging.data.normalisation import looked_up
from keras_tagging.encoding.vocabulary import FIRST_ID, VECTOR
from keras_tagging.models.files.saving import half
from keras_tagging.utils.checks import check_choice
from keras_tagging.vectors.coverage import Words, count_words

#: the vocabularies of tables that may hold pretrained vectors
TABLES = ("word", VECTOR)


def shrunk(
    model,
    words: int | Collection[str] | None,
    dtype: str,
    keep: Words | None = (),
):
    """The same model with fewer pretrained vectors, or less precise ones.

    Words of training keep theirs. The model knows them in the normal form in which it
    has counted them, so with `lookup="cascade"` a word with digits, whose own vector it
    read, may lose it, unless `keep` has the word.

    Args:
        model: a `Tagger`, `Parser` or other `SentenceModel` with vocabularies.
        words: the number of vectors to keep: files of vectors have the most frequent
            words first; or the words to keep. Words that share a vector stay together.
            Where the words themselves start as the vectors, those of training do not
            count. None keeps all.
        dtype: "float16" rounds the vectors to half precision, in which an ONNX file
            stores them; "float32" leaves them as they are.
        keep: words, sentences or token lists, such as the training sentences, whose
            vectors stay in any case: in the form by which the model looks them up. None
            keeps nothing but `words`, not even the vectors of words of training.

    Returns:
        A new model. Its `metadata["shrunk"]` has the numbers of words before and after
        by table, and the dtype. The first one does not change.

    Raises:
        ValueError: if it has no vocabularies or no such vectors, `words` is negative,
            no list of words or has none with a vector, or a value is too large for half
            precision.
    """
    check_choice("dtype", dtype, ("float16", "float32"))
    words = checked_words(words)
    keep = None if keep is None else count_words(keep)
    kept = {name: _rows(model, name, words, keep) for name in shrinkable(model)}
    if not kept:
        raise ValueError(
            f"this {model.kind} has no vectors of words that training lacks; where an "
            "earlier version saved it, it does not tell them apart: train it again"
        )
    before = model.vocabularies
    after = {name: [before[name][row] for row in kept[name]] for name in kept}
    twin = type(model).from_config(
        {**model.get_config(), "vocabularies": {**before, **after}}
    )
    tagger = getattr(model, "tagger", None)  # a parser may have one
    tagger = tagger if tagger is not None and shrinkable(tagger) else None
    of_tagger = {id(weight) for weight in (tagger.weights if tagger else ())}
    layers = {name: model.network.get_layer(f"{name}_embedding") for name in kept}
    tables = {id(layer.embeddings): name for name, layer in layers.items()}
    for source, target in zip(model.weights, twin.weights, strict=True):
        if id(source) in of_tagger:
            continue
        value = ops.convert_to_numpy(source)
        if name := tables.get(id(source)):
            value = value[[*range(FIRST_ID), *(FIRST_ID + kept[name])]]
            if dtype == "float16":
                value = half(source.path, value).astype(np.float32)
        target.assign(value)
    if tagger:
        twin.set_tagger(shrunk(tagger, words, dtype, keep))
    twin.optimizer.build(twin.trainable_variables)
    twin.metadata["shrunk"] = {
        "words": {name: [len(before[name]), len(after[name])] for name in kept},
        "dtype": dtype,
    }
    return twin


def shrinkable(model) -> list[str]:
    """The tables of a model that hold vectors of words that training lacks."""
    # in the table of words, those of training come first and stay
    first = {"word": model.training_words, VECTOR: 0}
    sizes = {name: len((model.vocabularies or {}).get(name, ())) for name in TABLES}
    return [k for k in TABLES if first[k] is not None and sizes[k] > first[k]]


def shrunk_parts(parts: dict, words, dtype: str, keep: Words | None = ()) -> dict:
    """The models of a pipeline, each with fewer vectors if it has any.

    Args:
        parts: models by name.
        words, dtype, keep: as in `shrunk`.

    Raises:
        ValueError: if no model has such vectors, or as there.
    """
    smaller = {
        name: shrunk(model, words, dtype, keep)
        for name, model in parts.items()
        if hasattr(model, "shrink_vectors") and shrinkable(model)
    }
    if not smaller:
        raise ValueError("no model of this pipeline has vectors of further words")
    return parts | smaller


def checked_words(words) -> int | frozenset[str] | None:
    """A number of words, or words as they are `looked_up`.

    Raises:
        ValueError: for a negative number, and for a single string.
    """
    if words is None or (type(words) is int and words >= 0):
        return words
    if isinstance(words, str | int):
        raise ValueError(f"words={words!r}: give a number of words, or a list of them")
    return frozenset(map(looked_up, words))


def _rows(model, name: str, words, keep) -> np.ndarray:
    """The rows of a vocabulary that stay, in their order."""
    listed = model.vocabularies[name]
    if words is None:
        return np.arange(len(listed))
    first = model.training_words if name == "word" else 0
    stay = _needed(model, name, keep)
    if isinstance(words, int):
        first += words
    elif model.features.lookup != "cascade" and name == "word":
        # whose table has the normal forms of the vectors' words
        stay |= words | set(model.features.normal_forms(sorted(words)))
    else:
        stay |= words
    rows = enumerate(entry.split("\t") for entry in listed)
    rows = [i for i, words in rows if i < first or not stay.isdisjoint(words)]
    return np.array(rows, int)


def _needed(model, name: str, keep) -> set[str]:
    """The words of a vocabulary by which words of training, or others, are looked up.

    Args:
        keep: the others; None for no word at all.
    """
    if keep is None:
        return set()
    listed = [word for x in model.vocabularies[name] for word in x.split("\t")]
    entries, cascade = set(listed), model.features.lookup == "cascade"
    trained = set(model.vocabularies.get("word", ())[: model.training_words])
    needed = trained & entries
    if trained and cascade:
        # training has counted a word in lower case, whose own vector may be cased
        forms = zip(listed, model.features.lookup_forms(listed), strict=True)
        needed |= {word for word, (_, lower, _) in forms if lower in trained}
    for forms in model.features.lookup_forms(sorted(keep)):
        needed.update([form for form in forms if form in entries][:1])
    return needed
