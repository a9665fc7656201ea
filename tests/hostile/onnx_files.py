"""ONNX files of exports, and what is done to them."""

import json
from functools import cache
from pathlib import Path

import onnx
from google.protobuf.unknown_fields import UnknownFieldSet
from hostile.mutations import mutate, mutate_value
from hostile.protobuf import BYTES, VARINT, field, fields, key, replaced

from keras_tagging.runtime.file_check import OPERATIONS

FIXTURES = Path(__file__).parents[1] / "fixtures/v0_2"
NUMBERS = [0, 1, 2, 3, 127, 128, 2**31 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1]
STRINGS = [b"", b"x", b"PyOp", b"MatMul\0", b"Loop", b"If", b"ai.onnx.ml", b"location"]
STRINGS += [b"com.microsoft", b"/etc/passwd", b"tokens", b"tags", b"batch", b"\xff"]


def files():
    """A tagger with a CRF, one with lemmas, parsers, a segmenter."""
    names = ["crf", "parser"]
    names += [f"onnx-pipeline/{kind}" for kind in ("tagger", "parser", "segmenter")]
    return [(FIXTURES / f"{name}.onnx").read_bytes() for name in names]


@cache
def indexed(data):
    """The fields by their message and number."""
    places = {}
    for each in fields(data, onnx.ModelProto.DESCRIPTOR):
        places.setdefault((each.message.name, each.number), []).append(each)
    return places


def mutate_file(rng, known):
    """One field with another value, of another kind, elsewhere, twice or left out."""
    data = rng.choice(known)
    if rng.random() < 0.1:
        return mutate(rng, [data])
    every = indexed(data)
    # fields of any number as often as those of another
    old = rng.choice(every[rng.choice([*every])])
    raw, value = data[old.key : old.end], old.of(data)
    other = rng.choice(every[rng.choice([*every])])
    changes = [b"", raw * 2, raw + data[other.key : other.end]]
    changes.append(key(old.number, rng.randrange(8)) + data[old.value : old.end])
    if old.wire == VARINT:
        changes += 3 * [field(old.number, rng.choice([*NUMBERS, value + 1]) % 2**64)]
    elif old.wire == BYTES and value.startswith(b'{"'):  # what the file says of itself
        about = json.dumps(mutate_value(rng, json.loads(value))).encode()
        changes += 6 * [field(old.number, about)]
    elif old.wire == BYTES:
        new = rng.choice([*STRINGS, mutate(rng, [value])[: 2 * len(value) + 10]])
        changes += 3 * [field(old.number, new)]
    return replaced(data, old, rng.choice(changes))


def check_believed(data):
    """The package onnx sees what we believe, and nothing that no export has."""
    model = onnx.ModelProto.FromString(data)
    assert model.ByteSize() == len(data), "bytes that onnx does not write"
    for message in messages(model):
        assert not len(UnknownFieldSet(message)), "a field that onnx does not know"
        match message:
            case onnx.NodeProto():
                assert message.op_type in OPERATIONS.get(message.domain, ())
            case onnx.OperatorSetIdProto():
                assert message.domain in OPERATIONS
            case onnx.TensorProto():
                assert not message.external_data and not message.data_location
            case onnx.FunctionProto() | onnx.SparseTensorProto():
                raise AssertionError(f"no export writes a {type(message)}")


def messages(message):
    every = [message]
    for described, value in message.ListFields():
        if described.message_type is not None:
            for inner in value if described.is_repeated else [value]:
                every += messages(inner)
    return every
