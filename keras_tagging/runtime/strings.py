"""How strings reach an ONNX file: UTF-8, without the one character it cannot take."""

#: stands for U+0000, at which the operations of onnxruntime-extensions end a string;
#: Unicode has promised that it will never be a character
NUL = "\U000ffffe"
#: stands for what is no UTF-8
REPLACEMENT = "\ufffd"


def all_encodable(texts: list[str]) -> list[str]:
    """The texts as an ONNX file takes them: `encodable` of each, soon for most."""
    whole = "".join(texts)
    if whole.isascii() and "\0" not in whole:
        return texts
    return [x if x.isascii() and "\0" not in x else encodable(x) for x in texts]


def encodable(text: str | bytes) -> str:
    """The text as an ONNX file takes it.

    As in the SavedModel, U+FFFD stands for bytes that are no UTF-8, and "?" for a lone
    surrogate, which has no bytes.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", NUL)
