"""Some mutated inputs of every target; `make fuzz` tries a million lines."""

import sys

import pytest
from hostile.harness import Runner
from hostile.planted import FAULTS
from hostile.targets import TARGETS

from keras_tagging.data import FORMATS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are those of Linux"
)


@pytest.fixture(scope="module")
def runner():
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_inputs_are_read_or_refused(runner, name):
    sound, known = runner.known(name)
    outcomes = runner.run(name, range(known + TARGETS[name].quick))
    findings = [
        f"--replay {name} {found.seed}: {found.kind} {found.place}\n{found.detail}"
        for found in outcomes
        if found.is_finding
    ]
    assert not findings, "\n".join(findings[:5])
    assert {outcome.kind for outcome in outcomes[:sound]} == {"read"}


def test_every_format_has_a_target():
    formats = set(FORMATS) - set(FAULTS)  # another test may have planted these
    assert formats <= {name.partition("-")[0] for name in TARGETS}
