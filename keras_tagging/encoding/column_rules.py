"""Rules, learnt from training, that make a word's labels in several columns agree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, product
from math import prod

import numpy as np

from keras_tagging.data.lemma_rules import LemmaRules
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
        object.__setattr__(self, "_pairs", pairs)
        object.__setattr__(self, "_straight", straight_table(self.marks))
        object.__setattr__(self, "_read", read)
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
    ) -> dict[str, tuple[list[str], list[float]]]:
        """The labels of a sentence by column, and their probabilities.

        Args:
            tokens: the words.
            labels: the best labels of each word in each of `self.columns`.
            probabilities: `(words, labels)` of each of these columns.
            columns: these columns by name.

        Returns:
            In the column of lemmas the lemmas, each with the probability of its
            script, or 0 if no script made it.
        """
        found = {name: list(labels[name]) for name in self._read}
        for i in range(len(tokens)):
            word = {name: row[i] for name, row in found.items()}
            if not self._agree(word):
                rows = {name: probabilities[name][i] for name in word}
                for name, label in self._joint(word, rows, columns).items():
                    found[name][i] = label
        chosen = {
            name: (row, _probabilities(row, probabilities[name], columns[name]))
            for name, row in found.items()
        }
        if self.lemmas:
            column, rows = columns["lemma"], probabilities["lemma"]
            lemmas, scripts = [], []
            for i, (token, script) in enumerate(
                zip(tokens, labels["lemma"], strict=True)
            ):
                word = {name: row[i] for name, row in found.items()}
                ranked = _Ranked(column.labels, rows[i])
                form = to_nfc(token).translate(self._straight)
                made = self.lemmas.chosen(form, script, word, ranked)
                lemmas.append(made[0])
                scripts.append(made[1])
            chosen["lemma"] = lemmas, _probabilities(scripts, rows, column)
        return chosen

    def _agree(self, word: Mapping[str, str]) -> bool:
        return all((word[a], word[b]) in seen for (a, b), seen in self._pairs.items())

    def _joint(self, word, rows, columns) -> dict[str, str]:
        """The labels of a word that agree; its own if none do."""
        best = {}
        for name, row in rows.items():
            order = np.argsort(-row, kind="stable")[:CANDIDATES].tolist()
            best[name] = [(columns[name].labels[j], float(row[j])) for j in order]
        found, most = dict(word), -1.0
        for several in product(*best.values()):
            value = prod(p for _, p in several)
            if value > most:
                other = {n: x for n, (x, _) in zip(best, several, strict=True)}
                if self._agree(other):
                    found, most = other, value
        return found

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

    def __init__(self, labels: Sequence[str], row: np.ndarray):
        self.labels, self.row = labels, row

    def __call__(self):
        order = np.argsort(-self.row, kind="stable").tolist()
        return ((self.labels[j], float(self.row[j])) for j in order)


def _agreeing(columns: Iterable[LabelColumn]) -> list[str]:
    known = (c for c in columns if c.name and field_of(c.name) in MORPHOLOGY)
    return [column.name for column in known if not column.has_chunks]


def _probabilities(labels, rows: np.ndarray, column: LabelColumn) -> list[float]:
    ids = [column.ids.get(label, -1) for label in labels]
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
