"""The files of a run that tell its state. No Keras here.

A run may be killed at any moment: the same command then continues it, or sees that it
is finished. `resume.npz` exists from the end of the first epoch until first
`model.keras` and then `metadata.json` exist.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from keras_tagging.utils.atomic import locked, remove_partial
from keras_tagging.utils.stored import read_object

MODEL, METADATA = "model.keras", "metadata.json"
#: of the folder of an ensemble, which has a file for each member
ENSEMBLE = "ensemble.json"
# Files that are needed only until the end: the state, and the best model so far
STATE, BEST = "resume.npz", ("best.keras", "best.metadata.json")
# has the answers of a teacher for the training sentences: `models.distillation`
TAUGHT = "teacher-*.npz"


def model_file(path: Path) -> Path:
    """The `.keras` file that a path stands for, which of a folder is `model.keras`.

    Raises:
        ValueError: if there is none.
    """
    if path.is_dir():
        path = path / MODEL
    if not path.is_file():
        raise ValueError(
            f"{path}: no such model; train writes model.keras in its --out"
        )
    if path.suffix != ".keras":
        raise ValueError(
            f"{path}: the name of a model's file must end in .keras, or in .onnx"
        )
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
    done = (*(out / name for name in BEST), *out.glob(TAUGHT))
    for path in (*done, state):  # the state goes last
        path.unlink(missing_ok=True)
    remove_partial(out)
