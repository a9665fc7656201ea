"""No reader takes more than 600 MB, whatever a line of the longest length holds."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest
from hostile.memory_targets import READERS, TARGETS, measured

from keras_tagging.data import FORMATS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="peaks of memory are read as Linux counts them"
)
# Of those that have taken most, one for each cause
WORST = ["auto: extras", "mrg: open", "pipe: Cyrillic", "jsonl: wide objects"]


def check(names):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hostile.memory_targets"])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        for outcome in pool.map(measured, names):
            print(f"{outcome.megabytes:4.0f} MB  {outcome.target}: {outcome.kind}")
            assert not outcome.is_finding, outcome


def test_the_worst_inputs():
    check(WORST)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_all_inputs(reader):
    check([name for name in TARGETS if name.startswith(f"{reader}: ")])


def test_every_format_is_tried():
    assert FORMATS.keys() <= READERS.keys()
