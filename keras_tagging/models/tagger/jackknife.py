"""Labels for training sentences, predicted by taggers that did not see them."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from keras_tagging.architectures import architecture as architecture_named
from keras_tagging.data.named_columns import labels_of
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.models.tagger.tagger import Tagger
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import read_object

#: the labels of finished folds, in the folder of a run
KEPT = "jackknife.json"
REMEDY = "remove it, and the tags are predicted again"


@dataclass(frozen=True)
class Jackknifed:
    """Predicted tags of training sentences, and the fingerprint of the sentences."""

    fingerprint: str | None = None
    tags: list[list[str]] | None = None


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
    if folds < 2:
        raise ValueError("tags='predicted' needs two folds and two training sentences")
    first = new_tagger()
    order = list(range(len(sentences)))
    Random(first.seed).shuffle(order)
    held = [order[fold::folds] for fold in range(folds)]
    parts = [[sentences[i] for i in places] for places in held]
    names = [name for name in first.column_names if name is not None]
    run = [first.architecture, folds, epochs, first.seed]
    run += [Corpus(list(sentences)).fingerprint(names), *names]
    kept = _Kept(keep, run, parts, first.column_names)
    for fold, places in enumerate(held):
        if str(fold) in kept.tags:
            continue
        left_out = set(places)
        rest = [s for i, s in enumerate(sentences) if i not in left_out]
        tagger = new_tagger()
        tagger.adapt(rest)
        options = {"callbacks": begin(fold, tagger), "resume": kept.state(fold)}
        tagger.fit(rest, epochs=epochs, verbose=verbose, **options)
        kept.add(fold, tagger.tag([sentence.tokens for sentence in parts[fold]]))
    labels: list = [None] * len(sentences)
    for fold, places in enumerate(held):
        for i, row in zip(places, kept.tags[str(fold)], strict=True):
            labels[i] = row
    return labels


class _Kept:
    """The labels of finished folds; with a folder, they are in its `jackknife.json`.

    Args:
        folder: of the run, or None.
        run: identifies the run, for JSON. The files of another run are removed.
        parts: the sentences of each fold.
        names: the columns of the taggers.
    """

    def __init__(self, folder, run: list, parts: list[list[Sentence]], names):
        self.folder, self.run = folder and Path(folder), run
        self.tags: dict[str, list] = {}
        if self.folder is None:
            return
        path = self.folder / KEPT
        content = read_object(path, REMEDY) if path.exists() else {}
        if content.get("run") != run:
            shutil.rmtree(self.folder / path.stem, ignore_errors=True)
            self._write()
            return
        labels = {
            name: {x for part in parts for s in part for x in labels_of(s, name) or ()}
            for name in names
        }
        tags = content.get("tags")
        if not isinstance(tags, dict) or not all(
            fold in map(str, range(len(parts)))
            and are_labels(rows, parts[int(fold)], labels)
            for fold, rows in tags.items()
        ):
            raise ValueError(f"{path}: not the tags of these sentences: {REMEDY}")
        self.tags = tags

    def state(self, fold: int) -> Path | None:
        """The folder for the state of the tagger of a fold, in training."""
        return self.folder and self.folder / "jackknife" / str(fold)

    def add(self, fold: int, labels: list) -> None:
        """Keep the labels of a fold, and remove the state of its tagger."""
        self.tags[str(fold)] = labels
        if self.folder is not None:
            self._write()
            shutil.rmtree(self.folder / "jackknife", ignore_errors=True)

    def _write(self):
        with replacing(self.folder / KEPT) as partial:
            content = {"run": self.run, "tags": self.tags}
            partial.write_text(json.dumps(content), encoding="utf-8")


def are_labels(rows, sentences: list[Sentence], inventories: dict) -> bool:
    """Whether these are labels of sentences, as `Tagger.tag` gives them.

    Args:
        rows: anything.
        sentences: those that were tagged.
        inventories: for each column the labels that there are. Lemmas may be others.
    """
    if not isinstance(rows, list) or len(rows) != len(sentences):
        return False
    if None not in inventories and not all(isinstance(row, dict) for row in rows):
        return False
    return all(
        isinstance(row, list)
        and len(row) == len(sentence)
        and all(isinstance(x, str) and (name == "lemma" or x in labels) for x in row)
        for name, labels in inventories.items()
        for labelled, sentence in zip(rows, sentences, strict=True)
        for row in [labelled if name is None else labelled.get(name)]
    )


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
