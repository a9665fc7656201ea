"""Arrays and objects that are damaged, or come from a stranger."""

import json
import os
import struct
import zipfile

import numpy as np
import pytest
from pickles import Runs

from keras_tagging.utils.stored import StoredArrays, read_object

ARRAYS = {
    "header": np.array('{"epoch": 1}'),
    "matrix": np.arange(12, dtype="float32").reshape(3, 4),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "empty": np.zeros((0, 4), "int8"),
    "scalar": np.array(2.5),
}


@pytest.fixture
def path(tmp_path):
    np.savez(tmp_path / "x.npz", **ARRAYS)
    return tmp_path / "x.npz"


def test_arrays_are_read_as_they_were(path):
    with StoredArrays(path) as arrays:
        for name, expected in ARRAYS.items():
            found = arrays[name]
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            assert np.array_equal(found, expected) and found.flags.writeable
        assert arrays.size("header") == 128 + 4 * len(str(ARRAYS["header"]))
        assert arrays.size("no") == 0
        with pytest.raises(ValueError, match="no: .*no item named"):
            arrays["no"]


def member(path, shape, data, descr="<f4"):
    """A file with one array, whose header says what it likes."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", start + data)
    return path


@pytest.mark.parametrize(
    ("shape", "data", "descr", "part"),
    [
        ("(1000000000000,)", b"1234", "<f4", "4 bytes for 1000000000000 values"),
        ("(1,)", b"12345678", "<f4", "8 bytes for 1 values"),
        ("(-1, -1)", b"1234", "<f4", "no array of numbers"),
        ("(1,)", b"12345678", "|O", "no array of numbers"),
        ("'x'", b"1234", "<f4", ""),
        ("(1,)", b"1234", "<nonsense", ""),
        ("(", b"1234", "<f4", ""),
    ],
)
def test_an_array_is_not_larger_than_its_bytes(tmp_path, shape, data, descr, part):
    path = member(tmp_path / "x.npz", shape, data, descr)
    with StoredArrays(path) as arrays, pytest.raises(ValueError, match=f"^a: .*{part}"):
        arrays["a"]


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("x.npz", a=np.array([Runs(os.mkdir, "it-ran")], object))
    with StoredArrays(tmp_path / "x.npz") as arrays:
        with pytest.raises(ValueError, match="no array of numbers"):
            arrays["a"]
    assert not (tmp_path / "it-ran").exists()


def test_what_would_expand_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.zeros(10**6))
    with pytest.raises(ValueError, match="compressed"):
        StoredArrays(path)
    # two names for the bytes of one array
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", bytes(1000))
        archive.filelist.append(archive.getinfo("a.npy"))
    with pytest.raises(ValueError, match="larger than the file"):
        StoredArrays(path)


def test_every_flipped_bit_is_told_or_changes_nothing(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    told = 0
    for place in rng.integers(0, 8 * len(whole), 200).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            with StoredArrays(path) as arrays:
                for name, expected in ARRAYS.items():
                    assert np.array_equal(arrays[name], expected), place
        except ValueError:
            told += 1
    assert told > 100
    for end in rng.integers(0, len(whole), 30).tolist():
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError):
            StoredArrays(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="x.npz"):
        StoredArrays(tmp_path / "x.npz")
    with pytest.raises(OSError, match="x.json"):
        read_object(tmp_path / "x.json", "")


def test_objects(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"é": [1]}', encoding="utf-8")
    assert read_object(path, "mend it") == {"é": [1]}
    digits = json.dumps({"a": 1}).replace("1", "1" * 5000)
    damages = ("", "[]", "null", "3", '{"a": ', "[" * 10**5, "\0", digits)
    for damage in (*damages, b"\xff{}"):
        path.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
        with pytest.raises(ValueError) as caught:
            read_object(path, "mend it")
        told = str(caught.value)
        assert told.startswith(f"{path}: is damaged (") and told.endswith("): mend it")
        assert "\n" not in told
    path.write_text('{"a": "long enough"}')
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_object(path, "mend it", most=10)
