"""The progress of `train pipeline`: one display for all parts, with an estimate."""

import sys
import time
from collections.abc import Mapping

from keras_tagging.experiments.reproduction.estimate import duration

#: the time of an epoch in relation to one of a tagger, on UD English EWT
WEIGHTS = {"segmenter": 0.5, "tagger": 1.0, "jackknife": 0.5, "parser": 1.5}


class Estimate:
    """The time that is left, from what has been done and what is to come.

    Args:
        epochs: of each part, in their order.
        clock: gives seconds.
    """

    def __init__(self, epochs: Mapping[str, int], clock=time.monotonic):
        self.clock = clock
        self.left = {part: WEIGHTS[part] * n for part, n in epochs.items()}
        self.spent = self.done = 0.0  # seconds, and the work that was done in them
        self.part, self.since, self.first = None, 0.0, 0.0

    def begin(self, part: str) -> None:
        """A part begins."""
        self.part, self.since, self.first = part, self.clock(), None

    def reach(self, epochs: float, total: int) -> None:
        """So many epochs of the part are done, those of a run before included."""
        weight = WEIGHTS[self.part]
        self.left[self.part] = weight * max(0.0, total - epochs)
        now = self.clock()
        if self.first is not None:  # what a run before has done took it no time
            self.done += weight * (epochs - self.first)
            self.spent += now - self.since
        self.since, self.first = now, epochs

    def end(self, part: str) -> None:
        """Nothing of a part is left."""
        self.left[part] = 0.0

    def seconds(self) -> float | None:
        """The seconds that are left; None as long as that is not known."""
        if self.done <= 0:
            return None
        return sum(self.left.values()) * self.spent / self.done


class PipelineProgress:
    """Tells the progress: bars on a terminal, else a line for each epoch.

    Args:
        epochs: of each part, in their order, to begin with.
    """

    def __init__(self, epochs: Mapping[str, int]):
        self.estimate = Estimate(epochs)
        self.epochs = dict(epochs)
        self.part = None
        self.bars, self.tasks = None, {}
        if sys.stdout.isatty():
            self.bars = _bars()
            self.tasks = {
                part: self.bars.add_task(part, total=n, note="")
                for part, n in epochs.items()
            }

    def __enter__(self):
        if self.bars:
            self.bars.start()
        return self

    def __exit__(self, *_):
        if self.bars:
            self.bars.stop()

    def begin(self, part: str, epochs: int, size: str) -> None:
        self.part, self.epochs[part] = part, epochs
        self.estimate.begin(part)
        self._say(f"{part}: {size}, {epochs} epoch{'s' * (epochs != 1)}")
        self._show(part, total=epochs, note="")

    def skip(self, part: str) -> None:
        self.estimate.end(part)
        self._say(f"{part}: has been trained before")
        self._show(part, completed=self.epochs[part], note="  trained before")

    def step(self, epoch: int, share: float) -> None:
        self.estimate.reach(epoch + share, self.epochs[self.part])
        self._show(self.part, completed=epoch + share, note=self._note)

    def epoch(self, epoch: int, figure: str, value: float | None) -> None:
        total = self.epochs[self.part]
        self.estimate.reach(epoch, total)
        name = figure.removeprefix("val_")
        self._note = "" if value is None else f"  {name} {100 * value:.2f}"
        if self.bars:
            self._show(self.part, completed=epoch, note=self._note)
        else:
            print(
                f"{self.part}: epoch {epoch} of {total}{self._note}{self._left()}",
                flush=True,
            )
        if epoch == total:
            self.estimate.end(self.part)
            self._note = ""

    _note = ""

    def _say(self, text: str) -> None:
        if not self.bars:
            print(text, flush=True)

    def _show(self, part: str, **values) -> None:
        if self.bars:
            note = values.pop("note", "")
            self.bars.update(self.tasks[part], note=note + self._left(), **values)

    def _left(self) -> str:
        seconds = self.estimate.seconds()
        if not seconds:
            return ""
        if seconds < 60:
            return "; less than a minute left"
        return f"; about {duration(seconds)} left"


def _bars():
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("epoch {task.completed:.1f} of {task.total:.0f}", markup=False),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(),
    )
