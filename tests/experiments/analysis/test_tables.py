import numpy as np
import pandas as pd
import pytest

from keras_tagging import Sentence
from keras_tagging.experiments.analysis import tables

SENTENCES = [
    Sentence("the old man the boat".split()),
    Sentence("they fish".split()),
    Sentence("a fish and a boat and a man".split()),
]
GOLD = ["D", "N", "V", "D", "N", "P", "V", "D", "N", "C", "D", "N", "C", "D", "N"]
PREDICTED = ["D", "J", "N", "D", "N", "P", "N", "D", "N", "C", "D", "V", "C", "D", "V"]


@pytest.fixture
def tokens():
    """Six errors: N for J, twice V for N and twice N for V; and D is always right."""
    lengths = [len(sentence) for sentence in SENTENCES]
    table = pd.DataFrame(
        {
            "sentence": np.repeat([1, 2, 3], lengths),
            "position": [i for n in lengths for i in range(1, n + 1)],
            "length": np.repeat(lengths, lengths),
            "word": [word for sentence in SENTENCES for word in sentence.tokens],
            "gold": GOLD,
            "predicted": PREDICTED,
        }
    )
    return table.assign(accuracy=table["gold"] == table["predicted"])


def score(right, total, z=1.959963984540054):
    """The interval of Wilson (1927), as in textbooks."""
    p, square = right / total, z * z / total
    middle = (p + square / 2) / (1 + square)
    half = z / (1 + square) * np.sqrt(p * (1 - p) / total + square / (4 * total))
    return middle - half, middle + half


@pytest.mark.parametrize("right, total", [(0, 6), (3, 7), (43, 43), (9115, 9164)])
def test_wilson(right, total):
    assert tables.wilson(right, total) == pytest.approx(score(right, total))


def test_wilson_of_nothing():
    assert np.isnan(tables.wilson(0, 0)).all()


def test_bins():
    names = tables.FREQUENCIES
    values = [0, 1, 9, 10, 99, 100, 999, 1000, 10**6]
    found = list(tables.bins(values, names, "unseen"))
    expected = ["unseen", "1-9", "1-9", "10-99", "10-99", "100-999", "100-999"]
    assert found == [*expected, "1000+", "1000+"]
    assert list(tables.bins([1, 6, 10, 41], tables.POSITIONS)) == [
        *("1", "6-10", "6-10", "41+")
    ]
    found = tables.tens([10, 1, 31])
    assert list(found) == ["1-10", "1-10", "31-40"]
    assert list(found.categories) == ["1-10", "11-20", "21-30", "31-40"]


def test_shares_by(tokens):
    groups = tables.bins(tokens["position"], {1: "1", 2: "2-3", 4: "4-9", 10: "10+"})
    table = tables.shares_by(tokens, "position", groups, ["accuracy"])
    assert list(table) == ["position", "tokens", "accuracy", "low", "high"]
    assert list(table["position"]) == ["1", "2-3", "4-9", "10+"]
    assert list(table["tokens"]) == [3, 5, 7, 0]
    # of the words 2 and 3 "old", "man" and "fish" (they) are wrong
    assert list(table["accuracy"][:3]) == pytest.approx([1, 2 / 5, 5 / 7])
    assert tuple(table.loc[1, ["low", "high"]]) == pytest.approx(score(2, 5))
    assert table.loc[3, ["accuracy", "low", "high"]].isna().all()


def test_shares_of_two_figures_in_order_of_frequency(tokens):
    tokens["first"] = tokens["position"] == 1
    table = tables.shares_by(
        tokens, "gold", tokens["gold"].to_numpy(), ["first", "accuracy"]
    )
    assert list(table["gold"]) == ["D", "N", "C", "V", "P"]
    assert list(table["tokens"]) == [5, 5, 2, 2, 1]
    assert list(table["first"]) == pytest.approx([2 / 5, 0, 0, 0, 1])
    assert list(table["accuracy"]) == pytest.approx([1, 2 / 5, 1, 0, 1])
    assert table.loc[1, "low"] == pytest.approx(score(2, 5)[0])


def test_by_label_frequency(tokens):
    counts = {"D": 1000, "N": 99, "V": 9, "C": 10}
    tokens["label_frequency"] = [counts.get(tag, 0) for tag in tokens["gold"]]
    table = tables.by_label_frequency(tokens, ["accuracy"]).set_index("training")
    assert list(table["tokens"].items()) == [
        ("unseen", 1),
        ("1-9", 2),
        ("10+ (all)", 12),
        ("10-99", 7),
        ("100-999", 0),
        ("1000+", 5),
    ]
    assert list(table["labels"]) == [1, 1, 3, 2, 0, 1]
    found = table["accuracy"].drop("100-999")
    assert list(found) == pytest.approx([1, 0, 9 / 12, 4 / 7, 1])
    assert np.isnan(table.loc["100-999", "accuracy"])


