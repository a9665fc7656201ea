"""ONNX files: what is believed of them is what other readers of their bytes see."""

import json
import os
import struct
import sys
from functools import cache, partial
from pathlib import Path
from random import Random
from unittest import mock

import onnx
from google.protobuf.unknown_fields import UnknownFieldSet
from hostile.harness import Target, Wrong
from hostile.mutations import mutate, mutate_value
from hostile.oracle import refused
from hostile.protobuf import (
    BYTES,
    END,
    FOUR_BYTES,
    START,
    VARINT,
    Field,
    field,
    fields,
    key,
    replaced,
    varint,
)

from keras_tagging import Sentence, runtime
from keras_tagging.runtime import file_check
from keras_tagging.runtime import onnx_file as reader

FIXTURES = Path(__file__).parents[1] / "fixtures/v0_2"
SENTENCES = [["the", "dog", "barks"], ["É"], [], ["1984", "in", "x" * 50, "\0"]]
TEXT = "The dog barks. He\n\n1984 1,000.5 É"


def files() -> list[bytes]:
    """A tagger with a CRF, one with lemmas, parsers with tags and with a tagger of its
    own, a segmenter."""
    names = ["crf", "parser"]
    names += [f"onnx-pipeline/{kind}" for kind in ("tagger", "parser", "segmenter")]
    return [(FIXTURES / f"{name}.onnx").read_bytes() for name in names]


def indexed(data: bytes) -> dict[tuple[str, int], list[Field]]:
    """The fields by their message and number."""
    found = {}
    for each in fields(data, onnx.ModelProto.DESCRIPTOR):
        found.setdefault((each.message.name, each.number), []).append(each)
    return found


indexed_once = cache(indexed)  # for files that are mutated again and again


# What is done to them

NUMBERS = [0, 1, 2, 3, 7, 127, 128]
NUMBERS += [2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1]
STRINGS = [
    *(b"", b"x", b"PyOp", b"MatMul", b"MatMul\0", b"matmul", b"Loop", b"If", b"\xff"),
    *(b"ai.onnx", b"ai.onnx.ml", b"com.microsoft", b"ai.onnx.contrib", b"/etc/passwd"),
    *(b"../../secret", b"location", b"tokens", b"lengths", b"tags", b"logits"),
    *(b"probabilities", b"heads", b"deprels", b"batch", b"time", b"keras_tagging"),
]
NAN, INFINITE = struct.pack("<f", float("nan")), struct.pack("<f", float("inf"))


def evil(rng: Random) -> tuple[str, int, bytes]:
    """A field that opens a file or runs what is not ours: message, number, value."""
    entry = field(1, b"location") + field(2, b"/etc/passwd")
    tensor = field(1, 1) + field(2, 1) + field(13, entry) + field(14, 1)
    node = field(1, b"tokens") + field(2, b"y") + field(4, b"PyOp") + field(7, b"x.y")
    return rng.choice(
        [
            ("TensorProto", 13, entry),
            ("TensorProto", 14, 1),
            ("GraphProto", 5, tensor),
            ("GraphProto", 15, field(1, tensor)),
            ("GraphProto", 1, node),
            ("AttributeProto", 5, tensor),
            ("AttributeProto", 6, field(1, node)),
            ("AttributeProto", 22, field(1, tensor)),
            ("NodeProto", 4, b"PyOp"),
            ("NodeProto", 7, b"com.microsoft"),
            ("NodeProto", 8, b"overload"),
            ("ModelProto", 8, field(1, b"com.microsoft") + field(2, 1)),
            ("ModelProto", 25, field(1, b"f") + field(7, node)),
            ("ModelProto", 20, field(1, field(1, node))),
            ("ModelProto", 7, field(1, node)),
        ]
    )


def hidden(rng: Random, number: int, value) -> bytes:
    """A field in a way that some readers see, or see as another one."""
    wire_type = VARINT if isinstance(value, int) else BYTES
    body = varint(value) if wire_type == VARINT else varint(len(value)) + value
    large = varint((number << 3 | wire_type) + (rng.randrange(1, 8) << 32))
    return rng.choice(
        [
            field(number, value),
            large + body,
            varint((number << 3 | wire_type) + (1 << rng.randrange(29, 70))) + body,
            field(number, value, (rng.randrange(1, 9), 0)),
            field(number, value, (0, rng.randrange(1, 9))),
            key(number, START) + field(number, value) + key(number, END),
            key(100, START) + field(number, value) + key(100, END),
            key(number, END) + field(number, value),
            b"\0" + field(number, value),
            key(number, rng.choice((VARINT, 1, BYTES, FOUR_BYTES, 6, 7))) + body,
        ]
    )


