"""The progress of `train pipeline`: one display for all parts, with an estimate."""

import sys
from collections.abc import Mapping

from keras_tagging.utils.estimate import Estimate, time_left

#: the time of an epoch in relation to one of a tagger, on UD English EWT
WEIGHTS = {"segmenter": 0.5, "tagger": 1.0, "jackknife": 0.5, "parser": 1.5}


class PipelineProgress:
    """Tells the progress: bars on a terminal, else a line for each epoch.

    Args:
        epochs: of each part, in their order, to begin with.
    """

    def __init__(self, epochs: Mapping[str, int]):
        self.estimate = Estimate(WEIGHTS)
        self.epochs, self.left = dict(epochs), dict(epochs)
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
        self.left[part] = epochs
        self._say(f"{part}: {size}, {epochs} epoch{'s' * (epochs != 1)}")
        self._show(part, total=epochs, note="")

    def skip(self, part: str) -> None:
        self.left[part] = 0
        self._say(f"{part}: has been trained before")
        self._show(part, completed=self.epochs[part], note="  trained before")

    def step(self, epoch: int, share: float) -> None:
        self._reach(epoch + share)
        self._show(self.part, completed=epoch + share, note=self._note)

    def epoch(self, epoch: int, figure: str, value: float | None) -> None:
        total = self.epochs[self.part]
        self._reach(epoch)
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
            self.left[self.part] = 0
            self._note = ""

    _note = ""

    def _reach(self, epochs: float) -> None:
        self.estimate.reach(self.part, epochs)
        self.left[self.part] = max(0.0, self.epochs[self.part] - epochs)

    def _say(self, text: str) -> None:
        if not self.bars:
            print(text, flush=True)

    def _show(self, part: str, **values) -> None:
        if self.bars:
            note = values.pop("note", "")
            self.bars.update(self.tasks[part], note=note + self._left(), **values)

    def _left(self) -> str:
        return time_left(self.estimate.seconds(self.left))


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
