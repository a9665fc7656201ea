import pandas as pd
import pytest

from keras_tagging.data import Corpus, Sentence, describe


def tagged(text):
    """A sentence from word/tag pairs."""
    pairs = [pair.rpartition("/") for pair in text.split()]
    return Sentence([word for word, _, _ in pairs], [tag for _, _, tag in pairs])


def problems(**splits):
    """{kind: (count, locations)} of a corpus."""
    found = describe(Corpus(**{"train": [], **splits})).problems
    return {problem.kind: (problem.count, problem.locations) for problem in found}


def test_statistics():
    train = [tagged("the/D cat/N sat/V"), tagged("go/V")] + [tagged("a/D b/N")] * 8
    test = [tagged("The/D cat/X"), Sentence(["dogs", "go"], ["N", "Y"])]
    description = describe(Corpus(train, test=test, name="pets", format="conll"))
    frame = pd.DataFrame(description.splits).set_index("split")
    assert frame.loc["train"].drop(["unseen words %", "unseen labels"]).to_dict() == {
        "sentences": 10,
        "tokens": 20,
        "mean length": 2.0,
        "max length": 3,
        "labels": 3,
        "rare labels": 3,
    }
    assert frame.loc["test"].to_dict() == {
        "sentences": 2,
        "tokens": 4,
        "mean length": 2.0,
        "max length": 2,
        "labels": 4,
        "rare labels": 4,
        "unseen words %": 50.0,
        "unseen labels": 2,
    }
    assert description.scheme is None


@pytest.mark.parametrize("count", [9, 10])
def test_rare_labels_occur_up_to_nine_times(count):
    [row] = describe(Corpus([tagged("a/N " * count)])).splits
    assert row["rare labels"] == (count < 10)


# labels of the sentences, the notation, where a label cannot follow: (sentence, token)
SEQUENCES = [
    (["O B-a I-a O", "B-a B-a I-a B-b"], "IOB2", []),
    (["O B I", "I-a"], "IOB2", [(2, 1)]),
    (["O I-a B-b", "B-a I-b I-b", "I-a"], "IOB2", [(1, 2), (2, 2), (3, 1)]),
    (["O I-a I-b", "I-a B-a I-a I-b"], "IOB1", []),
    (["I-a O I-a"], "IOB1", []),
    (["B-a I-a E-a O S-a S-b B-a E-a"], "IOBES", []),
    (["U-a B-a L-a"], "IOBES", []),
    (["O I-a E-a S-a"], "IOBES", [(1, 2)]),
    (["B-a S-a", "B-a E-b", "S-a B-a"], "IOBES", [(1, 2), (2, 2), (3, 2)]),
    (["B-a O E-a"], "IOBES", [(1, 2), (1, 3)]),
    (["B-a N I-b"], None, []),
    (["B I I", "O"], None, []),
]


@pytest.mark.parametrize(("labels", "scheme", "expected"), SEQUENCES)
def test_label_sequences(labels, scheme, expected):
    tags = [sequence.split() for sequence in labels]
    words = [[f"{i}.{j}" for j, _ in enumerate(t)] for i, t in enumerate(tags)]
    train = [Sentence(w, t) for w, t in zip(words, tags, strict=True)]
    assert describe(Corpus(train)).scheme == scheme
    locations = [("train", *place) for place in expected]
    found = problems(train=train)
    assert found == (
        {"impossible label sequence": (len(locations), locations)} if locations else {}
    )


def test_duplicates():
    same, other = tagged("a/N b/N"), tagged("a/N b/V")
    long = tagged("a/N b/N c/N")
    empty = Sentence([], [])
    found = problems(train=[same, same, long, empty, empty], test=[other, long])
    assert found["sentence repeated within train"] == (1, [("train", 2, None)])
    assert found["sentence of test also in train"] == (1, [("test", 2, None)])
    assert found["sentence of test also in train, with other tags"] == (
        1,
        [("test", 1, None)],
    )
    assert found["empty sentence"] == (2, [("train", 4, None), ("train", 5, None)])
    assert len(found) == 4


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("", "empty token"),
        *(
            (f"a{odd}b", "white space, control or zero-width character")
            for odd in " \t\n\x00\x7f\x85\xa0\xad\u200b\u2028\u2060\u3000\ufeff\ud800"
        ),
        ("x" * 101, "more than 100 characters"),
    ],
)
def test_suspicious_tokens(word, kind):
    dev = [
        Sentence(["fine"], ["N"]),
        Sentence(["\u4e2d-\u0939\u093f.", word], ["N"] * 2),
    ]
    assert problems(dev=dev) == {kind: (1, [("dev", 2, 2)])}


def test_suspicious_sentences_and_tags():
    train = [
        Sentence(["w"] * 250, ["N"] * 250),
        Sentence(["w"] * 251, ["N"] * 251),
        Sentence(["x"]),
        Sentence(["y"] * 3, ["", "N P", "n"]),
        Sentence(["x" * 100, "z"], ["V", "v"]),
    ]
    assert problems(train=train) == {
        "more than 250 tokens": (1, [("train", 2, None)]),
        "no tags": (1, [("train", 3, None)]),
        "empty tag": (1, [("train", 4, 1)]),
        "white space in a tag": (1, [("train", 4, 2)]),
        "tag that differs in case only": (
            2,
            [("train", 4, 3), ("train", 5, 2)],
        ),
    }


def test_text():
    train = [tagged("a/B-x b/I-x"), *[Sentence(["c\u200b"], ["I-x"])] * 30]
    corpus = Corpus(train, name="pets", format="conll", skipped={"pets/train": 3})
    text = str(describe(corpus))
    assert text == describe(corpus).to_text()
    assert text.startswith("pets (format conll, labels IOB2)\n\nsplit sentences")
    assert "pets/train: 3 malformed sentences left out" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["impossible", "label", "sequence", "30"] in rows
    assert ["impossible", "label", "sequence", "train", "11", "1", "'O", "I-x'"] in rows
    assert [
        "impossible",
        "label",
        "sequence",
        "train",
        "12",
        "1",
        "'O",
        "I-x'",
    ] not in rows
    assert "\u200b" not in text  # shown escaped
    clean = str(describe(Corpus([tagged("a/N")])))
    assert clean.endswith("No problems found.")
