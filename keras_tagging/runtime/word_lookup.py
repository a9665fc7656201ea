"""Tokens to what the files of a pipeline read: ids, word classes and vectors."""

import threading
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from keras_tagging.encoding.vocabulary import UNKNOWN_ID
from keras_tagging.runtime.folder import REMEDY, WORDS
from keras_tagging.runtime.shared_words import (
    IDS,
    INPUTS,
    MARKS,
    VECTOR,
    WordTables,
)
from keras_tagging.runtime.token_forms import CAPITAL, CAPITAL_IDS, forms_of

#: tokens whose ids are kept, and their characters: beyond one, all are forgotten
KEPT_TOKENS, KEPT_CHARACTERS = 50_000, 2_000_000
FIRST_ROWS = 1 << 10  # for which there is room at first


class Known:
    """Tokens that have been looked up: a number for each, and rows of ids by it.

    Args:
        widths: the columns of each table of rows, by its name.
    """

    def __init__(self, widths: dict):
        self.numbers: dict[str, int] = {}
        self._characters = 0
        self._rows = {k: np.zeros((FIRST_ROWS, n), np.int32) for k, n in widths.items()}

    @property
    def full(self) -> bool:
        """Whether there are enough of them."""
        tokens, characters = len(self.numbers), self._characters
        return tokens > KEPT_TOKENS or characters > KEPT_CHARACTERS

    def add(self, tokens: Sequence[str], rows: dict[object, np.ndarray]) -> None:
        """Adds tokens, which are not there, with their rows of each table."""
        first = len(self.numbers)
        last = first + len(tokens)
        for name, own in rows.items():
            before = self._rows[name]
            if last > len(before):
                more = max(last, 2 * len(before)) - len(before)
                before = self._rows[name] = np.pad(before, ((0, more), (0, 0)))
            before[first:last] = own
        self._characters += sum(map(len, tokens))
        # last of all: whoever finds a number finds its rows
        self.numbers.update(zip(tokens, range(first, last), strict=True))

    def rows(self, name, numbers: np.ndarray) -> np.ndarray:
        """The rows of tokens in one table, `(tokens, columns)`."""
        return self._rows[name][numbers]


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
        self._tables = {**tables.tables, CAPITAL: CAPITAL_IDS}
        self._outputs = {output.name for output in forms.get_outputs()}
        # what parts have asked for: by its key a feature and its forms, or all ids
        self._asked: dict[tuple, list] = {}
        self._names: list[str] = []  # of the forms that these need
        self._known, self._lock = Known({}), threading.Lock()

    def check(self, shared: dict, session) -> None:
        """Refuses a file that reads what is not there; of another, learns what it asks.

        Args:
            shared: see `shared_words.shared_of`.
            session: of the file.

        Raises:
            ValueError: naming the file.
        """
        shapes = {value.name: value.shape for value in session.get_inputs()}
        for name, asked in shared.items():
            if name in MARKS:
                fits = asked in (self.files, *self._changed)
            elif name == IDS:
                fits = shapes[name][-1] == len(asked) and all(
                    (not forms or table in self._tables)
                    and self._outputs.issuperset(forms)
                    for table, forms in asked
                )
            else:
                fits = name in self._indexes and self._outputs.issuperset(asked)
            if fits and name == VECTOR:
                fits = shapes[name][-1] == self._rows.shape[1]
            if not fits:
                raise ValueError(
                    f"{session.path}: was exported with other words than the {WORDS} "
                    f"beside it: {REMEDY}"
                )
        with self._lock:
            self._asked |= {_key(name, shared): shared[name] for name in _read(shared)}
            self._names = sorted({x for key in self._asked for x in _forms_in(key)})
            self._known = Known(self._widths())

    def ids(self, shared: dict, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """By feature the ids of tokens, int32 `(tokens,)`; of all, `(tokens, ids)`.

        Args:
            shared: see `shared_words.shared_of`.
            tokens: as `runtime.strings.encodable` has them.

        Raises:
            OSError: if `words.onnx` cannot be run.
        """
        known = self._with(tokens)
        numbers = np.fromiter(map(known.numbers.get, tokens), np.int64, len(tokens))
        found = {x: known.rows(_key(x, shared), numbers) for x in _read(shared)}
        return {x: rows if x == IDS else rows[:, 0] for x, rows in found.items()}

    def _with(self, tokens) -> Known:
        """All that is known, with these tokens."""
        with self._lock:
            if self._known.full:
                # a new one: other threads may still read this
                self._known = Known(self._widths())
            known = self._known
            distinct = dict.fromkeys(tokens)
            if new := [token for token in distinct if token not in known.numbers]:
                known.add(new, self._looked_up(new))
        return known

    def _widths(self) -> dict[tuple, int]:
        return {k: len(x) if k[0] == IDS else 1 for k, x in self._asked.items()}

    def _looked_up(self, tokens: list[str]) -> dict[tuple, np.ndarray]:
        """The rows of tokens, whose forms are made once for all parts."""
        forms = forms_of(tokens, self._names, self._made)

        def ids(columns):
            found = [self._column(forms, len(tokens), *column) for column in columns]
            return np.array(found, np.int32).T

        return {
            key: ids(asked)
            if key[0] == IDS
            else self._of_words(key[0], [forms[name] for name in asked])
            for key, asked in self._asked.items()
        }

    def _made(self, tokens: list[str]) -> dict[str, Sequence[str]]:
        """All forms of tokens, by `words.onnx`."""
        given = {"tokens": np.array(tokens, object)}
        made = self._forms.answers([*self._outputs], given)
        for form in made.values():
            if form.shape != (len(tokens),):
                raise self._forms.wrong("does not give one form a token")
        return {name: [*map(str, form)] for name, form in made.items()}

    def _of_words(self, feature: str, forms: list[list[str]]) -> np.ndarray:
        """The ids of a feature whose words are shared, `(tokens, 1)`."""
        index = self._indexes[feature]
        found = index.find([form.encode() for form in forms[0]])
        for before, own in pairwise(forms):
            # a form that is the one before, as most are, is not looked up again
            places = np.flatnonzero(found == UNKNOWN_ID).tolist()
            if places := [i for i in places if own[i] != before[i]]:
                found[places] = index.find([own[i].encode() for i in places])
        return found[:, None]

    def _column(self, forms: dict, count: int, table: str, names: list) -> list[int]:
        """The ids of tokens in one column: of the first form that the table has."""
        found = [UNKNOWN_ID] * count
        for name in names:
            ids = self._tables[table]
            pairs = zip(found, forms[name], strict=True)
            found = [ids.get(x, i) if i == UNKNOWN_ID else i for i, x in pairs]
        return found

    def feed(self, shared: dict, name: str, ids, real: np.ndarray) -> np.ndarray:
        """The input of a file for a batch.

        Args:
            shared: see `shared_words.shared_of`.
            name: of the feature.
            ids: of the words of the batch.
            real: `(batch, time)`, where they stand.

        Returns:
            `(batch, time)` int32, or with one more axis vectors, float32, or all ids,
            int32; zeros in the padding.
        """
        if name != VECTOR:
            found = np.zeros((*real.shape, *ids.shape[1:]), np.int32)
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


def _read(shared: dict) -> list[str]:
    """The inputs of a file that are looked up: its features, and all ids."""
    return [name for name in shared if name in INPUTS or name == IDS]


def _key(name: str, shared: dict) -> tuple:
    """The same for parts that read the same: the name, and the forms or columns."""
    if name == IDS:
        return name, *((table, *forms) for table, forms in shared[name])
    return name, *shared[name]


def _forms_in(key: tuple) -> list[str]:
    name, *asked = key
    return [form for _, *forms in asked for form in forms] if name == IDS else asked
