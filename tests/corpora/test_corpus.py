import gzip
from pathlib import Path

import pytest
from conftest import DATA, needs_data

from keras_tagging.corpora import load_corpus
from keras_tagging.data import CorpusError, Sentence

CONLL = "a\tD\nb\tN\n\nc\tV\n"


def make(directory, *names):
    """Files with one sentence each, its word the file's path in the directory."""
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\tX\n", "utf-8")
    return directory


def words(corpus):
    return [
        " ".join(token for sentence in split for token in sentence.tokens)
        for split in (corpus.train, corpus.dev, corpus.test)
    ]


CORPORA = {
    "plain": ("train.txt test.txt", "train.txt", "", "test.txt"),
    "words": ("my-Valid.x my-Training.x", "my-Training.x", "my-Valid.x", ""),
    "conll 2003": (
        "eng.train eng.testa eng.testb",
        "eng.train",
        "eng.testa",
        "eng.testb",
    ),
    "no whole words": ("train.x contest.x devil.x", "train.x", "", ""),
    "eval beside test": ("train.x test.x eval.x", "train.x", "", "test.x"),
    "eval alone": ("train.x eval.x", "train.x", "", "eval.x"),
    "texts of conllu": (
        "a-train.conllu a-train.txt a-dev.conllu a-dev.txt README.md train.md",
        "a-train.conllu",
        "a-dev.conllu",
        "",
    ),
    "atis": (
        "atis.train.iob atis-2.train.iob atis-2.dev.iob atis.test.iob "
        "atis-2.train.w-intent.iob atis-2.dev.w-intent.iob",
        "atis-2.train.iob",
        "atis-2.dev.iob",
        "atis.test.iob",
    ),
    "folders": (
        "train/b.x train/a.x devel/c.x test/.hidden test/d.x other/e.x",
        "train/a.x train/b.x",
        "devel/c.x",
        "test/d.x",
    ),
    "ccgbank": (
        "AUTO/00/w1.auto AUTO/01/w.auto AUTO/02/w2.auto AUTO/02/w1.auto "
        "AUTO/21/w.auto AUTO/22/w.auto AUTO/23/w.auto AUTO/02/w.log",
        "AUTO/02/w1.auto AUTO/02/w2.auto AUTO/21/w.auto",
        "AUTO/00/w1.auto",
        "AUTO/23/w.auto",
    ),
}


@pytest.mark.parametrize("case", CORPORA)
def test_splits_of_a_directory(tmp_path, case):
    names, *expected = CORPORA[case]
    corpus = load_corpus(make(tmp_path, *names.split()))
    assert words(corpus) == expected
    assert (corpus.name, corpus.format) == (str(tmp_path), "conll")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("a-train.x b-train.x", "a-train.x, b-train.x could each be the train file"),
        (
            "train.x a/test.x b-test.x c-test.x",
            "b-test.x, c-test.x could each be the te",
        ),
        ("train/seq.in train/label", "train: has files of several kinds; pass"),
        ("train/a.x dev/a.x valid/a.x", "dev, valid could each be the dev folder; p"),
        ("train/a.x train/a.y", "train: has files of several kinds; pass"),
        (
            "dev.x corpus.x",
            "no file is named train .*found: corpus.x, dev.x.; pass the",
        ),
        ("train-dev.x", "no file is named train or the like"),
    ],
)
def test_directories_without_clear_splits(tmp_path, names, message):
    with pytest.raises(CorpusError, match=message):
        load_corpus(make(tmp_path, *names.split()))


def test_files_lists_and_patterns(tmp_path):
    names = "s00.x s01.x s02.x train.x dev.x test.x"
    make(tmp_path, *names.split())

    def files(*args, **options):
        return words(load_corpus(*args, **options))

    one, two = tmp_path / "s00.x", str(tmp_path / "s02.x")
    assert files(one) == ["s00.x", "", ""]
    assert files([two, one], test=tmp_path / "s01.x") == ["s02.x s00.x", "", "s01.x"]
    assert files(str(tmp_path / "s*.x")) == ["s00.x s01.x s02.x", "", ""]
    assert files(tmp_path, dev=[one]) == ["train.x", "s00.x", "test.x"]
    assert files(None, test=one, require_train=False) == ["", "", "s00.x"]
    assert files(one, require_train=False) == ["", "", "s00.x"]
    with pytest.raises(CorpusError, match="tried a file, a directory, a pattern and"):
        load_corpus(tmp_path / "none")
    with pytest.raises(CorpusError, match="is a directory; name the files in it"):
        load_corpus(one, dev=tmp_path)
    (tmp_path / "dev1").mkdir()
    with pytest.raises(CorpusError, match="is a directory; name the files in it"):
        load_corpus(one, dev=str(tmp_path / "dev1*"))


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (["en_ewt-ud-train.conllu", "en_ewt-ud-dev.conllu"], "en"),
        (["qaa_x-ud-train.conllu"], "qaa"),
        (["en_ewt-ud-train.conllu", "fr_gsd-ud-dev.conllu"], ""),
        (["train.conllu"], ""),
    ],
)
def test_the_files_of_a_treebank_tell_the_language(tmp_path, names, language):
    row = "1\ta\t_\tX" + "\t_" * 6 + "\n\n"
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_text(row)
    assert load_corpus(paths).language == language


