"""Labels for training sentences, predicted by taggers that did not see them."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.models.tagger.tagger import Tagger
from keras_tagging.utils.atomic import write_text
from keras_tagging.utils.stored import read_object

#: the labels of finished folds, in the folder of a run
KEPT = "jackknife.json"
REMEDY = "remove it, and the tags are predicted again"


def jackknife(
    sentences: Sequence[Sentence],
    new_tagger: Callable[[], Tagger],
    *,
    folds: int = 5,
    epochs: int = 5,
    keep: str | Path | None = None,
    verbose=0,
    begin: Callable[[int, Tagger], Iterable] = lambda fold, tagger: (),
) -> list:
    """Predict the labels of training sentences, each with a tagger of the other folds.

    So the labels in training have about as many errors as those in later use: "as is
    standard we use predicted POS tags for the train, dev, and test sets", Elkaref &
    Bohnet (2017), section 5, :cite:`elkaref2017`.

    Args:
        sentences: training sentences with gold labels.
        new_tagger: function that gives a `Tagger` without vocabularies, the same one
            with each call. Its seed draws the folds.
        folds: the number of parts, which are drawn at random.
        epochs: the number of epochs of each tagger.
        keep: a folder for a run that may be killed: `jackknife.json` has the labels of
            finished folds, and `jackknife` the state of the tagger that is in training.
        verbose: as in `Tagger.fit`.
        begin: function of the number of a fold, from 0, and its tagger, which is called
            before the tagger is trained. It gives callbacks of Keras.

    Returns:
        What `Tagger.tag` gives for each sentence.

    Raises:
        ValueError: if there are fewer than two folds or sentences, or a file of the
            folder is damaged.
    """
    folds = min(folds, len(sentences))
    first = new_tagger()
    order = list(range(len(sentences)))
    Random(first.seed).shuffle(order)
    held = [order[fold::folds] for fold in range(folds)]
    parts = [[sentences[i] for i in places] for places in held]
    names = [name for name in first.column_names if name is not None]
    run = [first.architecture, folds, epochs, first.seed]
    run += [Corpus(list(sentences)).fingerprint(names), *names]
    path = keep and Path(keep) / KEPT
    tags = _read(path, run) if path else {}
    state = path and path.parent / path.stem  # of the tagger in training
    for fold, places in enumerate(held):
        if str(fold) in tags:
            continue
        left_out = set(places)
        rest = [s for i, s in enumerate(sentences) if i not in left_out]
        tagger = new_tagger()
        tagger.adapt(rest)
        callbacks, resume = begin(fold, tagger), state and state / str(fold)
        options = {"callbacks": callbacks, "resume": resume, "verbose": verbose}
        tagger.fit(rest, epochs=epochs, **options)
        tags[str(fold)] = tagger.tag([sentence.tokens for sentence in parts[fold]])
        if path:
            _write(path, run, tags)
            shutil.rmtree(state, ignore_errors=True)
    labels: list = [None] * len(sentences)
    for fold, places in enumerate(held):
        for i, row in zip(places, tags[str(fold)], strict=True):
            labels[i] = row
    return labels


def _read(path: Path, run: list) -> dict[str, list]:
    """The labels of finished folds in a file; those of another run are removed.

    Args:
        path: the file.
        run: identifies the run, for JSON.

    Raises:
        ValueError: if the file is damaged.
    """
    content = read_object(path, REMEDY) if path.exists() else {}
    if content.get("run") == run:
        return content["tags"]
    shutil.rmtree(path.parent / path.stem, ignore_errors=True)
    _write(path, run, {})
    return {}


def _write(path: Path, run: list, tags: dict[str, list]) -> None:
    write_text(path, json.dumps({"run": run, "tags": tags}))


def tagged_in(sentences: Iterable[Sentence], column: str) -> list[Sentence]:
    """The words of sentences, with a column as their tags and nothing else."""
    return [Sentence(s.tokens, list(s.columns.get(column, []))) for s in sentences]


def new_tagger(architecture: str, seed: int) -> Tagger:
    """A tagger for a parser, with the fast recipe, not yet trained."""
    settings = architecture_named(architecture).settings("fast")
    return Tagger(architecture, settings, seed=seed)


def copied(tagger: Tagger) -> Tagger:
    """A copy of a tagger, without the state of its optimizer."""
    twin = Tagger.from_config(tagger.get_config())
    twin.set_weights(tagger.get_weights())
    return twin
