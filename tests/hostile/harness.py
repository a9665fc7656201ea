"""Runs hostile inputs, each within limits of time and memory, in a process of its own.

A finding is told by its target and seed, which make the same input again. Linux only:
memory is limited by RLIMIT_AS, and its peak read as Linux counts it.
"""

import faulthandler
import importlib
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from hostile.mutations import mutate

ADDRESS_SPACE = 2 << 30  # bytes that one input may ask for, used or not
START = 300  # seconds for imports and for what the inputs of a target are made of
PRINTED = "printed.txt"  # by the process, for what it says before it dies
MOST_LINES = 100  # that count of one input: large ones repeat a line
# By the clock, which also runs where others have the processor: seconds, and times the
# limit of a target. Then the process is killed.
PATIENCE, STALLED = 60, 20


class OutOfTime(BaseException):
    """No `except Exception` may swallow it."""


class Wrong(Exception):
    """The package took an input in a way that it must not.

    Args:
        what: names the rule, the same for all inputs that break it.
        detail: of this input.
    """

    def __init__(self, what: str, detail: object = ""):
        super().__init__(f"{what}: {detail}" if detail != "" else what)
        self.what = what


class CodeRan(BaseException):
    """A file has run code of its own."""


ran: list[str] = []


def run_code(what: str) -> None:
    """What hostile pickles call."""
    ran.append(what)
    raise CodeRan(what)


@dataclass(frozen=True)
class Target:
    """A reader and the inputs it is tried with.

    Args:
        seeds: makes the sound inputs, which must be read.
        check: takes an input; gives a word for the summary, such as "read" or
            "refused", and raises an exception if the package did wrong.
        nasty: inputs that are no sound ones, tried as they are and mutated too.
        mutate: makes another input of some.
        share: how many inputs a round of the long run has.
        quick: how many mutated inputs the ordinary tests try.
        seconds: of processor time that an input may take.
        megabytes: of memory that an input may take.
    """

    seeds: Callable[[], Sequence[bytes]]
    check: Callable[[bytes], str]
    nasty: Sequence[bytes] | Callable[[], Sequence[bytes]] = ()
    mutate: Callable[[Random, Sequence[bytes]], bytes] = mutate
    share: int = 100
    quick: int = 14
    seconds: float = 3
    megabytes: int = 256

    @cached_property
    def sound(self) -> list[bytes]:
        return list(self.seeds())

    @cached_property
    def known(self) -> list[bytes]:
        return [*self.sound, *(self.nasty() if callable(self.nasty) else self.nasty)]

    def input(self, name: str, seed: int) -> bytes:
        """The known inputs come first, then mutated ones without end."""
        if seed < len(self.known):
            return self.known[seed]
        return self.mutate(Random(f"{name} {seed}"), self.known)


@dataclass(frozen=True)
class Outcome:
    """How one input was taken.

    Args:
        kind: what `check` gave, or of a finding, what is wrong.
        seconds: of processor time.
        megabytes: that it took at its peak.
        place: of a finding, the innermost function of the package.
        detail: of a finding, the traceback.
    """

    target: str
    seed: int
    size: int
    lines: int
    kind: str
    seconds: float = 0.0
    megabytes: float = 0.0
    place: str | None = None
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        return self.place is not None


def run_input(name: str, target: Target, seed: int) -> Outcome:
    """Tries one input in this process, whose limits it changes."""
    data = target.input(name, seed)
    # archives and other binary files have no lines
    lines = 0 if b"\0" in data else min(data.count(b"\n") + 1, MOST_LINES)
    found = {"size": len(data), "lines": lines}
    before = reset_peak()
    limit_memory(address_space() + ADDRESS_SPACE)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, target.seconds, 1)  # again if it is lost
    try:
        found["kind"] = target.check(data)
    except BaseException as error:  # which is what is looked for
        signal.setitimer(signal.ITIMER_PROF, 0)
        limit_memory(resource.RLIM_INFINITY)
        found |= _finding(error, target)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        limit_memory(resource.RLIM_INFINITY)
    if ran:
        found |= {"kind": "ran code of the file", "place": "", "detail": ran.pop()}
    found["seconds"] = time.process_time() - start
    found["megabytes"] = grown = max(0, peak() - before)
    if grown > target.megabytes and "place" not in found:
        found |= {"kind": f"took more than {target.megabytes} MB", "place": ""}
    return Outcome(name, seed, **found)


