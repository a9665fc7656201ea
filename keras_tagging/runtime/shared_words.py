"""The words that several parts of a pipeline read: vectors and classes, held once.

`words.npz` has them, and `words.onnx` makes of a token the forms in which the parts
look it up. A part's own file has neither: the rows of vectors, or the numbers of
classes, are inputs of it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID
from keras_tagging.encoding.word_classes import CLUSTER
from keras_tagging.runtime.folder import REMEDY, WORDS
from keras_tagging.utils import limits
from keras_tagging.utils.stored import StoredArrays

#: the features whose words may be shared, and the inputs of a file that have their name
VECTOR = "vector"
INPUTS = {VECTOR: ("tensor(float)", 3), CLUSTER: ("tensor(int32)", 2)}
#: tokens whose ids are kept, of each feature: then they are forgotten
KEPT_TOKENS = 50_000
SPANS = 10_000  # that are Python's integers at a time
MOST_FORMS = 3  # as written, in lower case, in its normal form


def shared_of(described: dict) -> dict:
    """What the description of a file says that its pipeline holds; {} if nothing.

    Returns:
        "files", the checksums of `words.npz` and `words.onnx`, and by feature the
        outputs of `words.onnx` to look up, first choice first.

    Raises:
        ValueError: if it says anything else.
    """
    found = described.get("shared")
    if found is None:
        return {}
    fits = isinstance(found, dict) and isinstance(found.get("files"), dict)
    features = [name for name in found if name != "files"] if fits else ()
    if not features or not all(
        name in INPUTS
        and isinstance(forms := found[name], list)
        and 1 <= len(forms) <= MOST_FORMS
        and all(type(form) is str for form in forms)
        for name in features
    ):
        raise ValueError("does not say which words of its pipeline it reads")
    return found


class WordIndex:
    """From words to ids, in a tenth of the memory that a dict takes.

    Args:
        text: UTF-8, in which the words stand.
        starts, ends: of each word, in bytes.
        ids: of each word; of equal words the first counts.
    """

    def __init__(self, text: bytes, starts, ends, ids):
        self._text, self._starts, self._ends = text, starts, ends
        hashes = np.empty(len(starts), np.int64)
        for at in range(0, len(starts), SPANS):
            here = slice(at, at + SPANS)
            spans = zip(starts[here].tolist(), ends[here].tolist(), strict=True)
            hashes[here] = [hash(text[start:end]) for start, end in spans]
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes, self._ids = hashes[self._order], ids

    def find(self, words: Sequence[bytes]) -> np.ndarray:
        """The ids of words, int32; `UNKNOWN_ID` of those that are not there."""
        found = np.full(len(words), UNKNOWN_ID, np.int32)
        hashes = np.fromiter(map(hash, words), np.int64, len(words))
        first = np.searchsorted(self._hashes, hashes, "left")
        last = np.searchsorted(self._hashes, hashes, "right")
        for i in np.flatnonzero(first < last).tolist():
            for row in self._order[first[i] : last[i]].tolist():
                if self._text[self._starts[row] : self._ends[row]] == words[i]:
                    found[i] = self._ids[row]
                    break
        return found


class WordTables:
    """The content of `words.npz`, checked.

    Args:
        data: the bytes of the file.

    Attributes:
        rows: `(words + FIRST_ID, dim)` float16 or float32: padding, unknown and the
            words of `entries("vector")`; None without.
        features: those that it has words of.

    Raises:
        ValueError: if the content cannot be such a table.
    """

    def __init__(self, data: bytes):
        self._stored, self.rows = {}, None
        with StoredArrays(data) as arrays:
            for name in INPUTS:
                if arrays.size(f"{name}_words"):
                    self._stored[name] = _strings(arrays, name)
            if VECTOR in self._stored:
                _, ends = self._stored[VECTOR]
                self.rows = _rows(arrays[f"{VECTOR}_rows"], len(ends))
        self.features = tuple(self._stored)
        if not self.features:
            raise ValueError("it has no words")

    def entries(self, name: str) -> list[str]:
        """The strings of a vocabulary."""
        text, ends = self._stored[name]
        starts = [0, *ends.tolist()]
        try:
            return [
                text[a:b].decode() for a, b in zip(starts, starts[1:], strict=False)
            ]
        except UnicodeDecodeError:
            raise ValueError(f"the words of {name} are no UTF-8") from None

    def index(self, name: str) -> WordIndex:
        """The ids of the words of a feature."""
        text, ends = self._stored[name]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        ids = np.arange(FIRST_ID, FIRST_ID + len(ends), dtype=np.int32)
        if name == CLUSTER:
            starts, ends, ids = _words_of_classes(text, starts, ends, ids)
        return WordIndex(text, starts, ends, ids)


def stored_strings(name: str, entries: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of `words.npz` that have the strings of a vocabulary."""
    encoded = [entry.encode() for entry in entries]
    return {
        f"{name}_words": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}_ends": np.cumsum([*map(len, encoded)], dtype=np.int64),
    }


