"""The tags that a parser reads, and its report, which tells of them."""

from dataclasses import replace
from itertools import chain

from keras_tagging.data.sentence import Sentence
from keras_tagging.kinds.parsing import PREDICTED
from keras_tagging.metrics.accuracy import share
from keras_tagging.models.report import Report, without_nan
from keras_tagging.utils.frames import any_strings


def gold_column(sentences) -> str:
    """The column of the finest tags: `xpos` if all sentences have it, else `pos`."""
    for column in ("xpos", "pos"):
        if all("_" not in s.columns.get(column, "_") for s in sentences if s.tokens):
            return column
    raise ValueError(
        "the training sentences have no tags in a column xpos or pos: name their "
        "column with tags=, or give tags=None"
    )


def with_tags(sentences, tags) -> list[Sentence]:
    """The sentences with their predicted tags."""
    return [
        replace(sentence, columns={**sentence.columns, PREDICTED: list(row)})
        for sentence, row in zip(sentences, tags, strict=True)
    ]


def tag_input(model) -> dict[str, str] | None:
    """The tags that a parser reads, for its metadata and its reports.

    Args:
        model: a `Parser` that was adapted.

    Returns:
        None if it reads none; else the `column` of the gold tags, if it is known, and
        what they are taken `from`: "the input", or its own tagger.
    """
    tags = model.settings.task.tags
    if tags is None:
        return None
    if tags != "predicted":
        return {"column": tags, "from": "the input"}
    gold = model.metadata.get("tags", {}).get("column")
    column = {"column": gold} if isinstance(gold, str) else {}
    tagger = model.tagger.architecture if model.tagger else model.settings.task.tagger
    return {**column, "from": f"its own {tagger}"}


def in_words(model) -> str:
    """Tell what a parser reads beside the words, as a sentence without its end."""
    tags = tag_input(model)
    further = [
        name for name in model.input_columns if name != (tags or {}).get("column")
    ]
    if tags is None:
        columns = f" and the columns {', '.join(further)}" if further else " alone"
        return f"reads words{columns}, no tags"
    if tags["from"] == "the input":
        return f"reads the tags in the column {tags['column']}, as the input has them"
    column = tags.get("column", "tags")
    return f"reads the {column} that {tags['from']} predicts"


def with_gold_tags(model, sentences: list[Sentence]) -> list[Sentence] | None:
    """The sentences with gold tags in place of those that the parser would predict.

    Args:
        model: a `Parser`.
        sentences: sentences, which may have gold tags.

    Returns:
        None if it has no tagger of its own, or the sentences lack gold tags.
    """
    if model.tagger is None:
        return None
    try:
        column = (tag_input(model) or {}).get("column") or gold_column(sentences)
    except ValueError:
        return None
    if any("_" in s.columns.get(column, "_") for s in sentences if s.tokens):
        return None
    return with_tags(sentences, (s.columns.get(column, []) for s in sentences))


def tag_accuracy(gold: list[Sentence], predicted: list[Sentence]) -> float:
    """The share of tokens whose predicted tag is the gold one."""
    rows = (
        zip(one.columns[PREDICTED], other.columns[PREDICTED], strict=True)
        for one, other in zip(gold, predicted, strict=True)
    )
    pairs = list(chain.from_iterable(rows))
    return share(sum(one == other for one, other in pairs), len(pairs))


@any_strings()
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
