"""The analysis of a tagger's errors."""

from itertools import chain

import pandas as pd

from keras_tagging.architectures.output import reads_labels
from keras_tagging.data.sentence import as_sentences
from keras_tagging.experiments.analysis import plots, tables
from keras_tagging.experiments.analysis.common import (
    INTERVAL,
    KEYS,
    begin,
    confusions,
    frequency_sections,
    overall,
)
from keras_tagging.experiments.analysis.predictions import reads_words, tagged_tokens
from keras_tagging.experiments.analysis.sections import Analysis, Section
from keras_tagging.metrics import chunk_scores, looks_like_chunks
from keras_tagging.models.tagger.report import unknown_tags

FIGURES = ["accuracy"]
CONFIDENT = 100  # errors to list


def analyse_tagger(model, sentences, train, title) -> Analysis:
    """See `analyse`; `train` is a list that is not empty, or None."""
    model = model.column(None)
    sentences = as_sentences(sentences, tagged=True)
    train = None if train is None else as_sentences(train, tagged=True)
    analysis = begin(model, sentences, train, title)
    if warning := unknown_tags(model.label_columns[0], sentences):
        analysis.warnings.append(warning)
    tokens = tagged_tokens(model, sentences)
    chunks = None
    if looks_like_chunks(model.tags):
        rows = (tokens.groupby("sentence")[key].agg(list) for key in KEYS)
        chunks = chunk_scores(*rows)
    bins, error = tables.calibration(tokens["confidence"], tokens["accuracy"])
    labels = chain.from_iterable(s.tags for s in train or ())
    analysis.sections += [
        _overall(model, tokens, chunks, error),
        confusions(
            tokens,
            ~tokens["accuracy"],
            sentences,
            "Confusions",
            "{errors} errors of {kinds} kinds: a gold tag, the predicted one, the "
            "share of all errors, and of the tokens with this gold tag.",
        ),
        _chunk_types(chunks) if chunks else _by_tag(tokens),
        *frequency_sections(model, tokens, train, labels, FIGURES, analysis),
        _by_length(tokens),
        _by_position(tokens),
        _calibration(model, bins, error),
        _confident_errors(tokens, sentences),
    ]
    return analysis


def _overall(model, tokens, chunks, error) -> Section:
    right = tokens["accuracy"]
    whole = right.groupby(tokens["sentence"]).all()
    rows = [("accuracy", right.mean(), len(right))]
    if reads_words(model):
        unknown = right[~tokens["form"].isin(model.known_words())]
        rows.append(("oov_accuracy", unknown.mean(), len(unknown)))
    rows.append(("sentence_accuracy", whole.mean(), len(whole)))
    if chunks:
        rows += [(n, getattr(chunks, n), None) for n in ("precision", "recall", "f1")]
    rows.append(("calibration_error", error, None))
    return Section(
        "overall",
        "Overall figures",
        "Accuracy of all tokens and of words unknown to the model (oov), the share of "
        "sentences without an error"
        + (", precision, recall and F1 of chunks. " if chunks else ". ")
        + f"The section on calibration explains the last figure. {INTERVAL}",
        overall(rows),
    )


def _by_tag(tokens) -> Section:
    gold, predicted = (tokens[key].value_counts() for key in KEYS)
    table = pd.DataFrame({"gold": gold, "predicted": predicted})
    table["correct"] = tokens.loc[tokens["accuracy"], "gold"].value_counts()
    table = table.fillna(0).astype(int)
    return Section(
        "by_tag",
        "By tag",
        "Precision is the share of the tokens with this predicted tag that are right, "
        "recall the share of those with this gold tag.",
        _with_f1(table.rename_axis("tag").reset_index(), "tag"),
        ranked=True,
    )


def _chunk_types(chunks) -> Section:
    rows = [(k, c.gold, c.found, c.correct) for k, c in chunks.by_type.items()]
    table = pd.DataFrame(rows, columns=["type", "gold", "predicted", "correct"])
    return Section(
        "by_type",
        "Chunks by type",
        "A chunk is right if its type, its first and its last token are, as conlleval "
        "counts.",
        _with_f1(table, "type"),
        ranked=True,
    )


def _with_f1(table, key):
    """Add precision, recall and F1 to counts of gold, predicted and correct.

    A figure with nothing to count is nan.
    """
    table["precision"] = table["correct"] / table["predicted"]
    table["recall"] = table["correct"] / table["gold"]
    table["f1"] = 2 * table["correct"] / (table["gold"] + table["predicted"])
    order = table.sort_values(["gold", key], ascending=[False, True])
    return order.reset_index(drop=True)


def _by_length(tokens) -> Section:
    table = tables.shares_by(tokens, "length", tables.tens(tokens["length"]), FIGURES)
    whole = tokens.groupby("sentence").agg({"length": "first", "accuracy": "all"})
    whole = whole["accuracy"].groupby(tables.tens(whole["length"]), observed=False)
    table.insert(1, "sentences", whole.size().to_numpy())
    table["sentence_accuracy"] = whole.mean().to_numpy()
    return Section(
        "by_sentence_length",
        "By sentence length",
        "The length in tokens. Sentence accuracy is the share of sentences without an "
        "error.",
        table[table["sentences"] > 0].reset_index(drop=True),
        plots.by_group(
            "length", ["sentence_accuracy", *FIGURES], "tokens in the sentence"
        ),
    )


def _by_position(tokens) -> Section:
    groups = tables.bins(tokens["position"], tables.POSITIONS)
    table = tables.shares_by(tokens, "position", groups, FIGURES)
    return Section(
        "by_position",
        "By position in the sentence",
        "The first token has position 1.",
        table[table["tokens"] > 0].reset_index(drop=True),
        plots.by_group("position", FIGURES, "position of the token"),
    )


def _calibration(model, table, error) -> Section:
    if model.settings.get("decoder") == "crf":
        what = (
            "its marginal probability; the tag is that of the best path, which need "
            "not be the most probable one of the token"
        )
    elif reads_labels(model.network):
        what = (
            "its probability after the preceding labels of the path, not that of the "
            "whole path"
        )
    else:
        what = "its probability"
    return Section(
        "calibration",
        "Calibration",
        f"Confidence in a predicted tag is {what}. The confidences fall into 15 bins "
        "of equal width; in a calibrated model the accuracy in each is the mean "
        "confidence. The expected calibration error (Guo et al. 2017) is the mean "
        f"distance of the two, weighted by the tokens: {100 * error:.2f} %.",
        table,
        plots.reliability,
    )


def _confident_errors(tokens, sentences) -> Section:
    errors = tokens[~tokens["accuracy"]]
    errors = errors.sort_values("confidence", ascending=False, kind="stable")
    errors = errors.head(CONFIDENT)
    return Section(
        "confident_errors",
        "Errors with the highest confidence",
        "If the model is sure and wrong, the gold tag is worth a second look.",
        errors[[*KEYS, "confidence"]]
        .join(tables.in_context(errors, sentences))
        .reset_index(drop=True),
        ranked=True,
    )
