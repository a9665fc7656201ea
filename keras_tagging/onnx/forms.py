"""`words.onnx`: the forms in which the parts of a pipeline look words up."""

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.encoding.word_classes import CLUSTER
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import Builder, value_info
from keras_tagging.onnx.model_file import made_of
from keras_tagging.onnx.text import TextGraph, clean


def forms_model(
    vocabularies: Mapping[str, list[str]], readers: Sequence[tuple[TokenFeatures, str]]
) -> tuple[onnx.ModelProto, list[list[str]]]:
    """The graph from tokens `(tokens,)` to their forms, each `(tokens,)`.

    Args:
        vocabularies: the words that are looked up, by feature.
        readers: the features of a part, and the one of them that is looked up.

    Returns:
        The model, and for each reader the names of its outputs to look up, first choice
        first.
    """
    xp = Arrays(Builder())
    tokens = clean(xp, Array(xp, "tokens", "string", (None,)))
    outputs: dict[str, str] = {}
    found = []
    for features, name in readers:
        plain = TokenFeatures(suffixes=(), capitals=False, normalise=features.normalise)
        plain.vocabularies = dict(vocabularies)
        forms = TextGraph(xp, plain).words(tokens)
        if name != CLUSTER and features.lookup != "cascade":
            forms = forms[-1:]
        names = [form.name for form in forms]
        found.append([outputs.setdefault(x, f"form_{len(outputs)}") for x in names])
    for inside, name in outputs.items():
        xp.builder.nodes().append(helper.make_node("Identity", [inside], [name]))
    values = [value_info(name, "string", ("tokens",)) for name in outputs.values()]
    inputs = [value_info("tokens", "string", ("tokens",))]
    return made_of(xp.builder, "words", inputs, values), found
