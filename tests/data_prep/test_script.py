import pytest

from keras_tagging.corpora import load_corpus
from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.records import MalformedSentence
from preparing.script import Counts, run_script, statistics, write_splits

TRAIN = [Sentence(["a", "b", "a"], ["X", "Y", "X"]), Sentence(["A"], ["Z"])]
DEV = [Sentence(["a", "c", "c"], ["X", "X", "Q"])]


def files(folder):
    """Everything below the folder, with its text."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("format", ["conll", "jsonl"])
@pytest.mark.parametrize("is_there", [False, True])
def test_splits_are_written_and_counted(tmp_path, format, is_there):
    out = tmp_path / "deep" / "out"
    if is_there:
        out.mkdir(parents=True)
    splits = {"train": iter(TRAIN), "dev": (s for s in DEV), "test": []}
    found = write_splits(out, splits, format)
    assert found == {
        "train": Counts(sentences=2, tokens=4, types=3, labels=3),
        "dev": Counts(sentences=1, tokens=3, types=2, labels=2, unknown=2),
        "test": Counts(unknown=0),
    }
    assert set(files(tmp_path)) == {f"deep/out/{s}.{format}" for s in splits}
    corpus = load_corpus(out, format)
    assert (corpus.train, corpus.dev, corpus.test) == (TRAIN, DEV, [])


@pytest.mark.parametrize(
    ("splits", "which"),
    [({"train": [], "dev": []}, "any split"), ({"train": [], "dev": DEV}, "train")],
)
def test_a_corpus_without_sentences_is_not_written(tmp_path, splits, which):
    out = tmp_path / "deep" / "out"
    with pytest.raises(CorpusError, match=f"out: no sentence is left for {which}, so"):
        write_splits(out, splits)
    assert not out.exists()


def failing():
    yield DEV[0]
    raise CorpusError("disc/1.mrg:7: unbalanced")


@pytest.mark.parametrize("is_there", [False, True])
def test_nothing_is_written_if_a_split_fails(tmp_path, is_there):
    out = tmp_path / "out"
    if is_there:
        write_splits(out, {"train": DEV})
    before = files(tmp_path)
    with pytest.raises(CorpusError, match="disc/1.mrg:7: unbalanced"):
        write_splits(out, {"train": TRAIN, "dev": failing()}, overwrite=True)
    with pytest.raises(ValueError, match="cannot be a CoNLL row"):
        bad = Sentence(["a b", ""], ["X", "X"])
        write_splits(out, {"train": TRAIN, "dev": [bad]}, overwrite=True)
    assert files(tmp_path) == before
    assert list(tmp_path.iterdir()) == [out] * is_there
    assert not list(out.glob(".*"))


@pytest.mark.parametrize("way", ["", "missing/.."])
def test_a_folder_that_is_not_empty_is_refused(tmp_path, way):
    (tmp_path / "notes.txt").write_text("mine")

    def never():
        raise AssertionError("read before the folder was looked at")
        yield

    with pytest.raises(CorpusError) as caught:
        write_splits(tmp_path / way, {"train": never()})
    told = str(caught.value)
    assert told.startswith(f"{tmp_path}: the folder is not empty (notes.txt); name ")
    assert files(tmp_path) == {"notes.txt": "mine"}


def test_overwriting_leaves_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "train.conll").write_text("old\tO\n")
    write_splits(tmp_path, {"train": TRAIN, "dev": DEV}, overwrite=True)
    assert set(files(tmp_path)) == {"notes.txt", "train.conll", "dev.conll"}
    assert load_corpus(tmp_path).train == TRAIN


@pytest.mark.parametrize("name", ["test.conll", "train.jsonl"])
def test_old_splits_do_not_come_to_stand_beside_new_ones(tmp_path, name):
    (tmp_path / name).write_text("old\tO\n")
    with pytest.raises(CorpusError, match=f"{name}: does not belong to the new files"):
        write_splits(tmp_path, {"train": TRAIN, "dev": DEV}, overwrite=True)
    assert set(files(tmp_path)) == {name}


def test_statistics_warn_of_every_figure_that_differs():
    counts = {
        "train": Counts(5, 50, 20, 4, more={"concepts": 9}),
        "dev": Counts(1, 10, 8, 3, unknown=2),
    }
    published = {
        "train": {"sentences": 5, "tokens": 51, "concepts": 8, "files": 2},
        "dev": {"unknown": 2},
        "test": {"sentences": 1},
    }
    table, *warnings = statistics(counts, published, "P 1").split("\nwarning: ")
    assert [line.split() for line in table.splitlines()] == [
        ["split", "figure", "here", "P", "1"],
        ["train", "sentences", "5", "5"],
        ["tokens", "50", "51"],
        ["types", "20", "-"],
        ["labels", "4", "-"],
        ["concepts", "9", "8"],
        ["files", "-", "2"],
        ["dev", "sentences", "1", "-"],
        ["tokens", "10", "-"],
        ["types", "8", "-"],
        ["labels", "3", "-"],
        ["unknown", "2", "2"],
        ["test", "sentences", "-", "1"],
    ]
    assert warnings == [
        "train has 50 tokens, P 1 has 51",
        "train has 9 concepts, P 1 has 8",
        "train has no files, P 1 has 2",
        "test has no sentences, P 1 has 1",
    ]


def script(number: int, fail: bool = False):
    """Does nothing."""
    if fail:
        raise CorpusError("a:1: two\nlines; mend it")
    print(number)


@pytest.mark.parametrize(
    "args, code, out, err",
    [
        (["3"], 0, "3\n", ""),
        (["3", "--fail"], 1, "", "a:1: two lines; mend it"),
        (["x"], 2, "", "Invalid value for "),
        (["3", "--other"], 2, "", "No such option: --other"),
    ],
)
def test_a_script_tells_errors_in_one_line(capsys, args, code, out, err):
    with pytest.raises(SystemExit) as stopped:
        run_script(script, "python it.py 3", args)
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (code, out)
    if err:
        assert told.err.startswith(f"test_script.py: error: {err}")
        assert told.err.count("\n") == 1


def malformed(message: str, skip_malformed: bool = False, encoding: str = ""):
    raise MalformedSentence(message)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("c, or pass encoding= with its own", "c, or pass --encoding with its own; "),
        ("c; or leave it out with errors='skip'", "c; or leave it out with --skip-"),
    ],
)
def test_advice_is_what_a_script_has(capsys, message, expected):
    with pytest.raises(SystemExit):
        run_script(malformed, "", [message])
    assert capsys.readouterr().err.startswith(f"test_script.py: error: {expected}")


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as stopped:
        run_script(script, "python it.py 3\npython it.py 4", [])
    assert not stopped.value.code
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "Does nothing." in lines
    assert lines[-3:] == ["Example:", "python it.py 3", "python it.py 4"]
