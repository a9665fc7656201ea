"""The words that several parts of a pipeline read: vectors and classes, held once.

`words.npz` has them, and `words.onnx` makes of a token the forms in which the parts
look it up. A part's own file has neither: the rows of vectors, or the numbers of
classes, are inputs of it. So are the ids of all other features of its tokens, if it
has no characters among them: `words.npz` has their vocabularies too.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from keras_tagging.encoding.vocabulary import CLUSTER, FIRST_ID, UNKNOWN_ID
from keras_tagging.utils import limits
from keras_tagging.utils.stored import StoredArrays

#: the features whose words may be shared, and the inputs of a file that have their name
VECTOR = "vector"
INPUTS = {VECTOR: ("tensor(float)", 3), CLUSTER: ("tensor(int32)", 2)}
#: the names of arrays of a part, before its own: numbers of rows, and rows
CHANGED, CHANGED_ROWS = f"{VECTOR}_changed_", f"{VECTOR}_rows_"
#: the input with all ids of tokens, `(batch, time, features)`, and its description
IDS = "token_ids"
#: what a file says of shared words beside its features
MARKS = ("files", "part")
#: the name of a vocabulary of parts, before its own
TABLE = "table_"
SPANS = 10_000  # that are Python's integers at a time
MOST_FORMS = 3  # as written, in lower case, in its normal form


def shared_of(described: dict) -> dict:
    """The words that a file reads of its pipeline, as it describes them; {} if none.

    Returns:
        "files", the checksums of `words.npz` and `words.onnx`; by feature the outputs
        of `words.onnx` to look up, first choice first; "part", the name by which
        `words.npz` has the vectors that training has changed, if it has any; and, where
        ids are an input, `IDS`: for each of them the name of a vocabulary, and the
        outputs to look up there, none for what is an input of its own.

    Raises:
        ValueError: if it says anything else.
    """
    found = described.get("shared")
    if found is None:
        return {}
    rest = found
    if isinstance(found, dict):
        rest = {name: value for name, value in found.items() if name != IDS}
    features = features_in(rest)
    fits = features and all(_are_forms(found[name]) for name in features)
    if not fits or not _are_ids(found.get(IDS, [["", []]])):
        raise ValueError("does not say which words of its pipeline it reads")
    return found


def _are_forms(forms, least: int = 1) -> bool:
    return (
        isinstance(forms, list)
        and least <= len(forms) <= MOST_FORMS
        and all(type(form) is str for form in forms)
    )


def _are_ids(columns) -> bool:
    return (
        isinstance(columns, list)
        and 1 <= len(columns) <= limits.TOKEN_FEATURES
        and all(isinstance(column, list) and len(column) == 2 for column in columns)
        and all(type(table) is str and _are_forms(x, 0) for table, x in columns)
    )


def features_in(shared) -> list[str]:
    """The features whose words are shared, as a file says; [] if it cannot be so."""
    fits = isinstance(shared, dict) and isinstance(shared.get("files"), dict)
    fits = fits and type(shared.get("part", "")) is str
    features = [name for name in shared if name not in MARKS] if fits else []
    return features if set(features) <= {*INPUTS} else []


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
        changed: by the name of a part the numbers of rows that it has others of, which
            rise, and these.
        tables: by name the ids of the strings of each vocabulary of parts.
        features: those that it has words of.

    Raises:
        ValueError: if the content cannot be such a table.
    """

    def __init__(self, data: bytes):
        self._stored, self.rows, self.changed = {}, None, {}
        self.tables: dict[str, dict[str, int]] = {}
        with StoredArrays(data) as arrays:
            for name in INPUTS:
                if arrays.size(f"{name}_words"):
                    self._stored[name] = _strings(arrays, name)
            if VECTOR in self._stored:
                _, ends = self._stored[VECTOR]
                self.rows = _rows(arrays[f"{VECTOR}_rows"], FIRST_ID + len(ends))
                for name in arrays.names():
                    if (part := name.removeprefix(CHANGED)) != name:
                        self.changed[part] = _changed(arrays, part, self.rows)
            for member in arrays.names():
                name = member.removesuffix("_words")
                if name != member and name.startswith(TABLE):
                    words = _texts(name, *_strings(arrays, name))
                    own = self.tables[name.removeprefix(TABLE)] = {}
                    for i, word in enumerate(words, FIRST_ID):
                        own.setdefault(word, i)  # of equal words the first counts
        self.features = tuple(self._stored)
        if not self.features:
            raise ValueError("it has no words")

    def rows_of(self, part: str | None) -> np.ndarray:
        """The rows of a part, a copy if it has some of its own."""
        if part not in self.changed:
            return self.rows
        rows = self.rows.copy()
        ids, own = self.changed[part]
        rows[ids] = own
        return rows

    def entries(self, name: str) -> list[str]:
        """The strings of a vocabulary."""
        return _texts(name, *self._stored[name])

    def index(self, name: str) -> WordIndex:
        """The ids of the words of a feature."""
        text, ends = self._stored[name]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        ids = np.arange(FIRST_ID, FIRST_ID + len(ends), dtype=np.int32)
        if name == CLUSTER:
            starts, ends, ids = _words_of_classes(text, starts, ends, ids)
        return WordIndex(text, starts, ends, ids)


