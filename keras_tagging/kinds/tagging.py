"""The answers of taggers: labels with probabilities, in one column or several."""

from dataclasses import replace

import numpy as np

from keras_tagging.data.lemmas.scripts import lemmas_of, shown_pairs
from keras_tagging.data.named_columns import (
    annotated,
    by_column,
    check_names,
    field_of,
    output_names,
    with_labels,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import spaced, spans_of
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.column_rules import ColumnRules
from keras_tagging.encoding.label_column import LabelColumn
from keras_tagging.kinds.answers import Answers
from keras_tagging.kinds.kind import Output

#: what each column has, by the names without that of the column
OUTPUTS = {
    "tags": Output("string", ""),
    "probabilities": Output("float", 0.0),
    "top_tags": Output("string", "", ranked=True),
    "top_probabilities": Output("float", 0.0, ranked=True),
    "all_probabilities": Output("float", 0.0, ranked=True, served=False),
}


class Tagging(Answers):
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
        return {own[base]: x for own in named for base, x in OUTPUTS.items()}

    @property
    def column_names(self) -> tuple[str | None, ...]:
        """The columns of the sentences that it fills; (None,) for their tags."""
        return tuple(column.name for column in self.label_columns)

    @property
    def marks(self) -> str:
        """See `Answers.marks`."""
        return self.rules.marks if self.rules else ""

    @property
    def tags(self):
        """The tag inventory, in the order of the outputs; one by column if named."""
        self._require_network()
        return by_column(self.column_names, [c.labels for c in self.label_columns])

    def nothing(self, name):
        for column in self.label_columns:
            if name == column.output_names["all_probabilities"]:
                return np.zeros((0, len(column)), "float32")
        return super().nothing(name)

    # Tags

    def tag(self, sentences, *, beta=None, probabilities=False):
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
        parts = self._parts(levels, [probabilities] * len(levels))
        parts = self._joined(parts, probabilities)
        return self.streamed(sentences, *parts, entries)

    def predictions(self, sentences, *calls) -> list:
        """Tag probabilities: one `(tokens, num_tags)` array a sentence.

        With named columns it is a dict of such arrays. With a CRF they are the
        marginals of each token. In a network that reads its labels, they are the
        probabilities after the preceding labels of the best path.
        """
        parts = [
            (
                [column.output_names["all_probabilities"]],
                lambda _, rows: np.asarray(rows),
            )
            for column in self.label_columns
        ]
        return self.items(slices(sentences), *self._joined(parts), *calls)

    def _joined(self, parts, values=False):
        """The outputs and the function of several parts; it gives an item a column.

        A part without outputs is one that `rules` choose: its function takes the
        labels in the place of arrays, and, with `values`, their probabilities.
        """
        ruled = [] if all(names for names, _ in parts) else self._ruled_outputs()
        wanted = ruled + [name for names, _ in parts for name in names]

        def items(sentence, *arrays):
            found, rest = [], iter(arrays)
            given = {name: next(rest) for name in ruled}
            chosen = self._chosen(sentence.tokens, given, values) if ruled else {}
            for column, (names, item) in zip(self.label_columns, parts, strict=True):
                own = [next(rest) for _ in names] if names else chosen[column.name]
                found.append(item(sentence.tokens, *own))
            return by_column(self.column_names, found)

        return wanted, items

    def _parts(self, levels, probabilities):
        """The part of each column: see `_part`."""
        ruled = self._ruled_columns
        return [
            _ruled_part(pairs)
            if level is None and column in ruled
            else _part(column, level, pairs)
            for column, level, pairs in zip(
                self.label_columns, levels, probabilities, strict=True
            )
        ]

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

    def more(self, names):
        """See `Answers.more`: the outputs that `rules` choose from."""
        bases = ("tags", "probabilities")
        ruled = {c.output_names[base] for c in self._ruled_columns for base in bases}
        return self._ruled_outputs() if ruled & {*names} else []

    def row(self, sentence, found, more):
        """See `Answers.row`: labels as `tag` gives them."""
        chosen = {}
        if self.more(found):
            ruled = [column.output_names for column in self._ruled_columns]
            values = any(names["probabilities"] in found for names in ruled)
            chosen = self._chosen(sentence.tokens, found | more, values)
        rows = super().row(sentence, found, more)
        for column in self.label_columns:
            names, tokens = column.output_names, sentence.tokens
            if column.name in chosen:
                pair = zip(("tags", "probabilities"), chosen[column.name], strict=True)
                rows |= {names[base]: x for base, x in pair if names[base] in rows}
            elif column.scripts and names["tags"] in rows:
                rows[names["tags"]] = lemmas_of(tokens, rows[names["tags"]])
            if column.scripts and names["top_tags"] in rows:
                ranked = zip(tokens, rows[names["top_tags"]], strict=True)
                rows[names["top_tags"]] = [
                    lemmas_of([token] * len(row), row) for token, row in ranked
                ]
        return rows

    def measured(self, sentences) -> dict[str, float]:
        """The figures on sentences with gold labels: see `kinds.figures`."""
        from keras_tagging.kinds.figures import tag_figures  # half a second

        return tag_figures(self, annotated(sentences, self.column_names))

    # Annotated sentences

    @property
    def _tag_column(self) -> str | None:
        """The column of sentences that tags without a name are; None if not known."""
        if self.column_names[:1] != (None,):
            return None
        name = (self.metadata.get("corpus") or {}).get("tag_column")
        return field_of(name) if isinstance(name, str) else None

    @property
    def gives(self):
        """The columns of sentences that it fills; "tags" for tags without a column."""
        names = (name or self._tag_column or "tags" for name in self.column_names)
        return tuple(map(field_of, names))

    @property
    def gives_spans(self) -> bool:
        """Whether a column has chunk tags."""
        return any(column.has_chunks for column in self.label_columns)

    def annotation(self, probabilities=False):
        """The sentences have the labels; those of chunks give spans, too.

        With `probabilities` they have these of their columns: see `tag`.
        """
        columns, place = self.label_columns, self._tag_column
        levels = [None] * len(columns)
        paired = [probabilities or column.has_chunks for column in columns]
        names, items = self._joined(self._parts(levels, paired), probabilities)

        def annotated(sentence, *arrays):
            found, values, spans = items(sentence, *arrays), {}, []
            found = {None: found} if columns[0].name is None else found
            for column, pairs in zip(columns, paired, strict=True):
                if pairs:
                    pairs = found[column.name]
                    found[column.name] = [tag for tag, _ in pairs]
                    values[column.name] = [p for _, p in pairs]
                if column.has_chunks:
                    spans += _spans(sentence, found[column.name], values[column.name])
            if None in found:
                for own in filter(None, (found, values)):
                    row = own.pop(None)
                    own |= {"tags": row} | ({place: row} if place else {})
            whole = with_labels(sentence, found, values if probabilities else None)
            return replace(whole, spans=spans) if self.gives_spans else whole

        return names, annotated


def _part(column: LabelColumn, beta=None, probabilities=False):
    """The outputs that a column needs, and the function from them to its items.

    The function takes the tokens first.
    """
    outputs = column.output_names
    if beta is not None:
        from keras_tagging.metrics import within_beta

        def close_to_best(tokens, rows):
            found = within_beta(np.asarray(rows), column.labels, beta)
            return shown_pairs(found, tokens) if column.scripts else found

        return [outputs["all_probabilities"]], close_to_best

    def best(tokens, tags):
        return column.shown(tags.tolist(), tokens)

    def pairs(tokens, tags, values):
        return list(zip(best(tokens, tags), values.tolist(), strict=True))

    if probabilities:
        return [outputs["tags"], outputs["probabilities"]], pairs
    return [outputs["tags"]], best


def _ruled_part(probabilities: bool):
    """The same of a column whose labels `ColumnRules` choose."""

    def item(tokens, labels, values):
        return list(zip(labels, values, strict=True)) if probabilities else labels

    return [], item


def _spans(sentence: Sentence, tags: list[str], probabilities: list[float]):
    """The spans of chunk tags with their probabilities."""
    from keras_tagging.metrics import chunks

    surface = sentence.surface or spaced(sentence.tokens)
    return spans_of(chunks(tags), probabilities, surface)


def lists_of(about, found) -> dict[str, list[str]]:
    """The lists of tags in a description: with named columns, one for each.

    Raises:
        ValueError: if they cannot be those of one tagger.
    """
    if not isinstance(tags := about.get("tags"), dict):
        return found
    check_names([*tags])
    if not tags:
        raise ValueError("does not list its tags")
    return found | {"tags": [*tags], **tags}
