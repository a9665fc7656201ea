"""Resumed training, which continues as if it had not been killed."""

import json
from contextlib import contextmanager
from pathlib import Path

import keras
import numpy as np

from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import StoredArrays

# Counters are state. Text is not: it names files and figures of the current run.
PLAIN = (bool, int, float, type(None))
WEIGHTS = "best_weights"  # of Keras' callbacks and ours
# an option whose sign Keras' EarlyStopping changes after the first epoch, each time
DERIVED = ("min_delta",)
# callbacks that had another name in 0.2.0 or 0.4.0
RENAMED = {"Told": "ProgressCallback", "LinearDecay": "LearningRateScheduler"}
# in messages, what several settings decide
DESCRIBED = {
    "soft targets": "soft targets (another teacher, weight or temperature, or none)",
}


class Resume(keras.callbacks.Callback):
    """Callback that saves the state of training after each epoch, and restores it.

    The state is the weights, the seeds of dropout, the state of the optimizer, and the
    counters and best weights of the other callbacks. It must be the last callback. The
    file is replaced atomically: after a kill it has the last finished epoch.

    Keras' own `BackupAndRestore` keeps neither the dropout seeds nor the counters.

    A file may come from a stranger. It can set numbers and lists of figures in
    callbacks, but not their methods, nor the names and paths that they were made with.
    So a string that a callback was made with and then changed is not restored.

    Args:
        path: the file, `.npz`.
        callbacks: the other callbacks, in the order of the call to `fit`.
        run: identifies the run: corpus, settings. A file of another run is refused.

    Attributes:
        epoch: number of finished epochs in the file, 0 without a file.
        finished: whether a callback had stopped the training.

    Raises:
        ValueError: if the file belongs to another run, or is damaged; when training
            begins, if it does not fit the model.
    """

    def __init__(self, path, callbacks=(), run=None):
        super().__init__()
        self.path = Path(path)
        self.callbacks = list(callbacks)
        # the state of the callbacks is stored in their order
        self.options = [dict(vars(callback)) for callback in self.callbacks]
        run = {**(run or {}), "callbacks": [type(c).__name__ for c in self.callbacks]}
        self.run = json.loads(json.dumps(run))
        self.epoch, self.finished, self._states = 0, False, None
        if not self.path.exists():
            return
        with self._undamaged(), StoredArrays(self.path) as arrays:
            check_header(header := arrays.header())
        names = map(str, header["run"]["callbacks"])
        names = [RENAMED.get(name, name) for name in names]
        # 0.2.0 had none of these
        before = dict.fromkeys(("soft targets", "weights"))
        for key, value in (before | header["run"] | {"callbacks": names}).items():
            if value != self.run.get(key):
                raise ValueError(
                    f"{self.path}: saved by a run with other "
                    f"{DESCRIBED.get(key, key)}; repeat that "
                    "run's settings, remove the file, or choose another folder"
                )
        self.epoch, self.finished = header["epoch"], header["finished"]
        self._states = header["callbacks"]
        with self._undamaged():
            self._check_states()

    def on_train_begin(self, logs=None):
        if self._states is None:
            return
        with self._undamaged(), StoredArrays(self.path) as arrays:
            for i, variable in enumerate(self._variables()):
                saved, now = arrays[f"variable{i}"], _values(variable)
                if (saved.shape, saved.dtype) != (now.shape, now.dtype):
                    raise ValueError(f"variable{i} does not fit the model")
                variable.assign(saved)
            for i, state in enumerate(self._states):
                for name, value in state.items():
                    if name in DERIVED:  # in files of version 0.4.0
                        continue
                    if isinstance(value, dict):
                        parts = range(value["arrays"])
                        value = [arrays[f"callback{i}.{name}.{j}"] for j in parts]
                    if isinstance(value, list) and name == WEIGHTS:
                        now = [(x.shape, x.dtype) for x in self.model.get_weights()]
                        if [(x.shape, x.dtype) for x in value] != now:
                            raise ValueError(f"{name!r} do not fit the model")
                    setattr(self.callbacks[i], name, value)

    def on_epoch_end(self, epoch, logs=None):
        arrays = {
            f"variable{i}": _values(variable)
            for i, variable in enumerate(self._variables())
        }
        states = []
        for i, callback in enumerate(self.callbacks):
            state = {}
            for name, value in vars(callback).items():
                if isinstance(value, np.generic):
                    value = value.item()
                is_hidden = name.startswith("_") or name in DERIVED
                if is_hidden or self._is_option(i, name, value):
                    continue
                if isinstance(value, PLAIN):
                    # an unchanged value is an option: a resumed run has its own
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
    def _undamaged(self):
        try:
            yield
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(
                f"{self.path}: not a file to resume from ({error}); remove it to start "
                "afresh"
            ) from error

    def _is_option(self, i, name, value):
        """Whether an attribute of a callback is an option, such as a path or a name."""
        values = (value, self.options[i].get(name))
        is_text = any(isinstance(x, str | Path) for x in values)
        return name in self.options[i] and is_text

    def _check_states(self):
        """Raise a ValueError if they set what is no state of the callbacks."""
        states = zip(self.callbacks, self._states, strict=True)
        for i, (callback, state) in enumerate(states):
            for name, value in state.items():
                attribute = getattr(type(callback), name, None)
                is_code = callable(attribute) or isinstance(attribute, property)
                is_text = isinstance(value, str) or self._is_option(i, name, value)
                if is_code or is_text or name.startswith("_"):
                    raise ValueError(f"{name!r} is not state of a callback")
                if isinstance(value, list) and not _rows(value):
                    raise ValueError(f"{name!r} is no list of figures")


def check_header(header) -> None:
    """Raise an error unless the header of a file has what `Resume` writes."""
    names, states = header["run"]["callbacks"], header["callbacks"]
    fits = type(header["epoch"]) is int and 1 <= header["epoch"] <= limits.EPOCHS
    fits = fits and type(header["finished"]) is bool and isinstance(names, list)
    if not fits or [*map(type, states)] != [dict] * len(names):
        raise ValueError("its header is not that of a run")


def _values(variable) -> np.ndarray:
    return np.asarray(keras.ops.convert_to_numpy(variable))


def _rows(value):
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _arrays(value):
    return isinstance(value, list) and all(hasattr(a, "shape") for a in value)
