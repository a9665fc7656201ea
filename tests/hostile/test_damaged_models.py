"""Model files that are damaged, or would fill the memory: one line of error."""

import io
import resource
import zipfile

import h5py
import numpy as np
import pytest
from hostile.harness import address_space, limit_memory, peak, reset_peak
from hostile.saved_models import KINDS, archived, members, refused, whole, written

import keras_tagging
from keras_tagging.models.files.model_file import CONFIG, WEIGHTS
from keras_tagging.utils import limits


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_whole_is_loaded_also_when_recompressed(tmp_path, kind):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"{compression}.keras"
        path.write_bytes(archived(members(whole(kind)), compression))
        assert keras_tagging.load(path).built


def test_every_flipped_byte_is_found_or_changes_nothing(tmp_path):
    """Bytes of the archive that mean nothing, such as dates, may be any."""
    content = whole("tagger")
    expected = keras_tagging.load(written(tmp_path / "whole.keras", content))
    rng = np.random.default_rng(1)
    ends = range(len(content) - 400, len(content), 7)  # the directory
    found = 0
    for place in [*rng.integers(0, len(content), 40).tolist(), *ends]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path = written(tmp_path / "model.keras", bytes(flipped))
        try:
            model = keras_tagging.load(path)
        except ValueError:
            found += 1
            refused(path)
        else:
            assert model.get_config() == expected.get_config()
            pairs = zip(model.get_weights(), expected.get_weights(), strict=True)
            assert all(np.array_equal(*pair) for pair in pairs)
    assert found > 40


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99, 0.9999])
def test_a_truncated_file_is_told(tmp_path, share):
    content = whole("tagger")
    message = refused(tmp_path / "model.keras", content[: int(share * len(content))])
    assert "zip" in message


@pytest.mark.parametrize(
    "name, part, message",
    [
        (CONFIG, b"", "JSONDecodeError"),
        (
            CONFIG,
            b"null",
            "holds a None, not a tagger, parser, ccg-parser, ccg-shift-reduce or "
            "segmenter",
        ),
        (CONFIG, b"\xff\xfe{", "JSONDecodeError|UnicodeDecodeError"),
        (CONFIG, b"[" * 100_000, "RecursionError"),
        (CONFIG, b'{"class_name": 1' + b"0" * 9999 + b"}", "integer string"),
        (WEIGHTS, b"", "OSError"),
        (WEIGHTS, b"\x89HDF\r\n\x1a\n" + b"\0" * 500, "OSError"),
        ("assets/x", b"", "holds metadata.json, config.json"),
        ("../x", b"", "holds metadata.json, config.json"),
    ],
)
def test_wrong_members_are_told(tmp_path, name, part, message):
    content = archived(members(whole("tagger")) | {name: part})
    found = refused(tmp_path / "model.keras", content)
    assert any(each in found for each in message.split("|")), found


def test_only_files_of_models_are_read(tmp_path):
    path = written(tmp_path / "model.h5", whole("tagger"))
    with pytest.raises(
        ValueError, match="the name of a model's file must end in .keras"
    ):
        keras_tagging.load(path)
    with pytest.raises(ValueError, match="model.onnx .*; export the model again"):
        keras_tagging.load(path.rename(tmp_path / "model.onnx"))


# Weights


def with_weights(content, change):
    found = members(content)
    stream = io.BytesIO(found[WEIGHTS])
    with h5py.File(stream, "a") as file:
        change(file)
    return archived(found | {WEIGHTS: stream.getvalue()})


def datasets(file):
    found = []
    file.visititems(lambda name, x: found.append(name) if hasattr(x, "shape") else None)
    return [name for name in found if name.startswith("layers")]


@pytest.mark.parametrize("shape", [(), (0,), (3, 3), (1000, 4)])
def test_weights_of_other_shapes_are_told(tmp_path, shape):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file[name] = np.zeros(shape, "float32")

    refused(tmp_path / "model.keras", with_weights(whole("tagger"), change))


def test_missing_weights_are_told(tmp_path):
    def change(file):
        del file[datasets(file)[0]]

    refused(tmp_path / "model.keras", with_weights(whole("tagger"), change))


@pytest.mark.parametrize("part, value", [("tagger", np.nan), ("scorer", np.inf)])
def test_weights_that_are_no_numbers_are_told(tmp_path, part, value):
    """With them a model gives the first label to every word."""

    def change(file):
        name = next(name for name in datasets(file) if part in name)
        file[name][0] = value

    content = with_weights(whole("parser"), change)
    told = refused(tmp_path / "model.keras", content)
    assert "has weights that are no numbers" in told


def test_weights_that_claim_more_than_the_file_holds_are_not_read(tmp_path):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file.create_dataset(name, (30_000, 30_000), "float32", chunks=True)

    content = with_weights(whole("tagger"), change)
    assert "claims 3,6" in refused(tmp_path / "model.keras", content)


# Memory


def test_a_bomb_is_not_unpacked(tmp_path):
    """300 KB, of which config.json would be 300 MB of nested lists."""
    found = members(whole("tagger"))
    bomb = archived({**found, CONFIG: b"[]," * 10**8}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 2**19
    before = reset_peak()
    limit_memory(address_space() + (4 << 30))
    try:
        message = refused(tmp_path / "model.keras", bomb)
    finally:
        limit_memory(resource.RLIM_INFINITY)
    assert peak() - before < 100
    assert "config.json expands to 300,000,000 bytes" in message


def test_config_json_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MODEL_CONFIG_BYTES", 1000)
    message = refused(tmp_path / "model.keras", whole("tagger"))
    assert "config.json has " in message and "1,000 are allowed" in message
