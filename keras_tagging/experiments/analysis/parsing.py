"""The analysis of a parser's errors."""

import numpy as np
import pandas as pd

from keras_tagging.data.sentence import as_sentences
from keras_tagging.experiments.analysis import plots, tables
from keras_tagging.experiments.analysis.common import (
    INTERVAL,
    KEYS,
    begin,
    frequency_sections,
    overall,
)
from keras_tagging.experiments.analysis.predictions import parsed_tokens
from keras_tagging.experiments.analysis.sections import Analysis, Section
from keras_tagging.models.parser.tag_input import in_words, with_gold_tags

FIGURES = ["uas", "las"]
PUNCTUATION = {
    "keep": "counts",
    "ptb": "does not count: words whose gold tag is '' `` , . or :",
    "unicode": "does not count: words of punctuation characters only",
}
HEADS = ["pos", "gold_head", "predicted_head"]


def analyse_parser(model, sentences, train, title, **counting) -> Analysis:
    """See `analyse`; `train` is a list that is not empty, or None."""
    sentences = as_sentences(sentences)
    train = None if train is None else as_sentences(train)
    analysis = begin(model, sentences, train, title)
    sentences = model.tagged(sentences)
    tokens, scores = parsed_tokens(model, sentences, **counting)
    analysis.facts["Tags"] = in_words(model)
    if gold := with_gold_tags(model, sentences):
        others = model.scores(gold, **counting)
        analysis.facts["With gold tags"] = ", ".join(
            f"{name.upper()} {100 * getattr(others, name):.2f}" for name in FIGURES
        )
    analysis.facts["Punctuation"] = PUNCTUATION[counting["punctuation"]]
    if not len(tokens):
        raise ValueError("there is nothing to analyse: no token counts")
    deprels = (x for s in train or () for x in s.columns.get("deprel", ()))
    if not counting["subtypes"]:
        deprels = (deprel.partition(":")[0] for deprel in deprels)
    analysis.sections += [
        _overall(scores),
        _kinds(tokens),
        _label_confusions(tokens, sentences),
        *_by_pos(tokens, sentences, analysis),
        Section(
            "by_relation",
            "By relation",
            "Precision, recall and F1 of labelled arcs; UAS is the share of the gold "
            "arcs whose head is right, whatever the label.",
            scores.by_relation(),
            ranked=True,
        ),
        Section(
            "by_distance",
            "By distance of head and dependent",
            "Precision is the share of the predicted arcs of this distance that are "
            "right, recall the share of the gold ones that were predicted; bins of "
            f"McDonald & Nivre (2007). {INTERVAL}",
            tables.with_interval(scores.by_distance(), "recall", "gold"),
            plots.by_group(
                "distance",
                ["precision", "recall"],
                "words from the dependent to its head",
            ),
        ),
        Section(
            "by_sentence_length",
            "By sentence length",
            f"The length in words; bins of McDonald & Nivre (2007). {INTERVAL}",
            tables.with_interval(scores.by_sentence_length(), "las", "words"),
            plots.by_group("length", FIGURES, "words in the sentence"),
        ),
        *frequency_sections(model, tokens, train, deprels, FIGURES, analysis),
    ]
    analysis.missing["calibration"] = "a parser gives no probabilities"
    return analysis


def _overall(scores) -> Section:
    sentences = int(np.count_nonzero(scores.by_sentence[:, 0]))
    rows = [(n, getattr(scores, n), scores.words) for n in (*FIGURES, "label_accuracy")]
    rows += [(name, getattr(scores, name), sentences) for name in ("ucm", "lcm")]
    return Section(
        "overall",
        "Overall figures",
        "The shares of right heads (UAS), of right heads with right labels (LAS), of "
        "right labels, and of sentences without an error, unlabelled and labelled "
        f"(UCM, LCM). {INTERVAL}",
        overall(rows),
    )


def _kinds(tokens) -> Section:
    head, label = tokens["uas"], tokens["gold"] == tokens["predicted"]
    kinds = {
        "head and label right": head & label,
        "label wrong": head & ~label,
        "head wrong": ~head & label,
        "head and label wrong": ~head & ~label,
    }
    table = pd.DataFrame(
        {"kind": list(kinds), "tokens": [sum(k) for k in kinds.values()]}
    )
    table["share"] = table["tokens"] / len(tokens)
    return Section("kinds", "Kinds of errors", "What is wrong with an arc.", table)


def _label_confusions(tokens, sentences) -> Section:
    errors = tokens["gold"] != tokens["predicted"]
    table = tables.confusions(tokens, KEYS, errors)
    heads = tokens[errors & tokens["uas"]].groupby(KEYS).size()
    right = heads.reindex(pd.MultiIndex.from_frame(table[KEYS]), fill_value=0)
    table["with_right_head"] = right.to_numpy()
    return Section(
        "confusions",
        "Confusions of relations",
        f"{errors.sum():,} wrong labels of {len(table):,} kinds, whatever the head, "
        "and how many of them have the right head.",
        table,
        plots.matrix if len(table) > 1 else None,
        tables.examples(tokens, KEYS, errors, sentences),
        ranked=True,
    )


def _by_pos(tokens, sentences, analysis) -> list[Section]:
    """Two tables by part of speech, if the sentences have any."""
    column = next((c for c in ("pos", "xpos") if _filled(sentences, c)), None)
    if column is None:
        for name in ("by_pos", "head_errors"):
            analysis.missing[name] = "the sentences have no column pos or xpos"
        return []
    words = [["ROOT", *s.tokens] for s in sentences]
    tags = [["ROOT", *s.columns.get(column, ())] for s in sentences]

    def column_of(rows, places):
        pairs = zip(tokens["sentence"], tokens[places], strict=True)
        return [rows[sentence - 1][position] for sentence, position in pairs]

    errors = ~tokens["uas"]
    tokens = tokens.assign(
        gold_head_word=column_of(words, "gold_head"),
        predicted_head_word=column_of(words, "head"),
        pos=column_of(tags, "position"),
        predicted_head=column_of(tags, "head"),
        gold_head=column_of(tags, "gold_head"),
    )
    details = ["gold_head_word", "predicted_head_word"]
    return [
        Section(
            "head_errors",
            "Wrong heads",
            f"{errors.sum():,} wrong heads: the part of speech of the word, of its "
            f"gold head and of the predicted one (column {column}). The examples have "
            "the two heads in brackets: gold \u2192 predicted.",
            tables.confusions(tokens, HEADS, errors),
            examples=tables.examples(tokens, HEADS, errors, sentences, details),
            ranked=True,
        ),
        Section(
            "by_pos",
            "By part of speech",
            f"Gold part of speech of the dependent, in the column {column}.",
            tables.shares_by(tokens, "pos", tokens["pos"].to_numpy(), FIGURES),
            plots.by_group("pos", FIGURES, "part of speech"),
            ranked=True,
        ),
    ]


def _filled(sentences, column) -> bool:
    return all("_" not in s.columns.get(column, "_") for s in sentences if s.tokens)
