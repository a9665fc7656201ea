"""What `make quick` runs."""

import multiprocessing
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import quick
import selection
import tensorflow as tf

ROOMS = [path.parent.name for path in quick.ROOT.glob("keras_tagging/*/__init__.py")]


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_room_has_tests(room):
    found = quick.tests_of(room)
    assert found and all(path.exists() for path in found)


@pytest.mark.parametrize("name", quick.USUAL)
def test_what_is_usual_is_there(name):
    assert [*(quick.ROOT / "tests" / name).glob("test_*.py")]


def test_changed_files_name_their_tests():
    files = ["keras_tagging/metrics/chunks.py", "keras_tagging/vectors/gone.py"]
    files += ["tests/metrics/test_chunks.py", "tests/layers/scorers.py"]
    files += ["tests/models/test_tagger.py", "tests/models/test_gone.py", "README.rst"]
    files += ["tests/test_startup.py", "tests/conftest.py", "tests/reference/gru.py"]
    rooms, paths = quick.chosen(files)
    assert rooms == ["metrics", "vectors"]
    names = ["tests/layers", "tests/metrics", "tests/models", "tests/test_startup.py"]
    # else the module `chunks` would be found in the place of its function
    names += ["tests/vectors", "keras_tagging/metrics/chunks.py"]
    assert [str(path.relative_to(quick.ROOT)) for path in paths] == names
    assert quick.chosen(["CHANGELOG.rst"]) == ([], [])


@pytest.fixture
def skipping():
    """What `--quick` does to the process, for the while of a test."""
    with pytest.MonkeyPatch.context() as patch:
        yield selection.Quick(patch)


def test_processes_and_graphs_skip_a_test(skipping, tagger):
    assert len(tagger.network(np.zeros((1, 2, 10), "int32"))[0]) == 2  # no graph
    skipping.pytest_runtest_setup()
    for take_long, reason in (
        (lambda: subprocess.run([sys.executable, "-c", ""]), skipping.PROCESS),
        (lambda: multiprocessing.Process(target=print).start(), skipping.PROCESS),
        (lambda: tf.function(lambda x: x + 1)(tf.ones(3)), skipping.GRAPH),
        (lambda: tagger.export("nowhere"), skipping.GRAPH),
    ):
        with pytest.raises(pytest.skip.Exception, match=reason):
            take_long()
    rows = tf.data.Dataset.range(3).map(lambda x: x + 1)
    assert [int(x) for x in rows] == [1, 2, 3]
    skipping.start -= selection.QUICK_SECONDS
    with pytest.raises(pytest.skip.Exception, match="were to start after"):
        skipping.pytest_runtest_setup()


class Config:
    """Of a run with these options."""

    def __init__(self, *options, args=("tests",)):
        self.options, self.args, self.hook = options, args, self
        self.stash = {selection.left_out: {}}

    def getoption(self, name):
        return name in self.options

    def pytest_deselected(self, items):
        pass


FILE = "layers/test_it.py"


class Item:
    def __init__(self, name, *slow, **params):
        self.nodeid = f"tests/{FILE}::{name}"
        self.marks = [SimpleNamespace(args=slow)] if slow != (None,) else []
        if params:
            self.callspec = SimpleNamespace(params=params)

    def iter_markers(self, name):
        return self.marks if name == "slow" else []


def left_of(config):
    items = [Item("usual", None), Item("slow"), Item("here", "tensorflow")]
    items += [Item("elsewhere", "jax")]
    items += [Item("pair", None, a=a, b=b) for a in (1, 2) for b in (1, 2)]
    selection.pytest_collection_modifyitems(config, items)
    return [item.nodeid.partition("::")[2] for item in items]


@pytest.mark.parametrize(
    "config, kept, told",
    [
        (Config(), ["usual", "elsewhere", *["pair"] * 4], {selection.SLOW: 2}),
        (Config("--slow"), ["slow", "here"], {}),
        (Config("--slow", "--each-value"), ["slow", "here", "pair"], {}),
        (
            Config("--each-value"),
            ["usual", "elsewhere", *["pair"] * 3],
            {selection.SLOW: 2, selection.VALUES: 1},
        ),
        # a test that is named is wanted
        (
            Config(args=[f"tests/{FILE}::slow"]),
            ["usual", "slow", "elsewhere", *["pair"] * 4],
            {selection.SLOW: 1},
        ),
    ],
)
def test_what_is_left_out_is_told(config, kept, told):
    assert left_of(config) == kept
    found = config.stash[selection.left_out]
    assert found == {reason: {FILE: n} for reason, n in told.items()}


def test_combinations_that_are_cases_of_their_own_stay():
    """Only tests of networks multiply settings."""
    pairs = [Item("pair", None, a=a, b=b) for a in (1, 2) for b in (1, 2)]
    assert selection.repeated_values(pairs) == pairs[3:]
    for pair in pairs:
        pair.nodeid = "tests/data/test_it.py::pair"
    assert not selection.repeated_values(pairs)