def test_by_word_frequency(tokens):
    counts = {"the": 1, "a": 2, "man": 9, "fish": 10, "boat": 100, "and": 1000}
    tokens["frequency"] = [counts.get(word, 0) for word in tokens["word"]]
    # rarer than a model's word_min_count, though in training
    tokens["known"] = ~tokens["word"].isin(["old", "they", "the"])
    table = tables.by_word_frequency(tokens, ["accuracy"]).set_index("training")
    assert dict(table["tokens"]) == {
        "unknown": 4,
        "1": 0,
        "2-9": 5,
        "10-99": 2,
        "100-999": 2,
        "1000+": 2,
    }
    assert table.loc["unknown", "accuracy"] == 3 / 4
    assert table.loc["2-9", "accuracy"] == 3 / 5
    assert table.loc["100-999", "accuracy"] == 1 / 2
    tokens.loc[tokens["word"] == "they", "known"] = True
    table = tables.by_word_frequency(tokens, ["accuracy"])
    assert list(table["training"][:3]) == ["unknown", "0", "1"]
    assert list(table["tokens"][:3]) == [3, 1, 0]


def test_confusions(tokens):
    keys = ["gold", "predicted"]
    table = tables.confusions(tokens, keys, ~tokens["accuracy"])
    rows = [("N", "V", 2, 0.4), ("V", "N", 2, 0.4), ("N", "J", 1, 0.2)]
    assert list(table.itertuples(index=False, name=None)) == rows
    right = tables.confusions(tokens, keys, tokens["accuracy"] & False)
    assert list(right) == list(table) and right.empty


def test_examples(tokens):
    keys = ["gold", "predicted"]
    found = tables.examples(tokens, keys, ~tokens["accuracy"], SENTENCES)
    assert found.to_dict("split")["data"] == [
        ["N", "J", 1, 2, "the", "old", "man the boat"],
        ["V", "N", 1, 3, "the old", "man", "the boat"],
        ["V", "N", 2, 2, "they", "fish", ""],
        ["N", "V", 3, 5, "a fish and a", "boat", "and a man"],
        ["N", "V", 3, 8, "a boat and a", "man", ""],
    ]


def test_examples_have_different_words():
    words = ["x", "x", "x", "y", "x", "z", "z"]
    tokens = pd.DataFrame({"sentence": 1, "position": range(1, 8), "word": words})
    tokens["gold"] = "A"
    everything = np.ones(7, bool)
    found = tables.examples(tokens, ["gold"], everything, [Sentence(words)])
    assert list(found["position"]) == [1, 4, 6]
    # where there are too few, some come again
    found = tables.examples(tokens[:3], ["gold"], everything[:3], [Sentence(words)])
    assert list(found["position"]) == [1, 2, 3]


def test_calibration():
    confidence = np.array([0.05, 0.1, 0.35, 0.5, 0.5, 0.51, 0.9, 1.0, 1.0000001])
    right = np.array([0, 1, 0, 1, 0, 1, 1, 1, 0], bool)
    table, error = tables.calibration(confidence, right, count=2)
    assert list(table["above"]) == [0, 0.5]
    assert list(table["up_to"]) == [0.5, 1]
    assert list(table["tokens"]) == [5, 4]  # 0.5 belongs to (0, 0.5]
    assert list(table["confidence"]) == pytest.approx([0.3, 0.852500025])
    assert list(table["accuracy"]) == pytest.approx([0.4, 0.75])
    assert error == pytest.approx((5 * 0.1 + 4 * 0.102500025) / 9)
    assert tuple(table.loc[0, ["low", "high"]]) == pytest.approx(score(2, 5))


def test_calibration_leaves_empty_bins_out():
    table, error = tables.calibration([0.99, 0.01], [True, False])
    assert list(table["tokens"]) == [1, 1]
    assert list(table["up_to"]) == pytest.approx([1 / 15, 1])
    assert error == pytest.approx(0.01)


def test_calibration_against_sums_over_tokens():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.001, 1, 400)
    right = rng.random(400) < confidence**2
    expected = 0
    for m in range(15):
        inside = (confidence > m / 15) & (confidence <= (m + 1) / 15)
        expected += abs(sum(right[inside]) - sum(confidence[inside])) / 400
    assert tables.calibration(confidence, right)[1] == pytest.approx(expected)
