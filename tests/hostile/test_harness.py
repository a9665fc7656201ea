"""The fuzzer finds the faults that are planted, and makes the same input again."""

from random import Random

import pytest
from hostile import mutations
from hostile.harness import Runner
from hostile.planted import FAULTS, SOUND


@pytest.fixture(scope="module")
def runner():
    with Runner("hostile.planted") as runner:
        yield runner


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "sleep"])
def test_a_planted_fault_is_found(runner, fault):
    [outcome] = runner.run(fault, [0])
    assert (outcome.is_finding, outcome.kind) == (True, FAULTS[fault][1])


def test_what_no_signal_ends_is_given_up():
    with Runner("hostile.planted", patience=2) as runner:
        [outcome] = runner.run("sleep", [0])
    assert (outcome.is_finding, outcome.kind) == (True, FAULTS["sleep"][1])


def test_nothing_is_found_where_nothing_is(runner):
    outcomes = runner.run("tokens", range(50))
    assert [outcome.kind for outcome in outcomes if outcome.is_finding] == []
    assert outcomes[0].kind == "read"


def test_the_place_of_an_exception_is_told(runner):
    [outcome] = runner.run("KeyError", [0])
    assert outcome.place == "data/readers.py _sentences"
    assert "KeyError: 'x'" in outcome.detail


def test_others_follow_an_input_that_ends_the_process(runner):
    outcomes = runner.run("exit", [0, 0, 0])
    assert [outcome.kind for outcome in outcomes] == ["ended the process (7)"] * 3


def test_a_seed_makes_the_same_input_again(runner):
    target = runner.targets["tokens"]
    inputs = [target.input("tokens", seed) for seed in range(300)]
    assert inputs[0] == SOUND
    assert inputs == [target.input("tokens", seed) for seed in range(300)]
    assert len(set(inputs)) > 200


@pytest.mark.parametrize(
    "mutator",
    [*dict.fromkeys(mutations.MUTATORS), *dict.fromkeys(mutations.ENLARGERS)],
)
@pytest.mark.parametrize("data", [b"", b"x", b"a b|1 (c)\n\nd\te\n"])
def test_every_mutator_takes_everything(mutator, data):
    changed = {mutator(Random(seed), data) for seed in range(40)}
    assert all(isinstance(each, bytes) for each in changed)
    assert len(data) < 9 or changed > {data} or data not in changed
