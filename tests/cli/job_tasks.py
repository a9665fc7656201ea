"""Tasks for `--jobs` that need no model."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from keras_tagging.cli.tasks import Work
from keras_tagging.data.normalisation import LimitError


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers; `odd` says what happens at a negative one.

    With a folder it gives the process in place of the number, as soon as there are two.
    """

    odd: str = ""
    folder: Path | None = None

    def __call__(self, threads=None):
        if self.odd == "at the start":
            raise LimitError("no such model", "train one")
        return Work(self.doubled, preface="doubled")

    def doubled(self, items):
        for item in items:
            if item < 0 and self.odd == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if item < 0 and self.odd == "error":
                raise LimitError("less than nothing", "give more")  # of two parts
            if self.odd == "who":
                yield os.getpid()
            yield self._met() if self.folder else 2 * item

    def _met(self):
        (self.folder / str(os.getpid())).touch()
        end = time.monotonic() + 120
        while len(list(self.folder.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return os.getpid()