def stored_rows(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of `words.npz` that have the vectors of parts.

    Args:
        tables: by the name of the part. Of all but the first those rows are stored that
            are not equal.
    """
    (_, base), *others = tables.items()
    arrays = {f"{VECTOR}_rows": base}
    for part, rows in others:
        ids = changed_rows(rows, base)
        if len(ids):
            arrays |= {CHANGED + part: ids, CHANGED_ROWS + part: rows[ids]}
    return arrays


def changed_rows(rows: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The numbers of rows that are not equal."""
    return np.flatnonzero((rows != base).any(1)).astype(np.uint32)


def stored_strings(name: str, entries: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of `words.npz` that have the strings of a vocabulary."""
    encoded = [entry.encode() for entry in entries]
    return {
        f"{name}_words": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}_lengths": np.array([*map(len, encoded)], np.uint32),
    }


def _strings(arrays, name: str) -> tuple[bytes, np.ndarray]:
    """The text of a vocabulary, and where each of its strings ends."""
    words, lengths = arrays[f"{name}_words"], arrays[f"{name}_lengths"]
    fits = words.dtype == np.uint8 and words.ndim == 1
    if not fits or lengths.dtype != np.uint32 or lengths.ndim != 1 or not len(lengths):
        raise ValueError(f"the words of {name} have no lengths")
    ends = np.cumsum(lengths, dtype=np.int64)
    if ends[-1] != len(words):
        raise ValueError(f"the words of {name} have other lengths")
    return words.tobytes(), ends


def _texts(name: str, text: bytes, ends) -> list[str]:
    starts = [0, *ends.tolist()]
    try:
        return [text[a:b].decode() for a, b in zip(starts, starts[1:], strict=False)]
    except UnicodeDecodeError:
        raise ValueError(f"the words of {name} are no UTF-8") from None


def _rows(rows, count: int) -> np.ndarray:
    if rows.ndim != 2 or rows.dtype not in (np.float16, np.float32):
        raise ValueError("its vectors are no numbers of 16 or 32 bits")
    if len(rows) != count or not rows.shape[1]:
        raise ValueError(f"it has {len(rows):,} vectors and needs {count:,}")
    if rows.shape[1] > limits.VECTOR_DIMENSION:
        raise ValueError(f"vectors have more than {limits.VECTOR_DIMENSION:,} values")
    if not np.isfinite(rows).all():
        raise ValueError("a vector has values that are no numbers, but NaN or infinite")
    return rows


def _changed(arrays, part: str, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows that a part has others of, and these."""
    ids = arrays[CHANGED + part]
    fits = ids.dtype == np.uint32 and ids.ndim == 1 and len(ids) > 0
    if not fits or ids[-1] >= len(base) or (np.diff(ids.astype(np.int64)) < 1).any():
        raise ValueError("it has changed vectors of other words than it has")
    rows = _rows(arrays[CHANGED_ROWS + part], len(ids))
    if rows.shape[1] != base.shape[1] or rows.dtype != base.dtype:
        raise ValueError("it has changed vectors of another size or dtype")
    return ids.astype(np.int64), rows


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


def read_tables(path: Path, data: bytes, remedy: str) -> WordTables:
    """The words in the bytes of a file; errors name the path and the remedy."""
    try:
        return WordTables(data)
    except ValueError as error:
        raise ValueError(f"{path}: is damaged ({error}): {remedy}") from None
