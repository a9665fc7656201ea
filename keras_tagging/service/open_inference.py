"""The Open Inference Protocol, KServe's V2, over REST and in JSON.

https://github.com/kserve/open-inference-protocol
"""

from itertools import chain

from keras_tagging.service.json_protocol import as_conllu, check_size, sentences
from keras_tagging.service.problems import Problem, shown
from keras_tagging.service.schemas import InferRequest
from keras_tagging.service.worker import Model

VERSION = "1"  # of each model; there is no other
TYPES = {"string": "BYTES", "float": "FP32", "int32": "INT32"}


def metadata(model: Model) -> dict:
    """The answer to `GET /v2/models/NAME`."""
    axes = [-1] if model.reads_text else [-1, -1]
    names = ["text"] if model.reads_text else ["tokens", *model.columns]
    inputs = [_about(name, "BYTES", axes) for name in names]
    if not model.reads_text:
        inputs.append(_about("lengths", "INT32", [-1]))
    outputs = [
        _about(name, TYPES[output.type], axes + [model.top_k] * output.ranked)
        for name, output in model.outputs.items()
    ]
    return {
        "name": model.name,
        "versions": [VERSION],
        "platform": "onnxruntime_onnx",
        "inputs": inputs,
        "outputs": outputs,
    }


def _about(name, datatype, shape):
    return {"name": name, "datatype": datatype, "shape": shape}


def read(model: Model, body: InferRequest, max_tokens: int) -> tuple[list, list[str]]:
    """The sentences or texts of a request, and the outputs that are asked for.

    Raises:
        Problem: if they do not fit the model.
    """
    names = [output.name for output in body.outputs] or [*model.outputs]
    for name in names:
        if name not in model.outputs:
            there = ", ".join(model.outputs)
            raise Problem(400, f"{model.name} has no {shown(name)}: it has {there}")
    tensors = {tensor.name: tensor for tensor in body.inputs}
    if len(tensors) < len(body.inputs):
        raise Problem(400, "two inputs have the same name")
    if model.reads_text:
        return _texts(model, tensors, max_tokens), names
    lengths = tensors.pop("lengths", None)
    if len({tuple(tensor.shape) for tensor in tensors.values()}) > 1:
        raise Problem(400, "all inputs but lengths must have the same shape")
    rows = {name: _rows(tensor) for name, tensor in tensors.items()}
    check_size(rows.get("tokens", []), max_tokens)
    if lengths is not None:
        rows = {name: _cut(values, lengths.data) for name, values in rows.items()}
    return sentences(model, rows.pop("tokens", []), rows), names


def _texts(model, tensors, max_tokens):
    tensor = tensors.pop("text", None)
    if tensors or tensor is None:
        raise Problem(400, f"{model.name} reads one input, text")
    texts = tensor.data
    if tensor.shape != [len(texts)] or type(texts[0]) is not str:
        raise Problem(400, "text must be strings, with one axis: [texts]")
    check_size(texts, max_tokens)
    return texts


def _rows(tensor):
    """The rows of a tensor of strings, which may be sent one after the other."""
    name, rows = shown(tensor.name), tensor.data
    strings = tensor.datatype == "BYTES" and type(rows[0]) is not int
    if not strings or len(tensor.shape) != 2:
        raise Problem(400, f"{name} must be BYTES, with two axes: [sentences, tokens]")
    count, width = tensor.shape
    if not isinstance(rows[0], list):
        rows = [rows[i : i + width] for i in range(0, len(rows), width)]
    if len(rows) != count or any(len(row) != width for row in rows):
        raise Problem(400, f"the data of {name} are not of the shape {tensor.shape}")
    return rows


def _cut(rows, lengths):
    """The rows without their padding."""
    right = len(lengths) == len(rows) and all(
        type(length) is int and 0 <= length <= len(row)
        for length, row in zip(lengths, rows, strict=True)
    )
    if not right:
        raise Problem(
            400, "lengths must be of each sentence, from 0 to the number of its tokens"
        )
    return [row[:length] for length, row in zip(lengths, rows, strict=True)]


def answer(
    model: Model, body: InferRequest, names: list[str], answers: list[dict]
) -> dict:
    """The body of the answer to a request.

    Args:
        model: that has answered.
        body: of the request.
        names: of the outputs.
        answers: of each sentence or text, by the name of the output.
    """
    [width] = {t.shape[-1] for t in body.inputs if t.name in ("tokens", "text")}
    outputs = []
    for name in names:
        output = model.outputs[name]
        values, shape = [row[name] for row in answers], [len(answers)]
        if model.reads_text:
            values = [_text(name, row) for row in values]
        else:
            ranks = [model.top_k] if output.ranked else []
            padding = output.padding if not ranks else [output.padding] * model.top_k
            values = [[*row, *[padding] * (width - len(row))] for row in values]
            shape += [width, *ranks]
        for _ in shape[1:]:
            values = [*chain.from_iterable(values)]
        outputs.append({**_about(name, TYPES[output.type], shape), "data": values})
    about = {"model_name": model.name, "model_version": VERSION}
    return {**about, **({"id": body.id} if body.id else {}), "outputs": outputs}


def _text(name, written):
    """The output of a text, as one string."""
    return as_conllu(written) if name == "conllu" else f"[{', '.join(written)}]"
