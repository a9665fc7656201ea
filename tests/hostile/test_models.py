"""Models that are damaged or were made to do harm: one line, and nothing else happens.

Each is made from the tagger and the parser below, by what is put into their archive.
"""

import io
import json
import pickle
import resource
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
from conftest import TINY, random_sentences
from models.parsers import TINY as SMALL
from models.parsers import TRAIN

import keras_tagging
from keras_tagging import cli
from keras_tagging.models.jackknife import copied
from keras_tagging.models.model_file import CONFIG, WEIGHTS
from keras_tagging.models.saved_config import checked_config, least_weights
from keras_tagging.utils import limits

TAGGED = random_sentences(12, 1)
KINDS = ("tagger", "parser")


class Payload:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a saved tagger and of a parser that has a tagger of its own."""
    folder = tmp_path_factory.mktemp("whole")
    tagger = keras_tagging.build("bigru", **TINY, suffixes=(2,), prefixes=())
    tagger.adapt(TAGGED)
    parser = keras_tagging.build("ffn-parser", **SMALL, tags="predicted")
    parser.adapt(TRAIN[:5])
    own = keras_tagging.build("bigru", **TINY, suffixes=(), prefixes=(), shapes=False)
    own.adapt(TAGGED)
    parser.own(copied(own))  # as training does
    for kind, model in zip(KINDS, (tagger, parser), strict=True):
        model.save(folder / f"{kind}.keras")
    return {kind: (folder / f"{kind}.keras").read_bytes() for kind in KINDS}


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(found, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    return stream.getvalue()


def changed(content, change):
    """The model with another content of config.json, which `change` alters."""
    found = members(content)
    whole = json.loads(found[CONFIG])
    whole = change(whole) or whole
    return archived(found | {CONFIG: json.dumps(whole).encode()})


def refused(path, content=None):
    """The message of the error with which a file is refused, by both loaders."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        keras_tagging.load(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert len(message) < 500 + len(str(path))
    assert message.endswith("copy the file again from where it was saved, or train "
                            "the model again")  # fmt: skip
    return message


# A file that names another one


def naming(path, setting="embeddings", own=False, vocabularies=False):
    """A change that has a configuration name a file of vectors."""

    def change(content):
        config = content["config"]
        config = config["tagger"] if own else config
        config["settings"][setting] = str(path)
        if not vocabularies:
            config["vocabularies"] = None

    return change


@pytest.fixture
def payload(tmp_path):
    """A pickle that would make a file `ran`, and that file."""
    marker = tmp_path / "ran"
    content = pickle.dumps(Payload(marker), protocol=4)
    assert content[0] == 0x80
    return content, marker


def test_the_payload_works(payload):
    """Else the tests below could not fail."""
    content, marker = payload
    pickle.loads(content)
    assert marker.exists()


CRAFTED = [
    ("tagger", "embeddings", False),
    ("tagger", "vectors", False),
    ("parser", "embeddings", False),
    ("parser", "embeddings", True),
    ("parser", "vectors", True),
]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("kind, setting, own", CRAFTED)
def test_a_model_that_names_a_pickle_does_nothing(
    whole, tmp_path, payload, kind, setting, own, beside
):
    """Beside it, or the archive itself: zip files may begin with anything."""
    content, marker = payload
    path = tmp_path / "model.keras"
    source = tmp_path / "vectors.kv" if beside else path
    model = changed(whole[kind], naming(source, setting, own))
    if beside:
        source.write_bytes(content)
    else:
        model = content + model
    assert zipfile.is_zipfile(io.BytesIO(model))
    message = refused(path, model)
    assert f"{setting}=" in message and "a saved model opens no other file" in message
    with pytest.raises(ValueError, match="a saved model opens no other file") as error:
        keras.saving.load_model(path, safe_mode=True)
    assert "\n" not in str(error.value)
    assert not marker.exists()


