"""Tags that a parser is trained on, predicted by taggers that have not seen them."""

import json
from pathlib import Path
from random import Random

from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.models.tagger import Tagger
from keras_tagging.utils.atomic import replacing


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
    """The tags of training sentences, each predicted by a tagger of the other folds.

    So the parser is trained on tags with as many errors as it will meet: "as is
    standard we use predicted POS tags for the train, dev, and test sets", Elkaref &
    Bohnet (2017), section 5, :cite:`elkaref2017`.

    Args:
        sentences: training sentences with gold tags in a column.
        column: its name.
        architecture: of the taggers, with its fast recipe.
        folds: number of parts, which are drawn at random.
        epochs: of each tagger.
        seed: of the folds and the taggers.
        verbose: as in `Tagger.fit`; above 0 what is being done is said too.
        keep: folder in which what is done is kept, so that it is not done again.

    Returns:
        For each sentence its tags.
    """
    gold = _tagged(sentences, column)
    folds = min(folds, len(gold))
    if folds < 2:
        raise ValueError("tags='predicted' needs two folds and two training sentences")
    run = [architecture, folds, epochs, seed, Corpus(gold).fingerprint()]
    kept = Path(keep) / "jackknife.json" if keep else None
    found = {}
    if kept and kept.exists():
        try:
            content = json.loads(kept.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(
                f"{kept}: is damaged ({error}): remove it, and the tags are made again"
            ) from None
        found = content["tags"] if content["run"] == run else {}
    order = list(range(len(gold)))
    Random(seed).shuffle(order)

    for fold in range(folds):
        if str(fold) in found:
            continue
        held = set(order[fold::folds])
        rest = [sentence for i, sentence in enumerate(gold) if i not in held]
        if verbose:
            print(f"Tags for the parser: fold {fold + 1} of {folds}", flush=True)
        model = _train(rest, architecture, epochs, seed, verbose)
        found[str(fold)] = model.tag([gold[i].tokens for i in order[fold::folds]])
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with replacing(kept) as partial:
                text = json.dumps({"run": run, "tags": found})
                partial.write_text(text, encoding="utf-8")
    tags: list[list[str]] = [[]] * len(gold)
    for fold in range(folds):
        for i, row in zip(order[fold::folds], found[str(fold)], strict=True):
            tags[i] = row
    return tags


def train_tagger(sentences, column, *, architecture, epochs, seed=0, verbose=0):
    """A tagger of all training sentences, for those that come later.

    Args:
        sentences, column, architecture, epochs, seed, verbose: as in `jackknife`.
    """
    if verbose:
        print("Tags for the parser: a tagger of all sentences", flush=True)
    gold = _tagged(sentences, column)
    return copied(_train(gold, architecture, epochs, seed, verbose))


def copied(tagger):
    """The same tagger without the state of its optimizer."""
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