def change_field(rng, data, found: Field, every) -> bytes:
    """One field, written in another way, in another place, twice or not at all."""
    raw, value = data[found.key : found.end], found.of(data)
    body = data[found.value : found.end]
    match rng.randrange(9):
        case 0:
            new = b""
        case 1:
            new = raw * rng.choice((2, 2, 3, 50))
        case 2 | 3 if found.wire in (VARINT, BYTES):
            new = hidden(rng, found.number, value)
        case 4 if found.wire in (VARINT, BYTES):
            new = raw + hidden(rng, found.number, value)
        case 5:
            new = key(rng.randrange(30), found.wire)
            new += raw[len(varint(found.number << 3)) :]
        case 6:
            new = key(found.number, rng.randrange(8)) + body
        case 7:  # another field of such a message
            alike = [name for name in every if name[0] == found.message.name]
            other = rng.choice(every[rng.choice(alike)])
            new = data[other.key : other.end] + raw * rng.randrange(2)
        case _:
            other = rng.choice(every[rng.choice([*every])])
            new = raw + data[other.key : other.end]
    return replaced(data, found, new)


def change_value(rng, data, found: Field, every) -> bytes:
    """One field with another value: all readers see the same."""
    value = found.of(data)
    if found.wire == VARINT:
        other = rng.choice([*NUMBERS, value + 1, value - 1, rng.randrange(30)])
        new = field(found.number, other % 2**64)
    elif found.wire == BYTES:
        new = field(found.number, other_bytes(rng, data, found, every))
    else:
        new = key(found.number, found.wire) + rng.randbytes(found.end - found.value)
    return replaced(data, found, new)


