"""Figures and tables of a parser, as `keras-tagging evaluate` prints them."""

from keras_tagging.models.parser.tag_input import in_words, tag_accuracy, with_gold_tags
from keras_tagging.models.report import Report, without_nan
from keras_tagging.utils.frames import AnyStrings


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
