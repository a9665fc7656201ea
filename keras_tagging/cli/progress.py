"""Progress by rich: of sentences, inside an epoch, of parts of a pipeline.

That of sentences and inside an epoch is on standard error, while the output goes to a
file or a pipe. It is not shown if standard error is not a terminal, or if standard
output is one.
"""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import tee
from pathlib import Path

from keras_tagging.cli.output import is_quiet, scores_table, show
from keras_tagging.data.lines import BLOCK, GZIP, Decompressed


def is_shown() -> bool:
    """Whether progress is shown."""
    return sys.stderr.isatty() and not sys.stdout.isatty() and not is_quiet()


def bars(text: str):
    """A `rich.progress.Progress` on standard error, which is gone at its end.

    Args:
        text: what stands before a bar, with fields of its task.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    columns = (text, BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


class Source:
    """The input of a command, whose bytes progress counts.

    Args:
        file: a path, or "-" for standard input.

    Attributes:
        stream: what `data.read` takes: the path itself, if no progress is shown.
        size: the number of bytes; None if it is not known.
    """

    def __init__(self, file: str):
        self.stream, self.size = file, None
        if is_shown() and Path(file).is_file():
            self._file = content = open(file, "rb", buffering=0)  # noqa: SIM115
            self.size = Path(file).stat().st_size
            if file.lower().endswith(".gz"):
                content = Decompressed(file, content, GZIP)
            self.stream = io.BufferedReader(content, BLOCK)

    def position(self) -> int | None:
        """The number of bytes that were read."""
        if self.size is None:
            return None
        return self.size if self._file.closed else self._file.tell()

    def close(self) -> None:
        if self.size is not None:
            self.stream.close()


def applied(
    function: Callable[[Iterator], Iterable], items: Iterable, source: Source
) -> Iterator[tuple]:
    """Each item with its result, and the progress of all of them.

    As many items are kept as the function reads ahead.

    Args:
        function: from an iterator of the items to their results, in order.
        items: the items, read from the source.
    """
    ahead, items = tee(items)
    pairs = zip(items, function(ahead), strict=True)
    if not is_shown():
        yield from pairs
        return
    text = "{task.fields[done]:,} sentences, {task.fields[rate]:,.0f} a second"
    try:
        with bars(text) as display:
            task = display.add_task("", total=source.size, done=0, rate=0)
            for done, pair in enumerate(pairs, 1):
                yield pair
                rate = done / (display.tasks[0].elapsed or 1)
                display.update(task, completed=source.position(), done=done, rate=rate)
    finally:
        source.close()


@contextmanager
def epoch_bars() -> Iterator[list]:
    """The callbacks that show progress inside the epochs of training."""
    if not is_shown():
        yield []
        return
    from keras.callbacks import LambdaCallback

    with bars(
        "epoch {task.description} {task.completed}/{task.total} batches"
    ) as display:
        task = display.add_task("", total=None)

        def begin(epoch, logs):
            number = f"{epoch + 1}/{callback.params['epochs']}"
            steps = callback.params["steps"]
            display.reset(task, total=steps, description=number)

        callback = LambdaCallback(
            on_epoch_begin=begin,
            on_train_batch_end=lambda batch, logs: display.advance(task),
        )
        callback.async_safe = True  # it reads no weights and no figures
        yield [callback]


class PipelineProgress:
    """The progress of a pipeline: a line for each epoch, and bars on a terminal.

    Args:
        epochs: of each part, in their order, to begin with.
    """

    def __init__(self, epochs: Mapping[str, int]):
        from rich.progress import BarColumn, Progress, TimeRemainingColumn

        count = "epoch {task.completed:.1f} of {task.total:.0f}"
        columns = ("{task.description}", BarColumn(), count, TimeRemainingColumn())
        hidden = is_quiet() or not sys.stdout.isatty()
        self.bars = Progress(*columns, disable=hidden)
        self.tasks = {
            part: self.bars.add_task(part, start=False, total=number)
            for part, number in epochs.items()
        }

    def __enter__(self):
        self.bars.start()
        return self

    def __exit__(self, *_):
        self.bars.stop()

    def begin(self, part: str, epochs: int, size: str) -> None:
        self.part, self.epochs = part, epochs
        show(f"{part}: {size}, {epochs} epoch{'s' * (epochs != 1)}")
        self.bars.reset(self.tasks[part], total=epochs)

    def skip(self, part: str) -> None:
        show(f"{part}: has been trained before")
        self.bars.remove_task(self.tasks[part])

    def step(self, epoch: int, share: float) -> None:
        self.bars.update(self.tasks[self.part], completed=epoch + share)

    def epoch(self, epoch: int, figure: str, value: float | None) -> None:
        name = figure.removeprefix("val_")
        score = "" if value is None else f"  {name} {100 * value:.2f}"
        show(f"{self.part}: epoch {epoch} of {self.epochs}{score}")
        self.step(epoch, 0)

    def scores(self, split: str, scores: Mapping) -> None:
        show(f"\n{split}\n{scores_table(scores)}")
