"""The files of a run that tell how far it is; Keras is not needed to look at them.

Whatever the moment of a kill, the same command goes on, or finds the run finished:
`resume.npz` is there from the end of the first epoch until `model.keras` and then
`metadata.json` are.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from keras_tagging.utils.atomic import locked, remove_partial
from keras_tagging.utils.stored import read_object

MODEL, METADATA = "model.keras", "metadata.json"
# What is needed until the end: to go on from, and the best model so far
STATE, BEST = "resume.npz", ("best.keras", "best.metadata.json")


def lock_run(out: Path) -> AbstractContextManager:
    """Keep other processes from training in the folder.

    Raises:
        ValueError: if one does.
    """
    return locked(
        out,
        f"another process trains in {out}: wait for its end, or choose another --out",
    )


def is_finished(out: Path) -> bool:
    """Whether the folder has a model and its metadata."""
    try:
        read_object(out / METADATA, "")
    except (OSError, ValueError):
        return False
    return (out / MODEL).exists()


def can_go_on(out: Path, force: bool) -> bool:
    """Whether a kill has left what the same command goes on with.

    Args:
        force: whether a finished model may be replaced.
    """
    return (out / STATE).exists() and (force or not is_finished(out))


def tidy(out: Path) -> None:
    """Remove what a finished run does not need any more.

    The state of a run that was to replace this model stays: it is younger.
    """
    state = out / STATE
    if state.exists() and state.stat().st_mtime > (out / MODEL).stat().st_mtime:
        return
    for path in (*(out / name for name in BEST), state):  # the last one goes last
        path.unlink(missing_ok=True)
    remove_partial(out)
