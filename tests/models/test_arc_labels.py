"""Arcs from ROOT, and arcs from words, get labels that such arcs have in training."""

import pytest
from models.parsers import TRAIN, build, random_parser

from keras_tagging.data.trees import arc_labels, trees_of
from keras_tagging.models.files.checks import checked_config

pytestmark = pytest.mark.usefixtures("eagerly")

ROOT, WORDS = (set(labels) for labels in arc_labels(trees_of(TRAIN)))


def strange(trees):
    """The arcs whose label no such arc has in training."""
    return [
        (head, deprel)
        for tree in trees
        for head, deprel in zip(
            tree.columns["head"], tree.columns["deprel"], strict=True
        )
        if deprel not in (ROOT if head == "0" else WORDS)
    ]


@pytest.fixture(scope="module")
def parser():
    return random_parser("ffn-parser")


def test_parsed_arcs_have_them(parser):
    free = random_parser("ffn-parser", constrained=False)
    assert free.arc_labels is None and free.scorer.arc_labels is None
    free.beam_width = parser.beam_width = 3
    some = sorted(TRAIN, key=len)[:9]  # each step of a search takes time
    assert strange(free.parse(some))
    assert not strange(parser.parse(some))


@pytest.mark.parametrize(
    "labels", ["root", [["root"], []], [["root"], ["no such"]], [[1], [2]]]
)
def test_malformed_labels_are_refused(parser, labels):
    config = parser.get_config() | {"arc_labels": labels}
    with pytest.raises(ValueError, match="arc_labels is .* two lists of labels"):
        checked_config(type(parser), config)


def test_a_bootstrapped_parser_has_those_of_the_first(parser):
    second = build("lstm-parser")
    second.bootstrap(parser)
    assert second.arc_labels == parser.arc_labels
    assert second.scorer.arc_labels == parser.scorer.arc_labels