def test_a_directory_with_test_data_only(tmp_path):
    make(tmp_path, "test.x")
    with pytest.raises(CorpusError, match="no file is named train"):
        load_corpus(tmp_path)
    assert words(load_corpus(tmp_path, require_train=False)) == ["", "", "test.x"]


def test_formats_and_options(tmp_path):
    (tmp_path / "train.x").write_text("a\tb\tc\n", "utf-8")
    with pytest.raises(ValueError, match="columns='pos': it is dict"):
        load_corpus(tmp_path, token_column=1, columns="pos")
    corpus = load_corpus(tmp_path, token_column=1, columns={"pos": 0})
    assert corpus.train == [Sentence(["b"], ["c"], {"pos": ["a"]})]
    assert load_corpus(tmp_path, "text").train == [Sentence(["a", "b", "c"])]
    assert load_corpus(tmp_path, encoding="latin-1").format == "conll"


JSON = '{"tokens": ["x", "y"], "tags": ["N", "V"]}\n'


def test_files_of_several_formats(tmp_path):
    train, dev = tmp_path / "train.conll", tmp_path / "dev.jsonl"
    train.write_text(CONLL, "utf-8")
    dev.write_text(JSON, "utf-8")
    (tmp_path / "test.txt").write_text("z Z\n", "utf-8")  # fits the training file's
    assert load_corpus(tmp_path).test == [Sentence(["z"], ["Z"])]
    for corpus in (load_corpus(tmp_path), load_corpus(train, dev=dev)):
        assert words(corpus)[0] == "a b c"
        assert corpus.dev == [Sentence(["x", "y"], ["N", "V"])]
        assert corpus.format == "conll"
    dev.write_text(JSON + "[]\n", "utf-8")
    with pytest.raises(CorpusError, match=r"dev.jsonl:2: .*\(recognised as 'jsonl'"):
        load_corpus(train, dev=dev)
    with pytest.raises(CorpusError, match="dev.jsonl:2: 1 columns"):
        load_corpus(train, "conll", dev=dev)


@pytest.mark.parametrize(
    "names", ["train.x dev.x", "x.train x.dev", "train.x dev.x.gz"]
)
def test_files_of_one_ending_have_one_format(tmp_path, names):
    """Else a first line that is malformed would make it another one."""
    train, dev = (tmp_path / name for name in names.split())
    train.write_text(JSON, "utf-8")
    opened = gzip.open if dev.suffix == ".gz" else open
    with opened(dev, "wb") as stream:
        stream.write(b"a\tN\n")
    with pytest.raises(CorpusError, match=":1: not JSON.*recognised as 'jsonl'"):
        load_corpus(tmp_path)


def test_malformed_sentences(tmp_path):
    train, dev = tmp_path / "train.x", tmp_path / "dev.x"
    train.write_text(CONLL + "\nd\n\ne\n", "utf-8")
    dev.write_text(CONLL, "utf-8")
    with pytest.raises(CorpusError, match=r"train.x:6: 1 columns.*\(recognised as"):
        load_corpus(tmp_path)
    with pytest.warns(UserWarning, match="^2 malformed .* first: .*train.x:6: 1 col"):
        corpus = load_corpus(tmp_path, errors="skip")
    assert corpus.skipped == {str(train): 2}
    assert words(corpus) == ["a b c", "a b c", ""]
    train.write_text("\n", "utf-8")
    with pytest.raises(
        CorpusError, match="train.x: no sentences; check format='conll'"
    ):
        load_corpus(tmp_path, "conll")


# Sentences, tokens and labels of the splits of real corpora.
ATIS = [(4478, 50497, 120), (500, 5703, 96), (893, 9164, 101)]
EWT = [(12544, 204577), (2001, 25147), (2077, 25094)]
REAL = [
    ("atis", {}, ATIS),
    ("conll2000", {}, [(8936, 211727, 22), (2012, 47377, 19)]),
    ("ud-english-ewt", {"tag": "xpos"}, [(*EWT[0], 49), (*EWT[1], 49), (*EWT[2], 48)]),
    ("ud-french-sequoia", {}, [(2231,), (412,), (456,)]),
    (
        "pmb-ccg/4.0.0/en/gold",
        {"tag_column": 4},
        [(7745, 50408, 294), (1174, 7368, 193), (1053, 6821, 180)],
    ),
    ("ccg-questions", {}, [(1328, 11161, 144), (500, 4078, 113)]),
    ("ccgbank-format", {}, [(35, 913, 94), (54, 1114)]),
]


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("path, options, expected", REAL)
def test_real_corpora(path, options, expected):
    corpus = load_corpus(Path(DATA, path), **options)
    for (_, sentences), counts in zip(corpus.splits(), expected, strict=True):
        labels = {tag for sentence in sentences for tag in sentence.tags}
        sizes = len(sentences), sum(map(len, sentences)), len(labels)
        assert sizes[: len(counts)] == counts


def test_demo_takes_no_format_or_options():
    for options in ({"format": "conll"}, {"tag_column": 2}, {"dev": "x.conll"}):
        with pytest.raises(ValueError, match="demo corpus"):
            load_corpus("demo", **options)
