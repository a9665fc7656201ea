"""A training run and the files of its folder. Keras is imported when it is needed.

A run may be killed at any moment: the same command then continues it, or sees that it
is finished. `resume.npz` exists from the end of the first epoch until first
`model.keras` and then `metadata.json` exist.
"""

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from keras_tagging.data import Corpus
from keras_tagging.models.report import without_nan
from keras_tagging.utils.atomic import locked, remove_partial, replacing
from keras_tagging.utils.stored import read_object

MODEL, METADATA = "model.keras", "metadata.json"
#: of the folder of an ensemble, which has a file for each member
ENSEMBLE = "ensemble.json"
# Files that are needed only until the end: the state, and the best model so far
# `training.json` says what is trained in the folder of a pipeline
TRAINING = "training.json"
STATE, BEST = "resume.npz", ("best.keras", "best.metadata.json")
# has the predictions of a teacher for the training sentences: `models.distillation`
SOFT_TARGETS = "teacher-*.npz"


def model_file(path: Path) -> Path:
    """The `.keras` file that a path stands for, which of a folder is `model.keras`.

    Raises:
        ValueError: if there is none.
    """
    what = "train writes model.keras in its --out"
    if path.is_dir():
        if any((path / name).exists() for name in (TRAINING, STATE)):
            what = "its training has not ended: give the same command again"
        path = path / MODEL
    if not path.is_file():
        raise ValueError(f"{path}: no such model; {what}")
    return path


def lock_run(out: Path) -> AbstractContextManager:
    """Keep other processes from training in the folder.

    Raises:
        ValueError: if one does.
    """
    return locked(
        out,
        f"another process trains in {out}: wait until it ends, or choose another --out",
    )


def is_finished(out: Path) -> bool:
    """Whether the folder has a model and its metadata."""
    try:
        read_object(out / METADATA, "")
    except (OSError, ValueError):
        return False
    return (out / MODEL).exists()


def can_go_on(out: Path, force: bool) -> bool:
    """Whether a killed run left files from which the same command can continue.

    Args:
        force: whether a finished model may be replaced.
    """
    return (out / STATE).exists() and (force or not is_finished(out))


def tidy(out: Path) -> None:
    """Remove the files that a finished run no longer needs.

    The state of a later run, which is to replace this model, stays.
    """
    state = out / STATE
    if state.exists() and state.stat().st_mtime > (out / MODEL).stat().st_mtime:
        return
    done = (*(out / name for name in BEST), *out.glob(SOFT_TARGETS))
    for path in (*done, state):  # the state goes last
        path.unlink(missing_ok=True)
    remove_partial(out)


def train_run(
    model,
    corpus: Corpus,
    out: Path,
    *,
    resume: bool,
    tensorboard: bool,
    callbacks: Sequence = (),
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
    import keras  # which takes seconds

    from keras_tagging.training import mode_of

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
    sentences = corpus.train
    if teacher is not None:
        sentences, lessons = teacher.fit_arguments(model, corpus.train, out)
        fitting |= lessons
        model.metadata["teacher"] = teacher.about
    model.fit(
        sentences,
        validation_data=corpus.dev or None,
        callbacks=callbacks,
        log=out / "training.csv",
        resume=out,
        **fitting,
    )
    scores = save_run(model, corpus, out)
    tidy(out)
    return scores


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
    more = {"language": corpus.language or None, "tag_column": corpus.tag_column}
    model.metadata["corpus"] |= {k: v for k, v in more.items() if v is not None}
    model.metadata["scores"] = scores
    model.save(out / MODEL)
    return scores
