"""Figures and tables of a tagger, as `keras-tagging evaluate` prints them."""

from itertools import chain
from typing import TYPE_CHECKING

from keras_tagging.metrics import chunk_scores, looks_like_chunks
from keras_tagging.models.report import Report, without_nan
from keras_tagging.utils.frames import AnyStrings

if TYPE_CHECKING:
    import pandas as pd


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
