"""The columns of labels that a tagger learns, and rules that make them agree."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache, reduce
from itertools import combinations

import numpy as np

from keras_tagging.data.lemmas.rules import LemmaRules, parts_of
from keras_tagging.data.lemmas.scripts import is_script, lemmas_of, script_of
from keras_tagging.data.named_columns import (
    CHUNK_FIGURES,
    FIGURES,
    field_of,
    labels_of,
    output_names,
)
from keras_tagging.data.normalisation import (
    PLAIN,
    STRAIGHT,
    looked_up,
    straight_table,
    straightened,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics import looks_like_chunks


@dataclass(frozen=True)
class LabelColumn:
    """One output of a tagger: the labels that it knows, and the names of its parts.

    Args:
        name: of the column; None for `Sentence.tags` in a tagger that learns nothing
            else. Its layers, figures and outputs have no prefix.
        labels: the inventory, in the order of the network's outputs.
        scheme: the chunk scheme that decoding keeps to; None if it is free.
        scripts: whether the gold labels are lemmas, and `labels` the scripts that make
            them: see `data.lemmas`.
    """

    name: str | None
    labels: list[str]
    scheme: str | None = None
    scripts: bool = False

    @classmethod
    def stored(cls, name, labels: list[str], scheme=None) -> "LabelColumn":
        """That of a saved model, of which an earlier one has lemmas as they are."""
        scripts = learns_scripts(name) and bool(labels) and all(map(is_script, labels))
        return cls(name, labels, scheme, scripts)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def ids_of_edits(self) -> dict[str, list[int]]:
        """Those of the scripts that have the same edits."""
        ids = defaultdict(list)
        for i, script in enumerate(self.labels):
            ids[parts_of(script, "")[1]].append(i)
        return dict(ids)

    @property
    def vocabulary(self) -> str:
        """The name of its inventory among the vocabularies of a model."""
        return vocabulary_of(self.name)

    @cached_property
    def output_names(self) -> dict[str, str]:
        """See `data.named_columns`."""
        return output_names(self.name)

    def layer(self, name: str) -> str:
        """The name of one of its layers."""
        return name if self.name is None else f"{name}_{self.name}"

    def figure(self, name: str) -> str:
        """The name of one of its figures."""
        return name if self.name is None else f"{self.name}_{name}"

    @cached_property
    def has_chunks(self) -> bool:
        """Whether its labels are those of chunks."""
        return not self.scripts and looks_like_chunks(self.labels)

    @property
    def figures(self) -> list[str]:
        """The names of its figures, without a prefix."""
        return [*FIGURES, *CHUNK_FIGURES] if self.has_chunks else [*FIGURES]

    def gold(self, sentences: Iterable[Sentence]) -> list[list[str]]:
        """The gold labels of annotated sentences: lemmas if it learns scripts."""
        return [labels_of(sentence, self.name) for sentence in sentences]

    def learnt(self, sentences: Iterable[Sentence]) -> list[list[str]]:
        """The labels that are learnt of sentences: the gold ones, or their scripts."""
        if not self.scripts:
            return self.gold(sentences)
        return [scripts_of(sentence, self.name) for sentence in sentences]

    def shown(self, labels: Sequence[str], tokens: Sequence[str]) -> list[str]:
        """Labels of the inventory, one a token, as `Tagger.tag` gives them."""
        return lemmas_of(tokens, labels) if self.scripts else list(labels)

    def targets(self, sentences: Iterable[Sentence]) -> np.ndarray:
        """The ids of the gold labels of all tokens; -1 outside the inventory."""
        find = self.ids.get
        return np.array(
            [find(label, -1) for row in self.learnt(sentences) for label in row],
            "int32",
        )

    def part(self, outputs):
        """The part of the outputs of a network that is of this column."""
        return outputs if self.name is None else outputs[self.name]


def learns_scripts(name: str | None) -> bool:
    """Whether a tagger learns a column as scripts: lemmas alone."""
    return name == "lemma"


def scripts_of(sentence: Sentence, name: str | None) -> list[str]:
    """The scripts of the lemmas in a column of a sentence."""
    pairs = zip(sentence.tokens, labels_of(sentence, name), strict=True)
    return [script_of(looked_up(token), lemma) for token, lemma in pairs]


def targets_of(sentences, columns) -> np.ndarray:
    """The ids of the gold labels of all tokens, for `EncodedSentences`."""
    ids = [column.targets(sentences) for column in columns]
    return ids[0] if columns[0].name is None else np.stack(ids, 1)


def vocabulary_of(name: str | None) -> str:
    return "tags" if name is None else f"tags:{name}"


def is_inventory(vocabulary: str) -> bool:
    """Whether a vocabulary of a model has labels, and not features."""
    return vocabulary in ("tags", "labels") or vocabulary.startswith("tags:")


#: columns that describe a word together; those of chunks or names do not
MORPHOLOGY = ("pos", "xpos", "feats")
CANDIDATES = 8
#: words whose answers are kept: a text repeats most of its words
KEPT_WORDS = 1 << 14
KEYS = ("seen", "lemmas", "marks")
LabelsByColumn = Mapping[str, Sequence[str]]


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
        object.__setattr__(self, "_table", PLAIN | straight_table(self.marks))
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_kept", {})
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
            table = PLAIN | straight_table(marks)
            words_with_lemmas = (
                (looked_up(form, table), lemma, dict(zip(names, row, strict=True)))
                for form, *row, lemma in words
            )
            lemmas = LemmaRules.learnt(words_with_lemmas, lexicon)
        return cls(seen, lemmas, marks) if seen or lemmas else None

    # Decoding

    def chosen(
        self,
        tokens: Sequence[str],
        labels: LabelsByColumn,
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
        rows = [labels[name] for name in self._read]
        scripts = labels["lemma"] if self.lemmas else tokens
        words = list(zip(tokens, scripts, *rows, strict=True))
        kept = self._kept
        answers = [
            kept.get(word) or self._answer(i, word, probabilities, columns)
            for i, word in enumerate(words)
        ]
        # with the lemma, if there are lemmas, and the script that made it
        chosen = {k: [x[i] for x in answers] for i, k in enumerate(self.columns)}
        made = chosen
        if self.lemmas:
            made = chosen | {"lemma": [x[-1] for x in answers]}
        if not values:
            return {name: (row, None) for name, row in chosen.items()}
        return {
            name: (row, _probabilities(made[name], probabilities[name], columns[name]))
            for name, row in chosen.items()
        }

    def _answer(self, place, word, probabilities, columns) -> tuple:
        """The labels of one word that agree, its lemma, and the script that made it.

        It is kept if it does not depend on probabilities.
        """
        token, script, *labels = word
        lemma, is_sure = None, self._agree(tuple(labels))
        if not is_sure:
            rows = {name: probabilities[name][place] for name in self._read}
            labels = self._joint(tuple(labels), rows, columns)
        if self.lemmas:

            def ranked(edits):
                nonlocal is_sure
                is_sure = False
                return _ranked(columns["lemma"], probabilities["lemma"][place], edits)

            form = looked_up(token, self._table)
            named = dict(zip(self._read, labels, strict=True))
            lemma, script = self.lemmas.chosen(form, script, named, ranked)
        answer = (*labels, lemma, script)
        if is_sure:
            if len(self._kept) >= KEPT_WORDS:
                self._kept.clear()
            self._kept[word] = answer
        return answer

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
            labels = tuple(
                columns[name].labels[order[i]]
                for name, order, i in zip(rows, orders, places, strict=True)
            )
            if self._agree(labels):
                return labels
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
        if not (
            isinstance(config, dict)
            and config.keys() == {*KEYS}
            and isinstance(config["marks"], str)
            and set(config["marks"]) <= STRAIGHT.keys()
            and _is_table(config["seen"])
            and all(len(key.split(" ")) == 2 for key in config["seen"])
            and all(names.issuperset(key.split(" ")) for key in config["seen"])
        ):
            raise ValueError("has rules of columns that are none")
        seen, lemmas, marks = (config[key] for key in KEYS)
        if lemmas is not None:
            lemmas = _lemma_rules(lemmas, names, scripts)
        return cls(seen, lemmas, marks)


def _ranked(scripts: LabelColumn, probabilities: np.ndarray, edits: Iterable[str]):
    """The scripts of a word with some edits and their probabilities, best first."""
    ids = sorted(i for x in edits for i in scripts.ids_of_edits.get(x, ()))
    row = probabilities[ids]
    for j in np.argsort(-row, kind="stable").tolist():
        yield scripts.labels[ids[j]], float(row[j])


def _agreeing(columns: Iterable[LabelColumn]) -> list[str]:
    described = (c for c in columns if c.name and field_of(c.name) in MORPHOLOGY)
    return [column.name for column in described if not column.has_chunks]


def _probabilities(labels, rows: np.ndarray, column: LabelColumn) -> list[float]:
    ids = [column.ids.get(label, -1) for label in labels]
    rows = np.asarray(rows)
    return [float(row[j]) if j >= 0 else 0.0 for row, j in zip(rows, ids, strict=True)]


def _lemma_rules(config, names: set[str], scripts: set[str]) -> LemmaRules:
    keys = {field.name for field in fields(LemmaRules)}
    if not isinstance(config, dict) or config.keys() != keys or scripts != {"lemma"}:
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
