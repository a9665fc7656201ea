"""A training run and its folder."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import keras

from keras_tagging.data import Corpus
from keras_tagging.models.files.loading import load
from keras_tagging.models.files.metadata import write_metadata
from keras_tagging.models.files.run_files import BEST, METADATA, MODEL, STATE, tidy
from keras_tagging.models.report import without_nan
from keras_tagging.training import mode_of
from keras_tagging.utils.atomic import replacing


def train_run(
    model,
    corpus: Corpus,
    out: Path,
    *,
    resume: bool,
    tensorboard: bool,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    teacher=None,
    **fitting,
) -> dict[str, dict]:
    """Train an adapted model and save it as `out/model.keras`.

    During training, `out` has `resume.npz`, from which a killed run continues, and
    `best.keras`, the best model so far. If a parser reads predicted tags,
    `jackknife.json` keeps the tags of the training sentences, for parsers that start
    from this one.

    Args:
        model: a `Tagger` or `Parser` with vocabularies.
        corpus: the best epoch on its development sentences is kept, if it has any.
        out: the folder, which this process has locked.
        resume: whether to continue from a `resume.npz` in the folder.
        tensorboard: whether to write events to `out/tensorboard`.
        callbacks: further callbacks of Keras.
        teacher: the `Teacher` from which the model learns too; what it says of these
            sentences is in the folder until the end.
        fitting: further arguments of the model's `fit`.

    Returns:
        The figures of `evaluate` for the development and test sentences.
    """
    for _, sentences in corpus.splits():
        model.annotated(sentences)  # refuse them before the training, not after
    callbacks = list(callbacks)
    if corpus.dev:
        monitor = fitting.get("monitor") or model.default_monitor
        keep = {"mode": mode_of(monitor, model.lower_is_better), "save_best_only": True}
        best = out / BEST[0]
        callbacks.append(keras.callbacks.ModelCheckpoint(best, monitor, **keep))
    if tensorboard:
        callbacks.append(keras.callbacks.TensorBoard(out / "tensorboard"))
    if not resume:
        (out / STATE).unlink(missing_ok=True)
    if teacher is not None:
        fitting |= teacher.lessons(corpus.train, out)
        model.metadata["teacher"] = teacher.about
    model.fit(
        corpus.train,
        validation_data=corpus.dev or None,
        callbacks=callbacks,
        log=out / "training.csv",
        resume=out,
        **fitting,
    )
    scores = save_run(model, corpus, out)
    tidy(out)
    return scores


def complete(out: Path) -> None:
    """Write the missing metadata of a model, which contains them, after a kill."""
    model = load(out)
    with replacing(out / METADATA) as partial:
        write_metadata(model, partial)


def take_folds(source: Path, out: Path) -> None:
    """Copy the predicted tags of the parser that another one starts from, if any."""
    name = "jackknife.json"
    if (source / name).exists() and not (out / name).exists():
        with replacing(out / name) as partial:
            shutil.copy(source / name, partial)


def save_run(model, corpus: Corpus, out: Path) -> dict[str, dict]:
    """Save a model with its scores on development and test, and return the scores."""
    scores = {
        name: without_nan(model.evaluate(sentences, return_dict=True))
        for name, sentences in corpus.splits()
        if name != "train"
    }
    model.metadata["corpus"] = {
        "name": corpus.name,
        "format": corpus.format,
        "fingerprint": corpus.fingerprint(),
        "sentences": {name: len(sentences) for name, sentences in corpus.splits()},
    }
    if corpus.language:
        model.metadata["corpus"]["language"] = corpus.language
    if corpus.tag_column is not None:
        model.metadata["corpus"]["tag_column"] = corpus.tag_column
    model.metadata["scores"] = scores
    model.save(out / MODEL)
    return scores
