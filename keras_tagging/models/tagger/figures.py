"""The figures of a tagger, the counts behind them, and its report."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from keras_tagging import kinds
from keras_tagging.data.named_columns import TOGETHER
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.encoding.batching import slices
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.kinds.figures import cross_entropy, figures_of
from keras_tagging.metrics import assigned, chunk_scores, looks_like_chunks
from keras_tagging.metrics.accuracy import share
from keras_tagging.models.report import Report, check_figures, without_nan
from keras_tagging.models.tagger.decoding import Softmax
from keras_tagging.utils.frames import any_strings

if TYPE_CHECKING:
    import pandas as pd


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
        ids_of_training = range(FIRST_ID, model.features.sizes["word"])
        return {"sentences": words, "known_words": ids_of_training}
    # words that are only in the vectors have ids too
    forms = model.features.normal_forms(flat_strings(sentences)["tokens"])
    words = [forms[a:b] for a, b in encoded.spans()]
    return {"sentences": words, "known_words": model.known_words()}


def evaluator(model, sentences, calls):
    """A function that computes the figures, with the weights at that time.

    Args:
        model: a `Tagger`, or an ensemble, whose first member tells the unseen words.
        sentences: sentences with gold labels.
        calls: the `NetworkCalls`.
    """
    first = getattr(model, "members", [model])[0]
    gold = first.encode(sentences, targets=True)
    words = normal_words(first, sentences, gold)
    encoded = gold if first is model else model.encode(sentences)

    def evaluate():
        batches = model.network_outputs(encoded, calls)
        return figures(
            sentences, gold, batches, model.label_columns, model.rules, words
        )

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
            chosen_labels = rules.chosen(tokens, labels, rows, ruled, values=False)
            for i in places:
                predicted[i][place] = chosen_labels[columns[i].name][0]
    losses = [share(float(t), int(n)) for t, n in zip(totals, counts, strict=True)]
    return figures_of(columns, sentences, predicted, losses, words)


# Counts for tests of significance


def tag_counts(model, sentences, figures) -> list[np.ndarray]:
    """The counts of a tagger's figures, from one pass over the sentences.

    The figures word and sent need the probabilities of all tags, and another pass.

    Args:
        model: a `Tagger`.
        sentences: sentences with gold tags. A tag unseen in training is an error.
        figures: names, each with its level of beta or None.

    Returns:
        For each figure `(units, counts)`, int. A row of accuracy is a token, `[1,
        right]`; a row of word too, `[1, right, assigned tags]`; a row of sent is a
        sentence with tokens, `[1, right]`; a row of f1 is a sentence, with its chunks
        `[gold, predicted, correct]`.

    Raises:
        ValueError: if a tagger has no such figure, or a sentence has no tags.
    """
    check_figures(kinds.of(model), figures)
    sentences = model.annotated(sentences)
    names = {name for name, _ in figures}
    tags, hits = [], {}
    if names & {"accuracy", "f1"}:
        tags = model.tag(sentences)
    if names & {"word", "sent"}:
        hits = _hits(model, sentences, sorted({beta for _, beta in figures} - {None}))
    return [_rows(sentences, tags, hits.get(beta), name) for name, beta in figures]


def _hits(model, sentences, betas) -> dict[float, list[np.ndarray]]:
    """For each beta and sentence, two counts a token, `(tokens, 2)`.

    They are whether the gold tag is among the assigned ones, and their number.
    """
    [column] = model.label_columns
    hits = {beta: [] for beta in betas}
    for chunk in slices(sentences):  # all probabilities would fill the memory
        for sentence, rows in zip(chunk, model.predict(chunk), strict=True):
            gold = column.targets([sentence])
            for beta in betas:
                among = assigned(rows, beta)
                right = among[np.arange(len(gold)), gold] & (gold >= 0)
                hits[beta].append(np.stack([right, among.sum(-1)], 1))
    return hits


def _rows(sentences, tags, hits, figure) -> np.ndarray:
    """The rows of one figure of a tagger, from its tags or hits."""
    if figure == "f1":
        gold = [sentence.tags for sentence in sentences]
        # one scheme for all sentences, as a single one might not show it
        inventory = set(chain(*gold)) - {"O"} or set(chain(*tags))
        scheme = "iob" if looks_like_chunks(inventory) else "bare"
        scores = (
            chunk_scores([right], [row], scheme)
            for right, row in zip(gold, tags, strict=True)
        )
        rows = [(s.gold, s.found, s.correct) for s in scores]
        return np.array(rows, int).reshape(-1, 3)
    if figure == "accuracy":
        right = [
            g == t
            for sentence, row in zip(sentences, tags, strict=True)
            for g, t in zip(sentence.tags, row, strict=True)
        ]
    elif figure == "word":
        counts = np.concatenate([np.zeros((0, 2), int), *hits])
        return np.insert(counts, 0, 1, axis=1)
    else:
        right = [row[:, 0].all() for row in hits if len(row)]
    return np.stack([np.ones(len(right), int), np.array(right, int)], 1)


# The report of `keras-tagging evaluate`


@any_strings()
def tag_report(model, sentences, *, multi_tagging=False, betas=None, per_tag=False):
    """The report of a tagger.

    Args:
        model: a `Tagger`.
        sentences: sentences with gold tags.
        multi_tagging: whether to add a table of multi-tagging.
        betas: the levels of that table; by default those of Kadari et al. (2018).
        per_tag: whether to add precision, recall and F1 of every tag or chunk type.
    """
    scores = without_nan(model.evaluate(sentences, return_dict=True))
    tables = {}
    levels = {"betas": betas} if betas else {}
    if multi_tagging or betas:
        tables["multi_tagging"] = by_columns(
            model, lambda one: one.multi_tagging(sentences, **levels)
        )
    if per_tag:
        tables["per_tag"] = by_columns(model, lambda one: tag_table(one, sentences))
    one_by_one = ((name, model.column(name)) for name in model.column_names)
    warnings = [
        unknown_tags(one.label_columns[0], one.annotated(sentences), name)
        for name, one in one_by_one
    ]
    return Report(scores, tables, warning="; ".join(filter(None, warnings)) or None)


def by_columns(model, table_of) -> "pd.DataFrame":
    """The table of a tagger; if its columns have names, one below the other.

    Args:
        model: a `Tagger`.
        table_of: function from the tagger, or one of its columns, to a table.
    """
    tables = {name: table_of(model.column(name)) for name in model.column_names}
    if None in tables:
        return tables[None]
    import pandas as pd

    alike = {"tag": "label", "type": "label"}
    whole = pd.concat({name: t.rename(columns=alike) for name, t in tables.items()})
    return whole.reset_index(0, names="column").reset_index(drop=True)


def tag_table(model, sentences) -> "pd.DataFrame":
    """Precision, recall and F1 of every tag, or of every chunk type.

    Args:
        model: a `Tagger` of one column, or a `OneColumn`.
        sentences: sentences with gold tags.
    """
    import pandas as pd  # with scikit-learn a second, of which most commands need none
    from sklearn.metrics import precision_recall_fscore_support

    sentences = model.annotated(sentences)
    gold, predicted = [s.tags for s in sentences], model.tag(sentences)
    if looks_like_chunks(model.tags):
        types = chunk_scores(gold, predicted).by_type.items()
        names = ("gold", "precision", "recall", "f1")
        rows = [{"type": k, **{n: getattr(c, n) for n in names}} for k, c in types]
        return pd.DataFrame(rows)
    gold, predicted = list(chain(*gold)), list(chain(*predicted))
    tags = sorted({*gold, *predicted})
    columns = precision_recall_fscore_support(
        gold, predicted, labels=tags, zero_division=0
    )
    names = ("precision", "recall", "f1", "gold")
    table = pd.DataFrame({"tag": tags, **dict(zip(names, columns, strict=True))})
    return table.sort_values("gold", ascending=False, kind="stable")


def unknown_tags(column, sentences, name=None) -> str | None:
    """A warning if the model does not know many gold tags: often a wrong column.

    Args:
        column: a `LabelColumn` of `Sentence.tags`.
        sentences: sentences with gold tags.
        name: of the column, if it has one.
    """
    targets = column.targets(sentences)
    count, unknown = len(targets), int((targets < 0).sum())
    if unknown <= 0.1 * count:
        return None
    if name is not None:
        return (
            f"{unknown} of {count} gold labels in the column {name!r} are unknown "
            "to the model and count as errors"
        )
    return (
        f"{unknown} of {count} gold tags are unknown to the model and count as "
        "errors: is this the right tag column (--option tag_column) and format?"
    )
