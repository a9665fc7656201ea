"""The ONNX file of a model, and that of the forms of a pipeline's words."""

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version

import onnx
from onnx import helper

from keras_tagging import kinds
from keras_tagging.onnx import NoRecurrentLayer
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.onnx.strings import TokenForms, clean
from keras_tagging.runtime.onnx_file import FORMAT, KEY

#: the last axis of outputs that have one, by what they hold
LAST = {"top_tags": "k", "top_probabilities": "k", "all_probabilities": "tag"}


def onnx_model(
    model, top_k: int = 5, int8: bool = False, words: dict | None = None
) -> onnx.ModelProto:
    """A model as an ONNX model, with all it needs inside but the words of a pipeline.

    Args:
        model: fitted.
        top_k, int8: as in `models.export`.
        words: those of its pipeline that the file reads: see `runtime.words.words_of`.

    Raises:
        NoRecurrentLayer: if there is nothing to compute in 8 bits.
        ValueError: naming what ONNX cannot have.
    """
    builder = Builder()
    xp = Arrays(builder, int8, len(words["columns"]) if words else 0)
    try:
        answers = kinds.of(model).at("graph")(xp, model, top_k)
    except NotImplementedError as error:
        raise ValueError(
            f"this {model.kind} has {error}, which cannot be exported as ONNX: "
            'export it with format="tf_saved_model"'
        ) from error
    if int8 and all(x.op_type != "DynamicQuantizeLSTM" for x in builder.nodes()):
        raise NoRecurrentLayer(
            f"this {model.kind} has no LSTM layer to be computed in 8 bits: "
            "export it without int8"
        )
    about = model.described(top_k)
    axes = axes_of(kinds.of(model).at("runtime").outputs(about), model)
    for name, array in answers.items():
        xp.output(name, array, axes[name])
    made = builder.model(model.architecture)
    about = {
        "format": FORMAT,
        "kind": model.kind,
        "architecture": model.architecture,
        "version": version("keras-tagging"),
        **about,
        "int8": int8,
        **({"words": words} if words else {}),
    }
    helper.set_model_props(made, {KEY: json.dumps(about)})
    return made


def forms_model(
    vocabularies: Mapping[str, list[str]], names: Iterable[str]
) -> onnx.ModelProto:
    """`words.onnx`: the graph from tokens `(tokens,)` to their forms, each `(tokens,)`.

    Args:
        vocabularies: the words that are looked up, by feature.
        names: of the forms: see `runtime.token_forms`.
    """
    xp = Arrays(Builder())
    tokens = clean(xp, xp.input("tokens", "string", ("tokens",)))
    forms = TokenForms(xp, tokens, vocabularies)
    for name in names:
        xp.output(name, forms[name], ("tokens",))
    return xp.builder.model("words")


def axes_of(outputs, model) -> dict[str, tuple[str, ...]]:
    """The names of the axes of each `Output`.

    Those of columns of labels differ, as their sizes do.
    """
    axes = {
        name: ("batch", "time", *[f"{name}_values"] * output.ranked)
        for name, output in outputs.items()
    }
    if "logits" in axes:
        axes["logits"] = ("batch", "time", "label")
    for column in getattr(model, "label_columns", ()):
        for base, last in LAST.items():
            name = column.output_names[base]
            axes[name] = ("batch", "time", column.layer(last))
    return axes