def other_bytes(rng, data, found, every) -> bytes:
    value = found.of(data)
    if value.startswith(b'{"'):  # what the file says of itself
        try:
            return json.dumps(mutate_value(rng, json.loads(value))).encode()
        except (ValueError, RecursionError):
            pass
    if found.name == "raw_data" and len(value) >= 4:
        place = rng.randrange(len(value) // 4) * 4
        new = rng.choice((NAN, INFINITE, rng.randbytes(4), b"\xff" * 4, b"\0" * 4))
        return value[:place] + new + value[place + 4 :]
    other = rng.choice(every[found.message.name, found.number]).of(data)
    return rng.choice(
        (
            other if isinstance(other, bytes) else b"",
            rng.choice(STRINGS),
            value[: rng.randint(0, len(value))],
            value + rng.randbytes(rng.randrange(1, 9)),
            mutate(rng, [value])[: 2 * len(value) + 10],
        )
    )


def insert_evil(rng, data, every) -> bytes:
    message, number, value = evil(rng)
    places = [key for key in every if key[0] == message]
    if not places:
        return data
    found = rng.choice(every[rng.choice(places)])
    new = [data[found.key : found.end], hidden(rng, number, value)]
    rng.shuffle(new)
    return replaced(data, found, b"".join(new))


def nest(rng, data, every) -> bytes:
    """Graphs inside of graphs."""
    inner = b""
    for _ in range(rng.choice((3, 6, 200))):
        node = field(4, b"If") + field(5, field(1, b"then_branch") + field(6, inner))
        inner = field(1, node) + field(2, b"g")
    place = rng.choice(every.get(("GraphProto", 1)) or next(iter(every.values())))
    return replaced(data, place, data[place.key : place.end] + inner)


def mutate_file(rng: Random, known, ways=("evil", "field", "field", "value")) -> bytes:
    data = rng.choice(known)
    if rng.random() < 0.05:
        return mutate(rng, [data])
    if rng.random() < 0.03:
        return data[: rng.randint(0, len(data))]
    for again in range(1 + int(rng.expovariate(2))):
        every = (indexed if again else indexed_once)(data)
        if not every:
            return data
        # fields of any number as often as those of another
        found = rng.choice(every[rng.choice([*every])])
        match rng.choice(ways):
            case "evil" if rng.random() < 0.1:
                data = nest(rng, data, every)
            case "evil":
                data = insert_evil(rng, data, every)
            case "field":
                data = change_field(rng, data, found, every)
            case "value":
                data = change_value(rng, data, found, every)
    return data


# How they are taken


@cache
def repeated(described) -> bool:
    return described.is_repeated


def seen(message) -> list:
    """Every message in a message, as the package onnx reads it."""
    found = [message]
    for described, value in message.ListFields():
        if described.message_type is not None:
            for inner in value if repeated(described) else [value]:
                found += seen(inner)
    return found


def check_believed(data: bytes) -> None:
    """What is believed has been seen as the package onnx sees it."""
    try:
        model = onnx.ModelProto.FromString(data)
    except Exception as error:
        raise Wrong("a file is believed that onnx cannot read", error) from None
    if model.ByteSize() != len(data):
        raise Wrong("bytes are believed that onnx does not write", model.ByteSize())
    for message in seen(model):
        if len(UnknownFieldSet(message)):
            raise Wrong("a field is believed that onnx does not know")
        match message:
            case onnx.NodeProto():
                if message.op_type not in file_check.OPERATIONS.get(message.domain, ()):
                    raise Wrong("an operation is believed", message.op_type)
            case onnx.OperatorSetIdProto():
                if message.domain not in file_check.OPERATIONS:
                    raise Wrong("a set of operations is believed", message.domain)
            case onnx.TensorProto():
                if message.external_data or message.data_location:
                    raise Wrong("weights in another file are believed")
            case onnx.FunctionProto() | onnx.SparseTensorProto():
                raise Wrong("what no export writes is believed", type(message))


def check_file(data: bytes) -> str:
    """Loads a file and runs it, or refuses it; nothing may be printed."""
    Path("input.onnx").write_bytes(data)
    sys.stdout.flush()
    output = os.dup(1)
    try:
        with open("output.txt", "wb") as file:
            os.dup2(file.fileno(), 1)
            return run_file()
    finally:
        sys.stdout.flush()
        os.dup2(output, 1)
        os.close(output)
        if printed := Path("output.txt").read_bytes():
            raise Wrong("something is printed", printed)


def run_file() -> str:
    believed = []

    def check(content):
        file_check.check(content)
        check_believed(content)
        believed.append(content)

    try:
        with mock.patch.object(reader, "check", check):
            model = runtime.load("input.onnx", threads=1)
    except Exception as error:
        if isinstance(error, Wrong):
            raise
        refused(error)
        return "refused by ONNX Runtime" if believed else "refused"
    if not believed:
        raise Wrong("a file is run that was not checked")
    try:
        answer(model)
    except Wrong:
        raise
    except Exception as error:
        refused(error)
        return "refused when it is run"
    return "read"


def answer(model) -> None:
    """Whether the answers are of the words that were asked for."""
    if model.kind == "segmenter":
        words = [list(s.tokens) for s in model.segment(TEXT)]
        if not words or not all(map(all, words)):
            raise Wrong("a segmenter gives no words", words)
        return
    columns = dict.fromkeys(model.columns)
    sentences = [
        Sentence(tokens, None, {name: ["NOUN"] * len(tokens) for name in columns})
        for tokens in SENTENCES
    ]
    found = model.annotate(sentences)
    for sentence, given in zip(found, sentences, strict=True):
        values = [sentence.tags, *sentence.columns.values()]
        if any(v is not None and len(v) != len(given.tokens) for v in values):
            raise Wrong("not one value a word", sentence)
    rows = model.predict_rows(sentences, model.served_outputs)
    for row, given in zip(rows, sentences, strict=True):
        if {len(v) for v in row.values()} - {len(given.tokens)}:
            raise Wrong("not one value a word", row)
        json.dumps(row, allow_nan=False)


onnx_file = partial(
    Target,
    files,
    check_file,
    nasty=[b"", b"\0", b"\x08\x08", b"ORTM" * 50, b"\x3a\x00"],
    share=60,
    quick=34,
    seconds=10,
    megabytes=512,
)
TARGETS = {
    "onnx": onnx_file(mutate=mutate_file),
    "onnx-values": onnx_file(mutate=partial(mutate_file, ways=("value",))),
}