def _finding(error: BaseException, target: Target) -> dict:
    match error:
        case OutOfTime():
            kind = f"took more than {target.seconds:g} s"
        case MemoryError():
            kind = "asked for more than 2 GB"
        case Wrong():
            kind = error.what
        case _:
            kind = f"raised {type(error).__name__}"
    trace = traceback.TracebackException.from_exception(error, limit=-8)
    return {
        "kind": kind,
        "place": "" if isinstance(error, Wrong) else _place(error.__traceback__),
        "detail": "".join(trace.format())[-3000:],
    }


def _place(trace) -> str:
    """The innermost function of the package."""
    frames = [f for f in traceback.extract_tb(trace) if "/keras_tagging/" in f.filename]
    if not frames:
        return "outside"
    return f"{frames[-1].filename.rpartition('/keras_tagging/')[2]} {frames[-1].name}"


def peak() -> float:
    """The most megabytes that this process has held since the last reset."""
    status = Path("/proc/self/status").read_text()
    return int(re.search("VmHWM:\\s*([0-9]+) kB", status)[1]) / 1024


def reset_peak() -> float:
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def address_space() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def limit_memory(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))


def _serve(connection, table: str, folder: str) -> None:
    """What the process does: answers each (target, seeds) with an outcome a seed."""
    os.chdir(folder)
    printed = os.open(PRINTED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(printed, number)
    faulthandler.enable()
    os.environ |= {
        "KERAS_TAGGING_CACHE": folder,
        "KERAS_TAGGING_DATA": folder,
        "https_proxy": "http://127.0.0.1:9",  # nothing is fetched
        "OPENBLAS_NUM_THREADS": "1",
    }

    def out_of_time(*_):
        raise OutOfTime

    # so that the package imports TensorFlow only where it needs it
    sys.argv = ["keras-tagging"]
    signal.signal(signal.SIGPROF, out_of_time)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    targets = importlib.import_module(table).TARGETS
    while True:
        try:
            name, seeds = connection.recv()
        except EOFError:
            return
        target = targets[name]
        connection.send((len(target.sound), len(target.known)))  # and so has imported
        for seed in seeds:
            connection.send(run_input(name, target, seed))


class Runner:
    """Tries inputs in a process that is started again whenever one has ended it.

    Args:
        table: the module whose `TARGETS` has the targets by their names.
        patience: seconds by the clock after which an input is given up that takes no
            processor time, or gets none.
    """

    def __init__(self, table: str = "hostile.targets", patience: float | None = None):
        self.table, self.patience = table, patience
        self.targets: dict[str, Target] = importlib.import_module(table).TARGETS
        self.folder = tempfile.TemporaryDirectory()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()
        self.folder.cleanup()

    def known(self, name: str) -> tuple[int, int]:
        """How many sound inputs a target has, and how many known ones: these have the
        first seeds."""
        self._start()
        self.connection.send((name, ()))
        return self._receive(START)

    def run(self, name: str, seeds: Sequence[int]) -> list[Outcome]:
        """The outcome of each seed."""
        target, outcomes = self.targets[name], []
        patience = self.patience or max(PATIENCE, STALLED * target.seconds)
        while left := list(seeds)[len(outcomes) :]:
            self._start()
            self.connection.send((name, left))
            self._receive(START)
            for seed in left:
                outcome = self._receive(patience)
                if isinstance(outcome, str):
                    self._stop()
                    told = Path(self.folder.name, PRINTED).read_text(errors="replace")
                    outcome = Outcome(
                        name, seed, 0, 0, outcome, place="outside", detail=told[-2000:]
                    )
                outcomes.append(outcome)
                if self.process is None:
                    break
        return outcomes

    def _start(self) -> None:
        if self.process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(other, self.table, self.folder.name), daemon=True
        )
        self.process.start()
        other.close()

    def _receive(self, seconds: float):
        """What the process sends, or else why it does not."""
        if not self.connection.poll(seconds):
            return "hangs in a call that cannot be interrupted"
        try:
            return self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return f"ended the process ({self.process.exitcode})"

    def _stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None