COMMANDS = {
    "tag": ["tag", "model.keras"],
    "parse": ["parse", "model.keras"],
    "evaluate": ["evaluate", ".", "--corpus", "demo"],
    "analyse": ["analyse", ".", "--corpus", "demo"],
    "export": ["export", ".", "served"],
    "train": ["train", "lstm-parser", "--corpus", "demo", "--out", "new"]
    + ["--bootstrap", "."],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_does_what_it_says(
    whole, tmp_path, payload, name, monkeypatch, capfd
):
    content, marker = payload
    path = tmp_path / "model.keras"
    path.write_bytes(content + changed(whole["tagger"], naming(path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    with pytest.raises(SystemExit) as end:
        cli.main(COMMANDS[name])
    out, err = capfd.readouterr()
    assert end.value.code == 2 and out == ""
    *_, last = err.splitlines()
    assert last.startswith("keras-tagging: error: model.keras: embeddings=")
    assert "Traceback" not in err and not marker.exists()
    assert [found.name for found in tmp_path.iterdir()] == ["model.keras"]


def test_what_is_compared_and_reproduced_is_loaded_the_same_way(
    whole, tmp_path, payload
):
    content, marker = payload
    path = tmp_path / "model.keras"
    path.write_bytes(content + changed(whole["tagger"], naming(path)))
    with pytest.raises(ValueError, match="opens no other file"):
        keras_tagging.compare(path, path, "demo")
    assert not marker.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_with_vocabularies_the_file_is_only_named(whole, tmp_path, payload, kind):
    content, marker = payload
    path = tmp_path / "model.keras"
    change = naming(path, vocabularies=True)
    path.write_bytes(content + changed(whole[kind], change))
    model = keras_tagging.load(path)
    model.fit(TAGGED if kind == "tagger" else TRAIN[:5], epochs=1, verbose=0)
    assert model.settings["embeddings"] == str(path) and not marker.exists()


def test_what_is_adapted_later_opens_no_file_either(whole, tmp_path, payload):
    content, marker = payload
    (tmp_path / "vectors.kv").write_bytes(content)
    config = json.loads(members(whole["tagger"])[CONFIG])["config"]
    config["vocabularies"] = None
    model = keras_tagging.Tagger.from_config(config)
    for setting in ("embeddings", "vectors"):
        model.settings[setting] = str(tmp_path / "vectors.kv")
    model.fit(TAGGED, epochs=1, verbose=0, resume=tmp_path / "run")
    with pytest.raises(ValueError, match="opens no other file"):
        keras_tagging.Tagger("bigru", model.settings)
    assert not marker.exists()


def test_build_opens_what_its_user_names(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path))
    (tmp_path / "v.txt").write_text("dog 1 2\n")
    model = keras_tagging.build("bigru", embeddings=tmp_path / "v.txt")
    assert model.settings["word_dim"] == 2


# Classes


def compiled_with(what):
    return lambda content: content["compile_config"].update(weighted_metrics=[what])


@pytest.mark.parametrize(
    "what",
    [
        {"module": "keras.layers", "class_name": "StringLookup", "config": {}},
        {"module": "keras.layers", "class_name": "TFSMLayer", "config": {}},
        {"module": "os", "class_name": "function", "config": "system"},
        {"class_name": "__lambda__", "config": {"value": "eA=="}},
        {"module": "keras.utils", "class_name": "function", "config": "get_file"},
        {"class_name": "Tagger", "config": {}, "registered_name": "keras_tagging>CRF"},
        {"module": [], "class_name": {}, "config": 3},
        {
            "module": "keras.metrics",
            "class_name": "MeanIoU",
            "config": {"num_classes": 10**9},
        },
    ],
    ids=lambda what: str(what["class_name"]),
)
def test_only_what_trains_is_compiled(whole, tmp_path, what):
    path = tmp_path / "model.keras"
    message = refused(path, changed(whole["tagger"], compiled_with({"inner": [what]})))
    assert "compiled with" in message
    with pytest.raises(ValueError, match="compiled with"):
        keras.saving.load_model(path)


def test_what_keras_compiles_with_is_loaded(tmp_path, whole):
    model = keras_tagging.build("bigru", **TINY)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10**6, 0.9)
    model.compile(
        keras.optimizers.Lion(schedule),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[keras.metrics.SparseTopKCategoricalAccuracy(2)],
    )
    model.adapt(TAGGED)
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    assert again.get_compile_config() == model.get_compile_config()


@pytest.mark.parametrize("name", ["keras>Sequential", "keras_tagging>CRF", 3, None])
def test_other_classes_are_not_even_made(whole, tmp_path, name):
    change = lambda content: content.update(registered_name=name)  # noqa: E731
    message = refused(tmp_path / "model.keras", changed(whole["tagger"], change))
    assert "holds a Tagger, no tagger or parser" in message


# Damage


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_whole_is_loaded_also_when_recompressed(whole, tmp_path, kind):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"{compression}.keras"
        path.write_bytes(archived(members(whole[kind]), compression))
        assert keras_tagging.load(path).built


def test_every_flipped_byte_is_found_or_changes_nothing(whole, tmp_path):
    """Bytes of the archive that mean nothing, such as dates, may be any."""
    content = whole["tagger"]
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


def written(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99, 0.9999])
def test_a_truncated_file_is_told(whole, tmp_path, share):
    content = whole["tagger"]
    message = refused(tmp_path / "model.keras", content[: int(share * len(content))])
    assert "zip" in message


@pytest.mark.parametrize(
    "name, part, message",
    [
        (CONFIG, b"", "JSONDecodeError"),
        (CONFIG, b"null", "holds a None, no tagger or parser"),
        (CONFIG, b"\xff\xfe{", "JSONDecodeError|UnicodeDecodeError"),
        (CONFIG, b"[" * 100_000, "RecursionError"),
        (CONFIG, b'{"class_name": 1' + b"0" * 9999 + b"}", "integer string"),
        (WEIGHTS, b"", "OSError"),
        (WEIGHTS, b"\x89HDF\r\n\x1a\n" + b"\0" * 500, "OSError"),
        ("assets/x", b"", "holds metadata.json, config.json"),
        ("../x", b"", "holds metadata.json, config.json"),
    ],
)
def test_wrong_members_are_told(whole, tmp_path, name, part, message):
    content = archived(members(whole["tagger"]) | {name: part})
    found = refused(tmp_path / "model.keras", content)
    assert any(each in found for each in message.split("|")), found


def test_only_files_of_models_are_read(whole, tmp_path):
    path = written(tmp_path / "model.h5", whole["tagger"])
    with pytest.raises(ValueError, match="the file name of a model ends in .keras"):
        keras_tagging.load(path)


# Configurations


def put(*keys, value):
    """A change of one entry of the configuration."""

    def change(content):
        place = content["config"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


HUGE = 10**9
WRONG = [
    (("architecture",), "bigrus"),
    (("architecture",), "ffn-parser"),  # of a parser
    (("architecture",), ["bigru"]),
    (("architecture",), None),
    (("recipe",), "/etc/passwd"),
    (("settings",), None),
    (("settings",), []),
    (("settings", "recipe"), "fast"),
    (("settings", "units"), HUGE),
    (("settings", "units"), 2.5),
    (("settings", "units"), True),
    (("settings", "units"), "5"),
    (("settings", "units"), None),
    (("settings", "units"), 10**4000),
    (("settings", "num_layers"), HUGE),
    (("settings", "word_dim"), HUGE),
    (("settings", "word_dim"), limits.MODEL_UNITS),  # the file could not hold it
    (("settings", "characters"), HUGE),
    (("settings", "window"), HUGE + 1),
    (("settings", "suffixes"), 3.5),
    (("settings", "suffixes"), {"a": 1}),
    (("settings", "suffixes"), [HUGE]),
    (("settings", "suffixes"), [[2]]),
    (("settings", "suffixes"), [-2]),
    (("settings", "suffixes"), list(range(1, 999))),
    (("settings", "columns"), [1]),
    (("settings", "columns"), ["tokens"]),
    (("settings", "dropout"), float("nan")),
    (("settings", "dropout"), {}),
    (("settings", "learning_rate"), float("inf")),
    (("settings", "learning_rate"), 10**400),
    (("settings", "clipnorm"), "1"),
    (("settings", "batch_size"), [1]),
    (("settings", "optimizer"), {"class_name": "SGD"}),
    (("settings", "normalise"), "x"),
    (("settings", "merge"), []),
    (("settings", "feedback"), {"a": 1}),
    (("settings", "embeddings"), ["a", "b"]),
    (("settings", "trainable"), False),
    (("seed",), -1),
    (("seed",), "1"),
    (("seed",), 2**64),
    (("vector_dim",), HUGE),
    (("vector_dim",), "x"),
    (("vector_dim",), 5),  # of a model without vectors
    (("training_words",), [1]),
    (("metadata",), [1]),
    (("metadata",), {"corpus": "x"}),
    (("name",), 5),
    (("vocabularies",), []),
    (("vocabularies",), {}),
    (("vocabularies",), "words"),
    (("vocabularies", "word"), None),
    (("vocabularies", "word"), "a b c"),
    (("vocabularies", "word"), ["a", 1]),
    (("vocabularies", "word"), [["a"]]),
    (("vocabularies", "word"), {"a": 1}),
    (("vocabularies", "word"), ["a"] * 7),  # other weights
    (("vocabularies", "tags"), []),
    (("vocabularies", "other"), ["a"]),
    (("tagger",), {}),
]


@pytest.mark.parametrize("keys, value", WRONG, ids=lambda x: repr(x)[:40])
def test_a_wrong_configuration_is_told(whole, tmp_path, keys, value):
    change = put(*keys, value=value)
    refused(tmp_path / "model.keras", changed(whole["tagger"], change))


@pytest.mark.parametrize(
    "keys, value",
    [
        (("tagger",), 3),
        (("tagger", "vocabularies"), None),
        (("tagger", "settings", "units"), HUGE),
        (("tagger", "settings", "word_dim"), limits.MODEL_UNITS),
        (("tagger", "architecture"), "ffn-parser"),
        (("tagger", "tagger"), {}),
        (("settings", "encoder_units"), HUGE),
        (("settings", "encoder"), "bigru"),
        (("settings", "tags"), 5),
        (("settings", "label_dim"), limits.MODEL_UNITS),
        (("vocabularies", "labels"), []),
        (("architecture",), "bigru"),
    ],
    ids=lambda x: repr(x)[:40],
)
def test_a_wrong_configuration_of_a_parser_is_told(whole, tmp_path, keys, value):
    change = put(*keys, value=value)
    refused(tmp_path / "model.keras", changed(whole["parser"], change))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["architecture", "settings"])
def test_what_is_missing_is_told(whole, tmp_path, kind, name):
    change = lambda content: content["config"].pop(name) and None  # noqa: E731
    assert name in refused(tmp_path / "model.keras", changed(whole[kind], change))


def test_a_setting_that_an_older_version_did_not_know_has_its_default(whole, tmp_path):
    change = lambda content: content["config"]["settings"].pop("l2") and None  # noqa: E731
    path = written(tmp_path / "model.keras", changed(whole["tagger"], change))
    assert keras_tagging.load(path).settings["l2"] == 0.0


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
def test_weights_of_other_shapes_are_told(whole, tmp_path, shape):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file[name] = np.zeros(shape, "float32")

    refused(tmp_path / "model.keras", with_weights(whole["tagger"], change))


def test_missing_weights_are_told(whole, tmp_path):
    def change(file):
        del file[datasets(file)[0]]

    refused(tmp_path / "model.keras", with_weights(whole["tagger"], change))


def test_weights_that_claim_more_than_the_file_holds_are_not_read(whole, tmp_path):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file.create_dataset(name, (30_000, 30_000), "float32", chunks=True)

    content = with_weights(whole["tagger"], change)
    assert "claims 3,6" in refused(tmp_path / "model.keras", content)


# Memory


def limited(path, code, gigabytes=4):
    """Runs code on a path with so much memory: the last line of its errors."""

    def limit():
        most = gigabytes * 2**30
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    command = [sys.executable, "-c", code, str(path)]
    found = subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, timeout=120
    )
    return found.stderr.strip().splitlines()[-1]


