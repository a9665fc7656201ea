"""Several processes give what one gives."""

import multiprocessing
import pickle
import signal
import time
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.job_tasks import Doubling
from conftest import computing_once
from models.parsers import random_parser

import keras_tagging
from keras_tagging.cli import jobs
from keras_tagging.cli.jobs import at_work
from keras_tagging.encoding import batching

TESTS = str(Path(__file__).parent.parent)
pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")


@pytest.fixture
def short_slices(monkeypatch):
    monkeypatch.setattr(batching, "FIRST_SENTENCES", 2)
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 4)


def read(numbers, seen):
    for number in numbers:
        if number is None:
            raise ValueError("numbers.txt, line 3: no number")
        seen.append(number)
        yield number


def test_results_come_in_order_and_few_items_are_read_ahead(short_slices, tmp_path):
    numbers, seen = list(range(200)), []
    with at_work(Doubling(), 2) as work:
        assert work.preface == "doubled"
        results = work.results(read(numbers, seen))
        assert next(results) == 0
        assert len(seen) <= 4 * jobs.AHEAD * 2
        assert list(results) == [2 * number for number in numbers[1:]]
        assert seen == numbers
    assert not multiprocessing.active_children()
    with at_work(Doubling(folder=tmp_path), 2) as work:
        assert len(set(work.results(iter(numbers)))) == 2


@pytest.fixture
def alone(monkeypatch):
    """`--jobs 2` has a single process: two are tried above."""
    own = jobs._processes
    monkeypatch.setattr(jobs, "_processes", lambda task, count: own(task, 1))


@pytest.mark.parametrize(
    "odd, message",
    [
        ("at the start", "^no such model; train one$"),
        ("error", "^less than nothing; give more$"),
        ("killed", "^a process of --jobs 2 was killed, so that the output ends early"),
        ("reading", "^numbers.txt, line 3: no number$"),
    ],
)
def test_errors_come_behind_the_results_before_them(short_slices, alone, odd, message):
    number, found = None if odd == "reading" else -1, []
    # slices of 2, then 4
    numbers = [0, 1, 2, 3, 4, number, *range(50)]
    with pytest.raises(ValueError, match=message), at_work(Doubling(odd), 2) as work:
        found.extend(work.results(read(numbers, [])))
    # a slice that cannot be read whole is not begun, as in one process
    expected = {"error": [0, 2, 4, 6, 8], "reading": [0, 2]}
    if odd in expected:
        assert found == expected[odd]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_first(start, number):
    code = (
        "import sys, time\n"
        "sys.path.append(sys.argv[1])\n"
        "from cli.job_tasks import Doubling\n"
        "from keras_tagging.cli.jobs import at_work\n"
        "with at_work(Doubling('who'), 2) as work:\n"
        "    print(next(work.results(iter(range(9)))), flush=True)\n"
        "    time.sleep(60)\n"
    )
    running = start(TESTS, code=code)
    worker = int(running.stdout.readline())
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    if number == signal.SIGINT:
        assert err.count("Traceback") == 1 and "KeyboardInterrupt" in err
    assert_ended(worker)


def assert_ended(pid):
    for _ in range(200):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} still runs")


class Here:
    """A pool without processes; all that would be sent is."""

    def submit(self, function, *args):
        future = Future()
        found = function(*pickle.loads(pickle.dumps(args)))
        future.set_result(pickle.loads(pickle.dumps(found)))
        return future


@pytest.fixture
def here(monkeypatch, short_slices):
    """Has all that `--jobs` does done in this process, and counts the slices."""
    slices, done = [], jobs._done

    @contextmanager
    def processes(task, count):
        monkeypatch.setattr(jobs, "_work", pickle.loads(pickle.dumps(task))(threads=1))
        yield Here()

    def counted(items):
        slices.append(len(items))
        return done(items)

    counted.__reduce__ = lambda: "counted"
    monkeypatch.setattr(jobs, "_processes", processes)
    monkeypatch.setattr(jobs, "_done", counted)
    return slices


TEXT = "".join(
    f"Show me {n} flights from Boston to {c} .\n" for n in range(6) for c in "AB"
)
TEXT += "\n\nna\u00efve a|b\n"


@pytest.mark.parametrize(
    "options",
    [["--output", "conllu", "--column", "upos"], ["--output", "jsonl", "--beta", 0]],
)
def test_tag_writes_the_same(program, run_dir, here, options):
    expected = program("tag", run_dir, *options, stdin=TEXT)
    assert not here
    found = program("tag", run_dir, *options, "--jobs", 2, stdin=TEXT)
    assert expected[0] == 0 and len(expected[1]) > len(TEXT)
    assert found == expected and len(here) > 3


@pytest.mark.parametrize("name", ["m.onnx", pytest.param("", marks=pytest.mark.slow)])
def test_a_real_process_tags_the_same(program, run_dir, name, alone, tmp_path):
    if name:
        assert program("export", run_dir, tmp_path / name)[0] == 0
        run_dir = tmp_path / name
    expected = program("tag", run_dir, stdin=TEXT)
    assert program("tag", run_dir, "--jobs", 2, stdin=TEXT) == expected


def test_parse_and_annotate_write_the_same(program, here, tmp_path, monkeypatch):
    parser = random_parser("ffn-parser", tags=None)
    parser.save(tmp_path / "parser.keras")
    monkeypatch.setattr(keras_tagging, "load", lambda path: parser)
    text = "Show flights\n\nto Boston\nna\u00efve a|b\n"
    with computing_once(parser):
        for command, *more in (("parse",), ("annotate", "--input", "conllu")):
            arguments = (command, tmp_path / "parser.keras", *more)
            expected = program(*arguments, stdin=text)
            assert expected[0] == 0 and expected[1].count("\n") > 9
            assert not here
            assert program(*arguments, "--jobs", 2, stdin=text) == expected
            assert len(here) > 1
            text = expected[1]
            del here[:]
