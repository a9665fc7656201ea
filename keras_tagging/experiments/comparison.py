"""Two models on the same sentences: which is better, and whether that is chance."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from keras_tagging.corpora import load_corpus
from keras_tagging.data import Corpus, Sentence
from keras_tagging.data.sentence import as_sentences
from keras_tagging.metrics import looks_like_chunks, paired_permutation
from keras_tagging.metrics.counts import BY_TOKENS, figure_of
from keras_tagging.metrics.significance import is_limit
from keras_tagging.models.factory import load
from keras_tagging.models.sentence_model import SentenceModel


def p_value(first: np.ndarray, second: np.ndarray, figure: str, **options) -> float:
    """The p-value of a difference in a figure, see `metrics.paired_permutation`.

    Args:
        first, second: `(seeds, units, counts)`, counts of the same units.
        figure: as of `figure_of`.
        **options: `resamples` and `seed`.
    """
    if figure != "f1":
        # all seeds have the same denominators: the mean of their shares is the share
        # of their sums, of which few are different, and the test is quicker; what a
        # figure is not made of, the assigned tags of word, is no difference
        first, second = (
            np.asarray(part)[..., :2].sum(0, keepdims=True) for part in (first, second)
        )
    return paired_permutation(first, second, figure_of(figure), **options)


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; figures are in per cent.

    Args:
        figure: such as "accuracy".
        first, second: those of the two systems, averaged over their seeds.
        difference: first - second.
        p: the two-sided p-value, see `metrics.paired_permutation`.
        seeds: models of each system.
        units: what was exchanged, "tokens" or "sentences".
        count: how many of these.
        resamples: exchanges that were asked for.
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
    a,
    b,
    corpus,
    figure: str | None = None,
    split: str = "test",
    *,
    beta: float | None = None,
    units: str | None = None,
    punctuation: str = "keep",
    resamples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Tells how far two systems differ on a corpus, and whether that is chance.

    The test exchanges the answers of the two, unit by unit: see
    `metrics.paired_permutation`, also for what p does not tell. Each model reads the
    sentences once.

    Args:
        a, b: two taggers, or two parsers: a model, what `keras_tagging.load` takes, or
            a list of these, one for each seed, of the same length.
        corpus: a `Corpus`, a name or path for `keras_tagging.load_corpus`, where a
            single file is the test data, or a list of sentences.
        figure: accuracy, f1, word or sent of taggers, uas or las of parsers; by default
            what tells a's best epoch: F1 for chunks, else accuracy; LAS.
        split: of a corpus; sentences given as a list are taken as they are.
        beta: the level, of word and sent only.
        units: "tokens" or "sentences"; by default tokens for accuracy and word. The
            tokens of a sentence depend on each other; sentences are the stricter choice
            there.
        punctuation: of parsers, see `metrics.attachment_scores`.
        resamples, seed: of the test.

    Returns:
        A `Comparison`; as text it is the two figures, their difference and p.

    Raises:
        ValueError: if a tagger is to be compared with a parser, the lists differ in
            length, the models have no such figure, which is f1 where tags are no
            chunks, the figure has no such units or levels, or there are no such
            sentences.

    Example:
        >>> import keras_tagging
        >>> corpus = keras_tagging.load_corpus("demo")
        >>> options = {"units": 4, "num_layers": 1}
        >>> a, b = (keras_tagging.build("bigru", seed=s, **options) for s in (1, 2))
        >>> for model in (a, b):
        ...     model.adapt(corpus.train)  # or fit: it is to learn something
        >>> found = keras_tagging.compare(a, b, corpus.test[:40])
        >>> print(found)  # doctest: +ELLIPSIS
        accuracy ... and ...: difference ..., p = ...
        (one model each, paired permutation test by ... tokens)
    """
    first, second = _models(a), _models(b)
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} models and {len(second)}: the test takes equally many"
        )
    if len({model.kind for model in first + second}) > 1:
        raise ValueError("a tagger and a parser have no figure in common")
    sentences = first[0].annotated(_sentences(corpus, split))
    figure = figure or first[0].default_monitor.removeprefix("val_")
    if beta is not None and figure not in ("word", "sent"):
        raise ValueError(f"beta={beta}: {figure} has no levels, word and sent have")
    finest = "tokens" if figure in BY_TOKENS else "sentences"
    units = units or finest
    if units not in ("tokens", "sentences") or (units, finest) == (
        "tokens",
        "sentences",
    ):
        known = "sentences" + " or tokens" * (finest == "tokens")
        raise ValueError(f"units={units!r}: {figure} is tested by {known}")
    if figure == "f1" and not first[0].reads_trees:
        inventories = [{tag for s in sentences for tag in s.tags}]
        inventories += [model.tags for model in first + second]
        if not any(map(looks_like_chunks, inventories)):
            raise ValueError(
                "figure 'f1' is of chunks, and these tags are none (B-X, I-X, O): "
                "compare by accuracy"
            )
    counting = {"punctuation": punctuation} if first[0].reads_trees else {}
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
        figure=figure,
        first=means[0],
        second=means[1],
        difference=means[0] - means[1],
        p=p,
        seeds=len(first),
        units=units,
        count=counts[0].shape[1],
        resamples=resamples,
    )


def _models(given) -> list[SentenceModel]:
    if isinstance(given, SentenceModel | str | Path):
        given = [given]
    models = [m if isinstance(m, SentenceModel) else load(m) for m in given]
    if not models:
        raise ValueError("an empty list of models: there is nothing to compare")
    return models


def _sentences(corpus, split) -> list[Sentence]:
    if isinstance(corpus, str | Path):
        corpus = load_corpus(corpus, require_train=False)
    if not isinstance(corpus, Corpus):
        return as_sentences(corpus)
    present = dict(corpus.splits())
    if split not in present:
        raise ValueError(
            f"{corpus.name or 'the corpus'} has no {split!r} sentences, only "
            f"{', '.join(present)}"
        )
    return present[split]
