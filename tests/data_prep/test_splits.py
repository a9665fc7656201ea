import pytest

from keras_tagging.data import CorpusError
from preparing.archives import members
from preparing.splits import in_tenths, split_files


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
    with pytest.raises(CorpusError) as caught:
        chosen(tmp_path, "a/train.x", "b/train.x")
    assert str(caught.value).startswith(
        f"{tmp_path}: a/train.x, b/train.x could each be the train file; name the"
    )
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