LOAD = """
import resource, sys
import keras_tagging
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    keras_tagging.load(sys.argv[1])
except ValueError as error:
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.exit(f"{grown // 1024} {error}")
"""


def test_a_bomb_is_not_unpacked(whole, tmp_path):
    """300 KB, of which config.json would be 300 MB of nested lists."""
    found = members(whole["tagger"])
    bomb = archived({**found, CONFIG: b"[]," * 10**8}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 2**19
    message = limited(written(tmp_path / "model.keras", bomb), LOAD)
    grown, _, message = message.partition(" ")
    assert int(grown) < 100 and "config.json expands to 300,000,000 bytes" in message


def test_config_json_has_a_limit(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MODEL_CONFIG_BYTES", 1000)
    message = refused(tmp_path / "model.keras", whole["tagger"])
    assert "config.json has " in message and "1,000 are allowed" in message


def test_keras_itself_finds_no_more_weights_than_are_allowed(whole, tmp_path):
    """It does not know the size of the file, so there is a limit for all."""
    settings = {"word_dim": limits.MODEL_UNITS, "units": limits.MODEL_UNITS}

    def change(content):
        content["config"]["settings"] |= settings

    path = written(tmp_path / "model.keras", changed(whole["tagger"], change))
    with pytest.raises(ValueError, match="the settings ask for .* weights or more"):
        keras.saving.load_model(path)


@pytest.mark.parametrize("recipe", ["fast", "paper"])
@pytest.mark.parametrize("name", keras_tagging.available())
def test_the_estimate_is_below_every_model(name, recipe):
    model = keras_tagging.build(name, recipe=recipe, units=6, seed=1)
    model.adapt(TRAIN[:5])
    least = least_weights(checked_config(type(model), model.get_config()))
    assert least <= model.count_params() < 4 * least


@pytest.mark.parametrize(
    "options",
    [
        {"decoder": "crf"},
        {"decoder": "i-rnn", "label_units": 3},
        {"decoder": "i-rnn", "label_context": 0},
        {"characters": 3, "window": 3, "window_over": "words", "word_dim": 2},
        {"window": 3, "window_over": "features", "merge": "top"},
        {"input_layer": "tanh", "units": 1, "num_layers": 1},
        {"words": False},
    ],
    ids=repr,
)
def test_the_estimate_is_below_every_variant(options):
    model = keras_tagging.build("bigru", **TINY | options)
    model.adapt(TRAIN[:5])
    least = least_weights(checked_config(type(model), model.get_config()))
    assert model.count_params() / 30 < least <= model.count_params()
