"""The words that several parts of a pipeline read: held once, and looked up once.

`words.npz` has their vectors and classes, and `words.onnx` makes of a token the forms
in which the parts look it up. A part's own file has neither: the rows of vectors, or
the numbers of classes, are inputs of it. So are the ids of all other features of its
tokens, if it has no characters among them: `words.npz` has their vocabularies too.
"""

import threading
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from keras_tagging.encoding.vocabulary import CLUSTER, FIRST_ID, UNKNOWN_ID
from keras_tagging.runtime.folder import REMEDY, WORDS, listed_bytes
from keras_tagging.runtime.token_forms import CAPITAL, forms_of
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
MOST_FORMS = 3  # as written, in lower case, in its normal form
#: tokens whose ids are kept, and their characters: beyond one, all are forgotten
KEPT_TOKENS, KEPT_CHARACTERS = 50_000, 2_000_000


# The file of a part says this


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
    shared = described.get("shared")
    if shared is None:
        return {}
    try:
        every = [*chain.from_iterable(columns_of(shared).values())]
        fits = all(type(text) is str for column in every for text in column)
        fits &= all((name in shared) <= len(x) <= MOST_FORMS for name, *x in every)
        fits &= 1 <= len(shared.get(IDS, every)) <= limits.TOKEN_FEATURES
        rest = {name: value for name, value in shared.items() if name != IDS}
    except (TypeError, ValueError, AttributeError):
        fits = False
    if not fits or not features_in(rest):
        raise ValueError("does not say which words of its pipeline it reads")
    return shared


def features_in(shared) -> list[str]:
    """The features whose words are shared, as a file says; [] if it cannot be so."""
    fits = isinstance(shared, dict) and isinstance(shared.get("files"), dict)
    fits = fits and type(shared.get("part", "")) is str
    features = [name for name in shared if name not in MARKS] if fits else []
    return features if set(features) <= {*INPUTS} else []


def columns_of(shared: dict) -> dict[str, list[tuple]]:
    """By input of a file the columns of ids that are looked up for it.

    Each is the name of a vocabulary in `words.npz`, and the forms.
    """
    columns = {x: [(x, *shared[x])] for x in INPUTS if x in shared}
    if IDS in shared:
        columns[IDS] = [(TABLE + table, *forms) for table, forms in shared[IDS]]
    return columns


# The arrays of words.npz


