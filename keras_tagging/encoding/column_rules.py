"""Rules, learnt from training, that make a word's labels in several columns agree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache, reduce
from itertools import combinations

import numpy as np

from keras_tagging.data.lemmas.rules import LemmaRules
from keras_tagging.data.named_columns import field_of, labels_of
from keras_tagging.data.normalisation import (
    STRAIGHT,
    straight_table,
    straightened,
    to_nfc,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.label_column import LabelColumn

#: columns that describe a word together; those of chunks or names do not
MORPHOLOGY = ("pos", "xpos", "feats")
CANDIDATES = 8
#: words whose lemmas are kept: a text repeats most of its words
KEPT_WORDS = 1 << 14
KEYS = ("seen", "lemmas", "marks")
Row = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class ColumnRules:
    """How the answers of the columns of one tagger are made to agree.

    Two labels of a word contradict each other if no word of training has both: VERB and
    NN. Of a word with such labels, the eight most probable labels of each column are
    combined, and of the combinations without a contradiction the one with the greatest
    product of probabilities wins. All other words keep their labels. Then lemmas are
    chosen by `LemmaRules`.

    Args:
        seen: for two columns, by their names with a blank between, and each label of
            the first, the labels of the second that it occurs with.
        lemmas: None without a column of scripts.
        marks: see `data.normalisation.straightened`.
    """

    seen: dict[str, dict[str, list[str]]]
    lemmas: LemmaRules | None = None
    marks: str = ""

    def __post_init__(self):
        pairs = {
            tuple(names.split(" ")): {(a, b) for a, row in table.items() for b in row}
            for names, table in self.seen.items()
        }
        read = [name for names in pairs for name in names]
        if self.lemmas:
            read += [*self.lemmas.columns, *filter(None, [self.lemmas.lemma_column])]
        read = tuple(dict.fromkeys(read))
        pairs = [(*map(read.index, names), seen) for names, seen in pairs.items()]
        object.__setattr__(self, "_pairs", pairs)
        object.__setattr__(self, "_straight", straight_table(self.marks))
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_plain", lru_cache(KEPT_WORDS)(self._plain_lemma))
        object.__setattr__(self, "_agree", lru_cache(KEPT_WORDS)(self._all_seen))
        lemma = ("lemma",) if self.lemmas else ()
        object.__setattr__(self, "columns", read + lemma)

    @classmethod
    def learnt(
        cls,
        sentences: Iterable[Sentence],
        columns: Sequence[LabelColumn],
        lexicon: Iterable[tuple[str, str, str]] = (),
    ) -> "ColumnRules | None":
        """The rules of training sentences; None if their columns have none.

        Args:
            sentences: annotated in the columns.
            columns: of the tagger.
            lexicon: see `LemmaRules.learnt`.
        """
        names = _agreeing(columns)
        scripts = any(column.scripts for column in columns)
        read = names + ["lemma"] * scripts
        words = []  # forms and their labels
        for sentence in sentences:
            rows = [labels_of(sentence, name) for name in read]
            words += zip(sentence.tokens, *rows, strict=True)
        seen = {}
        for (i, a), (j, b) in combinations(enumerate(names, 1), 2):
            table = seen[f"{a} {b}"] = {}
            for one, other in sorted({(word[i], word[j]) for word in words}):
                table.setdefault(one, []).append(other)
        lemmas, counts = None, Counter(x for form, *_ in words for x in form)
        marks = straightened(counts)
        if scripts:
            table = straight_table(marks)
            given = (
                (
                    to_nfc(form).translate(table),
                    lemma,
                    dict(zip(names, row, strict=True)),
                )
                for form, *row, lemma in words
            )
            lemmas = LemmaRules.learnt(given, lexicon)
        return cls(seen, lemmas, marks) if seen or lemmas else None

    # Decoding

    def chosen(
        self,
        tokens: Sequence[str],
        labels: Row,
        probabilities: Mapping[str, np.ndarray],
        columns: Mapping[str, LabelColumn],
        values: bool = True,
    ) -> dict[str, tuple[list[str], list[float] | None]]:
        """The labels of a sentence by column, and their probabilities.

        Args:
            tokens: the words.
            labels: the best labels of each word in each of `self.columns`.
            probabilities: `(words, labels)` of each of these columns. Rows of few words
                are read without `values`.
            columns: these columns by name.
            values: whether the probabilities are wanted; else None stands for them.

        Returns:
            In the column of lemmas the lemmas, each with the probability of its
            script, or 0 if no script made it.
        """
        words = [()] * len(tokens)
        if self._read:
            words = list(zip(*(labels[name] for name in self._read), strict=True))
        for i, word in enumerate(words):
            if not self._agree(word):
                rows = {name: probabilities[name][i] for name in self._read}
                words[i] = self._joint(word, rows, columns)
        found = {name: [w[k] for w in words] for k, name in enumerate(self._read)}
        made = {**found}
        if self.lemmas:
            rows, known = probabilities["lemma"], columns["lemma"].labels
            given = enumerate(zip(tokens, labels["lemma"], words, strict=True))
            pairs = [
                self._plain(*word) or self._lemma(*word, _Ranked(known, rows, i))
                for i, word in given
            ]
            found["lemma"] = [lemma for lemma, _ in pairs]
            made["lemma"] = [script for _, script in pairs]
        if not values:
            return {name: (row, None) for name, row in found.items()}
        return {
            name: (row, _probabilities(made[name], probabilities[name], columns[name]))
            for name, row in found.items()
        }

    def _lemma(self, token, script, word, ranked):
        """See `LemmaRules.chosen`."""
        form = to_nfc(token).translate(self._straight)
        word = dict(zip(self._read, word, strict=True))
        return self.lemmas.chosen(form, script, word, ranked)

    def _plain_lemma(self, token, script, word):
        """The same where it does not depend on other scripts; else None."""
        asked = []
        found = self._lemma(token, script, word, lambda: asked.append(True) or ())
        return None if asked else found

    def _all_seen(self, word: tuple[str, ...]) -> bool:
        return all((word[i], word[j]) in seen for i, j, seen in self._pairs)

    def _joint(self, word, rows, columns) -> tuple[str, ...]:
        """The labels of a word that agree; its own if none do."""
        orders = [np.argsort(-row, kind="stable")[:CANDIDATES] for row in rows.values()]
        best = [
            row[order].astype("float64")
            for row, order in zip(rows.values(), orders, strict=True)
        ]
        values = reduce(np.multiply.outer, best)
        for place in np.argsort(-values, axis=None, kind="stable").tolist():
            places = np.unravel_index(place, values.shape)
            found = tuple(
                columns[name].labels[order[i]]
                for name, order, i in zip(rows, orders, places, strict=True)
            )
            if self._agree(found):
                return found
        return word

    # As it is saved

    def config(self) -> dict:
        """A value for JSON, from which `restored` makes the rules again."""
        lemmas = self.lemmas and asdict(self.lemmas)
        return {"seen": self.seen, "lemmas": lemmas, "marks": self.marks}

    @classmethod
    def restored(cls, config, columns: Sequence[LabelColumn]) -> "ColumnRules | None":
        """The rules of a saved model, whose configuration may be anything.

        Args:
            config: None if it has none, as an earlier one.
            columns: of the tagger.

        Raises:
            ValueError: if they cannot be those of these columns.
        """
        if config is None:
            return None
        names = {*_agreeing(columns)}
        scripts = {c.name for c in columns if c.scripts}
        if not isinstance(config, dict) or config.keys() != {*KEYS}:
            raise ValueError("has rules of columns that are none")
        seen, lemmas, marks = (config[key] for key in KEYS)
        if not isinstance(marks, str) or not set(marks) <= STRAIGHT.keys():
            raise ValueError("has rules of marks that are none")
        if not _is_table(seen) or not all(
            len(pair := key.split(" ")) == 2 and names.issuperset(pair) for key in seen
        ):
            raise ValueError("has rules of other columns than its own")
        if lemmas is not None:
            lemmas = _lemma_rules(lemmas, names, scripts)
        return cls(seen, lemmas, marks)


class _Ranked:
    """All scripts of a word with their probabilities, best first, once it is called."""

    def __init__(self, labels: Sequence[str], rows: np.ndarray, place: int):
        self.labels, self.rows, self.place = labels, rows, place

    def __call__(self):
        row = self.rows[self.place]
        order = np.argsort(-row, kind="stable").tolist()
        return ((self.labels[j], float(row[j])) for j in order)


def _agreeing(columns: Iterable[LabelColumn]) -> list[str]:
    known = (c for c in columns if c.name and field_of(c.name) in MORPHOLOGY)
    return [column.name for column in known if not column.has_chunks]


def _probabilities(labels, rows: np.ndarray, column: LabelColumn) -> list[float]:
    ids = [column.ids.get(label, -1) for label in labels]
    rows = np.asarray(rows)
    return [float(row[j]) if j >= 0 else 0.0 for row, j in zip(rows, ids, strict=True)]


def _lemma_rules(config, names: set[str], scripts: set[str]) -> LemmaRules:
    known = {field.name for field in fields(LemmaRules)}
    if not isinstance(config, dict) or config.keys() != known or scripts != {"lemma"}:
        raise ValueError("has rules of lemmas that are none")
    columns, column = config["columns"], config["lemma_column"]
    listed = config["listed"]
    tables = ("words", "endings", "changes", "cases")
    if not (
        isinstance(columns, list | tuple)
        and all(isinstance(name, str) and name in names for name in columns)
        and (column is None or isinstance(column, str) and column in names)
        and isinstance(config["separators"], str)
        and isinstance(listed, list | tuple)
        and all(isinstance(label, str) for label in listed)
        and all(_is_table(config[name]) for name in tables)
        and _is_table({"": config["lemmas"]})
    ):
        raise ValueError("has rules of lemmas that are none")
    tuples = {"columns": tuple(columns), "listed": tuple(listed)}
    return LemmaRules(**{**config, **tuples})


def _is_table(value) -> bool:
    """Whether it is lists of strings, that are not empty, by two strings."""
    return isinstance(value, dict) and all(
        isinstance(row, dict)
        and all(
            isinstance(items, list | tuple)
            and items
            and all(type(x) is str for x in items)
            for items in row.values()
        )
        for row in value.values()
    )
