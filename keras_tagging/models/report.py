"""Figures and tables of a model on a split, as `keras-tagging evaluate` prints them."""

import math
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from keras_tagging.metrics import chunk_scores, looks_like_chunks
from keras_tagging.models.tag_input import in_words, tag_accuracy, with_gold_tags
from keras_tagging.utils.frames import AnyStrings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Report:
    """Figures and tables of a model.

    Args:
        figures: the figures by name; None if there is nothing to count.
        tables: the tables by name, with shares as fractions.
        counting: options that the figures depend on.
        warning: a hint for the user, or None.
        tags: what a parser reads beside the words, as a sentence; None for taggers.
        with_gold_tags: the figures of a parser that reads gold tags in place of those
            of its own tagger; None without such a tagger, or without gold tags.
        tag_accuracy: that of its own tagger; None as before.
    """

    figures: dict[str, float | None]
    tables: "dict[str, pd.DataFrame]" = field(default_factory=dict)
    counting: dict[str, object] = field(default_factory=dict)
    warning: str | None = None
    tags: str | None = None
    with_gold_tags: dict[str, float | None] | None = None
    tag_accuracy: float | None = None


def without_nan(scores: dict) -> dict:
    """The figures for JSON, which has no nan: nan becomes None."""
    return {k: None if math.isnan(x) else x for k, x in scores.items()}


def exported_report(model, sentences, **options):
    """The report of a model of an ONNX file: its figures."""
    figures = model.evaluate(sentences, return_dict=True, **options)
    return Report(without_nan(figures), counting=options)


@AnyStrings()
def tag_report(model, sentences, *, multi_tagging=False, betas=None, per_tag=False):
    """The report of a tagger.

    Args:
        model: a `Tagger`.
        sentences: sentences with gold tags.
        multi_tagging: whether to add a table of multi-tagging.
        betas: the levels of that table; by default those of Kadari et al. (2018).
        per_tag: whether to add precision, recall and F1 of every tag or chunk type.
    """
    scores = without_nan(model.evaluate(sentences, return_dict=True))
    tables = {}
    levels = {"betas": betas} if betas else {}
    if multi_tagging or betas:
        tables["multi_tagging"] = by_columns(
            model, lambda one: one.multi_tagging(sentences, **levels)
        )
    if per_tag:
        tables["per_tag"] = by_columns(model, lambda one: tag_table(one, sentences))
    one_by_one = ((name, model.column(name)) for name in model.column_names)
    warnings = [
        unknown_tags(one.label_columns[0], one.annotated(sentences), name)
        for name, one in one_by_one
    ]
    return Report(scores, tables, warning="; ".join(filter(None, warnings)) or None)


def by_columns(model, table_of) -> "pd.DataFrame":
    """The table of a tagger; if its columns have names, one below the other.

    Args:
        model: a `Tagger`.
        table_of: function from the tagger, or one of its columns, to a table.
    """
    tables = {name: table_of(model.column(name)) for name in model.column_names}
    if None in tables:
        return tables[None]
    import pandas as pd

    alike = {"tag": "label", "type": "label"}
    whole = pd.concat({name: t.rename(columns=alike) for name, t in tables.items()})
    return whole.reset_index(0, names="column").reset_index(drop=True)


def tag_table(model, sentences) -> "pd.DataFrame":
    """Precision, recall and F1 of every tag, or of every chunk type.

    Args:
        model: a `Tagger` of one column, or a `OneColumn`.
        sentences: sentences with gold tags.
    """
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


def unknown_tags(column, sentences, name=None) -> str | None:
    """A warning if the model does not know many gold tags: often a wrong column.

    Args:
        column: a `LabelColumn` of `Sentence.tags`.
        sentences: sentences with gold tags.
        name: of the column, if it has one.
    """
    targets = column.targets(sentences)
    count, unknown = len(targets), int((targets < 0).sum())
    if unknown <= 0.1 * count:
        return None
    if name is not None:
        return (
            f"{unknown} of {count} gold labels in the column {name!r} are unknown "
            "to the model and count as errors"
        )
    return (
        f"{unknown} of {count} gold tags are unknown to the model and count as "
        "errors: is this the right tag column (--option tag_column) and format?"
    )


def segment_report(model, sentences):
    """The report of a segmenter: figures, and a table of precision and recall.

    Args:
        model: a `Segmenter`.
        sentences: sentences with surfaces.
    """
    import pandas as pd

    scores = model.scores(sentences)
    names = ("tokens", "words", "multiwords", "sentences")
    counts = {name: getattr(scores, name) for name in names}
    rows = [
        {
            "unit": name,
            "gold": found.gold,
            "predicted": found.found,
            "precision": found.precision,
            "recall": found.recall,
            "f1": found.f1,
        }
        for name, found in counts.items()
    ]
    figures = without_nan(model.evaluate(sentences, return_dict=True))
    return Report(figures, {"segmentation": pd.DataFrame(rows)})


@AnyStrings()
def tree_report(model, sentences, *, punctuation="keep", subtypes=False, tables=False):
    """The report of a parser.

    Args:
        model: a `Parser`.
        sentences: sentences with gold trees.
        punctuation, subtypes: see `metrics.attachment_scores`.
        tables: whether to add tables by relation, sentence length and distance.
    """
    counting = {"punctuation": punctuation, "subtypes": subtypes}

    def figures(scored):
        return without_nan({name: getattr(scored, name) for name in model.figures})

    sentences = model.tagged(model.annotated(sentences))
    scored = model.scores(sentences, **counting)
    names = ("by_relation", "by_sentence_length", "by_distance") if tables else ()
    others = {}
    if gold := with_gold_tags(model, sentences):
        right = tag_accuracy(gold, sentences)
        others = without_nan({"tag_accuracy": right})
        others["with_gold_tags"] = figures(model.scores(gold, **counting))
    return Report(
        figures(scored),
        {name: getattr(scored, name)() for name in names},
        counting,
        tags=in_words(model),
        **others,
    )
