"""Taggers predict labels with probabilities, in one column or several."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from keras_tagging.data.lemmas.scripts import lemmas_of, shown_pairs
from keras_tagging.data.named_columns import (
    by_column,
    check_labelled,
    check_names,
    field_of,
    output_names,
    with_labels,
)
from keras_tagging.data.sentence import Listed, Sentence, Sentences
from keras_tagging.data.surface import spaced, spans_of
from keras_tagging.encoding.label_columns import ColumnRules, LabelColumn
from keras_tagging.kinds import Output
from keras_tagging.kinds.predictor import Predictor

#: what each column has, by the names without that of the column
OUTPUTS = {
    "tags": Output("string", ""),
    "probabilities": Output("float", 0.0),
    "top_tags": Output("string", "", ranked=True),
    "top_probabilities": Output("float", 0.0, ranked=True),
    "all_probabilities": Output("float", 0.0, ranked=True, served=False),
}

#: of `tag`: one level, or one for each column
Beta = float | Mapping[str, float] | None

LEAST = np.finfo("float32").tiny  # a probability, whose logarithm is finite


class Tagging(Predictor):
    """A tagger, with Keras or without.

    Attributes:
        label_columns: the `LabelColumn` of each of its columns.
        rules: what its answers keep to; None if each column is answered alone. You may
            set it to None.
    """

    kind, inventory = "tagger", "tags"
    gives_probabilities = True
    label_columns: tuple[LabelColumn, ...] = ()
    rules: ColumnRules | None = None

    @classmethod
    def outputs(cls, about):
        names = about["tags"] if isinstance(about["tags"], dict) else [None]
        named = (output_names(name) for name in names)
        return {
            of_column[base]: x for of_column in named for base, x in OUTPUTS.items()
        }

    @property
    def column_names(self) -> tuple[str | None, ...]:
        """The columns of the sentences that it fills; (None,) for their tags."""
        return tuple(column.name for column in self.label_columns)

    @property
    def marks(self) -> str:
        """See `Predictor.marks`."""
        return self.rules.marks if self.rules else ""

    @property
    def tags(self) -> Any:  # list[str], or dict[str, list[str]]
        """The tag inventory, in the order of the outputs; one by column if named."""
        self._require_network()
        return by_column(self.column_names, [c.labels for c in self.label_columns])

    def empty_output(self, name):
        for column in self.label_columns:
            if name == column.output_names["all_probabilities"]:
                return np.zeros((0, len(column)), "float32")
        return super().empty_output(name)

    # Tags

    @overload
    def tag(
        self, sentences: Listed, *, beta: Beta = ..., probabilities: bool = ...
    ) -> list[Any]: ...
    @overload
    def tag(
        self, sentences: Sentences, *, beta: Beta = ..., probabilities: bool = ...
    ) -> Iterator[Any]: ...
    def tag(
        self, sentences: Sentences, *, beta: Beta = None, probabilities: bool = False
    ):
        """Tag sentences.

        With a CRF the tags are those of the best path, and chunk tags are those of the
        best path with consistent chunks (`constrained`); labels and lemmas keep to
        `rules`. So they need not be the most probable of each token. `beta` uses the
        probabilities alone.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or tuple
                gives a list; any other iterable gives a generator that reads a limited
                number of sentences ahead.
            beta: return every tag with p >= beta * max p, best first; 0 gives all. With
                named columns it may be a dict by column; the others have one tag each.
            probabilities: return the probability with the tag.

        Returns:
            For each sentence a list with one entry a token: the tag; with
            `probabilities`, `(tag, p)`; with `beta`, a list of `(tag, p)`. With named
            columns a dict of such lists: ``{"upos": ["DET", "NOUN"], "xpos": ...}``.
        """
        self._require_network()
        levels, entries = [None] * len(self.label_columns), 1
        if beta is not None:
            # which takes half a second
            from keras_tagging.metrics.multi_tagging import betas_of, entries_of

            levels = betas_of(beta, self.column_names)
            entries = entries_of(levels, list(map(len, self.label_columns)))
        names, labels = self._labels(levels, [probabilities] * len(levels))

        def joined(sentence, outputs):
            return by_column(self.column_names, labels(sentence, outputs))

        return self.decode(sentences, names, joined, entries)

    def predictions(self, sentences: Sentences, *calls: Any) -> list[Any]:
        """Tag probabilities: one `(tokens, num_tags)` array a sentence.

        With named columns it is a dict of such arrays. With a CRF they are the
        marginals of each token. In a network that reads its labels, they are the
        probabilities after the preceding labels of the best path.
        """
        names = [c.output_names["all_probabilities"] for c in self.label_columns]

        def rows(sentence, outputs):
            arrays = [np.asarray(outputs[name]) for name in names]
            return by_column(self.column_names, arrays)

        return self.decode(sentences, names, rows, 1, *calls)

    def _labels(self, levels, paired):
        """The outputs that labels are read from, and the function that reads them.

        The function takes a sentence and its outputs, and gives a list for each column.

        Args:
            levels: for each column the beta of `tag`, or None for its best labels.
            paired: for each column whether these come with their probabilities.
        """
        plan = list(zip(self.label_columns, levels, paired, strict=True))
        best = {column.name for column, level, _ in plan if level is None}
        ruled = {c.name for c in self._ruled_columns if c.name in best}
        with_values = any(pair for c, _, pair in plan if c.name in ruled)
        needed = self._ruled_outputs() if ruled else []
        for column, level, pair in plan:
            if level is not None:
                needed.append(column.output_names["all_probabilities"])
            elif column.name not in ruled:
                bases = ("tags", "probabilities") if pair else ("tags",)
                needed += [column.output_names[base] for base in bases]

        def of_column(column, level, pair, tokens, outputs, chosen):
            names = column.output_names
            if level is not None:
                from keras_tagging.metrics import within_beta

                rows = np.asarray(outputs[names["all_probabilities"]])
                close = within_beta(rows, column.labels, level)
                return shown_pairs(close, tokens) if column.scripts else close
            if column.name in ruled:
                labels, values = chosen[column.name]
            else:
                labels = column.shown(outputs[names["tags"]].tolist(), tokens)
                values = outputs[names["probabilities"]].tolist() if pair else None
            return list(zip(labels, values, strict=True)) if pair else labels

        def labels(sentence, outputs):
            tokens, chosen = sentence.tokens, {}
            if ruled:
                chosen = self._chosen(tokens, outputs, with_values)
            return [of_column(*part, tokens, outputs, chosen) for part in plan]

        return list(dict.fromkeys(needed)), labels

    @property
    def _ruled_columns(self) -> list[LabelColumn]:
        """Those whose labels `rules` choose."""
        ruled = self.rules.columns if self.rules else ()
        return [column for column in self.label_columns if column.name in ruled]

    def _ruled_outputs(self) -> list[str]:
        """The outputs that `rules` choose from."""
        bases = ("tags", "all_probabilities")
        return [c.output_names[base] for c in self._ruled_columns for base in bases]

    def _chosen(self, tokens, outputs, values):
        """The labels of a sentence that `rules` choose, with their probabilities.

        These are None without `values`.
        """
        columns = {column.name: column for column in self._ruled_columns}
        labels, rows = {}, {}
        for name, column in columns.items():
            labels[name] = outputs[column.output_names["tags"]].tolist()
            rows[name] = outputs[column.output_names["all_probabilities"]]
        return self.rules.chosen(tokens, labels, rows, columns, values)

    def row_outputs(self, names):
        """See `Predictor.row_outputs`: the outputs that `rules` choose from."""
        bases = ("tags", "probabilities")
        ruled = {c.output_names[base] for c in self._ruled_columns for base in bases}
        return self._ruled_outputs() if ruled & {*names} else []

    def decode_row(self, sentence, names, outputs):
        """See `Predictor.decode_row`: labels as `tag` gives them."""
        rows, tokens = super().decode_row(sentence, names, outputs), sentence.tokens
        is_ruled = self.row_outputs(names)
        chosen = self._chosen(tokens, outputs, values=True) if is_ruled else {}
        for column in self.label_columns:
            tags, top = (column.output_names[base] for base in ("tags", "top_tags"))
            if column.name in chosen:
                pair = zip(("tags", "probabilities"), chosen[column.name], strict=True)
                made = {column.output_names[base]: row for base, row in pair}
                rows |= {name: row for name, row in made.items() if name in rows}
            elif tags in rows:
                rows[tags] = column.shown(rows[tags], tokens)
            if column.scripts and top in rows:
                ranked = zip(tokens, rows[top], strict=True)
                rows[top] = [
                    lemmas_of([token] * len(row), row) for token, row in ranked
                ]
        return rows

    def measured(self, sentences, *calls, seen=None) -> dict[str, float]:
        """The figures on sentences with gold labels.

        They are those of `Tagger.evaluate`; of an exported file without `oov_accuracy`,
        as it does not tell which words training had. A SavedModel gives no loss either.

        Args:
            sentences: sentences with gold labels.
            *calls: for a model with Keras its `NetworkCalls`.
            seen: arguments by which `token_accuracy` tells unseen words.
        """
        names, item, figures = self.measuring(sentences, seen)
        return figures(self.decode(sentences, names, item, 1, *calls))

    def measuring(self, sentences, seen):
        """The outputs that figures need, and the functions that compute them.

        One makes an item of a sentence and its outputs, one figures of all items.

        Args:
            sentences, seen: as in `measured`.

        Raises:
            ValueError: if a sentence has no gold labels.
        """
        from keras_tagging.kinds import figures  # half a second

        check_labelled(sentences, self.column_names)
        columns = self.label_columns
        names, labels = self._labels([None] * len(columns), [False] * len(columns))
        rows = [column.output_names["all_probabilities"] for column in columns]
        if not {*rows} <= {*self.output_names()}:
            rows = []

        def item(sentence, outputs):
            losses = []
            for column, name in zip(columns, rows, strict=False):
                logits, targets = outputs[name], column.targets([sentence])
                losses.append(figures.cross_entropy(logits_of(logits), targets))
            return labels(sentence, outputs), losses

        def computed(items):
            predicted = [[item[i] for item, _ in items] for i in range(len(columns))]
            losses = [[part[i] for _, part in items] for i in range(len(rows))]
            return figures.figures_of(columns, sentences, predicted, losses, seen or {})

        return [*dict.fromkeys(names + rows)], item, computed

    # Annotated sentences

    @property
    def _tag_column(self) -> str | None:
        """The column of sentences that tags without a name are; None if not known."""
        if self.column_names[:1] != (None,):
            return None
        name = (self.metadata.get("corpus") or {}).get("tag_column")
        return field_of(name) if isinstance(name, str) else None

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns of sentences that it fills; "tags" for tags without a column."""
        names = (name or self._tag_column or "tags" for name in self.column_names)
        return tuple(map(field_of, names))

    @property
    def gives_spans(self) -> bool:
        """Whether a column has chunk tags."""
        return any(column.has_chunks for column in self.label_columns)

    def decoding(self, probabilities=False):
        """The sentences have the labels; those of chunks give spans, too.

        With `probabilities` they have these of their columns: see `tag`.
        """
        names, found = self._decoding(probabilities)

        def annotated(sentence, outputs):
            fields, values, spans = found(sentence, outputs)
            whole = with_labels(sentence, fields, values if probabilities else None)
            return replace(whole, spans=spans) if self.gives_spans else whole

        return names, annotated

    def _decoding(self, probabilities):
        """The outputs needed, and the function to labels, these of each, and spans."""
        columns, tag_column = self.label_columns, self._tag_column
        paired = [probabilities or column.has_chunks for column in columns]
        names, labels = self._labels([None] * len(columns), paired)

        def found(sentence, outputs):
            fields, values, spans = {}, {}, []
            rows = labels(sentence, outputs)
            for column, pair, row in zip(columns, paired, rows, strict=True):
                tags = [tag for tag, _ in row] if pair else row
                shares = [share for _, share in row] if pair else None
                if column.has_chunks:
                    spans += _spans(sentence, tags, shares)
                for name in (column.name or "tags", column.name or tag_column):
                    if name:
                        fields[name], values[name] = tags, shares
            return fields, values, spans

        return names, found


def logits_of(probabilities) -> np.ndarray:
    """Logits of probabilities: those of which Keras made them, or their logarithms."""
    if isinstance(probabilities, np.ndarray):
        return np.log(np.maximum(probabilities.astype("float64"), LEAST))
    return probabilities.logits


def _spans(sentence: Sentence, tags: list[str], probabilities: list[float]):
    """The spans of chunk tags with their probabilities."""
    from keras_tagging.metrics import chunks

    surface = sentence.surface or spaced(sentence.tokens)
    return spans_of(chunks(tags), probabilities, surface, sentence.tokens)


def lists_of(about, lists) -> dict[str, list[str]]:
    """The lists of tags in a description: with named columns, one for each.

    Raises:
        ValueError: if they cannot be those of one tagger.
    """
    if not isinstance(tags := about.get("tags"), dict):
        return lists
    check_names([*tags])
    if not tags:
        raise ValueError("does not list its tags")
    return lists | {"tags": [*tags], **tags}
