"""Comparison of two models on the same sentences, with a significance test."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from keras_tagging import kinds
from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.problems import refuse_underived
from keras_tagging.data import Corpus, Sentence
from keras_tagging.data.sentence import as_sentences
from keras_tagging.metrics import looks_like_chunks, paired_permutation
from keras_tagging.metrics.significance import BY_TOKENS, F1, figure_of, is_limit
from keras_tagging.models.calls import SentenceCalls
from keras_tagging.pipelines.any_model import load
from keras_tagging.utils.checks import check_known


def p_value(first: np.ndarray, second: np.ndarray, figure: str, **options) -> float:
    """The p-value of a difference in a figure, see `metrics.paired_permutation`.

    Args:
        first, second: `(seeds, units, counts)`, counts of the same units.
        figure: a name of `figure_of`.
        **options: `resamples` and `seed`.
    """
    if figure not in F1:
        # All seeds have the same denominators, so the mean of their shares is the share
        # of their sums. Few sums are different, so the test is faster. Counts that the
        # figure does not use, the assigned tags of word, must not make a difference.
        first, second = (
            np.asarray(part)[..., :2].sum(0, keepdims=True) for part in (first, second)
        )
    return paired_permutation(first, second, figure_of(figure), **options)


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`; figures are in per cent.

    Args:
        figure: the name of the figure, such as "accuracy".
        first, second: the figures of the two systems, averaged over their seeds.
        difference: first - second.
        p: the two-sided p-value, see `metrics.paired_permutation`.
        seeds: the number of models of each system.
        units: the exchanged units, "tokens" or "sentences".
        count: the number of units.
        resamples: the requested number of exchanges.
    """

    figure: str
    first: float
    second: float
    difference: float
    p: float
    seeds: int
    units: str
    count: int
    resamples: int

    def __str__(self) -> str:
        models = "one model each" if self.seeds == 1 else f"mean of {self.seeds} models"
        sign = "<=" if is_limit(self.p, self.resamples) else "="
        p = f"p {sign} {self.p:.4f}" if self.p >= 0.0001 else "p < 0.0001"
        return (
            f"{self.figure} {self.first:.2f} and {self.second:.2f}: "
            f"difference {self.difference:+.2f}, {p}\n"
            f"({models}, paired permutation test by {self.count:,} {self.units})"
        )


