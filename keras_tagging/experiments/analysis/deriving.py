"""The analysis of a CCG parser's errors."""

from collections import Counter

import pandas as pd

from keras_tagging.ccg.grammar import normal
from keras_tagging.experiments.analysis import plots, tables
from keras_tagging.experiments.analysis.common import (
    INTERVAL,
    begin,
    confusions,
    frequency_sections,
    overall,
)
from keras_tagging.experiments.analysis.predictions import derived_tokens
from keras_tagging.experiments.analysis.sections import Analysis, Section
from keras_tagging.kinds.derivations import gold_tags
from keras_tagging.metrics.derivations import (
    F1_FIGURES,
    brackets_of,
    derivation_counts,
    scores_of,
)

FIGURES = ["network", "derivation"]
LENGTHS = {1: "1-10", 11: "11-20", 21: "21-30", 31: "31-40", 41: "41+"}
NO_RULE = "(none)"


def analyse_derivations(model, sentences, train, title) -> Analysis:
    """See `analyse`; `train` is a list that is not empty, or None."""
    sentences = model.annotated(sentences)
    train = None if train is None else model.annotated(train)
    analysis = begin(model, sentences, train, title)
    tokens, found = derived_tokens(model, sentences)
    sentences = [sentence for sentence in sentences if len(sentence)]
    gold = [sentence.derivation for sentence in sentences]
    labels = (normal(tag) for s in train or () if len(s) for tag in gold_tags(s))
    analysis.sections += [
        _overall(gold, found, tokens),
        confusions(
            tokens,
            ~tokens["derivation"],
            sentences,
            "Confusions of categories",
            "{errors} wrong categories of {kinds} kinds in derivations: the share of "
            "all errors, and of the words with this gold category.",
        ),
        Section(
            "by_category",
            "By category",
            "Words with the right category, by the gold one: before the search, the "
            f"network's best, and in the derivation. {INTERVAL}",
            tables.shares_by(tokens, "category", tokens["gold"].to_numpy(), FIGURES),
            plots.by_group("category", FIGURES, "gold category"),
            ranked=True,
        ),
        _by_rule(gold, found),
        _by_length(gold, found),
        *frequency_sections(model, tokens, train, labels, FIGURES, analysis),
    ]
    analysis.missing["calibration"] = "a derivation has a score, and no probability"
    return analysis


def _overall(gold, found, tokens) -> Section:
    rows = [("accuracy", tokens["network"].mean(), len(tokens))]
    counts = derivation_counts(gold, found)
    scores = scores_of(counts)._asdict()
    for name, of_name in counts.items():
        # an F1 is no share of counts, and has no interval
        every = None if name in F1_FIGURES else int(of_name[:, 0].sum())
        rows.append((name, scores[name], every))
    return Section(
        "overall",
        "Overall figures",
        "The share of words with the right category before the search (accuracy); of "
        "sentences with a derivation of the whole (coverage) and with the gold one "
        "(exact); of words with the right category in it (supertags); F1 of brackets "
        f"and dependencies, with and without labels. {INTERVAL}",
        overall(rows),
    )


def _by_rule(gold, found) -> Section:
    """Brackets by the rule that makes them, in both derivations."""
    wanted, given, right = Counter(), Counter(), Counter()
    for one, other in zip(gold, found, strict=True):
        ours, theirs = (_rules_of(derivation) for derivation in (one, other))
        for bracket, rules in ours.items():
            wanted.update(rules)
            # of a category over the same words twice, each counts once
            right.update(rules[: len(theirs.get(bracket, ()))])
        for rules in theirs.values():
            given.update(rules)
    rows = [(r or NO_RULE, wanted[r], given[r], right[r]) for r in {*wanted, *given}]
    table = pd.DataFrame(rows, columns=["rule", "gold", "found", "right"])
    table["recall"] = table["right"] / table["gold"].where(table["gold"] > 0)
    table = table.sort_values(["gold", "found", "rule"], ascending=[False, False, True])
    table = table.reset_index(drop=True)
    return Section(
        "by_rule",
        "By rule",
        "Brackets, words and category, by the combinator that makes them: those of "
        "the gold derivations, those that were found, and the gold ones that were "
        "found by whatever rule. Combinators have the marks of drawings, and "
        f"{NO_RULE} are steps of the treebank's own. {INTERVAL}",
        tables.with_interval(table, "recall", "gold"),
        plots.by_group("rule", ["recall"], "combinator"),
        ranked=True,
    )


def _rules_of(derivation) -> dict[tuple, list[str]]:
    """The rules of the nodes that are each bracket."""
    rules: dict[tuple, list[str]] = {}
    for bracket, rule in brackets_of(derivation):
        rules.setdefault(bracket, []).append(rule)
    return rules


def _by_length(gold, found) -> Section:
    lengths = [len(derivation) for derivation in gold]
    counts = derivation_counts(gold, found)
    table = pd.DataFrame(
        {
            "length": tables.bins(lengths, LENGTHS),
            "words": lengths,
            "covered": counts["coverage"][:, 1],
            "exact": counts["exact"][:, 1],
            "parts": counts["labelled"][:, :2].sum(1),
            "right": counts["labelled"][:, 2],
        }
    )
    groups = table.groupby("length", observed=True)
    sums, sizes = groups.sum(), groups.size()
    table = pd.DataFrame(
        {
            "length": sums.index.astype(object),
            "sentences": sizes.to_numpy(),
            "words": sums["words"].to_numpy(),
            "coverage": (sums["covered"] / sizes).to_numpy(),
            "labelled": (2 * sums["right"] / sums["parts"]).to_numpy(),
            "exact": (sums["exact"] / sizes).to_numpy(),
        }
    )
    return Section(
        "by_sentence_length",
        "By sentence length",
        "The length in words; F1 of labelled brackets, and shares of sentences. "
        f"{INTERVAL}",
        tables.with_interval(table, "exact", "sentences"),
        plots.by_group(
            "length", ["coverage", "labelled", "exact"], "words in the sentence"
        ),
    )