def _strings(arrays, name: str) -> tuple[bytes, np.ndarray]:
    """The text of a vocabulary, and where each of its strings ends."""
    words, ends = arrays[f"{name}_words"], arrays[f"{name}_ends"]
    fits = words.dtype == np.uint8 and words.ndim == 1
    fits = fits and ends.dtype == np.int64 and ends.ndim == 1 and len(ends) > 0
    if not (fits and ends[0] >= 0 and (np.diff(ends) >= 0).all()):
        raise ValueError(f"the words of {name} have no ends")
    if ends[-1] != len(words):
        raise ValueError(f"the words of {name} end elsewhere than they should")
    return words.tobytes(), ends


def _rows(rows, count: int) -> np.ndarray:
    if rows.ndim != 2 or rows.dtype not in (np.float16, np.float32):
        raise ValueError("its vectors are no numbers of 16 or 32 bits")
    if len(rows) != count + FIRST_ID or not rows.shape[1]:
        raise ValueError(f"it has {len(rows):,} vectors for {count:,} words")
    if rows.shape[1] > limits.VECTOR_DIMENSION:
        raise ValueError(f"vectors have more than {limits.VECTOR_DIMENSION:,} values")
    if not np.isfinite(rows).all():
        raise ValueError("a vector has values that are no numbers, but NaN or infinite")
    return rows


def _words_of_classes(text: bytes, starts, ends, ids):
    """The places of the words of each class, which follow its name after tabs."""
    places, of = [], []
    for start, end, own in zip(starts.tolist(), ends.tolist(), ids, strict=True):
        name, *words = text[start:end].split(b"\t")
        at = start + len(name)
        for word in words:
            places.append((at + 1, at + 1 + len(word)))
            at += 1 + len(word)
        of += [own] * len(words)
    places = np.array(places, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1], np.array(of, np.int32)


class SharedWords:
    """What the ONNX files of a pipeline read of words, for all of them once.

    Args:
        tables: the words.
        forms: the `Session` of `words.onnx`: strings `(tokens,)` in and out.
        files: the checksums of both files.
    """

    def __init__(self, tables: WordTables, forms, files: dict):
        self._forms, self.files, self.rows = forms, files, tables.rows
        self._indexes = {name: tables.index(name) for name in tables.features}
        self._known: dict[tuple, dict[str, int]] = {}
        self._outputs = {output.name for output in forms.get_outputs()}

    def check(self, shared: dict, session) -> None:
        """Refuses a file that reads what is not there.

        Args:
            shared: see `shared_of`.
            session: of the file.

        Raises:
            ValueError: naming the file.
        """
        shapes = {value.name: value.shape for value in session.get_inputs()}
        for name, forms in shared.items():
            if name == "files":
                fits = forms == self.files
            else:
                fits = name in self._indexes and self._outputs.issuperset(forms)
            if fits and name == VECTOR:
                fits = shapes[name][-1] == self.rows.shape[1]
            if not fits:
                raise ValueError(
                    f"{session.path}: was exported with other words than the {WORDS} "
                    f"beside it: {REMEDY}"
                )

    def ids(self, shared: dict, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """By feature the ids of tokens, int32.

        Args:
            shared: see `shared_of`.
            tokens: as `encodable` has them.

        Raises:
            OSError: if `words.onnx` cannot be run.
        """
        features = [name for name in shared if name != "files"]
        return {x: self._ids(x, tuple(shared[x]), tokens) for x in features}

    def _ids(self, name: str, forms: tuple[str, ...], tokens) -> np.ndarray:
        known = self._known.setdefault((name, forms), {})
        if len(known) > KEPT_TOKENS:  # other threads may still read that one
            known = self._known[name, forms] = {}
        if new := [token for token in dict.fromkeys(tokens) if token not in known]:
            known.update(zip(new, self._found(name, forms, new), strict=True))
        return np.fromiter((known[token] for token in tokens), np.int32, len(tokens))

    def _found(self, name, forms, tokens) -> list[int]:
        found = np.full(len(tokens), UNKNOWN_ID, np.int32)
        given = self._forms.answers([*forms], {"tokens": np.array(tokens, object)})
        for form in forms:
            if given[form].shape != found.shape:
                raise self._forms.wrong("does not give one form a token")
            here = self._indexes[name].find([str(x).encode() for x in given[form]])
            found = np.where(found == UNKNOWN_ID, here, found)
        return found.tolist()

    def feed(self, name: str, ids: np.ndarray, real: np.ndarray) -> np.ndarray:
        """The input of a file for a batch.

        Args:
            name: of the feature.
            ids: of the words of the batch.
            real: `(batch, time)`, where they stand.

        Returns:
            `(batch, time)` int32, or vectors `(batch, time, dim)` float32, with zeros
            in the padding.
        """
        if name == VECTOR:
            found = np.zeros((*real.shape, self.rows.shape[1]), np.float32)
            found[real] = self.rows[ids]
        else:
            found = np.zeros(real.shape, np.int32)
            found[real] = ids
        return found


def read_tables(path: Path, data: bytes, remedy: str) -> WordTables:
    """The words in the bytes of a file; errors name the path and the remedy."""
    try:
        return WordTables(data)
    except ValueError as error:
        raise ValueError(f"{path}: is damaged ({error}): {remedy}") from None
