"""The figures of a tagger, the counts behind them, its report, and its columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_tagging.data.named_columns import TOGETHER, annotated, labels_of
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Sentences, as_sentences
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.kinds.tagging import Tagging
from keras_tagging.metrics import (
    assigned,
    chunk_scores,
    looks_like_chunks,
    multi_tagging,
)
from keras_tagging.models.report import Report, without_nan
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.tables import any_strings

if TYPE_CHECKING:
    import pandas as pd


class MeasuredTagging(Tagging):
    """The figures of a tagger with Keras, of an ensemble, or of a single column."""

    report_options = ("multi_tagging", "betas", "per_tag")

    @property
    def figures(self) -> list[str]:
        """The names of the figures of `evaluate`, over real tokens.

        * `loss`: the mean cross-entropy of tokens whose gold tag is in the inventory;
          with a CRF too, from the marginals that `predict` gives;
        * `accuracy`, where a gold tag outside the inventory is an error;
        * `oov_accuracy`: that of words that training has not seen, in their normal
          form, or fewer than `word_min_count` times; nan without any;
        * `sentence_accuracy`: the share of sentences without an error;
        * for chunk tags `precision`, `recall` and `f1`, as conlleval counts them.

        Those of a named column begin with its name: `upos_accuracy`. Before them come
        the mean `loss` and `accuracy` of the columns, and `joint_accuracy`, the share
        of tokens that are right in all columns.
        """
        columns = self.label_columns
        together = [*TOGETHER] if columns and columns[0].name else []
        return together + [c.figure(name) for c in columns for name in c.figures]

    @property
    def default_monitor(self) -> str:
        """The figure that selects the best epoch: accuracy, or F1 for chunks alone."""
        first, *others = self.label_columns
        if others:
            return "val_accuracy"
        return f"val_{first.figure('f1' if first.has_chunks else 'accuracy')}"

    def column(self, name: str | None):
        """One of several columns, as a tagger that has no other: see `OneColumn`."""
        self._require_network()
        if name is None and self.column_names == (None,):
            return self
        check_known("column", name or "tags", filter(None, self.column_names))
        return OneColumn(self, self.label_columns[self.column_names.index(name)])

    def evaluator(self, sentences, *calls, **options) -> Callable[[], dict]:
        """See `SentenceCalls.evaluator`."""
        first = getattr(self, "members", [self])[0]
        seen = {"sentences": None, "known_words": None}
        if "word" in first.features.vocabularies:
            strings = flat_strings(sentences, marks=first.marks)
            forms = iter(first.features.normal_forms(strings["tokens"]))
            seen["sentences"] = [[*islice(forms, len(s))] for s in sentences]
            seen["known_words"] = first.known_words()
        return lambda: self.measured(sentences, *calls, seen=seen, **options)

    def multi_tagging(self, sentences: Sentences, **kwargs: Any) -> "pd.DataFrame":
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        one = self.column(None)
        sentences = one.annotated(sentences)
        gold = (one.label_columns[0].targets([sentence]) for sentence in sentences)
        rows = (p for part in slices(sentences) for p in one.predictions(part))
        return multi_tagging(gold, rows, **kwargs)

    def counts(self, sentences, figures) -> list[np.ndarray]:
        """The counts behind figures, from one pass over the sentences.

        The figures word and sent need the probabilities of all tags, and another pass.

        Args:
            sentences: sentences with gold tags. A tag unseen in training is an error.
            figures: names, each with its level of beta or None.

        Returns:
            For each figure `(units, counts)`, int. A row of accuracy is a token, `[1,
            right]`; a row of word too, `[1, right, assigned tags]`; a row of sent is a
            sentence with tokens, `[1, right]`; a row of f1 is a sentence, with its
            chunks `[gold, predicted, correct]`.

        Raises:
            ValueError: if a sentence has no tags.
        """
        model = self.column(None)
        sentences = model.annotated(sentences)
        names = {name for name, _ in figures}
        tags, hits = [], {}
        if names & {"accuracy", "f1"}:
            tags = model.tag(sentences)
        if names & {"word", "sent"}:
            betas = sorted({beta for _, beta in figures} - {None})
            hits = _hits(model, sentences, betas)
        return [_rows(sentences, tags, hits.get(beta), name) for name, beta in figures]

    @any_strings()
    def report(self, sentences, *, multi_tagging=False, betas=None, per_tag=False):
        """The report of `keras-tagging evaluate`.

        Args:
            sentences: sentences with gold tags.
            multi_tagging: whether to add a table of multi-tagging.
            betas: the levels of that table; by default those of Kadari et al. (2018).
            per_tag: whether to add precision, recall and F1 of every tag or chunk type.
        """
        scores = without_nan(self.evaluate(sentences, return_dict=True))
        columns = {name: self.column(name) for name in self.column_names}
        levels, made = {"betas": betas} if betas else {}, {}
        if multi_tagging or betas:
            made["multi_tagging"] = lambda one: one.multi_tagging(sentences, **levels)
        if per_tag:
            made["per_tag"] = lambda one: _tag_table(one, sentences)
        tables = {
            name: _one_below_the_other({k: table(one) for k, one in columns.items()})
            for name, table in made.items()
        }
        warnings = [
            unknown_tags(one.label_columns[0], one.annotated(sentences), name)
            for name, one in columns.items()
        ]
        return Report(scores, tables, warning="; ".join(filter(None, warnings)) or None)


class OneColumn(MeasuredTagging):
    """One column of a tagger, as a tagger that has no other.

    Its tags are the labels of the column; for lemmas, their scripts.

    It predicts and counts; the tagger itself trains and saves.

    Args:
        model: a `Tagger`.
        column: one of its `label_columns`, with a name.
    """

    counting_options = ()

    def __init__(self, model, column: LabelColumn):
        self.model, self.metadata = model, model.metadata
        self.name, self._outputs = column.name, column.output_names
        self.label_columns = (LabelColumn(None, column.labels, None, column.scripts),)

    def predict_arrays(self, chunks, names, *calls):
        """See `Predictor.predict_arrays`: those of the tagger for this column."""
        return self.model.predict_arrays(
            chunks, [self._outputs[k] for k in names], *calls
        )

    def tag(self, sentences, *, beta=None, probabilities=False):
        """As `Tagger.tag` of one column."""
        if beta is not None or not self.model.rules:
            return super().tag(sentences, beta=beta, probabilities=probabilities)
        tagged = self.model.tag(sentences, probabilities=probabilities)
        rows = (row[self.name] for row in tagged)
        return list(rows) if isinstance(tagged, list) else rows

    def annotated(self, sentences):
        """The sentences with the gold labels of the column as their tags.

        Raises:
            ValueError: if a sentence has none.
        """
        sentences = annotated(sentences, [self.name])
        return [replace(s, tags=labels_of(s, self.name)) for s in sentences]

    def predict(self, sentences):
        """As `Tagger.predict` of one column."""
        return self.predictions(as_sentences(sentences))


# Counts for tests of significance


def _hits(model, sentences, betas) -> dict[float, list[np.ndarray]]:
    """For each beta and sentence, two counts a token, `(tokens, 2)`.

    They are whether the gold tag is among the assigned ones, and their number.
    """
    [column] = model.label_columns
    hits = {beta: [] for beta in betas}
    for chunk in slices(sentences):  # all probabilities would fill the memory
        for sentence, rows in zip(chunk, model.predict(chunk), strict=True):
            gold = column.targets([sentence])
            for beta in betas:
                among = assigned(rows, beta)
                right = among[np.arange(len(gold)), gold] & (gold >= 0)
                hits[beta].append(np.stack([right, among.sum(-1)], 1))
    return hits


def _rows(sentences, tags, hits, figure) -> np.ndarray:
    """The rows of one figure of a tagger, from its tags or hits."""
    if figure == "f1":
        gold = [sentence.tags for sentence in sentences]
        # one scheme for all sentences, as a single one might not show it
        inventory = set(chain(*gold)) - {"O"} or set(chain(*tags))
        scheme = "iob" if looks_like_chunks(inventory) else "bare"
        scores = (
            chunk_scores([right], [row], scheme)
            for right, row in zip(gold, tags, strict=True)
        )
        rows = [(s.gold, s.found, s.correct) for s in scores]
        return np.array(rows, int).reshape(-1, 3)
    if figure == "word":
        counts = np.concatenate([np.zeros((0, 2), int), *hits])
        return np.insert(counts, 0, 1, axis=1)
    if figure == "accuracy":
        gold = chain(*(sentence.tags for sentence in sentences))
        right = [g == t for g, t in zip(gold, chain(*tags), strict=True)]
    else:
        right = [row[:, 0].all() for row in hits if len(row)]
    return np.stack([np.ones(len(right), int), np.array(right, int)], 1)


# Tables


def _one_below_the_other(tables: dict[str | None, "pd.DataFrame"]) -> "pd.DataFrame":
    """The tables of named columns as one; that of a column without a name as it is."""
    if None in tables:
        return tables[None]
    import pandas as pd

    alike = {"tag": "label", "type": "label"}
    whole = pd.concat({name: t.rename(columns=alike) for name, t in tables.items()})
    return whole.reset_index(0, names="column").reset_index(drop=True)


def _tag_table(model, sentences) -> "pd.DataFrame":
    """Precision, recall and F1 of every tag, or of every chunk type."""
    import pandas as pd  # with scikit-learn a second, of which most commands need none
    from sklearn.metrics import precision_recall_fscore_support

    sentences = model.annotated(sentences)
    gold, predicted = [s.tags for s in sentences], model.tag(sentences)
    if looks_like_chunks(model.tags):
        types = chunk_scores(gold, predicted).by_type.items()
        names = ("gold", "precision", "recall", "f1")
        rows = [{"type": k, **{n: getattr(c, n) for n in names}} for k, c in types]
        return pd.DataFrame(rows)
    gold, predicted = list(chain(*gold)), list(chain(*predicted))
    tags = sorted({*gold, *predicted})
    columns = precision_recall_fscore_support(
        gold, predicted, labels=tags, zero_division=0
    )
    names = ("precision", "recall", "f1", "gold")
    table = pd.DataFrame({"tag": tags, **dict(zip(names, columns, strict=True))})
    return table.sort_values("gold", ascending=False, kind="stable")


def unknown_tags(
    column: LabelColumn, sentences: Sequence, name: str | None = None
) -> str | None:
    """A warning if the model does not know many gold tags: often a wrong column.

    Args:
        column: of `Sentence.tags`.
        sentences: sentences with gold tags.
        name: of the column, if it has one.
    """
    targets = column.targets(sentences)
    count, unknown = len(targets), int((targets < 0).sum())
    if unknown <= 0.1 * count:
        return None
    where = "tags" if name is None else f"labels in the column {name!r}"
    remedy = "is this the right tag column (--option tag_column) and format?"
    return (
        f"{unknown} of {count} gold {where} are unknown to the model and count as "
        + (f"errors: {remedy}" if name is None else "errors")
    )
