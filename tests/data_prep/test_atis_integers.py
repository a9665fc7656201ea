import gzip
import json
import os
import pickle
import time

import numpy as np
import pytest
from pickles import Runs

from keras_tagging.corpora import load_corpus
from keras_tagging.data import Sentence
from preparing import limits

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
    return [*(split(ROWS[i % 2 :], kind) for i in range(splits)), dictionaries]


def cntk(kind=list):
    query, slots = split(ROWS, kind, tables=False)
    data = {"query": query, "slot_labels": slots, "intent_labels": [[0], [1]]}
    return [data, {"token_ids": WORDS, "slot_ids": LABELS}]


@pytest.fixture
def converted(run, tmp_path):
    """`converted(content)` gives the splits that the script writes."""

    def convert(content, name="atis.pkl"):
        path = tmp_path / name
        path.write_bytes(content)
        code, _, told = run("atis_integers", path, tmp_path / "out", "--overwrite")
        assert (code, told) == (0, "")
        return {s: part for s, part in load_corpus(tmp_path / "out").splits() if part}

    return convert


@pytest.fixture
def refused(failing, tmp_path):
    """`refused(content)` gives the script's error, which is one line."""

    def convert(content, name="atis.pkl"):
        path = tmp_path / name
        path.write_bytes(content)
        told = failing("atis_integers", path)
        assert told.startswith(f"atis_integers.py: error: {path}: ") and ";" in told
        assert os.listdir(tmp_path) == [name]
        return told

    return convert


ARRAYS = [
    list,
    np.array,
    *(lambda row, t=t: np.array(row, t) for t in ("uint8", ">i2")),
]


@pytest.mark.parametrize("kind", ARRAYS)
def test_pickles_of_every_kind_are_read(converted, kind):
    content = pickle.dumps(tuple(is13(kind)), 4)
    assert converted(content) == {"train": SENTENCES, "test": SENTENCES[1:]}


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol_are_read(converted, protocol):
    found = converted(pickle.dumps(tuple(is13(splits=3)), protocol))
    assert found == {"train": SENTENCES, "dev": SENTENCES[1:], "test": SENTENCES}


def test_pickles_of_python_2_are_read(converted):
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
    assert converted(content) == {"train": [sentence], "test": [sentence]}


def test_json_and_compressed_files_are_read(converted):
    expected = {"train": SENTENCES, "test": SENTENCES[1:]}
    assert converted(json.dumps(is13()).encode(), "atis.json") == expected
    train, test, dicts = is13()
    content = json.dumps({"train": train, "test": test, "dicts": dicts}).encode()
    assert converted(content, "atis.json") == expected
    assert converted(gzip.compress(pickle.dumps(is13())), "atis.pkl.gz") == expected


def test_a_file_for_each_split_is_read(run, tmp_path):
    source = tmp_path / "atis"
    source.mkdir()
    (source / "atis.train.pkl").write_bytes(pickle.dumps(cntk()))
    merged = cntk()[0] | cntk()[1]
    (source / "atis.test.json").write_text(json.dumps(merged))
    assert run("atis_integers", source, tmp_path / "out")[0] == 0
    corpus = load_corpus(tmp_path / "out")
    assert corpus.train == corpus.test == SENTENCES
    # atis.py reads what was written, and goes on
    assert run("atis", tmp_path / "out", tmp_path / "atis2", "--full")[0] == 0
    assert load_corpus(tmp_path / "atis2").train == SENTENCES


@pytest.mark.parametrize(
    "value, name",
    [
        (Runs(os.system, "touch it"), f"{os.system.__module__}.system"),
        (Runs(bytes, 10**10), "builtins.bytes"),
        (Runs(np.fromfile, "it"), "numpy.fromfile"),
        (Sentence, "keras_tagging.data.sentence.Sentence"),
    ],
)
def test_a_pickle_runs_nothing(refused, tmp_path, monkeypatch, value, name):
    monkeypatch.chdir(tmp_path)
    told = refused(pickle.dumps([is13(), value], 4))
    assert f"it wants to run {name}, which no corpus needs" in told


