"""`words.onnx`: the forms in which the parts of a pipeline look words up."""

from collections.abc import Iterable, Mapping, Sequence

import onnx
from onnx import helper

from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.encoding.vocabulary import CLUSTER
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import Builder, value_info
from keras_tagging.onnx.model_file import made_of
from keras_tagging.onnx.text import TextGraph, clean
from keras_tagging.runtime.token_forms import CAPITAL, NORMAL_FORMS


def forms_needed(features: TokenFeatures, name: str) -> list[str]:
    """The forms by which a feature of tokens is looked up, first choice first.

    Args:
        features: of a part.
        name: one of its features that is neither a character nor a column.

    Returns:
        Names of `runtime.token_forms`.
    """
    if name not in ("word", "vector", CLUSTER):
        return [name]
    normal = features.normalise if features.normalise in NORMAL_FORMS else "lower"
    every = ["raw", "lower", normal]
    return every if name == CLUSTER or features.lookup == "cascade" else [normal]


def forms_model(
    vocabularies: Mapping[str, list[str]], names: Iterable[str]
) -> onnx.ModelProto:
    """The graph from tokens `(tokens,)` to their forms, each `(tokens,)`.

    Args:
        vocabularies: the words that are looked up, by feature.
        names: of the forms: see `runtime.token_forms`.
    """
    xp = Arrays(Builder())
    tokens = clean(xp, Array(xp, "tokens", "string", (None,)))
    names, found = list(names), {}
    normal = [name for name in NORMAL_FORMS if name in names] or ["lower"]
    for normalise in normal:
        graph = TextGraph(xp, _reading(names, normalise, vocabularies))
        if not found:
            forms = graph.forms(tokens).items()
            found = {name: form for name, [form, *_] in forms}
            capital = graph.is_capital(tokens) if CAPITAL in names else None
        raw, lower, normalised = graph.words(tokens)
        found = {"raw": raw, "lower": lower, normalise: normalised} | found
    if capital is not None:
        found[CAPITAL] = xp.where(capital, "X", "x")
    for name in names:
        form = found[name].name
        xp.builder.nodes().append(helper.make_node("Identity", [form], [name]))
    values = [value_info(name, "string", ("tokens",)) for name in names]
    inputs = [value_info("tokens", "string", ("tokens",))]
    return made_of(xp.builder, "words", inputs, values)


def _reading(names: Sequence[str], normalise: str, vocabularies) -> TokenFeatures:
    """Features that have these forms."""
    lengths = {
        kind: tuple(
            int(name.removeprefix(kind)) for name in names if name.startswith(kind)
        )
        for kind in ("suffix", "prefix")
    }
    features = TokenFeatures(
        suffixes=lengths["suffix"],
        prefixes=lengths["prefix"],
        shapes="shape" in names,
        capitals=False,
        normalise=normalise,
    )
    features.vocabularies = dict(vocabularies)
    return features