def compare(
    a: object,
    b: object,
    corpus: Corpus | str | Path | Iterable[Sentence],
    figure: str | None = None,
    split: str = "test",
    *,
    beta: float | None = None,
    units: str | None = None,
    punctuation: str = "keep",
    resamples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on a corpus, and test whether the difference is significant.

    The test exchanges the answers of the two, unit by unit: see
    `metrics.paired_permutation`, also for the limits of p. Each model reads the
    sentences once.

    Args:
        a, b: two taggers, two parsers, or two CCG parsers: each a model or an
            `Ensemble`, an argument for `keras_tagging.load`, or a list of these with
            one for each seed. Both lists must have the same length.
        corpus: a `Corpus`, a list of sentences, or a name or path for
            `keras_tagging.load_corpus`, with a single file as the test data.
        figure: accuracy, f1, word or sent for taggers, uas or las for parsers, a name
            of `metrics.DerivationScores` for CCG parsers. Those of named columns have
            the name before them: upos_accuracy. The default is the figure
            that selects a's best epoch: F1 for chunks, accuracy for other tags, LAS for
            trees; for derivations F1 of labelled brackets.
        split: the split of a corpus; a list of sentences is used as it is.
        beta: the level, for word and sent only.
        units: "tokens" or "sentences"; by default tokens for accuracy and word. The
            tokens of a sentence depend on each other, so sentences are the stricter
            choice.
        punctuation: for parsers, see `metrics.attachment_scores`.
        resamples, seed: the number and the seed of the random exchanges.

    Returns:
        A `Comparison`; as text it is the two figures, their difference and p.

    Raises:
        ValueError: for a tagger and a parser, lists of different length, a figure that
            the models do not have (such as f1 if tags are not chunks), units or levels
            that the figure does not have, or no sentences.

    Example:
        >>> import keras_tagging
        >>> corpus = keras_tagging.load_corpus("demo")
        >>> options = {"units": 4, "num_layers": 1, "suffixes": ()}
        >>> a, b = (keras_tagging.build("bigru", seed=s, **options) for s in (1, 2))
        >>> for model in (a, b):
        ...     model.adapt(corpus.train)  # or fit, for trained models
        >>> comparison = keras_tagging.compare(a, b, corpus.test[:40])
        >>> print(comparison)  # doctest: +ELLIPSIS
        accuracy ... and ...: difference ..., p = ...
        (one model each, paired permutation test by ... tokens)
    """
    first, second = _models(a), _models(b)
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} models and {len(second)}: give the same number of each"
        )
    # those of two kinds, such as CCG parsers by chart and by moves, may have the same
    if len({kinds.of(m).figures or m.kind for m in first + second}) > 1:
        named = " and a ".join(dict.fromkeys(m.kind for m in first + second))
        raise ValueError(f"a {named} have no figure in common")
    label = figure
    kind = kinds.of(first[0])
    has_columns = all(hasattr(m, "column") and m.column_names for m in first + second)
    if has_columns and (kind.learns == "tags" or figure not in (None, *kind.figures)):
        column, figure = _column(first[0], figure)
        first, second = ([m.column(column) for m in some] for some in (first, second))
    derived = kind.learns == "derivations"
    sentences = first[0].annotated(_sentences(corpus, split, derived))
    figure = figure or _default_figure(first[0])
    check_known("figure", figure, kinds.of(first[0]).figures)
    if (figure in ("word", "sent")) != (beta is not None):
        raise ValueError("beta= is a level, such as 0.075, of word or sent alone")
    finest = "tokens" if figure in BY_TOKENS else "sentences"
    units = units or finest
    if units not in ("sentences", finest):
        allowed = " or ".join(dict.fromkeys(("sentences", finest)))
        raise ValueError(f"{figure} is tested by {allowed}, not by {units}")
    if figure == "f1":
        inventories = [{tag for s in sentences for tag in s.tags}]
        inventories += [model.tags for model in first + second]
        if not any(map(looks_like_chunks, inventories)):
            raise ValueError(
                "figure 'f1' is for chunks (B-X, I-X, O), and these tags are none: "
                "compare by accuracy"
            )
    counting = {"punctuation": punctuation}
    counting = {k: v for k, v in counting.items() if k in first[0].counting_options}
    counts = [
        np.stack([m.counts(sentences, [(figure, beta)], **counting)[0] for m in some])
        for some in (first, second)
    ]
    if units != finest:
        lengths = np.array([len(s) for s in sentences if len(s)])
        starts = np.cumsum(lengths) - lengths
        counts = [np.add.reduceat(part, starts, axis=1) for part in counts]
    p = p_value(*counts, figure, resamples=resamples, seed=seed)
    means = [float(figure_of(figure)(part.sum(1)).mean()) for part in counts]
    return Comparison(
        figure=label or figure,
        first=means[0],
        second=means[1],
        difference=means[0] - means[1],
        p=p,
        seeds=len(first),
        units=units,
        count=counts[0].shape[1],
        resamples=resamples,
    )


def _default_figure(model) -> str:
    """The figure that selects the best epoch; if it has no counts, the first one."""
    figure, names = model.default_monitor.removeprefix("val_"), kinds.of(model).figures
    return names[0] if names and figure not in names else figure


def _column(model, figure: str | None) -> tuple[str | None, str | None]:
    """The column of a figure, None for the tags of sentences, and its name there.

    Raises:
        ValueError: if the columns of the model have names, and this is of none.
    """
    names = model.column_names
    if names[0] is None:
        return None, figure
    for name in sorted(names, key=len, reverse=True):  # one may begin another
        if figure and figure.startswith(f"{name}_"):
            return name, figure.removeprefix(f"{name}_")
    raise ValueError(
        f"these models learn {', '.join(names)}: give the figure of one, such as "
        f"{names[0]}_accuracy" + (f", not {figure}" if figure else "")
    )


def _models(source) -> list[SentenceCalls]:
    if isinstance(source, SentenceCalls | str | Path):
        source = [source]
    models = [m if isinstance(m, SentenceCalls) else load(m) for m in source]
    for model in models:
        if not kinds.of(model).figures:
            raise ValueError(
                f"a {model.kind} has no figures to compare: compare its parts, or use "
                "evaluate"
            )
    return models


def _sentences(corpus, split, derived: bool) -> list[Sentence]:
    if isinstance(corpus, str | Path):
        corpus = load_corpus(corpus, require_train=False)
    if not isinstance(corpus, Corpus):
        return as_sentences(corpus)
    if derived:
        refuse_underived(corpus)
    return getattr(corpus, split)
