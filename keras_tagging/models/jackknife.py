"""Predicted tags for the training of a parser, from taggers that did not see them."""

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.models.tagger import Tagger
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import read_object


@dataclass(frozen=True)
class Jackknifed:
    """Predicted tags of training sentences, and the fingerprint of the sentences."""

    fingerprint: str | None = None
    tags: list[list[str]] | None = None


def jackknife(
    sentences,
    column,
    *,
    architecture="bigru",
    folds=5,
    epochs=5,
    seed=0,
    verbose=0,
    keep=None,
):
    """Predict the tags of training sentences, each with a tagger of the other folds.

    So the tags in training have about as many errors as those in later use: "as is
    standard we use predicted POS tags for the train, dev, and test sets", Elkaref &
    Bohnet (2017), section 5, :cite:`elkaref2017`.

    Args:
        sentences: training sentences with gold tags in a column.
        column: the name of the column.
        architecture: the architecture of the taggers, with its fast recipe.
        folds: the number of parts, which are drawn at random.
        epochs: the number of epochs of each tagger.
        seed: the seed of the folds and the taggers.
        verbose: as in `Tagger.fit`; above 0, the progress over folds is printed too.
        keep: a folder that keeps the tags of finished folds for a resumed run.

    Returns:
        The tags of each sentence.
    """
    gold = _tagged(sentences, column)
    folds = min(folds, len(gold))
    if folds < 2:
        raise ValueError("tags='predicted' needs two folds and two training sentences")
    run = [architecture, folds, epochs, seed, Corpus(gold).fingerprint()]
    kept = Path(keep) / "jackknife.json" if keep else None
    order = list(range(len(gold)))
    Random(seed).shuffle(order)
    parts = {str(fold): [gold[i] for i in order[fold::folds]] for fold in range(folds)}
    predicted = {}
    if kept and kept.exists():
        remedy = "remove it, and the tags are predicted again"
        content = read_object(kept, remedy)
        if content.get("run") == run:
            predicted = content.get("tags")
            known = {tag for sentence in gold for tag in sentence.tags}
            if not isinstance(predicted, dict) or not all(
                fold in parts and are_tags(rows, parts[fold], known)
                for fold, rows in predicted.items()
            ):
                raise ValueError(f"{kept}: not the tags of these sentences: {remedy}")

    for fold in range(folds):
        if str(fold) in predicted:
            continue
        held = set(order[fold::folds])
        rest = [sentence for i, sentence in enumerate(gold) if i not in held]
        if verbose:
            print(f"Tags for the parser: fold {fold + 1} of {folds}", flush=True)
        model = _train(rest, architecture, epochs, seed, verbose)
        predicted[str(fold)] = model.tag([s.tokens for s in parts[str(fold)]])
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with replacing(kept) as partial:
                text = json.dumps({"run": run, "tags": predicted})
                partial.write_text(text, encoding="utf-8")
    tags: list[list[str]] = [[]] * len(gold)
    for fold in range(folds):
        for i, row in zip(order[fold::folds], predicted[str(fold)], strict=True):
            tags[i] = row
    return tags


def are_tags(rows, sentences: list[Sentence], known: set[str]) -> bool:
    """Whether these are lists of known tags, one for each token of the sentences."""
    if not isinstance(rows, list) or len(rows) != len(sentences):
        return False
    return all(
        isinstance(row, list)
        and len(row) == len(sentence)
        and all(isinstance(tag, str) and tag in known for tag in row)
        for row, sentence in zip(rows, sentences, strict=True)
    )


def train_tagger(sentences, column, *, architecture, epochs, seed=0, verbose=0):
    """Train a tagger on all training sentences, for later sentences.

    Args:
        sentences, column, architecture, epochs, seed, verbose: as in `jackknife`.
    """
    if verbose:
        print("Tags for the parser: a tagger of all sentences", flush=True)
    gold = _tagged(sentences, column)
    return copied(_train(gold, architecture, epochs, seed, verbose))


def copied(tagger):
    """A copy of a tagger, without the state of its optimizer."""
    twin = Tagger.from_config(tagger.get_config())
    twin.set_weights(tagger.get_weights())
    return twin


def _tagged(sentences, column):
    return [Sentence(s.tokens, list(s.columns.get(column, []))) for s in sentences]


def _train(sentences, architecture, epochs, seed, verbose):
    settings = architecture_named(architecture).settings("fast")
    model = Tagger(architecture, settings, seed=seed)
    model.fit(sentences, epochs=epochs, verbose=verbose)
    return model
