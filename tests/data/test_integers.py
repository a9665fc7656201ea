import gzip
import json
import os
import pickle
import subprocess

import numpy as np
import pytest

from keras_tagging.corpora.archives import members
from keras_tagging.corpora.integers import read_integers
from keras_tagging.data import CorpusError, Sentence

WORDS = {"fly": 0, "to": 1, "Boston": 2, "new": 3, "york": 4}
LABELS = {"O": 7, "B-city": 0, "I-city": 3}
ROWS = [([0, 1, 2], [7, 7, 0]), ([1, 3, 4], [7, 0, 3])]
SENTENCES = [
    Sentence(["fly", "to", "Boston"], ["O", "O", "B-city"]),
    Sentence(["to", "new", "york"], ["O", "B-city", "I-city"]),
]


def split(rows, kind, tables=True):
    """Words, tables and labels of rows, in arrays or lists."""
    words = [kind(row[0]) for row in rows]
    labels = [kind(row[1]) for row in rows]
    return [words, labels, labels] if tables else [words, labels]


def is13(kind=list, splits=2):
    dictionaries = {"words2idx": dict(WORDS), "labels2idx": dict(LABELS)}
    return [*(split(ROWS[i:], kind) for i in range(splits)), dictionaries]


def cntk(kind=list):
    query, slots = split(ROWS, kind, tables=False)
    data = {"query": query, "slot_labels": slots, "intent_labels": [[0], [1]]}
    return [data, {"token_ids": WORDS, "slot_ids": LABELS}]


def read(path, content):
    path.write_bytes(content)
    [member] = members(path, ())
    return read_integers(member)


ARRAYS = [
    list,
    np.array,
    *(lambda row, t=t: np.array(row, t) for t in ("int32", "uint8", ">i2", "i8")),
]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", ARRAYS)
def test_pickles_of_every_kind_are_read(tmp_path, protocol, kind):
    for splits in (2, 3):
        content = pickle.dumps(tuple(is13(kind, splits)), protocol)
        names = ["train", "test"] if splits == 2 else ["train", "dev", "test"]
        found = read(tmp_path / "atis.pkl", content)
        expected = {name: SENTENCES[i:] for i, name in enumerate(names)}
        assert found == expected
    assert read(tmp_path / "a.pkl", pickle.dumps(cntk(kind), protocol)) == {
        "": SENTENCES
    }


def test_arrays_of_arrays_and_scalars_are_read(tmp_path):
    data = is13(np.array)
    for part in data[:2]:
        for number, rows in enumerate(part):
            part[number] = np.empty(len(rows), object)
            part[number][:] = rows
    data[2]["words2idx"] = {word: np.int64(number) for word, number in WORDS.items()}
    found = read(tmp_path / "atis.pkl", pickle.dumps(data))
    assert found == {"train": SENTENCES, "test": SENTENCES[1:]}


def test_pickles_of_python_2_are_read(tmp_path):
    # As Python 2.7 pickles by default: strings and the contents of arrays as bytes.
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        b"(I1\n(I2\ntcnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
        b"I00\nS'\\x02\\x00\\x00\\x00\\xff\\x00\\x00\\x00'\ntb"
    )
    rows = b"(lp1\n" + array + b"a"
    part = b"(" + rows + rows + rows + b"t"
    names = b"(dp2\nS'fly'\nI2\nsS'caf\\xe9'\nI255\ns"
    dictionaries = b"(dp3\nS'words2idx'\n" + names + b"sS'labels2idx'\n" + names + b"s"
    content = b"(" + part + part + dictionaries + b"t."
    sentence = Sentence(["fly", "caf\xe9"], ["fly", "caf\xe9"])
    expected = {"train": [sentence], "test": [sentence]}
    assert read(tmp_path / "atis.pkl", content) == expected


def test_json_and_compressed_files_are_read(tmp_path):
    expected = {"train": SENTENCES, "test": SENTENCES[1:]}
    content = json.dumps(is13()).encode()
    assert read(tmp_path / "atis.json", content) == expected
    train, test, dicts = is13()
    content = json.dumps({"train": train, "test": test, "dicts": dicts}).encode()
    assert read(tmp_path / "atis.json", content) == expected
    content = json.dumps(cntk()).encode()
    assert read(tmp_path / "atis.train.json", content) == {"": SENTENCES}
    merged = cntk()[0] | cntk()[1]
    content = json.dumps(merged).encode()
    assert read(tmp_path / "atis.train.json", content) == {"": SENTENCES}
    content = gzip.compress(pickle.dumps(is13()))
    assert read(tmp_path / "atis.pkl.gz", content) == expected
    assert read(tmp_path / "atis.pkl", content) == expected


