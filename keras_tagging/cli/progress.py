"""Progress: of sentences, of shards, inside an epoch, of the parts of a pipeline.

That of sentences and inside an epoch is on standard error, while the output goes to a
file or a pipe. It is not shown if standard error is not a terminal, or if standard
output is one.
"""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import tee
from pathlib import Path

from keras_tagging.cli.talk import is_quiet
from keras_tagging.data.compressed import BLOCK, GZIP, Decompressed
from keras_tagging.utils.estimate import Estimate, time_left

INTERVAL = 0.1  # seconds between two changes of the display
BAR, TIME_LEFT = "bar", "time left"  # columns of `bars`
#: the time of an epoch in relation to one of a tagger, on UD English EWT
WEIGHTS = {"segmenter": 0.5, "tagger": 1.0, "jackknife": 0.5, "parser": 1.5}
WEIGHTS["entities"] = 1.0


def is_shown() -> bool:
    """Whether progress is shown."""
    return sys.stderr.isatty() and not sys.stdout.isatty() and not is_quiet()


class Source:
    """Input of a command, of which progress tells the share that was read.

    Args:
        file: a path, or "-" for standard input.

    Attributes:
        stream: what `data.read` takes: the path itself, if no progress is shown.
    """

    def __init__(self, file: str):
        self.stream, self._file = file, None
        if is_shown() and Path(file).is_file():
            self._file = bytes_of = open(file, "rb", buffering=0)  # noqa: SIM115
            self._size = max(1, Path(file).stat().st_size)
            if file.lower().endswith(".gz"):
                bytes_of = Decompressed(file, bytes_of, GZIP)
            self.stream = io.BufferedReader(bytes_of, BLOCK)

    def share(self) -> float | None:
        """The share of the bytes that were read, or None if it is not known."""
        if self._file is None:
            return None
        return 1.0 if self._file.closed else self._file.tell() / self._size

    def close(self) -> None:
        if self._file:
            self.stream.close()


def applied(
    function: Callable[[Iterator], Iterable],
    items: Iterable,
    source: Source | None = None,
    unit: str = "sentences",
) -> Iterator[tuple]:
    """Each item with its result, and the progress of all of them.

    As many items are kept as the function reads ahead.

    Args:
        function: from an iterator of the items to their results, in order.
        items: the items, read from the source.
        source: the input, or None if it is not known.
        unit: the name of many items.
    """
    ahead, items = tee(items)
    if not is_shown():
        yield from zip(items, function(ahead), strict=True)
        return
    counts = [0, 0]  # items that were read, and done
    pairs = zip(items, function(_counted(ahead, counts)), strict=True)
    try:
        with _display(unit) as (display, task):
            due = 0.0
            for pair in pairs:
                yield pair
                counts[1] += 1
                if (now := time.monotonic()) >= due:
                    due = now + INTERVAL
                    _update(display, task, counts, source)
    finally:
        if source:
            source.close()


def _counted(items: Iterable, counts: list[int]) -> Iterator:
    for item in items:
        counts[0] += 1
        yield item


def _update(display, task, counts: list[int], source: Source | None) -> None:
    read, done = counts
    share = source.share() if source else None
    # what was read ahead is not yet done
    known = {} if share is None else {"total": 1.0, "completed": share * done / read}
    elapsed = max(INTERVAL, display.tasks[0].elapsed or 0.0)
    display.update(task, done=f"{done:,}", rate=f"{done / elapsed:,.0f}", **known)


@contextmanager
def _display(unit: str):
    """A bar that is gone at the end, with the number of items and their rate."""
    rate = f"{{task.fields[done]}} {unit}, {{task.fields[rate]}} a second"
    with bars(rate, BAR, "{task.percentage:>3.0f}%", TIME_LEFT) as display:
        yield display, display.add_task("", total=None, done="0", rate="0")


