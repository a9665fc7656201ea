"""The words that several parts of a pipeline read: vectors and classes, held once.

`words.npz` has them, and `words.onnx` makes of a token the forms in which the parts
look it up. A part's own file has neither: the rows of vectors, or the numbers of
classes, are inputs of it.
"""

from collections.abc import Mapping, Sequence
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
#: the names of arrays of a part, before its own: numbers of rows, and rows
CHANGED, CHANGED_ROWS = f"{VECTOR}_changed_", f"{VECTOR}_rows_"
#: what a file says of shared words beside its features
MARKS = ("files", "part")
#: tokens whose ids are kept, of each feature: then they are forgotten
KEPT_TOKENS = 50_000
SPANS = 10_000  # that are Python's integers at a time
MOST_FORMS = 3  # as written, in lower case, in its normal form


def shared_of(described: dict) -> dict:
    """The words that a file reads of its pipeline, as it describes them; {} if none.

    Returns:
        "files", the checksums of `words.npz` and `words.onnx`; by feature the outputs
        of `words.onnx` to look up, first choice first; and "part", the name by which
        `words.npz` has the vectors that training has changed, if it has any.

    Raises:
        ValueError: if it says anything else.
    """
    found = described.get("shared")
    if found is None:
        return {}
    features = features_in(found)
    if not features or not all(
        isinstance(forms := found[name], list)
        and 1 <= len(forms) <= MOST_FORMS
        and all(type(form) is str for form in forms)
        for name in features
    ):
        raise ValueError("does not say which words of its pipeline it reads")
    return found


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
        features: those that it has words of.

    Raises:
        ValueError: if the content cannot be such a table.
    """

    def __init__(self, data: bytes):
        self._stored, self.rows, self.changed = {}, None, {}
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


class SharedWords:
    """The words that the ONNX files of a pipeline read, for all of them once.

    Args:
        tables: the words.
        forms: the `Session` of `words.onnx`: strings `(tokens,)` in and out.
        files: the checksums of both files.
    """

    def __init__(self, tables: WordTables, forms, files: dict):
        self._forms, self.files = forms, files
        self._rows, self._changed = tables.rows, tables.changed
        self._indexes = {name: tables.index(name) for name in tables.features}
        self._known: dict[tuple, dict[str, int]] = {}
        self._outputs = {output.name for output in forms.get_outputs()}
        self._last: tuple[list[str], dict[str, np.ndarray]] = ([], {})

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
            if name in MARKS:
                fits = forms in (self.files, *self._changed)
            else:
                fits = name in self._indexes and self._outputs.issuperset(forms)
            if fits and name == VECTOR:
                fits = shapes[name][-1] == self._rows.shape[1]
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
        features = [name for name in shared if name in INPUTS]
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
        given = self._forms_of(tokens)
        for form in forms:
            if given[form].shape != found.shape:
                raise self._forms.wrong("does not give one form a token")
            here = self._indexes[name].find([str(x).encode() for x in given[form]])
            found = np.where(found == UNKNOWN_ID, here, found)
        return found.tolist()

    def _forms_of(self, tokens: list[str]) -> dict[str, np.ndarray]:
        """All forms of tokens: every feature of every part asks for the same tokens."""
        before, found = self._last
        if tokens != before:
            given = {"tokens": np.array(tokens, object)}
            found = self._forms.answers([*self._outputs], given)
            self._last = tokens, found
        return found

    def feed(self, shared: dict, name: str, ids, real: np.ndarray) -> np.ndarray:
        """The input of a file for a batch.

        Args:
            shared: see `shared_of`.
            name: of the feature.
            ids: of the words of the batch.
            real: `(batch, time)`, where they stand.

        Returns:
            `(batch, time)` int32, or vectors `(batch, time, dim)` float32, with zeros
            in the padding.
        """
        if name != VECTOR:
            found = np.zeros(real.shape, np.int32)
            found[real] = ids
            return found
        rows = self._rows[ids]
        if (part := shared.get("part")) is not None:
            changed, own = self._changed[part]
            places = np.searchsorted(changed, ids).clip(max=len(changed) - 1)
            here = changed[places] == ids
            rows[here] = own[places[here]]
        found = np.zeros((*real.shape, rows.shape[1]), np.float32)
        found[real] = rows
        return found


def read_tables(path: Path, data: bytes, remedy: str) -> WordTables:
    """The words in the bytes of a file; errors name the path and the remedy."""
    try:
        return WordTables(data)
    except ValueError as error:
        raise ValueError(f"{path}: is damaged ({error}): {remedy}") from None
