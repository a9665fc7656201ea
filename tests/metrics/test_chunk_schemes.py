"""The schemes against what they write: every set of chunks, written out."""

from itertools import product

import numpy as np
import pytest

from keras_tagging.metrics import (
    CHUNK_SCHEMES,
    allowed_transitions,
    chunk_scores,
    chunks,
    is_consistent,
    nearest_scheme,
)
from keras_tagging.metrics.chunks import may_follow

TYPES = ("X", "Y-Z")
PREFIXES = {"iob2": "BI", "iob1": "BI", "iobes": "BIES"}
LENGTH = 4


def inventory(scheme):
    return ["O", *(f"{p}-{kind}" for p in PREFIXES[scheme] for kind in TYPES)]


def write(found, length, scheme):
    """Chunks (type, start, end) as tags."""
    tags = ["O"] * length
    for kind, start, end in found:
        inside = ["I"] * (end - start)
        adjacent = any(other == (kind, s, start) for other in found for s in [other[1]])
        if scheme == "iob2" or (scheme == "iob1" and adjacent):
            inside[0] = "B"
        if scheme == "iobes":
            inside[0], inside[-1] = "B", "E"
            if len(inside) == 1:
                inside = ["S"]
        tags[start:end] = [f"{prefix}-{kind}" for prefix in inside]
    return tuple(tags)


def written(scheme, length=LENGTH):
    """All tag sequences that write some chunks, made from all sets of chunks."""
    every = {tuple(tags) for tags in product(inventory(scheme), repeat=length)}
    return {write(chunks(tags), length, scheme) for tags in every}


@pytest.mark.parametrize("scheme", CHUNK_SCHEMES)
def test_consistent_are_those_sequences_that_the_scheme_writes(scheme):
    expected = written(scheme)
    every = set(product(inventory(scheme), repeat=LENGTH))
    assert 10 < len(expected) < len(every)
    assert {tags for tags in every if is_consistent(tags, scheme)} == expected


@pytest.mark.parametrize("scheme", CHUNK_SCHEMES)
def test_allowed_transitions(scheme):
    tags = inventory(scheme)
    start, between, end = allowed_transitions(tags, scheme)
    for i, one in enumerate(tags):
        assert start[i] == may_follow(None, one, scheme)
        assert end[i] == may_follow(one, None, scheme)
        for j, other in enumerate(tags):
            assert between[i, j] == may_follow(one, other, scheme)
    assert start.dtype == between.dtype == end.dtype == bool


@pytest.mark.parametrize("others", ["BILU", "BMES"])
def test_other_prefixes_of_iobes(others):
    theirs, iobes = (
        ["O", *(f"{p}-{kind}" for p in prefixes for kind in TYPES)]
        for prefixes in (others, "BIES")
    )
    assert all(map(np.array_equal, *map(allowed_transitions, (theirs, iobes))))
    assert chunks([f"{prefix}-X" for prefix in others]) == [("X", 0, 3), ("X", 3, 4)]


@pytest.mark.parametrize("tags", ["O B_X I_X S_Y", "O X-B X-Y-I X-Y-B", "o b-X i-X"])
def test_odd_tags_of_chunks_are_told(tags):
    with pytest.warns(UserWarning, match="not read as tags of chunks: write 'B-X'"):
        chunk_scores([tags.split()], [tags.split()])
    for others in ("B_X I_X", "O B_X N", "O S_X NN_S", "O X-B I-X", "O"):
        chunk_scores([others.split()], [others.split()])  # a warning is an error


@pytest.mark.parametrize(
    "tags, scheme",
    [
        ("O B-X I-X B-Y", "iob2"),
        ("O B-X I-X I-Y", "iob1"),  # as PER in the German and English names of 2003
        ("O B-X I-X E-X S-X", "iobes"),
        ("O S-X B-Y I-Y E-Y", "iobes"),
    ],
)
def test_scheme_by_the_names(tags, scheme):
    told = allowed_transitions(tags.split()), allowed_transitions(tags.split(), scheme)
    assert all(map(np.array_equal, *told))


@pytest.mark.parametrize("tags", ["N V D", "O X Y", "O I-X E-X", "O", "O S-X"])
def test_other_tags_are_refused(tags):
    with pytest.raises(ValueError, match="not of IOB1, IOB2, IOBES or BILOU"):
        allowed_transitions(tags.split())


@pytest.mark.parametrize("scheme", CHUNK_SCHEMES)
def test_scheme_of_sentences(scheme):
    assert nearest_scheme(written(scheme)) == (scheme, 0)


@pytest.mark.parametrize(
    "sentences, scheme, broken",
    [
        (["B-X I-X", "O", ""], "iob2", 0),
        (["B-X I-X", "O I-X"], "iob2", 1),  # neither: B begins, and I begins
        (["I-X B-X", "O I-X"], "iob1", 0),
        (["B-X"], "iob2", 0),
        (["B-X E-X", "B-X"], "iob2", 1),
    ],
)
def test_scheme_of_few_sentences(sentences, scheme, broken):
    assert nearest_scheme([tags.split() for tags in sentences]) == (scheme, broken)
