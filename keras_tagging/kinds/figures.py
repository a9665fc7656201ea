"""The figures of answers, from gold sentences: with Keras, and of ONNX files."""

from collections.abc import Mapping, Sequence

import numpy as np

from keras_tagging.data.named_columns import CHUNK_FIGURES
from keras_tagging.data.sentence import document_of
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.metrics import chunk_scores, token_accuracy
from keras_tagging.metrics.accuracy import share
from keras_tagging.metrics.raw_text import segmentation_scores
from keras_tagging.segmenting.segmentation import LABELS, targets_of
from keras_tagging.segmenting.symbols import TextStream, symbols_of


def figures_of(
    columns: Sequence[LabelColumn],
    sentences,
    predicted: Sequence[list[list[str]]],
    losses: Sequence[list[np.ndarray]],
    seen: Mapping,
) -> dict[str, float]:
    """The figures of `Tagger.evaluate`.

    Args:
        columns: the `LabelColumn` of each output.
        sentences: sentences with gold labels.
        predicted: for each column the labels of each sentence.
        losses: for each column the `cross_entropy` of each sentence; without any there
            is no `loss`.
        seen: arguments by which `token_accuracy` tells unseen words; without any there
            is no `oov_accuracy`.
    """
    gold = [column.gold(sentences) for column in columns]
    left_out = {"loss"} if not losses else set()
    left_out |= {"oov_accuracy"} if not seen else set()
    figures = {}
    for i, column in enumerate(columns):
        scores = token_accuracy(gold[i], predicted[i], **seen)
        if losses:
            total = sum(float(part.sum(dtype="float64")) for part in losses[i])
            scores["loss"] = share(total, sum(map(len, losses[i])))
        if column.has_chunks:
            chunks = chunk_scores(gold[i], predicted[i], "iob")
            scores |= {n: getattr(chunks, n) for n in CHUNK_FIGURES}
        names = (name for name in column.figures if name not in left_out)
        figures |= {column.figure(name): scores[name] for name in names}
    if not columns or columns[0].name is None:
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


def cross_entropy(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """-log p of every gold label in the inventory: (known labels,).

    Args:
        logits: `(tokens, labels)`.
        targets: `(tokens,)`, -1 outside the inventory.
    """
    seen = targets >= 0
    rows = logits[seen]
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
    text, surfaces = document_of(sentences)
    targets = targets_of(symbols_of(text), surfaces)
    stream = TextStream(text)
    scored = list(segmentation.scored(stream))
    scores = segmentation_scores(sentences, segmentation.sentences(stream, scored))
    nothing = np.zeros((0, len(LABELS)), "float32")
    logits = np.concatenate([nothing, *(part for _, part in scored)])
    losses = cross_entropy(logits, targets)
    return {
        "loss": share(float(losses.sum(dtype="float64")), len(losses)),
        "token_f1": scores.tokens.f1,
        "word_f1": scores.words.f1,
        "sentence_f1": scores.sentences.f1,
        "f1": (scores.tokens.f1 + scores.sentences.f1) / 2,
    }
