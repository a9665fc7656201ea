"""TensorFlow Serving's REST API, version 1: `:predict`, status and metadata.

https://www.tensorflow.org/tfx/serving/api_rest
"""

import base64
import binascii

from keras_tagging.service import texts
from keras_tagging.service.problems import bad, check_keys, shown
from keras_tagging.service.tensors import V1, VERSION, Model, padded, sentences

SIGNATURE = "serving_default"
KEYS = {"signature_name", "instances", "inputs"}


def status(model: Model) -> dict:
    """The answer to `GET /v1/models/NAME`."""
    fine = {"error_code": "OK", "error_message": ""}
    state = {"version": VERSION, "state": "AVAILABLE", "status": fine}
    return {"model_version_status": [state]}


def metadata(model: Model) -> dict:
    """The answer to `GET /v1/models/NAME/metadata`."""

    def tensor(name, dtype, rank):
        axes = [{"size": "-1", "name": ""} for _ in range(rank)]
        shape = {"dim": axes, "unknown_rank": False}
        return {"dtype": dtype, "tensor_shape": shape, "name": f"{name}:0"}

    inputs = {
        name: tensor(name, V1[type], rank)
        for name, (type, rank) in model.inputs.items()
    }
    outputs = {
        name: tensor(name, V1[output.type], len(model.shape(name)))
        for name, output in model.outputs.items()
    }
    signature = {
        "inputs": inputs,
        "outputs": outputs,
        "method_name": "tensorflow/serving/predict",
    }
    return {
        "model_spec": {"name": model.name, "signature_name": "", "version": VERSION},
        "metadata": {"signature_def": {"signature_def": {SIGNATURE: signature}}},
    }


def read(model: Model, body, max_tokens: int):
    """The sentences or texts of a body of `:predict`, and how to write the answer.

    Returns:
        Sentences or texts, and a function of their answers.

    Raises:
        Problem: if it is malformed.
    """
    check_keys(body, KEYS, "send instances, or inputs, and perhaps signature_name")
    if body.get("signature_name", SIGNATURE) not in (SIGNATURE, ""):
        name = shown(body["signature_name"])
        raise bad(f"{model.name} has no signature {name}: its only one is {SIGNATURE}")
    if ("instances" in body) == ("inputs" in body):
        raise bad("send either instances (a row a sentence) or inputs (columns)")
    if model.reads_text:
        return _of_texts(model, body, max_tokens)
    if "inputs" in body:
        return _columns(model, body["inputs"], max_tokens)
    return _rows(model, body["instances"], max_tokens)


def _of_texts(model, body, max_tokens):
    """An input of one name may stand without it, as in TensorFlow Serving."""
    rows = "instances" in body
    given = body["instances"] if rows else body["inputs"]
    if rows and isinstance(given, list):
        given = [_named(row) for row in given]
    elif not rows:
        given = _named(given)
    name = "instances" if rows else "inputs"
    remedy = "send instances or inputs, a list of texts"
    given = texts.checked(_texts(given), max_tokens, name, remedy)

    def written(answers):
        found = texts.columns(answers, [*model.outputs])
        if not rows:
            return {"outputs": found}
        columns = zip(*found.values(), strict=True)
        made = [dict(zip(found, row, strict=True)) for row in columns]
        return {"predictions": made}

    return given, written


def _named(value):
    return (
        value["text"] if isinstance(value, dict) and value.keys() == {"text"} else value
    )


def _columns(model, inputs, max_tokens):
    if not isinstance(inputs, dict):
        raise bad("inputs must be an object: tokens, lengths, and each column")
    strings = {k: _texts(v) for k, v in inputs.items() if k != "lengths"}
    given = sentences(model, strings, inputs.get("lengths"), max_tokens)
    width = max(map(len, strings["tokens"]))

    def written(answers):
        return {"outputs": padded(model, answers, [*model.outputs], width)}

    return given, written


def _rows(model, instances, max_tokens):
    if not (isinstance(instances, list) and instances):
        raise bad("instances must be a list with an object for each sentence")
    for instance in instances:
        if not isinstance(instance, dict) or instance.keys() != instances[0].keys():
            raise bad(
                "instances must be objects with the same names: tokens, lengths, and "
                "each column"
            )
    columns = {name: [row[name] for row in instances] for name in instances[0]}
    lengths = columns.pop("lengths", None)
    strings = {name: _texts(rows) for name, rows in columns.items()}
    given = sentences(model, strings, lengths, max_tokens)
    widths = [len(row) for row in strings["tokens"]]

    def written(answers):
        rows = []
        for answer, width in zip(answers, widths, strict=True):
            values = padded(model, [answer], [*model.outputs], width)
            rows.append({name: value for name, [value] in values.items()})
        return {"predictions": rows}

    return given, written


def _texts(value):
    """The value with `{"b64": ...}`, as bytes are written, decoded."""
    if isinstance(value, list):
        return [v if type(v) is str else _texts(v) for v in value]
    if not (isinstance(value, dict) and value.keys() == {"b64"}):
        return value
    try:
        return base64.b64decode(value["b64"], validate=True).decode()
    except (binascii.Error, TypeError, ValueError):
        raise bad(f"{shown(value)} is not the base64 of UTF-8 text") from None
