"""The figures of answers, from gold sentences: with Keras, and of ONNX files."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from keras_tagging.data.named_columns import CHUNK_FIGURES
from keras_tagging.data.surfaces import check_surfaces, document_of
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.metrics import chunk_scores, token_accuracy
from keras_tagging.metrics.accuracy import share
from keras_tagging.metrics.raw_text import segmentation_scores
from keras_tagging.segmenting.segmentation import LABELS, targets_of
from keras_tagging.segmenting.symbols import TextStream, symbols_of

LEAST = np.finfo("float32").tiny  # a probability, whose logarithm is finite


def figures_of(
    columns: Sequence[LabelColumn],
    sentences,
    predicted: Sequence[list[list[str]]],
    losses: Sequence[float],
    words: Mapping = {},  # noqa: B006, which nobody changes
    left_out: Collection[str] = (),
) -> dict[str, float]:
    """The figures of `Tagger.evaluate`.

    Args:
        columns: the `LabelColumn` of each output.
        sentences: sentences with gold labels.
        predicted: for each column the labels of each sentence.
        losses: the mean cross-entropy of each column.
        words: arguments by which `token_accuracy` tells unseen words.
        left_out: figures that cannot be computed.
    """
    gold = [column.gold(sentences) for column in columns]
    figures = {}
    for i, column in enumerate(columns):
        scores = token_accuracy(gold[i], predicted[i], **words)
        scores["loss"] = losses[i]
        if column.has_chunks:
            chunks = chunk_scores(gold[i], predicted[i], "iob")
            scores |= {n: getattr(chunks, n) for n in CHUNK_FIGURES}
        names = (name for name in column.figures if name not in left_out)
        figures |= {column.figure(name): scores[name] for name in names}
    if columns[0].name is None:
        return figures
    means = {
        name: float(np.mean([figures[column.figure(name)] for column in columns]))
        for name in ("loss", "accuracy")
        if name not in left_out
    }
    joint = token_accuracy(_joined(gold), _joined(predicted))
    return {**means, "joint_accuracy": joint["accuracy"], **figures}


def _joined(columns) -> list[list[tuple[str, ...]]]:
    """The labels of each token in all columns, sentence by sentence."""
    return [list(zip(*rows, strict=True)) for rows in zip(*columns, strict=True)]


def tag_figures(model, sentences) -> dict[str, float]:
    """The figures of a tagger from its answers alone.

    They are those of `Tagger.evaluate`, without `oov_accuracy`: an exported file does
    not tell which words training had. A SavedModel does not tell the loss either.

    Args:
        model: a `kinds.tagging.Tagging`.
        sentences: sentences with gold labels.
    """
    columns = model.label_columns
    names, outputs = model.column_names, model.output_names()
    has_all = all(c.output_names["all_probabilities"] in outputs for c in columns)
    predicted, sums = [[] for _ in columns], np.zeros((len(columns), 2))
    for part in slices(sentences, sum(map(len, columns))):
        tags, rows = model.tag(part), model.predictions(part) if has_all else ()
        for i, column in enumerate(columns):
            pick = (lambda x: x) if names[i] is None else (lambda x, n=names[i]: x[n])
            predicted[i] += map(pick, tags)
            if not has_all:
                continue
            targets = column.targets(part)
            in_inventory = np.flatnonzero(targets >= 0)
            probabilities = np.concatenate([*map(pick, rows)])[
                in_inventory, targets[in_inventory]
            ]
            probabilities = np.maximum(probabilities.astype("float64"), LEAST)
            sums[i] += -np.log(probabilities).sum(), len(in_inventory)
    losses = [share(float(total), int(count)) for total, count in sums]
    left_out = ("oov_accuracy",) if has_all else ("oov_accuracy", "loss")
    return figures_of(columns, sentences, predicted, losses, left_out=left_out)


def cross_entropy(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """-log p of every gold label in the inventory: (known labels,).

    Args:
        logits: `(batch, time, labels)`; time may exceed that of the targets.
        targets: `(batch, time)`, -1 in the padding and outside the inventory.
    """
    seen = targets >= 0
    rows = logits[:, : seen.shape[1]][seen]
    rows = rows - rows.max(-1, keepdims=True)
    return np.log(np.exp(rows).sum(-1)) - rows[np.arange(len(rows)), targets[seen]]


def segment_figures(segmentation, sentences) -> dict[str, float]:
    """The figures of `Segmenter.evaluate`.

    Args:
        segmentation: the `segmenting.segmentation.Segmentation`.
        sentences: gold sentences with surfaces.

    Raises:
        ValueError: if one has none.
    """
    check_surfaces(sentences)
    text, surfaces = document_of(sentences)
    targets = targets_of(symbols_of(text), surfaces)
    stream = TextStream(text)
    scored = list(segmentation.scored(stream))
    scores = segmentation_scores(sentences, segmentation.sentences(stream, scored))
    nothing = np.zeros((0, len(LABELS)), "float32")
    logits = np.concatenate([nothing, *(part for _, part in scored)])
    losses = cross_entropy(logits[None], targets[None])
    return {
        "loss": share(float(losses.sum(dtype="float64")), len(losses)),
        "token_f1": scores.tokens.f1,
        "word_f1": scores.words.f1,
        "sentence_f1": scores.sentences.f1,
        "f1": (scores.tokens.f1 + scores.sentences.f1) / 2,
    }
