"""The binary tensors of the Open Inference Protocol, an extension of KServe's.

Clients such as tritonclient send them unless configured otherwise. A body is JSON,
whose length is in a header, and then the content of each tensor that has a
`binary_data_size`. Strings are their length in four bytes and then UTF-8.
"""

import struct

from keras_tagging.service.problems import bad, shown

HEADER = "inference-header-content-length"
#: by the name of a type, that of Python's struct
NUMBERS = {
    "INT8": "b",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "UINT8": "B",
    "UINT16": "H",
    "UINT32": "I",
    "UINT64": "Q",
    "FP32": "f",
}


def split(body: bytes, header: str | None) -> tuple[bytes, memoryview]:
    """The JSON of a body and what follows it.

    Raises:
        Problem: if the header is no length of a part of it.
    """
    if header is None:
        return body, memoryview(b"")
    if not (header.isascii() and header.isdigit() and len(header) < 12):
        raise bad(f"{HEADER} must be a number of bytes, not {shown(header)}")
    if (size := int(header)) > len(body):
        raise bad(f"{HEADER} is {size}, but the body has {len(body)} bytes")
    return body[:size], memoryview(body)[size:]


class Reader:
    """Takes one tensor after the other from the binary part of a body."""

    def __init__(self, content: memoryview):
        self._content = content

    def take(self, name: str, kind: str, size) -> list:
        """The flat values of a tensor.

        Raises:
            Problem: if there are fewer bytes, or they are no such values.
        """
        if type(size) is not int or not 0 <= size <= len(self._content):
            raise bad(f"binary_data_size of {name} is {shown(size)}, beyond the body")
        content, self._content = self._content[:size], self._content[size:]
        if kind == "BYTES":
            return _strings(name, content)
        form = NUMBERS.get(kind)
        if form is None or size % struct.calcsize(form):
            raise bad(f"{name} has {size} bytes, which are no values of {shown(kind)}")
        count = size // struct.calcsize(form)
        return list(struct.unpack(f"<{count}{form}", content))

    def end(self) -> None:
        """Refuses bytes that no tensor has taken."""
        if len(self._content):
            raise bad(f"{len(self._content)} bytes of the body belong to no tensor")


def _strings(name, content):
    found, at = [], 0
    try:
        while at < len(content):
            [size] = struct.unpack_from("<I", content, at)
            at += 4
            if size > len(content) - at:
                raise struct.error
            found.append(str(content[at : at + size], "utf-8"))
            at += size
    except struct.error:
        raise bad(f"the strings of {name} are cut short") from None
    except UnicodeDecodeError:
        raise bad(f"{name} has a string that is not UTF-8") from None
    return found


def content(kind: str, values: list) -> bytes:
    """Flat values as the bytes of a tensor."""
    if kind == "BYTES":
        texts = [text.encode() for text in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack(f"<{len(values)}{NUMBERS[kind]}", *values)
