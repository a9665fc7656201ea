"""The Open Inference Protocol, KServe's V2, over REST.

https://github.com/kserve/open-inference-protocol
"""

import json
from importlib.metadata import version
from math import prod

from keras_tagging.service import binary, texts
from keras_tagging.service.problems import bad, shown
from keras_tagging.service.tensors import (
    V2,
    VERSION,
    Model,
    check_text,
    padded,
    sentences,
)

WHOLE = set(binary.NUMBERS) - {"FP32"}  # types of `lengths`


def server() -> dict:
    """The answer to `GET /v2`."""
    return {
        "name": "keras-tagging",
        "version": version("keras-tagging"),
        "extensions": ["binary_tensor_data"],
    }


def metadata(model: Model) -> dict:
    """The answer to `GET /v2/models/NAME`."""
    inputs = [
        {"name": name, "datatype": V2[type], "shape": [-1] * rank}
        for name, (type, rank) in model.inputs.items()
    ]
    outputs = [
        {"name": name, "datatype": V2[output.type], "shape": model.shape(name)}
        for name, output in model.outputs.items()
    ]
    return {
        "name": model.name,
        "versions": [VERSION],
        "platform": "onnxruntime_onnx",
        "inputs": inputs,
        "outputs": outputs,
    }


def read(model: Model, body, tail: memoryview, max_tokens: int):
    """The sentences or texts of a body of `infer`, and how to write the answer.

    Args:
        model: that is asked.
        body: the JSON.
        tail: the binary part.
        max_tokens: of all sentences.

    Returns:
        Sentences or texts, the outputs that are asked for, and a function of the
        answers, which gives the JSON and the binary part.

    Raises:
        Problem: if it is malformed.
    """
    if not isinstance(body, dict) or not isinstance(body.get("inputs"), list):
        raise bad("send an object with inputs: a list of tensors")
    if isinstance(body.get("id"), str):
        check_text(body["id"])
    reader = binary.Reader(tail)
    make = _of_texts if model.reads_text else _of_sentences
    given, wide = make(model, body["inputs"], reader, max_tokens)
    wanted, packed = _wanted(model, body)

    def written(answers):
        return _response(model, body, wide(answers, wanted), packed)

    return given, wanted, written


def _of_texts(model, tensors, reader, max_tokens):
    """The texts, and the function from answers and names to the outputs by name."""
    found = [_tensor(tensor, reader) for tensor in tensors]
    reader.end()
    if [name for name, _, _ in found] != ["text"]:
        raise bad(f"{model.name} reads one input, text")
    [(_, values, shape)] = found
    if tensors[0]["datatype"] != "BYTES" or len(shape) != 1:
        raise bad("text must be BYTES, with one axis: [texts]")
    remedy = "send each as a string"
    return texts.checked(values, max_tokens, "text", remedy), texts.columns


def _of_sentences(model, tensors, reader, max_tokens):
    """The sentences, and the function from answers and names to the outputs by name."""
    strings, lengths = {}, None
    for tensor in tensors:
        name, values, shape = _tensor(tensor, reader)
        if name in strings or (name == "lengths" and lengths is not None):
            raise bad(f"{name} is given twice")
        if name == "lengths":
            if tensor["datatype"] not in WHOLE or len(shape) != 1:
                raise bad("lengths must be INT32, with one axis: [sentences]")
            lengths = values
        else:
            if tensor["datatype"] != "BYTES" or len(shape) != 2:
                raise bad(f"{name} must be BYTES, with two axes: [sentences, tokens]")
            rows, width = shape
            strings[name] = [values[i * width : (i + 1) * width] for i in range(rows)]
    reader.end()
    given = sentences(model, strings, lengths, max_tokens)
    width = len(strings["tokens"][0])
    return given, lambda answers, names: padded(model, answers, names, width)


def _tensor(tensor, reader):
    """Name, flat values and shape of one input."""
    if not isinstance(tensor, dict) or not isinstance(tensor.get("name"), str):
        raise bad("each input must be an object with name, datatype, shape and data")
    name, shape = tensor["name"][:100], tensor.get("shape")
    # a product of many sizes would take long
    right = isinstance(shape, list) and 1 <= len(shape) <= 2
    right = right and all(type(n) is int and 0 <= n < 2**31 for n in shape)
    if not right:
        raise bad(f"the shape of {shown(name)} must be a list of one or two sizes")
    if not isinstance(tensor.get("datatype"), str):
        raise bad(f"{shown(name)} has no datatype, such as BYTES")
    size = _parameters(tensor).get("binary_data_size")
    if size is not None:
        values = reader.take(name, tensor["datatype"], size)
    elif isinstance(tensor.get("data"), list):
        values = _flat(tensor["data"])
    else:
        raise bad(f"{shown(name)} has no data: it must be a list")
    # a shape may be of 0 rows of any width
    if len(values) != prod(shape) or len(shape) == 2 and shape[0] > len(values):
        raise bad(f"{shown(name)} has {len(values)} values, which are not of {shape}")
    return name, values, shape


def _flat(data):
    """Values that may be nested, as rows."""
    if not any(isinstance(value, list) for value in data):
        return data
    if not all(isinstance(value, list) for value in data):
        raise bad("data must be values, or rows of them, and not both")
    if len({len(row) for row in data}) > 1:
        raise bad('the rows of data must have the same width: fill them with ""')
    return [value for row in data for value in row]


def _parameters(part) -> dict:
    found = part.get("parameters", {})
    if not isinstance(found, dict):
        raise bad("parameters must be an object")
    return found


def _wanted(model, body):
    """The names of the outputs, and those that are to be binary."""
    everything = bool(_parameters(body).get("binary_data_output"))
    if not body.get("outputs"):
        return [*model.outputs], set(model.outputs) if everything else set()
    asked = {}
    if not isinstance(body["outputs"], list):
        raise bad("outputs must be a list of objects with a name")
    for output in body["outputs"]:
        if not isinstance(output, dict) or not isinstance(output.get("name"), str):
            raise bad("outputs must be a list of objects with a name")
        own = _parameters(output)
        if own.keys() & {"classification", "shared_memory_region"}:
            raise bad("outputs have neither classification nor shared memory here")
        asked[output["name"]] = bool(own.get("binary_data", everything))
    return model.chosen(asked), {name for name, packed in asked.items() if packed}


def _response(model, body, outputs, packed) -> tuple[bytes, bytes]:
    parts, tail = [], []
    for name, rows in outputs.items():
        output = model.outputs[name]
        shape, values = [len(rows)], rows
        for _ in model.shape(name)[1:]:
            shape.append(len(values[0]))
            values = [value for row in values for value in row]
        type = V2[output.type]
        part = {"name": name, "datatype": type, "shape": shape}
        if name in packed:
            tail.append(binary.content(type, values))
            part["parameters"] = {"binary_data_size": len(tail[-1])}
        else:
            part["data"] = values
        parts.append(part)
    answer = {"model_name": model.name, "model_version": VERSION, "outputs": parts}
    if isinstance(body.get("id"), str):
        answer["id"] = body["id"]
    return json.dumps(answer, ensure_ascii=False).encode(), b"".join(tail)
