"""Going on after a kill, on the same trajectory."""

import json
import zipfile
from contextlib import contextmanager
from pathlib import Path

import keras
import numpy as np

from keras_tagging.utils.atomic import replacing

# What NumPy and JSON raise at a damaged file, or at one of another kind.
UNREADABLE = (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile)
PLAIN = (bool, int, float, str, type(None))


class Resume(keras.callbacks.Callback):
    """Saves after each epoch all that training depends on, and restores it.

    That is the weights, the seeds of dropout, the state of the optimizer, and the
    counters and best weights of the other callbacks. It must be the last callback.
    The file is replaced atomically: a kill leaves the last finished epoch.

    Keras' own `BackupAndRestore` keeps neither the dropout seeds nor the counters.

    Args:
        path: the file, `.npz`.
        callbacks: the other callbacks, in the order of the call to `fit`.
        run: what identifies the run: corpus, settings. A file of another run is
            refused.

    Attributes:
        epoch: finished epochs in the file, 0 without a file.
        finished: whether a callback had stopped the training.

    Raises:
        ValueError: if the file is of another run, or cannot be read.
    """

    def __init__(self, path, callbacks=(), run=None):
        super().__init__()
        self.path = Path(path)
        self.callbacks = list(callbacks)
        # the state of the callbacks is stored in their order
        self.options = [dict(vars(callback)) for callback in self.callbacks]
        run = {**(run or {}), "callbacks": [type(c).__name__ for c in self.callbacks]}
        self.run = json.loads(json.dumps(run))
        self.epoch, self.finished = 0, False
        if self.path.exists():
            with self._open() as file:
                header = json.loads(str(file["header"]))
            for key, value in header["run"].items():
                if value != self.run.get(key):
                    raise ValueError(
                        f"{self.path}: saved by a run with other {key}; repeat that "
                        "run's settings, remove the file, or choose another folder"
                    )
            self.epoch, self.finished = header["epoch"], header["finished"]

    def on_train_begin(self, logs=None):
        if not self.path.exists():
            return
        with self._open() as file:
            header = json.loads(str(file["header"]))
            for i, variable in enumerate(self._variables()):
                variable.assign(file[f"variable{i}"])
            states = zip(self.callbacks, header["callbacks"], strict=True)
            for i, (callback, state) in enumerate(states):
                for name, value in state.items():
                    if isinstance(value, dict):
                        parts = range(value["arrays"])
                        value = [file[f"callback{i}.{name}.{j}"] for j in parts]
                    setattr(callback, name, value)

    def on_epoch_end(self, epoch, logs=None):
        arrays = {
            f"variable{i}": keras.ops.convert_to_numpy(variable)
            for i, variable in enumerate(self._variables())
        }
        states = []
        for i, callback in enumerate(self.callbacks):
            state = {}
            for name, value in vars(callback).items():
                if isinstance(value, np.generic):
                    value = value.item()
                if name.startswith("_"):
                    continue
                if isinstance(value, PLAIN):
                    # what has not changed is an option: a resumed run brings its own
                    if name not in self.options[i] or value != self.options[i][name]:
                        state[name] = value
                elif _rows(value):
                    state[name] = value
                elif _arrays(value):
                    for j, array in enumerate(value):
                        arrays[f"callback{i}.{name}.{j}"] = np.asarray(array)
                    state[name] = {"arrays": len(value)}
            states.append(state)
        header = {
            "epoch": epoch + 1,
            "finished": bool(self.model.stop_training),
            "run": self.run,
            "callbacks": states,
        }
        with replacing(self.path) as partial:
            np.savez(partial, header=json.dumps(header), **arrays)

    def _variables(self):
        return [*self.model.variables, *self.model.optimizer.variables]

    @contextmanager
    def _open(self):
        try:
            with open(self.path, "rb") as stream, np.load(stream) as file:
                yield file
        except UNREADABLE as error:
            raise ValueError(
                f"{self.path}: not a file to resume from ({error}); remove it to "
                "start afresh"
            ) from error


def _rows(value):
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _arrays(value):
    return isinstance(value, list) and all(hasattr(a, "shape") for a in value)
