import zipfile

import pytest

import keras_tagging
from keras_tagging.data import Sentence, read

HEAD = "### Generated\n# newdoc id = p02/d0010\n# raw sent = #hash Tom~Smith ~ .\n"


def content(word):
    rows = [
        f"{word}\t{word}\t{word}\tPER\tnp\tO\t[]",
        "#\t#\t#\tCON\tn\tn.01\t[Of]",
        r"sits	sits	sit	ENS	s:dcl\np	sit.v.01	[Agent,Theme]",
        "~\t~\t~\tNIL\t.\tO\t[]",
    ]
    return HEAD + "\n".join(rows) + "\n\n"


def fill(folder, splits=("train", "dev", "test", "eval")):
    folder.mkdir(parents=True)
    for split in splits:
        text = content(f"Tom~{split}")
        (folder / f"{split}.conll").write_text(text, "utf-8")
    return folder


@pytest.fixture
def gold(tmp_path):
    return fill(tmp_path / "4.0.0" / "en" / "gold")


def test_words_semantic_tags_and_categories(gold, tmp_path, run):
    code, told, error = run("pmb", gold, tmp_path / "out")
    assert (code, error) == (0, "")
    for split in ("train", "dev", "test", "eval"):
        [sentence] = read(tmp_path / "out" / f"{split}.conll", columns={"semtag": 1})
        assert sentence == Sentence(
            [f"Tom~{split}", "#", "sits", "~"],
            ["np", "n", r"s:dcl\np", "."],
            {"semtag": ["PER", "CON", "ENS", "NIL"]},
        )
    assert told.count("sentences") == 4
    corpus = keras_tagging.load_corpus(tmp_path / "out")
    assert [s.tokens[0] for s in corpus.test] == ["Tom~test"]


def first(out, **options):
    return next(read(out / "train.conll", **options))


def test_options(gold, tmp_path, run, failing):
    run("pmb", gold, tmp_path / "a", "--notation", "ccgbank", "--joiner", "_")
    sentence = first(tmp_path / "a")
    assert sentence.tokens == ["Tom_train", "#", "sits", "~"]
    assert sentence.tags == ["NP", "N", r"S[dcl]\NP", "."]
    run("pmb", gold, tmp_path / "b", "--tag", "semtag", "--joiner", " ")
    sentence = first(tmp_path / "b", columns={"category": 1})
    assert sentence.tokens[0] == "Tom train"
    assert sentence.tags == ["PER", "CON", "ENS", "NIL"]
    assert sentence.columns["category"][2] == r"s:dcl\np"
    assert "cannot be a CoNLL row" in failing("pmb", gold, "--joiner", "\t")


def test_releases_and_languages(gold, tmp_path, run, failing):
    fill(tmp_path / "4.0.0" / "de" / "gold", ["train", "dev"])
    fill(tmp_path / "3.0.0" / "en" / "gold", ["train"])
    source = tmp_path / "data.zip"
    with zipfile.ZipFile(source, "w") as archive:
        for path in sorted(tmp_path.rglob("*.conll")):
            archive.write(path, path.relative_to(tmp_path))
    error = failing("pmb", source)
    assert "data.zip/4.0.0/de/gold/train.conll is a train file too; name one f" in error
    chosen = ["--release", "4.0.0", "--language", "de"]
    assert run("pmb", source, tmp_path / "out", *chosen)[0] == 0
    names = [path.name for path in sorted((tmp_path / "out").iterdir())]
    assert names == ["dev.conll", "train.conll"]
    error = failing("pmb", source, "--language", "fr")
    assert "no file train.conll of this release and language; name the f" in error


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tENS", "", "train.conll:6: 6 columns where the file has 7; mend"),
        (r"s:dcl\np", r"s:dcl\\np", "train.conll:6: the category 's:dcl"),
        ("[]", "0", "train.conll: column 7 holds '0' and not roles"),
    ],
)
def test_errors_are_one_line_and_leave_no_files(gold, failing, old, new, message):
    path = gold / "train.conll"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    assert message in failing("pmb", gold)
