"""Which tests run, and the lines at the end that say which do not.

`--slow` runs what a release needs and CI has no time for, which is left out otherwise;
`--quick` leaves out what starts a process, builds a graph or has no time left;
`--each-value` leaves out combinations of parameters in the rooms that have many.
"""

import multiprocessing.process
import os
import subprocess
import sys
import time
from collections import Counter

import pytest

QUICK_SECONDS = 45  # for tests, of a minute with the start of Python and of Keras
SLOW = "slow: make test-slow runs them"
VALUES = "have values of parameters that others have: make test-slow, on TensorFlow"
# Each multiplies settings of networks. Elsewhere a combination is a case of its own.
MULTIPLYING = ("cells/", "layers/", "models/", "onnx_files/")
left_out = pytest.StashKey[dict]()


def add_options(parser):
    parser.addoption(
        "--each-value",
        action="store_true",
        help="of each test of a network, run the first parameters that have each value",
    )
    parser.addoption(
        "--slow",
        action="store_true",
        help="run the tests marked slow, and with --each-value what that leaves out",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out what starts a process, builds a graph, or starts after "
        f"{QUICK_SECONDS} seconds",
    )


def pytest_configure(config):
    config.stash[left_out] = {}
    if config.getoption("--quick"):
        config.pluginmanager.register(Quick(pytest.MonkeyPatch()))


@pytest.hookimpl(trylast=True)  # after those that a marker leaves out
def pytest_collection_modifyitems(config, items):
    repeated = set()
    if config.getoption("--each-value"):
        repeated.update(repeated_values([i for i in items if not is_slow(i)]))
    if config.getoption("--slow"):
        others = [i for i in items if not is_slow(i) and i not in repeated]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if is_slow(item) or item in repeated]
        return
    named = tuple(arg for arg in config.args if "::" in arg)
    unnamed = [item for item in items if not item.nodeid.startswith(named)]
    leave_out(config, items, [i for i in unnamed if is_slow(i)], SLOW)
    if repeated:
        leave_out(config, items, [i for i in unnamed if i in repeated], VALUES)


def is_slow(item):
    """Marked `slow`, or `slow("jax")` where that is the backend."""
    marks = [mark.args for mark in item.iter_markers("slow")]
    return any(not args or backend() in args for args in marks)


def slow_but(kept, every):
    """Names as parameters of a test, of which those that are not kept are slow."""
    slow = pytest.mark.slow
    return [n if n in kept else pytest.param(n, marks=slow) for n in every]


def backend():
    import keras  # which takes seconds, and the tests of some rooms do without

    return keras.backend.backend()


def repeated_values(items):
    """All but the first tests that have each value of a parameter.

    Each value that leads to other operations is tried, in some combination.
    """
    seen, left = set(), []
    for item in items:
        if not file_of(item.nodeid).startswith(MULTIPLYING):
            continue
        params = item.callspec.params if hasattr(item, "callspec") else {}
        function = item.nodeid.partition("[")[0]
        values = {(function, name, str(params[name])) for name in params}
        if values and not values - seen:
            left.append(item)
        seen |= values
    return left


def leave_out(config, items, left, reason):
    config.hook.pytest_deselected(items=left)
    config.stash[left_out][reason] = Counter(file_of(item.nodeid) for item in left)
    left = set(left)
    items[:] = [item for item in items if item not in left]


def file_of(nodeid):
    return nodeid.partition("::")[0].removeprefix("tests/")


# What was left out is told by the process that prints. With -n others find it.


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        found = session.config.stash[left_out]
        session.config.workeroutput["left_out"] = {k: dict(found[k]) for k in found}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    # each has collected, and left out, the same
    node.config.stash[left_out] |= getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter, config):
    found = {k: Counter(files) for k, files in config.stash[left_out].items()}
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[-1]).removeprefix("Skipped: ")
        if reason in Quick.REASONS:
            found.setdefault(reason, Counter())[file_of(report.nodeid)] += 1
    if not any(found.values()):
        return
    terminalreporter.section("tests left out", "-")
    for reason, files in found.items():
        if files:
            some = ", ".join(f"{file} {count}" for file, count in sorted(files.items()))
            terminalreporter.write_line(f"{files.total()} {reason} ({some})")


class Quick:
    """Skips a test at the moment at which it does what takes long."""

    REASONS = (PROCESS, GRAPH, TIME) = (
        "start a process",
        "build a graph",
        f"were to start after {QUICK_SECONDS} seconds",
    )

    def __init__(self, patch):
        self.start, self.patch = None, patch
        self.patched = False
        self.never(subprocess.Popen, "__init__", self.PROCESS)
        self.never(multiprocessing.process.BaseProcess, "start", self.PROCESS)
        self.never(os, "fork", self.PROCESS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        now = time.monotonic()
        self.start = self.start or now  # what precedes the first test does not count
        if now - self.start > QUICK_SECONDS:
            pytest.skip(self.TIME)
        if not self.patched and "tensorflow" in sys.modules:
            from tensorflow.python.eager.polymorphic_function import (
                polymorphic_function as traced,
            )

            self.patched = True
            self.never(traced.Function, "_initialize", self.GRAPH, unless=of_tf_data)

    def never(self, owner, name, reason, unless=lambda *_: False):
        """Has this skip the test that calls it."""
        own = getattr(owner, name)

        def call(*args, **kwargs):
            if "PYTEST_CURRENT_TEST" in os.environ and not unless(*args):
                pytest.skip(reason)
            return own(*args, **kwargs)

        self.patch.setattr(owner, name, call)


def of_tf_data(function, *_):
    """Of a small function that maps rows, and is compiled in any case."""
    return "_tf_data_function" in (function._attributes or {})