# Globals that arrays need, used as no array uses them
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"
TYPE = b"cnumpy\ndtype\n"
MISUSED = [
    b"cnumpy\nndarray\n(I9\ntR.",  # an array of any size
    TYPE + b"(S'O'\ntR.",  # a type alone is no corpus
    ARRAY + b"(tR(I1\n(I2\nt" + TYPE + b"(S'i4'\ntRI00\nI200000000\ntb.",  # no bytes
    ARRAY + b"(tR(I1\n(I2\nt" + TYPE + b"(S'O8'\ntRI00\n(lI1\naI2\natb.",
    ARRAY + b"(tR(I1\n(I3\nt" + TYPE + b"(S'i1'\ntRI00\nS'ab'\ntb.",  # of two values
    ARRAY + b"(tR(I1\n(I2\nt" + TYPE + b"(S'f8'\ntRI00\nS'ab'\ntb.",
    ARRAY + b"(tR.",  # without its state
    b"cnumpy.core.multiarray\n_reconstruct.__globals__\n.",
    ARRAY + b"(N}S'__doc__'\nS'x'\nstb.",  # changes the class itself
    b"Pan object of some program\n.",  # a persistent object
]


@pytest.mark.parametrize("content", MISUSED)
def test_what_is_admitted_cannot_be_misused(refused, content):
    refused(content)


def nested(depth):
    """Lists inside each other, each of which holds the next one twice."""
    value = []
    for _ in range(depth):
        value = [value, value]
    return pickle.dumps(value, 2)


LONG = 9_000_000
HOSTILE = [
    (nested(60), "cannot be unpickled: it takes over 1 s, or is ended otherwise"),
    (b"\x80\x02" + b"]" * 10**5 + b"a" * (10**5 - 1) + b".", "RecursionError"),
    (b"\x80\x02]q\x00(" + b"h\x00" * LONG + b"e.", "MemoryError"),
    (b"\x80\x02" + b"(" * LONG + b"t" * (LONG - 1) + b".", "MemoryError"),
    (b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little") + b"N.", "MemoryError"),
    (b"\x80\x02Nr\xff\xff\xff\x0f.", "MemoryError"),  # a large memo
    (b"I" + b"9" * 5000 + b"\n.", "ValueError"),
    (b"[" * LONG, "cannot be read: RecursionError"),
    (b"N" * (limits.PICKLE_BYTES + 1), "has more than 32 MiB"),
]


@pytest.mark.parametrize(("content", "message"), HOSTILE)
def test_what_fills_the_memory_or_lasts_for_ever_is_ended(
    refused, monkeypatch, content, message
):
    monkeypatch.setattr(limits, "PICKLE_MEMORY", 1 << 27)
    if "over 1 s" in message:
        monkeypatch.setattr(limits, "PICKLE_SECONDS", 1)
    start = time.perf_counter()
    assert message in refused(content)
    assert time.perf_counter() - start < 10


def test_too_much_output_is_cut(refused, monkeypatch):
    monkeypatch.setattr(limits, "PICKLE_BYTES", 1 << 16)
    assert "File too large" in refused(nested(20))


def changed(change):
    data = is13()
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "cannot be unpickled: EOFError"),
        (pickle.dumps(is13(np.array))[:200], "cannot be unpickled: "),
        (json.dumps(is13()).encode()[:-20], "cannot be read: JSONDecodeError"),
        (b"[1]", "is no corpus of integers; it is (train, test"),
        (b"[1, 2]", "has no dictionaries words2idx and labels2idx, or token_ids"),
        (changed(lambda d: d.__setitem__(0, 5)), "train is not a list of sentences"),
        (changed(lambda d: d[0][2].pop()), "train has 2 sentences but labels for 1"),
        (changed(lambda d: d[0][2][1].pop()), "sentence 2: 3 words but 2 labels"),
        (changed(lambda d: d[1][0][0].__setitem__(1, 99)), "the word '99' is not in"),
        (changed(lambda d: d[1][2][0].__setitem__(1, 7.0)), "the label '7.0' is not"),
        (changed(lambda d: d[2]["words2idx"].update(two=2)), "the same number"),
        (changed(lambda d: d[2]["labels2idx"].update(O="7")), "'O' the number '7'"),
    ],
)
def test_errors_name_the_file_in_one_line(refused, content, message):
    assert message in refused(content)


def test_the_real_one(run, samples, tmp_path):
    """Beside it lie its words, classes and labels as text."""
    source = samples / "atis-classes"
    assert run("atis_integers", source / "atis.fold0.pkl.gz", tmp_path / "out")[0] == 0
    for split, name in (("train", "train"), ("dev", "valid"), ("test", "test")):
        rows = (source / f"fold0.{name}.tsv").read_text("utf-8").split("\n")
        expected = ["\t".join(row.split("\t")[::2]) for row in rows]
        found = (tmp_path / "out" / f"{split}.conll").read_text("utf-8").split("\n")
        assert found == expected
