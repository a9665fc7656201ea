import random

import pytest
from reference.conlleval import BEGINS_2004, ENDS_2004, conlleval

from keras_tagging.metrics import chunk_scores, chunks, looks_like_chunks

TYPES = ["NP", "VP", "A-B"]
PREFIXES = {"iob": "OIB", "ioe": "OIE", "iobes": "OIBES"}


def random_tags(prefixes, rng):
    """Any sequence, mostly an invalid one."""
    picked = rng.choices(prefixes, k=rng.randint(0, 8))
    return [p if p == "O" else f"{p}-{rng.choice(TYPES)}" for p in picked]


def corrupted(tags, prefixes, rng):
    return [
        tag if rng.random() < 0.8 else (random_tags(prefixes, rng) + ["O"])[0]
        for tag in tags
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", []),
        ("B-NP I-NP O B-NP", [("NP", 0, 2), ("NP", 3, 4)]),
        ("I-NP I-NP B-NP I-NP", [("NP", 0, 2), ("NP", 2, 4)]),
        ("B-NP I-VP I-VP", [("NP", 0, 1), ("VP", 1, 3)]),
        ("S-NP S-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("B-NP E-NP I-NP", [("NP", 0, 2), ("NP", 2, 3)]),
        ("E-NP E-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("B-NP I-NP L-NP U-NP", [("NP", 0, 3), ("NP", 3, 4)]),
        ("B-A-B I-A-B B-A I-A-C", [("A-B", 0, 2), ("A", 2, 3), ("A-C", 3, 4)]),
        ("B I O I", [("", 0, 2), ("", 3, 4)]),
    ],
)
def test_chunks_by_hand(tags, expected):
    assert chunks(tags.split()) == expected


@pytest.mark.parametrize("scheme", PREFIXES)
def test_equals_conlleval(scheme):
    rng, prefixes = random.Random(scheme), PREFIXES[scheme]
    for _ in range(300):
        gold = [random_tags(prefixes, rng) for _ in range(rng.randint(1, 6))]
        predicted = [corrupted(tags, prefixes, rng) for tags in gold]
        report, by_type = conlleval(gold, predicted)
        scores = chunk_scores(gold, predicted, "iob")
        assert f"{scores}\n" == report
        assert by_type == {
            name: (counts.gold, counts.found, counts.correct)
            for name, counts in scores.by_type.items()
        }


@pytest.mark.parametrize("scheme", ["iob", "ioe"])
def test_equals_the_program_of_2004(scheme):
    rng, prefixes = random.Random(scheme), PREFIXES[scheme]
    for _ in range(200):
        gold = [random_tags(prefixes, rng) for _ in range(4)]
        predicted = [corrupted(tags, prefixes, rng) for tags in gold]
        report, _ = conlleval(gold, predicted, ends=ENDS_2004, begins=BEGINS_2004)
        assert f"{chunk_scores(gold, predicted, 'iob')}\n" == report


def test_bare_tags_equal_conlleval():
    rng, inventory = random.Random(0), ["O", "DT", "NN", "B-x", "S-y", "X-y"]
    for _ in range(300):
        gold = [rng.choices(inventory, k=rng.randint(0, 8)) for _ in range(4)]
        predicted = [[rng.choice([tag, "NN", "O"]) for tag in tags] for tags in gold]
        report, _ = conlleval(gold, predicted, raw=True)
        assert f"{chunk_scores(gold, predicted, 'bare')}\n" == report


def test_rounds_like_conlleval():
    # 100 * 23 / 160 is exactly 14.375, 100 * (23 / 160) is a little less.
    gold, predicted = [["B-X"]] * 23 + [["O"]] * 137, [["B-X"]] * 160
    assert "precision:  14.38%;" in str(chunk_scores(gold, predicted))


@pytest.mark.parametrize("gold", [[], [[]], [["O", "O"], []]])
def test_no_chunk(gold):
    scores = chunk_scores(gold, gold)
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)
    assert f"{scores}\n" == conlleval(gold, gold)[0]
    assert (scores.accuracy == 1) == bool(scores.tokens)


@pytest.mark.parametrize(
    ("gold", "predicted", "correct"),
    [
        (["B-NP", "I-NP"], ["B-NP", "I-NP"], 1),
        (["city", "city"], ["city", "city"], 2),
        (["B-NP", "weird"], ["B-NP", "weird"], 2),
        (["S-NP", "S-NP"], ["S-NP", "S-NP"], 2),
    ],
)
def test_scheme_is_told_from_the_tags(gold, predicted, correct):
    assert chunk_scores([gold], [predicted]).correct == correct


def test_errors():
    with pytest.raises(ValueError, match="scheme='bio': known are None, 'iob'"):
        chunk_scores([], [], "bio")
    with pytest.raises(ValueError, match="sentence 2 has 1 gold tags but 0 predicted"):
        chunk_scores([["O"], ["O"]], [["O"], []])


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["O", "B-NP", "I-NP"], True),
        (["B-NP", "E-NP", "S-NP"], True),
        (["B-x", "L-x", "U-x", "I-x", "O"], True),
        (["O"], False),
        ([], False),
        (["S-NP", "O"], False),
        (["B-", "O"], False),
        (["DT", "NN"], False),
        (["(S[dcl]\\NP)/NP", "N"], False),
    ],
)
def test_looks_like_chunks(tags, expected):
    assert looks_like_chunks(tags) is expected
    assert looks_like_chunks(iter(tags)) is expected