class Vocabulary(dict):
    """The ids of strings, by their bytes in UTF-8."""

    def find(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, int32; `UNKNOWN_ID` of those that are not there."""
        ids = (self.get(word.encode(), UNKNOWN_ID) for word in words)
        return np.fromiter(ids, np.int32, len(words))


class WordIndex:
    """From words to ids, in a tenth of the memory that a dict takes.

    Args:
        text: UTF-8, in which the words stand.
        starts, ends: of each word, in bytes.
        ids: of each word; of equal words the first counts.
    """

    def __init__(self, text: bytes, starts, ends, ids):
        self._text, self._starts, self._ends = text, starts, ends
        spans = zip(starts.data, ends.data, strict=True)  # one integer at a time
        hashes = (hash(text[start:end]) for start, end in spans)
        hashes = np.fromiter(hashes, np.int64, len(starts))
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes, self._ids = hashes[self._order], ids

    def find(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, int32; `UNKNOWN_ID` of those that are not there."""
        ids = np.full(len(words), UNKNOWN_ID, np.int32)
        words = [word.encode() for word in words]
        hashes = np.fromiter(map(hash, words), np.int64, len(words))
        first = np.searchsorted(self._hashes, hashes, "left")
        last = np.searchsorted(self._hashes, hashes, "right")
        for i in np.flatnonzero(first < last).tolist():
            for row in self._order[first[i] : last[i]].tolist():
                if self._text[self._starts[row] : self._ends[row]] == words[i]:
                    ids[i] = self._ids[row]
                    break
        return ids


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
        names: of all vocabularies: those of features, and of parts.

    Raises:
        ValueError: if the content cannot be such a table.
    """

    def __init__(self, data: bytes):
        self._stored, self.rows, self.changed = {}, None, {}
        with StoredArrays(data) as arrays:
            for member in arrays.names():
                name = member.removesuffix("_words")
                if name != member and (name in INPUTS or name.startswith(TABLE)):
                    self._stored[name] = _strings(arrays, name)
            if VECTOR in self._stored:
                _, ends = self._stored[VECTOR]
                self.rows = _rows(arrays[f"{VECTOR}_rows"], FIRST_ID + len(ends))
                for name in arrays.names():
                    if (part := name.removeprefix(CHANGED)) != name:
                        self.changed[part] = _changed(arrays, part, self.rows)
        self.names = tuple(self._stored)
        self.features = tuple(name for name in INPUTS if name in self._stored)
        if not self.features:
            raise ValueError("it has no words")

    def rows_of(self, part: str | None) -> np.ndarray:
        """The rows of a part, a copy if it has some of its own."""
        if part not in self.changed:
            return self.rows
        rows = self.rows.copy()
        ids, changed = self.changed[part]
        rows[ids] = changed
        return rows

    def entries(self, name: str) -> list[str]:
        """The strings of a vocabulary."""
        text, ends = self._stored[name]
        try:
            return [text[a:b].decode() for a, b in pairwise([0, *ends.tolist()])]
        except UnicodeDecodeError:
            raise ValueError(f"the words of {name} are no UTF-8") from None

    def index(self, name: str) -> WordIndex | Vocabulary:
        """The ids of the words of a feature, or of a vocabulary of parts.

        Of a feature these are so many that they take less memory and more time.
        """
        text, ends = self._stored[name]
        if name.startswith(TABLE):
            spans = [*pairwise([0, *ends.tolist()])]
            last = FIRST_ID + len(spans) - 1  # of equal words the first counts
            pairs = ((text[a:b], last - i) for i, (a, b) in enumerate(spans[::-1]))
            return Vocabulary(pairs)
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        ids = np.arange(FIRST_ID, FIRST_ID + len(ends), dtype=np.int32)
        if name == CLUSTER:
            starts, ends, ids = _words_of_classes(text, starts, ends, ids)
        return WordIndex(text, starts, ends, ids)


def _strings(arrays, name: str) -> tuple[bytes, np.ndarray]:
    """The text of a vocabulary, and where each of its strings ends."""
    words, lengths = arrays[f"{name}_words"], arrays[f"{name}_lengths"]
    fits = words.dtype == np.uint8 and lengths.dtype == np.uint32
    fits = fits and words.ndim == lengths.ndim == 1 and len(lengths) > 0
    if not fits or lengths.sum(dtype=np.int64) != len(words):
        raise ValueError(f"the words of {name} have other lengths")
    return words.tobytes(), np.cumsum(lengths, dtype=np.int64)


def _rows(rows, count: int) -> np.ndarray:
    fits = rows.ndim == 2 and rows.dtype in (np.float16, np.float32)
    fits = fits and len(rows) == count and np.isfinite(rows).all()
    if not fits or not 0 < rows.shape[1] <= limits.VECTOR_DIMENSION:
        raise ValueError(
            f"its vectors are not {count:,} rows of at most "
            f"{limits.VECTOR_DIMENSION:,} numbers of 16 or 32 bits"
        )
    return rows


def _changed(arrays, part: str, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows that a part has others of, and these."""
    ids = arrays[CHANGED + part]
    fits = ids.dtype == np.uint32 and ids.ndim == 1 and len(ids) > 0
    fits = fits and ids[-1] < len(base) and (np.diff(ids.astype(np.int64)) > 0).all()
    rows = _rows(arrays[CHANGED_ROWS + part], len(ids) if fits else 0)
    if not fits or rows.shape[1] != base.shape[1] or rows.dtype != base.dtype:
        raise ValueError("it has changed vectors of other words, size or dtype")
    return ids.astype(np.int64), rows


def _words_of_classes(text: bytes, starts, ends, ids):
    """The places of the words of each class, which follow its name after tabs."""
    places, of = [], []
    for start, end, i in zip(starts.tolist(), ends.tolist(), ids, strict=True):
        name, *words = text[start:end].split(b"\t")
        at = start + len(name)
        for word in words:
            places.append((at + 1, at + 1 + len(word)))
            at += 1 + len(word)
        of += [i] * len(words)
    places = np.array(places, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1], np.array(of, np.int32)


def read_tables(folder: Path, files: dict) -> WordTables:
    """The content of `words.npz` in a folder.

    Args:
        folder: of the file.
        files: its checksum, by its name.

    Raises:
        ValueError: if it is missing, damaged or another one.
        OSError: if it cannot be opened.
    """
    data = listed_bytes(folder / WORDS, files.get(WORDS))
    try:
        return WordTables(data)
    except ValueError as error:
        raise ValueError(f"{folder / WORDS}: is damaged ({error}): {REMEDY}") from None


# Writing it


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


# Tokens to ids


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
        self._indices = {name: tables.index(name) for name in tables.names}
        self._indices[TABLE + CAPITAL] = Vocabulary({b"x": 1, b"X": 2})
        self._outputs = {output.name for output in forms.get_outputs()}
        # the columns of ids that parts read, each once, and their places in a row
        self._places: dict[tuple, int] = {}
        self._names: list[str] = []  # of the forms that these need
        # the row of ids of each token that has been looked up, as bytes of int32
        self._seen: dict[str, bytes] = {}
        self._characters, self._lock = 0, threading.Lock()

    def check(self, shared: dict, session) -> None:
        """Refuses a file that reads what is not there; of another, learns what it asks.

        Args:
            shared: see `shared_of`.
            session: of the file.

        Raises:
            ValueError: naming the file.
        """
        sizes = {value.name: value.shape[-1] for value in session.get_inputs()}
        part, columns = shared.get("part"), columns_of(shared)
        every = [*chain.from_iterable(columns.values())]
        fits = shared["files"] == self.files and part in (None, *self._changed)
        for name, *forms in every:
            fits &= not forms or name in self._indices
            fits &= self._outputs.issuperset(forms)
        if fits and VECTOR in columns:
            fits = sizes[VECTOR] == self._rows.shape[1]
        if not fits or sizes.get(IDS) != (len(shared[IDS]) if IDS in shared else None):
            raise ValueError(
                f"{session.path}: was exported with other words than the {WORDS} "
                f"beside it: {REMEDY}"
            )
        with self._lock:
            for column in every:
                self._places.setdefault(column, len(self._places))
            self._names = sorted({x for _, *forms in self._places for x in forms})
            self._seen = {}

    def ids(self, shared: dict, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """By feature the ids of tokens, int32 `(tokens,)`; of all, `(tokens, ids)`.

        Args:
            shared: see `shared_of`.
            tokens: as `encodable` has them.

        Raises:
            OSError: if `words.onnx` cannot be run.
        """
        rows = b"".join(map(self._with(tokens).__getitem__, tokens))
        rows, ids = np.frombuffer(rows, np.int32).reshape(-1, len(self._places)), {}
        for name, columns in columns_of(shared).items():
            places = [self._places[column] for column in columns]
            ids[name] = rows[:, places if name == IDS else places[0]]
        return ids

    def _with(self, tokens) -> dict[str, bytes]:
        """The rows of ids of all tokens that have been seen, and of these."""
        with self._lock:
            if len(self._seen) > KEPT_TOKENS or self._characters > KEPT_CHARACTERS:
                # a new dict: other threads may still read this one
                self._seen, self._characters = {}, 0
            seen = self._seen
            if new := [token for token in dict.fromkeys(tokens) if token not in seen]:
                forms = forms_of(new, self._names, self._made)
                ids = np.full((len(new), len(self._places)), UNKNOWN_ID, np.int32)
                for column, place in self._places.items():
                    if column[1:]:
                        ids[:, place] = self._looked_up(column, forms)
                seen.update(zip(new, (row.tobytes() for row in ids), strict=True))
                self._characters += sum(map(len, new))
        return seen

    def _made(self, tokens: list[str]) -> dict[str, Sequence[str]]:
        """All forms of tokens, by `words.onnx`."""
        made = self._forms.answers(
            [*self._outputs], {"tokens": np.array(tokens, object)}
        )
        for form in made.values():
            if form.shape != (len(tokens),):
                raise self._forms.wrong("does not give one form a token")
        return {name: [*map(str, form)] for name, form in made.items()}

    def _looked_up(self, column: tuple, forms: dict[str, list[str]]) -> np.ndarray:
        """The ids of one column: of the first form that is there."""
        name, *names = column
        words = self._indices[name]
        ids = words.find(forms[names[0]])
        for before, name in pairwise(names):
            # a form that is the one before, as most are, is not looked up again
            places = np.flatnonzero(ids == UNKNOWN_ID).tolist()
            if places := [i for i in places if forms[name][i] != forms[before][i]]:
                ids[places] = words.find([forms[name][i] for i in places])
        return ids

    def feed(self, shared: dict, name: str, ids, real: np.ndarray) -> np.ndarray:
        """The input of a file for a batch.

        Args:
            shared: see `shared_of`.
            name: of the feature.
            ids: of the words of the batch.
            real: `(batch, time)`, where they stand.

        Returns:
            `(batch, time)` int32, or with one more axis vectors, float32, or all ids,
            int32; zeros in the padding.
        """
        values = ids
        if name == VECTOR:
            values = self._rows[ids]
            if (part := shared.get("part")) is not None:
                changed, rows = self._changed[part]
                places = np.searchsorted(changed, ids).clip(max=len(changed) - 1)
                here = changed[places] == ids
                values[here] = rows[places[here]]
        dtype = np.float32 if name == VECTOR else np.int32
        batch = np.zeros((*real.shape, *values.shape[1:]), dtype)
        batch[real] = values
        return batch
