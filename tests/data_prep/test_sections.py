import pytest

from keras_tagging.data import CorpusError
from preparing.archives import members
from preparing.sections import by_split, sections_of, sentences_of
from preparing.splits import in_tenths, split_files

SPLITS = {"train": [2, 3], "dev": [0], "test": [23]}


def sentence(word):
    return f"( (S (NN {word})))\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("wsj_0001", "wsj_0201", "wsj_0202", "wsj_0301", "wsj_2301"):
        add(tmp_path / "wsj", f"{name[4:6]}/{name}.mrg")
    return tmp_path / "wsj"


def add(folder, name, text=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or sentence(path.stem), "utf-8")
    return path


def words(folder, **options):
    files = by_split(members(folder, ".mrg"), SPLITS, **options)
    return {
        split: [s.tokens[0] for s in sentences_of(found, "mrg", split)]
        for split, found in files.items()
    }


WHOLE = {
    "train": ["wsj_0201", "wsj_0202", "wsj_0301"],
    "dev": ["wsj_0001"],
    "test": ["wsj_2301"],
}


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("disc.zip/AUTO/02/wsj_0203.auto", (range(2, 3), False)),
        ("23/WSJ_0001.MRG.GZ", (range(0, 1), False)),
        ("wsj02-21.stagged", (range(2, 22), True)),
        ("wsj_00.auto", (range(0, 1), True)),
        ("02-21.conllx", (range(2, 22), True)),
        ("05/first.mrg", (range(5, 6), False)),
        ("brown/cf/cf01.mrg", None),
        ("swbd/2/sw2005.mrg", None),
        ("2005-06.mrg", None),
    ],
)
def test_sections_by_name(name, sections):
    assert sections_of(name) == sections


def test_files_of_each_split(folder):
    assert words(folder) == WHOLE
    add(folder, "01/wsj_0101.mrg")  # of no split
    add(folder, "brown/cf01.mrg")
    assert words(folder) == WHOLE


def test_whole_sections(folder):
    for name in ("wsj_0201", "wsj_0202", "wsj_0301"):
        (folder / name[4:6] / f"{name}.mrg").unlink()
    add(folder, "wsj_02-03.mrg")
    assert words(folder) == WHOLE | {"train": ["wsj_02-03"]}


def test_missing_sections(folder):
    (folder / "03" / "wsj_0301.mrg").unlink()
    (folder / "23" / "wsj_2301.mrg").unlink()
    what = r"^no file holds section 03, 23 \(train, test\); name the .*--partial"
    with pytest.raises(CorpusError, match=what):
        words(folder)
    left = {"train": WHOLE["train"][:2], "dev": WHOLE["dev"]}
    assert words(folder, partial=True) == left


@pytest.mark.parametrize(
    "name", ["copy/wsj_0201.mrg", "copy/wsj_0201.mrg.gz", "02.mrg", "wsj_02-03.mrg"]
)
def test_what_stands_twice(folder, name):
    add(folder, name)
    with pytest.raises(CorpusError, match=r": section 02 is here and in .*; remove"):
        words(folder)


def test_sections_of_several_splits(folder):
    add(folder, "00-02.mrg")
    with pytest.raises(CorpusError, match="has sections 00-02 of several splits; give"):
        words(folder)


# Splits by the names of files


def chosen(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    found = split_files(folder, members(folder, (".x", "seq.in")))
    return {split: member.inside for split, member in found.items()}


@pytest.mark.parametrize(
    "names, train, dev, test",
    [
        (["train.x", "dev.x", "test.x"], "train.x", "dev.x", "test.x"),
        (["a/train.x.gz", "b/VALID.x"], "a/train.x.gz", "b/VALID.x", None),
        (
            ["train/seq.in", "valid/seq.in", "eval/seq.in"],
            "train/seq.in",
            "valid/seq.in",
            "eval/seq.in",
        ),
        (
            ["atis-2.train.x", "atis-2.dev.x", "atis.train.x", "atis.test.x"],
            "atis-2.train.x",
            "atis-2.dev.x",
            "atis.test.x",
        ),
        (["train.x", "o/train.x", "o/test.x"], "o/train.x", None, "o/test.x"),
        (["train.x", "eval.x", "test.x"], "train.x", None, "test.x"),
        (["train.x", "train.x.gz", "eval.x"], "train.x", None, "eval.x"),
        (["test/data.train.x", "README.x"], "test/data.train.x", None, None),
    ],
)
def test_names_tell_the_splits(tmp_path, names, train, dev, test):
    found = chosen(tmp_path, *names)
    expected = {"train": train, "dev": dev, "test": test}
    assert found == {split: name for split, name in expected.items() if name}


def test_ambiguous_and_missing_files_are_told(tmp_path):
    what = f"^{tmp_path}: a/train.x, b/train.x could each be the train file; name the"
    with pytest.raises(CorpusError, match=what):
        chosen(tmp_path, "a/train.x", "b/train.x")
    (tmp_path / "c").mkdir()
    with pytest.raises(CorpusError, match="no file is named train .* test.x, y.x"):
        chosen(tmp_path / "c", "test.x", "y.x")


@pytest.mark.parametrize(
    "total, sizes", [(12351, (9881, 1235, 1235)), (20, (16, 2, 2)), (3, (3, 0, 0))]
)
def test_tenths(total, sizes):
    splits = in_tenths(list(range(total)))
    assert tuple(map(len, splits.values())) == sizes
    assert [*splits["test"], *splits["dev"], *splits["train"]] == list(range(total))
