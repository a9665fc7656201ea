"""Corpora as integers with the dictionaries that give their words and labels.

Such files are pickles, of Python 2 for the most part, or the same in JSON. A pickle is
a program: unpickling one can do anything. Here it can make lists, tuples, dictionaries,
strings, numbers and arrays of integers, and nothing else; not even NumPy runs.
"""

import gzip
import io
import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from keras_tagging.corpora.archives import Member
from keras_tagging.data.readers import CorpusError
from keras_tagging.data.records import sentence_of
from keras_tagging.data.sentence import Sentence

# The names of the two dictionaries, in the two forms.
DICTIONARIES = (("words2idx", "labels2idx"), ("token_ids", "slot_ids"))
SHAPE = (
    "it is (train, test, dictionaries) or (train, valid, test, dictionaries), where a "
    "split is (words, tables, labels) or (words, labels), or else "
    "({'query': ..., 'slot_labels': ...}, dictionaries)"
)


def read_integers(member: Member) -> dict[str, list[Sentence]]:
    """The splits of a file of integers.

    Two forms go about. The one of is13 (Mesnil et al., 2013) is `SHAPE`'s first, with
    the dictionaries `words2idx` and `labels2idx`; the one made from CNTK's example is
    the other, a file for each split, with `token_ids` and `slot_ids`.

    Args:
        member: a pickle, or JSON if it begins with a bracket or brace.

    Returns:
        The sentences by the split: "train", "dev", "test", or "" for the only one.

    Raises:
        CorpusError: if the file is damaged, holds or does anything else, or an integer
            is not in its dictionary.
    """
    with member.open() as stream:
        content = stream.read()
    try:
        if content.startswith(b"\x1f\x8b"):  # compressed, and named .pkl nevertheless
            content = gzip.decompress(content)
        is_json = content.lstrip()[:1] in (b"{", b"[")
        value = json.loads(content) if is_json else _unpickle(content)
    except CorpusError as error:
        raise CorpusError(f"{member.name}: {error}") from None
    except Exception as error:  # a damaged pickle can raise anything
        what = f"cannot be read: {type(error).__name__}: {error}"
        raise CorpusError(f"{member.name}: {what}; check that it is complete") from None
    return _splits(value, member.name)


def _splits(value, name: str) -> dict[str, list[Sentence]]:
    if isinstance(value, Mapping):  # JSON may name what the pickle has in order
        parts = [value[k] for k in ("train", "valid", "test", "dicts") if k in value]
        value = parts or [value, value]
    if not isinstance(value, Sequence) or not 2 <= len(value) <= 4:
        raise CorpusError(f"{name}: is no corpus of integers; {SHAPE}")
    *splits, dictionaries = value
    words, labels = _dictionaries(dictionaries, name)
    names = {1: [""], 2: ["train", "test"], 3: ["train", "dev", "test"]}[len(splits)]
    return {
        split: list(_sentences(part, words, labels, f"{name}: {split or 'the split'}"))
        for split, part in zip(names, splits, strict=True)
    }


def _dictionaries(value, name: str) -> list[dict[int, str]]:
    for names in DICTIONARIES:
        if isinstance(value, Mapping) and all(key in value for key in names):
            break
    else:
        what = "has no dictionaries words2idx and labels2idx, or token_ids and slot_ids"
        raise CorpusError(f"{name}: {what}; {SHAPE}")
    found = []
    for key in names:
        inverse = {}
        for text, number in dict(value[key]).items():
            if not isinstance(text, str) or type(number) is not int:
                what = f"{key} gives {str(text)[:40]!r} the number {str(number)[:40]!r}"
                raise CorpusError(f"{name}: {what}; a string has an integer there")
            if inverse.setdefault(number, text) != text:
                what = f"{key} gives {inverse[number]!r} and {text!r} the same number"
                raise CorpusError(f"{name}: {what}; give each its own")
        found.append(inverse)
    return found


def _sentences(split, words, labels, where: str) -> Iterator[Sentence]:
    if isinstance(split, Mapping):
        rows = [split.get("query"), split.get("slot_labels")]
    elif isinstance(split, Sequence) and len(split) in (2, 3):
        rows = [split[0], split[-1]]
    else:
        rows = [None]
    if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        raise CorpusError(f"{where} is not a list of sentences; {SHAPE}")
    if len(rows[0]) != len(rows[1]):
        what = f"has {len(rows[0])} sentences but labels for {len(rows[1])}"
        raise CorpusError(f"{where} {what}; check that the file is complete")
    for number, (word_ids, label_ids) in enumerate(zip(*rows, strict=True), 1):
        here = f"{where}, sentence {number}"
        tokens = _looked_up(word_ids, words, "word", here)
        tags = _looked_up(label_ids, labels, "label", here)
        if len(tokens) != len(tags):
            what = f"{len(tokens)} words but {len(tags)} labels"
            raise CorpusError(f"{here}: {what}; give one label a word")
        yield sentence_of(tokens, tags)


def _looked_up(numbers, names: dict[int, str], kind: str, where: str) -> list[str]:
    if not isinstance(numbers, Sequence) or isinstance(numbers, str):
        raise CorpusError(f"{where}: no list of {kind} numbers; {SHAPE}")
    for number in numbers:
        if type(number) is not int or number not in names:
            what = f"the {kind} {str(number)[:40]!r} is not in the dictionary"
            raise CorpusError(f"{where}: {what}; use the one that comes with the file")
    return [names[number] for number in numbers]


def _unpickle(content: bytes):
    # Python 2 pickles strings as bytes, and so the contents of arrays.
    return _Unpickler(io.BytesIO(content), encoding="latin1").load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str):
        # NumPy 2 renamed its numpy.core
        found = _ADMITTED.get((module.replace("numpy._core", "numpy.core"), name))
        if found is None:
            what = f"this pickle wants to run {module}.{name}, which no corpus needs"
            raise CorpusError(
                f"{what}; get the file from a place you trust, or as JSON"
            )
        return found


class _Type:
    """The type of an array."""

    def __init__(self, code: str, *flags):
        self.code, self.order = code, "<"

    def __setstate__(self, state):
        self.order = state[1]

    def values(self, data) -> list:
        if self.code.startswith("O") and isinstance(data, list):
            return data
        if not re.fullmatch("[iu][1248]", self.code) or self.order not in "<>|":
            raise ValueError(f"an array of type {self.code!r} is not one of integers")
        data = data.encode("latin1") if isinstance(data, str) else bytes(data)
        return np.frombuffer(data, self.order + self.code).tolist()


class _Array(list):
    """An array of one dimension."""

    def __setstate__(self, state):
        _, shape, kind, _, data = state
        self[:] = kind.values(data)
        if shape != (len(self),):
            raise ValueError(f"an array of shape {shape} has {len(self)} values")


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise ValueError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


def _from_buffer(data, kind: _Type, shape: tuple, order: str) -> list:
    array = _Array()
    array.__setstate__((1, shape, kind, False, data))
    return array


_ADMITTED = {
    ("numpy", "ndarray"): "the type of an array, which is not called here",
    ("numpy", "dtype"): _Type,
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("numpy.core.multiarray", "scalar"): lambda kind, data: kind.values(data)[0],
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("_codecs", "encode"): _encode,  # how bytes are pickled for Python 2
}