def watched(items: Iterable, count: int) -> Iterator:
    """The same items, with a bar that is gone at the end.

    Args:
        count: their number.
    """
    if not is_shown():
        yield from items
        return
    with bars(BAR, "{task.percentage:>3.0f}%", TIME_LEFT) as display:
        yield from display.track(items, total=count)


def bars(*columns: str, stderr: bool = True):
    """A `rich.progress.Progress`.

    Args:
        columns: `BAR`, `TIME_LEFT`, or text with fields of a task.
        stderr: whether it stands on standard error until its end, and leaves the output
            alone; otherwise it stays on standard output.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    made = {BAR: BarColumn, TIME_LEFT: TimeRemainingColumn}
    columns = [made[c]() if c in made else c for c in columns]
    own = {"transient": True, "redirect_stdout": False} if stderr else {}
    return Progress(*columns, console=Console(stderr=stderr), **own)


def steps_shown(steps: Iterable[tuple], count: int) -> Iterator[tuple]:
    """The same steps, with a bar for each name that they begin with.

    Args:
        steps: tuples that begin with the name of what is done.
        count: of steps of each name.
    """
    if is_quiet() or not sys.stderr.isatty():
        yield from steps
        return
    columns = ["{task.fields[step]} {task.completed:,.0f} of {task.total:,.0f}"]
    with bars(*columns, "shards", BAR, TIME_LEFT) as display:
        tasks = {}
        for step, *others in steps:
            if step not in tasks:
                tasks[step] = display.add_task("", total=count, step=step)
            display.advance(tasks[step])
            yield step, *others


@contextmanager
def epoch_bars() -> Iterator[list]:
    """The callbacks that show progress inside the epochs of training."""
    if not is_shown():
        yield []
        return
    from keras.callbacks import LambdaCallback

    bar = EpochBar()
    callback = LambdaCallback(
        on_epoch_begin=lambda epoch, logs: bar.begin(epoch, **callback.params),
        on_train_batch_end=lambda batch, logs: bar.step(batch),
        on_epoch_end=lambda epoch, logs: bar.close(),
    )
    callback.async_safe = True  # it reads no weights and no figures
    try:
        yield [callback]
    finally:
        bar.close()


class EpochBar:
    """A bar while an epoch runs, with an estimate of its rest.

    It is gone when the epoch ends, and the line of the epoch is printed.
    """

    def __init__(self):
        self.display = self.task = None
        self.due = 0.0

    def begin(self, epoch: int, epochs: int, steps: int, **_) -> None:
        of = f"epoch {epoch + 1}/{epochs}"
        done = "{task.completed}/{task.total} batches"
        self.display = bars(of, BAR, done, TIME_LEFT)
        self.task = self.display.add_task("", total=steps)
        self.display.start()

    def step(self, batch: int) -> None:
        if self.display and (now := time.monotonic()) >= self.due:
            self.due = now + INTERVAL
            self.display.update(self.task, completed=batch + 1)

    def close(self) -> None:
        """Take the bar away, as an epoch ends or after an exception."""
        if self.display:
            self.display.stop()
            self.display = None


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
        if sys.stdout.isatty() and not is_quiet():
            of = "epoch {task.completed:.1f} of {task.total:.0f}"
            columns = ("{task.description}", BAR, of, "{task.fields[note]}")
            self.bars = bars(*columns, stderr=False)
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
            self._say(
                f"{self.part}: epoch {epoch} of {total}{self._note}{self._left()}"
            )
        if epoch == total:
            self.left[self.part] = 0
            self._note = ""

    _note = ""

    def _reach(self, epochs: float) -> None:
        self.estimate.reach(self.part, epochs)
        self.left[self.part] = max(0.0, self.epochs[self.part] - epochs)

    def _say(self, text: str) -> None:
        if not self.bars and not is_quiet():
            print(text, flush=True)

    def _show(self, part: str, **values) -> None:
        if self.bars:
            note = values.pop("note", "")
            self.bars.update(self.tasks[part], note=note + self._left(), **values)

    def _left(self) -> str:
        return time_left(self.estimate.seconds(self.left))
