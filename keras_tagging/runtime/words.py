"""The words of the ONNX files of a pipeline: held once, and looked up once.

`words.npz` has the vocabularies, and `words.onnx` makes of a token the forms in which
they have it. The file of a part has the ids of its tokens as an input; only one whose
features have characters reads strings, as that of a model alone does.
"""

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name

import numpy as np

from keras_tagging.encoding.vocabulary import UNKNOWN_ID
from keras_tagging.runtime.folder import REMEDY, WORDS, listed_bytes
from keras_tagging.runtime.token_forms import CAPITAL, forms_of
from keras_tagging.utils import limits
from keras_tagging.utils.stored import StoredArrays

#: the input with the ids of tokens, `(batch, time, features)` int32
IDS = "token_ids"
MOST_FORMS = 3  # as written, in lower case, in its normal form
#: tokens whose ids are kept, and their characters: beyond one, all are forgotten
KEPT_TOKENS, KEPT_CHARACTERS = 50_000, 2_000_000


def words_of(described: dict) -> dict:
    """The words that a file reads, as it describes them; {} if it takes strings.

    Returns:
        "files": the checksums of `words.npz` and `words.onnx`. "columns": for each
        feature of a token the name of a vocabulary, and the forms to look up there,
        first choice first.

    Raises:
        ValueError: if it says anything else.
    """
    words = described.get("words")
    if words is None:
        return {}
    try:
        columns = words["columns"]
        fits = isinstance(words["files"], dict)
        fits &= 1 <= len(columns) <= limits.TOKEN_FEATURES
        for column in columns:
            fits &= 2 <= len(column) <= 1 + MOST_FORMS
            fits &= all(type(text) is str for text in column)
    except (TypeError, KeyError):
        fits = False
    if not fits:
        raise ValueError("does not say which words of its pipeline it reads")
    return words


