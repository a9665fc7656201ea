"""Messages of protocol buffers as bytes: where each field stands, and another in place.

The messages are those of the package onnx, whose description says which field has a
message in it.
"""

from dataclasses import dataclass

VARINT, EIGHT_BYTES, BYTES, START, END, FOUR_BYTES = range(6)


@dataclass(frozen=True)
class Field:
    """A field, and the places of its key, its value and its end.

    Args:
        message: the description of the message that it is part of.
        parent: the field of that message; None in the outermost one.
    """

    number: int
    wire: int
    key: int
    value: int
    end: int
    message: object
    parent: "Field | None"

    def of(self, data: bytes) -> int | bytes:
        value = data[self.value : self.end]
        return read_varint(value, 0)[0] if self.wire == VARINT else value


def varint(value: int, more: int = 0) -> bytes:
    """A number, in more bytes than it needs."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    for _ in range(more):
        found[-1] |= 0x80
        found.append(0)
    return bytes(found)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def key(number: int, wire: int, more: int = 0) -> bytes:
    return varint(number << 3 | wire, more)


def field(number: int, value: int | bytes, more: tuple[int, int] = (0, 0)) -> bytes:
    """A field; its key and its value or length in more bytes than they need."""
    if isinstance(value, int):
        return key(number, VARINT, more[0]) + varint(value, more[1])
    return key(number, BYTES, more[0]) + varint(len(value), more[1]) + value


def fields(data: bytes, message, at=0, end=None, parent=None) -> list[Field]:
    """All fields, those of messages in messages too; as many as can be read."""
    found, end = [], len(data) if end is None else end
    while at < end:
        start = at
        try:
            number, at = read_varint(data, at)
            wire, number, value = number & 7, number >> 3, at
            if wire == VARINT:
                _, at = read_varint(data, at)
            elif wire == BYTES:
                size, value = read_varint(data, at)
                at = value + size
            elif wire in (EIGHT_BYTES, FOUR_BYTES):
                at += 8 if wire == EIGHT_BYTES else 4
        except IndexError:
            return found
        if at > end:
            return found
        found.append(Field(number, wire, start, value, at, message, parent))
        described = message.fields_by_number.get(number)
        if wire == BYTES and described is not None and described.message_type:
            inner = described.message_type, value, at, found[-1]
            found += fields(data, *inner)
    return found


def replaced(data: bytes, old: Field, new: bytes) -> bytes:
    """The bytes with others in place of a field; what it is in has another length."""
    start, end, parent = old.key, old.end, old.parent
    while parent is not None:
        new = data[parent.value : start] + new + data[end : parent.end]
        new = field(parent.number, new)
        start, end, parent = parent.key, parent.end, parent.parent
    return data[:start] + new + data[end:]
