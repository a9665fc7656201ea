"""No reader takes more than 600 MB, whatever a line of the longest length holds."""

import sys

import pytest
from hostile.harness import Runner
from hostile.memory_targets import READERS, TARGETS

from keras_tagging.data import FORMATS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="peaks of memory are read as Linux counts them"
)
# Of those that have taken most, one for each cause
WORST = ["auto: extras", "mrg: open", "pipe: wide", "conll: cells", "raw text: words"]


def check(names):
    with Runner("hostile.memory_targets") as runner:
        outcomes = [runner.run(name, [0])[0] for name in names]
    wrong = [f"{o.target}: {o.kind}, {o.megabytes:.0f} MB" for o in outcomes]
    assert not any(o.is_finding for o in outcomes), "\n".join(wrong)


def test_the_worst_inputs():
    check(WORST)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_all_inputs(reader):
    check([name for name in TARGETS if name.startswith(f"{reader}: ")])


def test_every_format_is_tried():
    assert FORMATS.keys() <= READERS.keys()
