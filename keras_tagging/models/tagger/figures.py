"""The figures of a tagger: those of each column of labels, and of all together."""

from collections.abc import Sequence

import numpy as np

from keras_tagging.data.named_columns import TOGETHER
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.kinds.figures import cross_entropy, figures_of
from keras_tagging.metrics.accuracy import share
from keras_tagging.models.tagger.decoding import Softmax


def figure_names(columns: Sequence[LabelColumn]) -> list[str]:
    """The names of the figures of `Tagger.evaluate`, over real tokens.

    * `loss`: the mean cross-entropy of tokens whose gold tag is in the inventory; with
      a CRF too, from the marginals that `predict` gives;
    * `accuracy`, where a gold tag outside the inventory is an error;
    * `oov_accuracy`: that of words that training has not seen, in their normal form, or
      fewer than `word_min_count` times; nan without any;
    * `sentence_accuracy`: the share of sentences without an error;
    * for chunk tags `precision`, `recall` and `f1`, as conlleval counts them.

    Those of a named column begin with its name: `upos_accuracy`. Before them come the
    mean `loss` and `accuracy` of the columns, and `joint_accuracy`, the share of tokens
    that are right in all columns.
    """
    together = [] if columns[0].name is None else list(TOGETHER)
    return together + [column.figure(f) for column in columns for f in column.figures]


def best_figure(columns: Sequence[LabelColumn]) -> str:
    """The figure that tells the best epoch."""
    first = columns[0]
    if len(columns) == 1:
        return first.figure("f1" if first.has_chunks else "accuracy")
    return "accuracy"


def normal_words(model, sentences, encoded) -> dict:
    """The arguments by which `token_accuracy` tells unseen words.

    Args:
        model: a `Tagger`.
        sentences: sentences.
        encoded: the same sentences as `EncodedSentences`.

    Returns:
        The words in normal form as `sentences`, and the training words as
        `known_words`; {} if words are not a feature.
    """
    if "word" not in model.features.vocabularies:
        return {}
    if model.settings.task.embeddings is None:
        # as ids: all except the unknown one come from the training sentences
        words = [encoded.ids[a:b, 0].tolist() for a, b in encoded.spans()]
        known = range(FIRST_ID, model.features.sizes["word"])
        return {"sentences": words, "known_words": known}
    # words that are only in the vectors have ids too
    forms = model.features.normal_forms(flat_strings(sentences)["tokens"])
    words = [forms[a:b] for a, b in encoded.spans()]
    return {"sentences": words, "known_words": model.known_words()}


def evaluator(model, sentences, calls):
    """A function that computes the figures, with the weights at that time.

    Args:
        model: a `Tagger`.
        sentences: sentences with gold labels.
        calls: the `NetworkCalls`.
    """
    encoded = model.encode(sentences, targets=True)
    words = normal_words(model, sentences, encoded)

    def evaluate():
        batches = model.network_outputs(encoded, calls)
        own = model.label_columns, model.rules
        return figures(sentences, encoded, batches, *own, words)

    return evaluate


def figures(sentences, encoded, batches, columns, rules, words) -> dict[str, float]:
    """The figures of `Tagger.evaluate`.

    Args:
        sentences: sentences with gold labels.
        encoded: the same sentences as `EncodedSentences`, with targets.
        batches: the outputs of the network for them: see `Tagger.network_outputs`.
        columns: the `LabelColumn` of each output.
        rules: the `ColumnRules` that their labels keep to, or None.
        words: the output of `normal_words`.
    """
    predicted = [[[] for _ in sentences] for _ in columns]
    ruled = {c.name: c for c in columns if rules and c.name in rules.columns}
    totals, counts = np.zeros(len(columns)), np.zeros(len(columns), int)
    for chosen, outputs in batches:
        _, targets, _ = encoded.batch(chosen)
        targets = targets.reshape((*targets.shape[:2], len(columns)))
        for i, (column, (logits, best)) in enumerate(
            zip(columns, outputs, strict=True)
        ):
            losses = cross_entropy(logits, targets[..., i])
            totals[i] += losses.sum(dtype="float64")
            counts[i] += len(losses)
            for place, ids in zip(chosen, best, strict=True):
                ids = ids[: len(sentences[place])].tolist()
                labels = [column.labels[j] for j in ids]
                if column.name not in ruled:
                    labels = column.shown(labels, sentences[place].tokens)
                predicted[i][place] = labels
        for row, place in enumerate(chosen if ruled else ()):
            tokens, labels, rows = sentences[place].tokens, {}, {}
            places = [i for i, column in enumerate(columns) if column.name in ruled]
            for i in places:
                labels[columns[i].name] = predicted[i][place]
                rows[columns[i].name] = Softmax(outputs[i][0][row, : len(tokens)])
            found = rules.chosen(tokens, labels, rows, ruled, values=False)
            for i in places:
                predicted[i][place] = found[columns[i].name][0]
    losses = [share(float(t), int(n)) for t, n in zip(totals, counts, strict=True)]
    return figures_of(columns, sentences, predicted, losses, words)