class WordIndex:
    """From words to ids, in a tenth of the memory that a dict takes.

    Args:
        words: `(bytes,)` uint8, UTF-8 of all words, end to end.
        lengths: `(words,)` uint32, in bytes.
        ids: `(words,)` unsigned; of equal words the first counts.

    Raises:
        ValueError: if the arrays do not fit each other.
    """

    def __init__(self, words: np.ndarray, lengths: np.ndarray, ids: np.ndarray):
        fits = (words.dtype, lengths.dtype) == (np.uint8, np.uint32)
        fits = fits and ids.dtype.kind == "u" and words.ndim == ids.ndim == 1
        fits = fits and lengths.shape == ids.shape
        if not fits or lengths.sum(dtype=np.int64) != len(words):
            raise ValueError("its words have other lengths")
        text, ends = words.tobytes(), np.cumsum([0, *lengths], dtype=np.int64)
        # one integer at a time
        hashes = (hash(text[start:end]) for start, end in pairwise(ends.data))
        hashes = np.fromiter(hashes, np.int64, len(lengths))
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes, self._text, self._ends = hashes[self._order], text, ends
        self._ids = ids.astype(np.int32)

    def find(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, int32; `UNKNOWN_ID` of those that are not there."""
        ids = np.full(len(words), UNKNOWN_ID, np.int32)
        words = [word.encode() for word in words]
        hashes = np.fromiter(map(hash, words), np.int64, len(words))
        first = np.searchsorted(self._hashes, hashes, "left")
        last = np.searchsorted(self._hashes, hashes, "right")
        for i in np.flatnonzero(first < last).tolist():
            for row in self._order[first[i] : last[i]].tolist():
                if self._text[self._ends[row] : self._ends[row + 1]] == words[i]:
                    ids[i] = self._ids[row]
                    break
        return ids


def read_vocabularies(folder: Path, files: dict) -> dict[str, WordIndex]:
    """The vocabularies of `words.npz` in a folder, by name.

    Args:
        folder: of the file.
        files: its checksum, by its name.

    Raises:
        ValueError: if it is missing, damaged or another one.
        OSError: if it cannot be opened.
    """
    data, kinds = listed_bytes(folder / WORDS, files.get(WORDS)), _ARRAYS
    try:
        with StoredArrays(data) as arrays:
            names = {name.rpartition(".")[0] for name in arrays.names()}
            return {
                name: WordIndex(*(arrays[f"{name}.{kind}"] for kind in kinds))
                for name in sorted(names)
            }
    except ValueError as error:
        raise ValueError(f"{folder / WORDS}: is damaged ({error}): {REMEDY}") from None


_ARRAYS = ("words", "lengths", "ids")


def stored(vocabularies: Mapping[str, Mapping[str, int]]) -> dict[str, np.ndarray]:
    """The arrays of `words.npz`.

    Args:
        vocabularies: by name the id of each word.
    """
    arrays = {}
    for name, words in vocabularies.items():
        encoded, ids = [word.encode() for word in words], [*words.values()]
        values = (
            np.frombuffer(b"".join(encoded), np.uint8),
            np.array([*map(len, encoded)], np.uint32),
            np.array(ids, np.min_scalar_type(max(ids))),
        )
        arrays |= {f"{name}.{k}": x for k, x in zip(_ARRAYS, values, strict=True)}
    return arrays


class Words:
    """The words that the ONNX files of a pipeline read.

    Args:
        vocabularies: by name.
        forms: the `Session` of `words.onnx`: strings `(tokens,)` in and out.
        files: the checksums of both files.
    """

    def __init__(self, vocabularies: dict[str, WordIndex], forms, files: dict):
        self._vocabularies, self._forms, self.files = vocabularies, forms, files
        self._outputs = {output.name for output in forms.get_outputs()}
        # the columns of ids that parts read, each once, and their places in a row
        self._places: dict[tuple, int] = {}
        self._names: list[str] = []  # of the forms that these need
        # the row of ids of each token that has been looked up, as bytes of int32
        self._seen: dict[str, bytes] = {}
        self._characters, self._lock = 0, threading.Lock()

    def __reduce__(self):
        """Copies and pickles are read from the folder again: see `read_words`."""
        read_words = resolve_name("keras_tagging.runtime.onnx_file:read_words")
        return read_words, (self._forms.path.parent.resolve(), self.files)

    def check(self, words: dict, session) -> None:
        """Refuses a file that reads what is not there; of another, learns what it asks.

        Args:
            words: see `words_of`.
            session: of the file.

        Raises:
            ValueError: naming the file.
        """
        sizes = {value.name: value.shape[-1] for value in session.get_inputs()}
        fits = sizes[IDS] == len(words["columns"])
        for name, *forms in words["columns"]:
            fits &= name == CAPITAL or name in self._vocabularies
            fits &= self._outputs.issuperset(forms)
        if not fits:
            raise ValueError(
                f"{session.path}: was exported with other words than the {WORDS} "
                f"beside it: {REMEDY}"
            )
        with self._lock:
            for column in map(tuple, words["columns"]):
                self._places.setdefault(column, len(self._places))
            self._names = sorted({x for _, *forms in self._places for x in forms})
            self._seen = {}

    def ids(self, words: dict, tokens: Sequence[str]) -> np.ndarray:
        """The ids of tokens, `(tokens, features)` int32.

        Args:
            words: see `words_of`.
            tokens: as `encodable` has them.

        Raises:
            OSError: if `words.onnx` cannot be run.
        """
        rows = b"".join(map(self._with(tokens).__getitem__, tokens))
        rows = np.frombuffer(rows, np.int32).reshape(-1, len(self._places))
        return rows[:, [self._places[tuple(column)] for column in words["columns"]]]

    def _with(self, tokens) -> dict[str, bytes]:
        """The rows of ids of all tokens that have been seen, and of these."""
        with self._lock:
            if len(self._seen) > KEPT_TOKENS or self._characters > KEPT_CHARACTERS:
                # a new dict: other threads may still read this one
                self._seen, self._characters = {}, 0
            seen = self._seen
            if new := [token for token in dict.fromkeys(tokens) if token not in seen]:
                forms = forms_of(new, self._names, self._made)
                ids = [self._looked_up(column, forms) for column in self._places]
                rows = np.stack(ids, -1)
                seen.update(zip(new, (row.tobytes() for row in rows), strict=True))
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
        if name == CAPITAL:
            return np.array([1 + (form == "X") for form in forms[CAPITAL]], np.int32)
        words = self._vocabularies[name]
        ids = words.find(forms[names[0]])
        for before, name in pairwise(names):
            # a form that is the one before, as most are, is not looked up again
            places = np.flatnonzero(ids == UNKNOWN_ID).tolist()
            if places := [i for i in places if forms[name][i] != forms[before][i]]:
                ids[places] = words.find([forms[name][i] for i in places])
        return ids
