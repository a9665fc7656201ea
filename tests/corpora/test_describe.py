import pandas as pd
import pytest

from keras_tagging.corpora import describe, load_corpus
from keras_tagging.corpora.describe import plot_description
from keras_tagging.data import Corpus, Sentence


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
    for count in (9, 10):
        [row] = describe(Corpus([tagged("a/N " * count)])).splits
        assert row["rare labels"] == (count < 10)


def test_labels_without_names_are_remarked_on():
    [remark] = describe(Corpus([tagged("Ada/1 errs/0"), tagged("Yes/0")])).remarks
    assert remark.startswith("all labels are numbers: if they stand for names, as in")
    assert not describe(Corpus([tagged("Ada/1 errs/O")])).remarks


# labels of the sentences, the notation, where a label cannot follow: (sentence, token)
SEQUENCES = [
    (["O B-a I-a O", "B-a B-a I-a B-b"], "IOB2", []),
    (["O B I", "I-a"], "IOB2", [(2, 1)]),
    (["O I-a B-b", "B-a I-b I-b", "I-a"], "IOB2", [(1, 2), (2, 2), (3, 1)]),
    (["O I-a I-b", "I-a B-a I-a I-b"], "IOB1", []),
    (["B-a I-a E-a O S-a S-b B-a E-a"], "IOBES", []),
    (["B-a S-a", "B-a E-b", "S-a B-a"], "IOBES", [(1, 2), (2, 2), (3, 2)]),
    (["B-a O E-a"], "IOBES", [(1, 2), (1, 3)]),
    (["B-a N I-b"], None, []),
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
        Sentence(list("abcde"), list("DDDdd")),  # no slip: twice
    ]
    assert problems(train=train) == {
        "more than 250 tokens": (1, [("train", 2, None)]),
        "no tags": (1, [("train", 3, None)]),
        "empty tag": (1, [("train", 4, 1)]),
        "white space in a tag": (1, [("train", 4, 2)]),
        "tag that differs in case only": (2, [("train", 4, 3), ("train", 5, 2)]),
    }


def test_percentiles_of_lengths():
    train = [Sentence(["w"] * n) for n in (*range(100, 0, -1), 250)]
    [row] = describe(Corpus(train)).lengths
    # 5 % of 101 sentences are 5.05: at least that many have no more tokens
    expected = {5: 6, 25: 26, 50: 51, 75: 76, 95: 96, 99: 100, 100: 250}
    assert row == {"split": "train"} | {f"{p} %": n for p, n in expected.items()}
    [row] = describe(Corpus([Sentence([])])).lengths
    assert set(row.values()) == {"train", 0}


def test_leakage():
    train = [tagged("go/V to/P B12/N"), tagged("yes/I"), Sentence([], [])]
    dev = [tagged("yes/X"), tagged("no/I way/N")]
    test = [
        tagged("yes/I"),
        tagged("Go/V to/P b99/N !/."),
        tagged("no/I way/N"),
        tagged("new/N"),
    ]
    columns = "sentences", "sentences %", "tokens %", "with other tags", "alike"
    found = {
        (row["split"], row["also in"]): tuple(row[c] for c in columns)
        for row in describe(Corpus(train, dev, test)).leakage
    }
    assert found == {
        ("dev", "train"): (1, 50.0, 100 / 3, 1, 1),
        ("test", "train"): (1, 25.0, 12.5, 0, 2),
        ("test", "dev"): (2, 50.0, 37.5, 1, 2),
    }
    marks = describe(Corpus([tagged("?/.")], test=[tagged("!/.")])).leakage
    assert marks[0]["alike"] == 0
    assert describe(Corpus(train)).leakage == []


def with_heads(*heads):
    words = [f"w{i}" for i, _ in enumerate(heads)]
    return Sentence(words, words, {"head": [str(head) for head in heads]})


def test_trees():
    projective, crossing = with_heads(2, 0, 2), with_heads(3, 4, 0, 3)
    broken = with_heads(2, 1), with_heads(0, 0), with_heads(7), with_heads("_", 0)
    train = [tagged("a/A"), projective, crossing, *broken, crossing]
    [row] = describe(Corpus(train, test=[with_heads("_", "_")])).trees
    assert row == {
        "split": "train",
        "with heads": 7,
        "no trees": 4,
        "not projective": 2,
        "not projective %": 200 / 7,
        "the first": 3,
    }
    assert describe(Corpus([tagged("a/A")])).trees == []


def test_damage_with_file_and_line(tmp_path):
    path = tmp_path / "train.conll"
    path.write_bytes(
        b"# a comment \xef\xbf\xbd\n"
        b"caf\xc3\x83\xc2\xa9\tN\n"  # é twice encoded
        b"fine\tN\n\n"
        b"caf\xe9\tN\n\n"  # Latin-1
        b"x\xef\xbf\xbdy\tN\nAT&amp;T\tN\n"
    )
    with pytest.warns(UserWarning, match="1 malformed sentence left out"):
        corpus = load_corpus(path, "conll", errors="skip")
    found = describe(corpus)
    assert {p.kind: (p.count, p.locations) for p in found.damage} == {
        "UTF-8 read as Latin-1": (1, [f"{path}:2"]),
        "bytes that are not utf-8": (1, [f"{path}:5"]),
        "replacement character": (1, [f"{path}:7"]),
        "HTML entity": (1, [f"{path}:8"]),
    }
    text = str(found)
    assert f"{path}:5" in text
    assert "(é?)" in text
    latin = describe(load_corpus(path, "conll", encoding="latin-1"), encoding="latin-1")
    kinds = {p.kind: p.locations for p in latin.damage}
    assert f"{path}:5" not in kinds["UTF-8 read as Latin-1"]


def test_damage_of_a_corpus_in_memory():
    dev = [tagged("fine/N"), Sentence(["\ufffd", "a\ufffd"], ["N", "\x00"])]
    found = describe(Corpus([], dev, files={"dev": ["no/such/file"]})).damage
    assert {p.kind: (p.count, p.locations) for p in found} == {
        "replacement character": (1, ["dev, sentence 2"]),
        "control character": (1, ["dev, sentence 2"]),
    }


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    tags = [f"T{i}" for i in range(60)] + ["$x$", "PRP$", r"S\NP", "a_b^"]
    train = [Sentence(["w"] * len(tags), tags), Sentence(["w"] * 9, ["$x$"] * 9)]
    description = describe(Corpus(train, test=[tagged("w/T1")], name="$pets$"))
    path = plot_description(description, tmp_path / "new" / "labels.svg")
    assert path.stat().st_size > 2000
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    untagged = describe(Corpus([Sentence(["w"])]))
    assert plot_description(untagged, path).exists()
