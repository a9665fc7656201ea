"""Progress on standard error, while the output goes to a file or a pipe.

Nothing is shown if standard error is not a terminal, or if standard output is one.
"""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import tee
from pathlib import Path

from keras_tagging.data.compressed import BLOCK, GZIP, Decompressed

INTERVAL = 0.1  # seconds between two changes of the display


def is_shown() -> bool:
    """Whether progress is shown."""
    return sys.stderr.isatty() and not sys.stdout.isatty()


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
            if file.endswith(".gz"):
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
        unit: what an item is, in the plural.
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
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn(f"{{task.fields[done]}} {unit}, {{task.fields[rate]}} a second"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    ]
    with bars(*columns) as display:
        yield display, display.add_task("", total=None, done="0", rate="0")


def bars(*columns):
    """A `rich.progress.Progress` on standard error, which leaves the output alone."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


@contextmanager
def epoch_bars() -> Iterator[list]:
    """The callbacks that show progress inside the epochs of training."""
    if not is_shown():
        yield []
        return
    from keras_tagging.cli.epoch_progress import EpochProgress

    progress = EpochProgress()
    try:
        yield [progress]
    finally:
        progress.close()
