"""Tagged sentences as text."""

import json

import pytest

from keras_tagging.data.annotation import (
    as_conll,
    as_jsonl,
    as_line,
    as_tagged_text,
    as_text,
)
from keras_tagging.data.sentence import Sentence

WORDS = ["na\u00efve\u00a0x", "a|b"]


def test_a_line_of_words_with_tags():
    assert as_line(WORDS, ["X", "Y"]) == "na\u00efve\u00a0x|X a|b|Y\n"
    assert as_line(["a", "b"]) == "a b\n" and as_line([], []) == "\n"
    assert as_line(["a"], ["NN"], ["N/N"]) == "a|NN|N/N\n"


@pytest.mark.parametrize("word", ["a b", "a\tb", "a\nb", "a\rb", ""])
def test_words_that_no_line_can_hold(word):
    """`tag` and `annotate` have one rule."""
    for write in (
        lambda: as_text([word], {None: ["X"]}),
        lambda: as_tagged_text(Sentence([word], ["X"])),
    ):
        with pytest.raises(ValueError, match="has a blank|is empty"):
            write()
    if word not in ("a b", "a\rb"):
        with pytest.raises(ValueError, match="use --output jsonl"):
            as_conll([word], {None: ["X"]})


ONE = [("X", 0.75), ("Y", 0.5)]
SEVERAL = [[("X", 0.75), ("Z", 0.25)], [("Y", 1.0)]]


def test_rows():
    assert as_conll(WORDS, {None: ["X", "Y"]}) == "na\u00efve\u00a0x\tX\na|b\tY\n\n"
    assert as_conll(["a", "b"], {"p": ["X", "Y"], "q": ["1", "2"]}) == (
        "a\tX\t1\nb\tY\t2\n\n"
    )
    assert as_conll(["a", "b"], {None: ONE}) == "a\tX\t0.75\nb\tY\t0.5\n\n"
    several = as_conll(["a", "b"], {None: SEVERAL})
    assert several == "a\tX\t0.75\tZ\t0.25\nb\tY\t1\n\n"
    assert as_conll([], {None: []}) == "\n"


def test_objects():
    assert (
        as_jsonl(["\u00e9"], {None: ["X"]}) == '{"tokens": ["\u00e9"], "tags": ["X"]}\n'
    )
    one = json.loads(as_jsonl(["a", "b"], {None: ONE}))
    assert one["tags"] == ["X", "Y"] and one["probabilities"] == [0.75, 0.5]
    several = json.loads(as_jsonl(["a", "b"], {"upos": SEVERAL, "xpos": ONE}))
    assert several["upos"] == [["X", "Z"], ["Y"]]
    assert several["upos_probabilities"] == [[0.75, 0.25], [1.0]]
    assert several["xpos_probabilities"] == [0.75, 0.5]
    assert json.loads(as_jsonl([], {None: []})) == {"tokens": [], "tags": []}
