"""Common parts of the analyses of taggers and parsers."""

from collections.abc import Sequence

import pandas as pd

from keras_tagging.experiments.analysis import plots, tables
from keras_tagging.experiments.analysis.predictions import TrainingCounts, reads_words
from keras_tagging.experiments.analysis.sections import Analysis, Section

INTERVAL = (
    "Intervals are Wilson's, at 95 %. They assume independent tokens. Tokens of one "
    "sentence are not independent, so the intervals are somewhat too narrow."
)

#: the columns of a table of tokens that tell a confusion
KEYS = ["gold", "predicted"]
LABELS = "occurrences of the gold label in training"
WORDS = "occurrences of the word in training"


def begin(model, sentences, train, title) -> Analysis:
    """An analysis without tables.

    Raises:
        ValueError: if there is no token.
    """
    if not any(map(len, sentences)):
        raise ValueError("there is nothing to analyse: the sentences have no tokens")
    facts = {
        "Model": f"{model.architecture}, {model.size}, seed {model.seed}",
        "Trained on": model.metadata.get("corpus", {}).get("name"),
        "Sentences": _size(sentences),
        "Training sentences": _size(train) if train else "none given",
    }
    return Analysis(title, {name: fact for name, fact in facts.items() if fact})


def _size(sentences) -> str:
    return f"{len(sentences):,} with {sum(map(len, sentences)):,} tokens"


def confusions(tokens, errors, sentences, title: str, text: str) -> Section:
    """Which labels were taken for which.

    Args:
        tokens: a table with the columns of `KEYS`, a row a token.
        errors: whether each row is one.
        sentences: the examples are from these.
        title: of the section.
        text: with `{errors}` and `{kinds}` in the places of their numbers.
    """
    table = tables.confusions(tokens, KEYS, errors)
    gold = tokens["gold"].value_counts()
    table["share_of_gold"] = table["count"] / table["gold"].map(gold).astype(float)
    return Section(
        "confusions",
        title,
        text.format(errors=f"{errors.sum():,}", kinds=f"{len(table):,}"),
        table,
        plots.matrix if len(table) > 1 else None,
        tables.examples(tokens, KEYS, errors, sentences),
        ranked=True,
    )


def overall(rows: Sequence[tuple]) -> pd.DataFrame:
    """The figures of `evaluate`, with an interval for those that are shares of counts.

    Args:
        rows: name, value, and the number of tokens or sentences of which it is a share,
            or None.
    """
    table = []
    for name, value, total in rows:
        low, high = (
            tables.wilson(round(value * total), total) if total else (None, None)
        )
        table.append((name, value, low, high, total))
    table = pd.DataFrame(table, columns=["figure", "value", "low", "high", "of"])
    return table.astype({"value": float, "low": float, "high": float, "of": "Int64"})


def frequency_sections(
    model, tokens, train, labels, figures, analysis
) -> list[Section]:
    """The tables by frequency in training; the reason goes to `missing` without them.

    Args:
        model: the model, whose vocabulary decides which words are unknown.
        tokens: a table with `form` and `gold`.
        train: the training sentences, or None.
        labels: the gold labels of all their tokens.
        figures: as in `tables.shares_by`.
        analysis: the `Analysis`, which gets warnings and missing tables.
    """
    if train is None:
        for name in ("by_label_frequency", "by_word_frequency"):
            analysis.missing[name] = "no training sentences were given"
        return []
    counts = TrainingCounts(model, train, labels)
    if warning := counts.mismatch():
        analysis.warnings.append(warning)
    tokens = tokens.assign(
        frequency=[counts.words[form] for form in tokens["form"]],
        label_frequency=[counts.labels[label] for label in tokens["gold"]],
    )
    if reads_words(model):
        unknown = "Unknown words have no entry in the model's vocabulary of training."
        tokens["known"] = tokens["form"].isin(model.known_words(counts.words))
    else:
        unknown = "The model reads no words; words not in training count as unknown."
        tokens["known"] = tokens["frequency"] > 0
    return [
        Section(
            "by_label_frequency",
            "By frequency of the label in training",
            "How often the gold label occurs in the training sentences. No model can "
            f"predict an unseen one. The row {tables.FREQUENT} is the sum of the rows "
            "below it.",
            tables.by_label_frequency(tokens, figures),
            _without_sum(plots.by_group("training", figures, LABELS)),
        ),
        Section(
            "by_word_frequency",
            "By frequency of the word in training",
            "How often the word occurs in the training sentences, in the normal form "
            f"that the model reads. {unknown}",
            tables.by_word_frequency(tokens, figures),
            plots.by_group("training", figures, WORDS),
        ),
    ]


def _without_sum(plot):
    """The same plot without the row that is the sum of others."""

    def draw(figure, table):
        plot(figure, table[table["training"] != tables.FREQUENT])

    return draw
