import pytest

import keras_tagging
from keras_tagging.data import read


def tree(word):
    return (
        f"\n( (S \n    (NP-SBJ (-NONE- *-1) (NNP {word}) )\n"
        "    (VP (VBZ|NNS sees) (-LRB- -LRB-) (CD 1\\/2) )\n    (. .) ))\n"
    )


def tagged(word):
    return f"[ {word}/NNP ]\nsees/VBZ|NNS (/( 1\\/2/CD ./. \n\n======\n"


def tree_rows(word):
    rows = [
        f"1\t{word}\t_\tNNP\tNNP\t_\t2\tnsubj\t_\t_",
        "2\tsees\t_\tVBZ\tVBZ\t_\t0\troot\t_\t_",
        "3\t-LRB-\t_\t-LRB-\t-LRB-\t_\t2\tpunct\t_\t_",
    ]
    return "\n".join(rows) + "\n\n"


@pytest.fixture
def disc(tmp_path):
    """Treebank-3: the Wall Street Journal and, beside it, the Brown corpus."""
    root = tmp_path / "treebank_3"
    brown = root / "parsed" / "mrg" / "brown" / "cf" / "cf01.mrg"
    brown.parent.mkdir(parents=True)
    brown.write_text(tree("Brown"), "utf-8")
    for section in range(25):
        name = f"wsj_{section:02}01"
        for kind, text in (("parsed/mrg", tree(name)), ("tagged/pos", tagged(name))):
            folder = root / kind / "wsj" / f"{section:02}"
            folder.mkdir(parents=True)
            path = folder / f"{name}.{kind[-3:]}"
            path.write_text(text, "utf-8")
    return root


def numbers(sentences):
    return [int(sentence.tokens[0][4:6]) for sentence in sentences]


def splits(out):
    corpus = keras_tagging.load_corpus(out)
    return {split: numbers(part) for split, part in corpus.splits()}


TAGGING = {
    "train": list(range(19)),
    "dev": [19, 20, 21],
    "test": [22, 23, 24],
}


@pytest.mark.parametrize("format", ["mrg", "pos"])
def test_tagging(disc, tmp_path, run, format):
    code, told, _ = run("ptb", disc, tmp_path / "out", "--format", format)
    assert code == 0
    assert splits(tmp_path / "out") == TAGGING
    sentence = next(read(tmp_path / "out" / "dev.conll"))
    assert sentence.tokens == ["wsj_1901", "sees", "(", "1/2", "."]
    bracket = {"mrg": "-LRB-", "pos": "("}[format]
    assert sentence.tags == ["NNP", "VBZ", bracket, "CD", "."]
    assert "warning: train has 19 sentences, D16 Table 3 has 38219" in told
    options = ["--format", format, "--keep-escapes", "--all-tags"]
    assert run("ptb", disc, tmp_path / "kept", *options)[0] == 0
    sentence = next(read(tmp_path / "kept" / "dev.conll"))
    assert (sentence.tokens[3], sentence.tags[1]) == ("1\\/2", "VBZ|NNS")


@pytest.fixture
def stanford(tmp_path):
    folder = tmp_path / "stanford"
    folder.mkdir()
    for section in range(2, 24):
        text = tree_rows(f"wsj_{section:02}01")
        (folder / f"{section:02}.conllx").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("escapes", [[], ["--keep-escapes"]])
def test_parsing(stanford, tmp_path, run, escapes):
    out = tmp_path / "out"
    code, told, _ = run("ptb", stanford, out, "--task", "parsing", *escapes)
    assert code == 0
    assert splits(out) == {"train": [*range(2, 22)], "dev": [22], "test": [23]}
    assert "warning" not in told
    sentence = next(read(out / "test.conllu", "conllu", tag="xpos", trees=True))
    assert sentence.tokens == ["wsj_2301", "sees", "-LRB-" if escapes else "("]
    assert sentence.tags == ["NNP", "VBZ", "-LRB-"]
    assert sentence.columns["head"] == ["2", "0", "2"]
    assert sentence.columns["deprel"] == ["nsubj", "root", "punct"]


def test_an_error_leaves_no_files(stanford, failing):
    path = stanford / "22.conllx"
    path.write_text(path.read_text("utf-8").replace("0\troot", "1\troot"), "utf-8")
    error = failing("ptb", stanford, "--task", "parsing")
    assert "22.conllx:1: no word is the" in error


def test_a_part_and_malformed_sentences(disc, tmp_path, run, failing):
    folder = disc / "parsed" / "mrg" / "wsj"
    (folder / "24" / "wsj_2401.mrg").unlink()
    assert "no file holds section 24 (test)" in failing("ptb", disc)
    (folder / "20" / "wsj_2001.mrg").write_text("( (NN a) (CD ))\n", "utf-8")
    options = ["--partial", "--skip-malformed"]
    code, told, _ = run("ptb", disc, tmp_path / "out", *options)
    assert code == 0
    assert "warning: 1 malformed sentence left out; the first: " in told
    expected = TAGGING | {"dev": [19, 21], "test": [22, 23]}
    assert splits(tmp_path / "out") == expected


@pytest.mark.parametrize(
    ("format", "sizes"), [("mrg", (3914, 94084, 45)), ("pos", (3928, 94200, 45))]
)
def test_the_real_sample(tmp_path, run, samples, format, sizes):
    options = ["--partial", "--format", format]
    assert run("ptb", samples / "ptb-sample", tmp_path / "out", *options)[0] == 0
    train = keras_tagging.load_corpus(tmp_path / "out").train
    tags = {tag for sentence in train for tag in sentence.tags}
    assert (len(train), sum(map(len, train)), len(tags)) == sizes