class Runs:
    """Unpickled, calls a function."""

    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize(
    "value, name",
    [
        (Runs(os.system, "touch {}"), f"{os.system.__module__}.system"),
        (Runs(eval, "open('{}', 'w')"), "builtins.eval"),
        (Runs(exec, "open('{}', 'w')"), "builtins.exec"),
        (Runs(subprocess.check_call, ["touch", "{}"]), "subprocess.check_call"),
        (Runs(getattr, "a", "b"), "builtins.getattr"),
        (Runs(np.load, "{}"), "numpy.load"),
        (Runs(np.fromfile, "{}"), "numpy.fromfile"),
        (np.float32, "numpy.float32"),
        (Sentence, "keras_tagging.data.sentence.Sentence"),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_runs_nothing(tmp_path, monkeypatch, value, name, protocol):
    monkeypatch.chdir(tmp_path)
    content = pickle.dumps([is13(), value], protocol).replace(b"{}", b"it")
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / "atis.pkl", content)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'atis.pkl'}: this pickle wants to run ")
    assert name.split(".")[-1] in told and "\n" not in told
    assert os.listdir(tmp_path) == ["atis.pkl"]


def test_what_is_admitted_cannot_be_misused(tmp_path):
    """Globals that arrays need, called as no array calls them."""
    calls = [
        b"cnumpy\nndarray\n(I9\ntR.",  # an array of any size
        b"cnumpy\ndtype\n(S'O'\ntR.",  # a type alone is no corpus
        b"c_codecs\nencode\n(S'aa'\nS'hex'\ntR.",  # any codec
        b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'V9'\ntRS'aaaaaaaaa'\ntR.",
        b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'O'\ntRS'aaaaaaaaa'\ntR.",
        b"cnumpy.core.multiarray\n_reconstruct.__globals__\n.",
        b"Pan object of some program\n.",  # a persistent object
    ]
    for content in calls:
        with pytest.raises(CorpusError, match="atis.pkl: "):
            read(tmp_path / "atis.pkl", content)


def changed(change):
    data = is13()
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "cannot be read: EOFError"),
        (pickle.dumps(is13())[:-20], "cannot be read: "),
        (pickle.dumps(is13(np.array))[:200], "cannot be read: "),
        (json.dumps(is13()).encode()[:-20], "cannot be read: JSONDecodeError"),
        (gzip.compress(b"x" * 999, mtime=0)[:-9], "cannot be read: "),
        (b"not a pickle", "cannot be read: "),
        (b"[" * 100_000, "cannot be read: RecursionError"),
        (b'"text"', "cannot be read: "),
        (b"[1]", "is no corpus of integers; it is (train, test"),
        (b"[1, 2]", "has no dictionaries words2idx and labels2idx, or token_ids"),
        (changed(lambda d: d.__setitem__(0, 5)), "train is not a list of sentences"),
        (changed(lambda d: d[0].pop()), "train, sentence 1: 3 words but"),
        (changed(lambda d: d[0][2].pop()), "train has 2 sentences but labels for 1"),
        (
            changed(lambda d: d[0][2][1].pop()),
            "train, sentence 2: 3 words but 2 labels",
        ),
        (
            changed(lambda d: d[1][0][0].__setitem__(1, 99)),
            "test, sentence 1: the word '99' is not in the dictionary; use the one",
        ),
        (changed(lambda d: d[1][2][0].__setitem__(1, -1)), "the label '-1' is not in"),
        (
            changed(lambda d: d[1][2][0].__setitem__(1, 7.0)),
            "the label '7.0' is not in",
        ),
        (changed(lambda d: d[1][0].__setitem__(0, 7)), "no list of word numbers"),
        (
            changed(lambda d: d[2]["words2idx"].update(two=2)),
            "words2idx gives 'Boston' and 'two' the same number",
        ),
        (
            changed(lambda d: d[2]["labels2idx"].update(O="7")),
            "labels2idx gives 'O' the number '7'",
        ),
        (changed(lambda d: d[2].pop("labels2idx")), "has no dictionaries"),
    ],
)
def test_errors_name_the_file_in_one_line(tmp_path, content, message):
    if message == "train, sentence 1: 3 words but":  # two lists left: words, tables
        data = json.loads(content)
        data[0][1][0].pop()
        content = json.dumps(data).encode()
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / "atis.pkl", content)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'atis.pkl'}: ") and "\n" not in told
    assert message in told and ";" in told


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((2, 2), int), "an array of shape (2, 2)"),
        (np.zeros(2), "an array of type 'f8' is not one of integers"),
        (np.array(["a"]), "an array of type 'U1' is not one of integers"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, message):
    data = is13(np.array)
    data[0][0] = array
    with pytest.raises(CorpusError) as caught:
        read(tmp_path / "atis.pkl", pickle.dumps(data))
    assert message in str(caught.value)


def test_the_module_runs_without_numpy_unpickling():
    """No class or function of NumPy is admitted, only what stands for them."""
    from keras_tagging.corpora import integers

    for found in integers._ADMITTED.values():
        module = getattr(found, "__module__", None)
        assert module == integers.__name__ or isinstance(found, str)
