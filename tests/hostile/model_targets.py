"""Saved models and the state of training. They need Keras, which takes seconds."""

import io
import json
import pickle
import zipfile
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
from hostile.file_targets import Gadget
from hostile.harness import Target, Wrong
from hostile.mutations import VALUES, mutate, mutate_json, mutate_value
from hostile.oracle import refused

GADGET = "gadget.kv"
LAYERS = [
    {"module": "os", "class_name": "system", "config": "x", "registered_name": None},
    {"class_name": "__lambda__", "config": {"value": "4wA="}},
    {"module": "keras.layers", "class_name": "Lambda", "config": {}},
    {"module": "builtins", "class_name": "function", "config": "eval"},
]
SENTENCES = [(["the", "dog"], ["D", "N"]), (["Paris", "1984"], ["P", "M"])]


def repacked(archive: bytes, name: str, content: bytes) -> bytes:
    """The archive with other content of one of its files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        with zipfile.ZipFile(stream, "w") as new:
            for info in old.infolist():
                new.writestr(info, content if info.filename == name else old.read(info))
    return stream.getvalue()


# Saved models


def models() -> list[bytes]:
    import keras_tagging

    settings = {"units": 3, "num_layers": 1, "word_dim": 2, "affix_dim": 2, "seed": 1}
    model = keras_tagging.build("bigru", **settings)
    model.adapt([keras_tagging.Sentence(*sentence) for sentence in SENTENCES])
    model.save("input.keras")
    Path(GADGET).write_bytes(pickle.dumps(Gadget(), 4))
    return [Path("input.keras").read_bytes()]


def crafted() -> list[bytes]:
    """Models that name a file, which then would be unpickled."""
    [sound] = models()
    found = [b"", sound[: len(sound) // 2], pickle.dumps(Gadget(), 4)]
    for name in ("embeddings", "vectors"):
        config = _config(sound)
        config["config"]["settings"][name] = GADGET
        for vocabularies in (None, {}, config["config"]["vocabularies"]):
            config["config"]["vocabularies"] = vocabularies
            found.append(repacked(sound, "config.json", json.dumps(config).encode()))
    return found


def _config(model: bytes) -> dict:
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        return json.loads(archive.read("config.json"))


def mutate_config(rng: Random, known) -> bytes:
    config = _config(known[0])
    inner = config["config"]
    part = rng.choice((config, inner, inner["settings"], inner["vocabularies"]))
    values = [*VALUES, GADGET, *LAYERS]
    new = mutate_value(rng, part, values)
    if isinstance(new, dict):
        part.clear()
        part |= new
    content = json.dumps(config).encode()
    if rng.random() < 0.1:
        content = mutate(rng, [content])
    return repacked(known[0], "config.json", content)


def check_model(data: bytes) -> str:
    """Loads a model, which then tags, or is refused."""
    import keras_tagging

    Path("input.keras").write_bytes(data)
    try:
        model = keras_tagging.load("input.keras")
    except Exception as error:
        return refused(error)
    return check_tags(model)


def check_tags(model) -> str:
    """A model that was believed tags, if it has learnt something."""
    if model.network is None:
        return "untrained"
    [tags] = model.tag([["the", "dog"]])
    if len(tags) != 2 or not all(isinstance(tag, str) for tag in tags):
        raise Wrong("a model that loads does not tag", tags)
    return "read"


# The state of training


def _training():
    """What is saved, of a model of two numbers."""
    import keras

    model = SimpleNamespace(
        variables=[keras.Variable(np.ones(2), dtype="float32")],
        optimizer=SimpleNamespace(variables=[keras.Variable(0, dtype="int32")]),
        stop_training=False,
    )
    stopping = keras.callbacks.EarlyStopping("loss", patience=2)
    stopping.set_model(model)
    return model, [stopping]


def _resume(path, callbacks):
    from keras_tagging.training.resume import Resume

    return Resume(path, callbacks, run={"seed": 1, "settings": {"units": 3}})


def states() -> list[bytes]:
    path = Path("sound.npz")
    path.unlink(missing_ok=True)
    model, callbacks = _training()
    resume = _resume(path, callbacks)
    resume.set_model(model)
    for callback in callbacks:
        callback.on_train_begin()
        callback.on_epoch_end(3, {"loss": 1.0})
    resume.on_epoch_end(3)
    return [path.read_bytes()]


def _header(state: bytes) -> dict:
    with np.load(io.BytesIO(state)) as file:
        return json.loads(str(file["header"]))


def _array(value) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def with_header(state: bytes, header) -> bytes:
    return repacked(state, "header.npy", _array(json.dumps(header)))


def headers() -> list[bytes]:
    [sound] = states()
    known = _header(sound)
    values = [{**known, "epoch": epoch} for epoch in (-5, "x", 10**9, 1.5, None)]
    found = [with_header(sound, value) for value in ([], None, 3, {}, *values)]
    found.append(repacked(sound, "header.npy", _array("[" * 50_000)))
    found.append(repacked(sound, "header.npy", _array(np.array([Gadget()], object))))
    for name in ("variable0.npy", "variable1.npy"):
        for value in (np.array([Gadget()], object), np.ones((3, 3)), np.array("x")):
            found.append(repacked(sound, name, _array(value)))
    return found


def mutate_state(rng: Random, known) -> bytes:
    if rng.random() < 0.4:
        return mutate(rng, known)
    return with_header(known[0], mutate_value(rng, _header(known[0])))


def check_resume(data: bytes) -> str:
    """Goes on from a state, or refuses it."""
    Path("input.npz").write_bytes(data)
    model, callbacks = _training()
    try:
        resume = _resume("input.npz", callbacks)
        resume.set_model(model)
        resume.on_train_begin()
    except Exception as error:
        return refused(error)
    if type(resume.epoch) is not int or not 0 <= resume.epoch < 10**9:
        raise Wrong("an epoch that is none", resume.epoch)
    if type(resume.finished) is not bool:
        raise Wrong("finished is neither true nor false", resume.finished)
    for callback in callbacks:
        callback.on_epoch_end(resume.epoch, {"loss": 2.0})
    return "read"


# Predicted tags


class _Tagger:
    """Needs no training."""

    architecture, seed, column_names = "bigru", 0, (None,)

    def adapt(self, sentences):
        pass

    def fit(self, sentences, **options):
        pass

    def tag(self, sentences):
        return [["X"] * len(sentence) for sentence in sentences]


def _jackknife(keep):
    from keras_tagging import Sentence
    from keras_tagging.models.tagger.jackknife import jackknife

    sentences = [Sentence(["a"] * n, ["X"] * n) for n in (1, 2, 3, 4)]
    found = jackknife(sentences, _Tagger, folds=2, keep=keep)
    return [len(sentence) for sentence in sentences], found


def folds() -> list[bytes]:
    path = Path("jackknife.json")
    path.unlink(missing_ok=True)
    _jackknife(".")
    return [path.read_bytes()]


def check_jackknife(data: bytes) -> str:
    path = Path("jackknife.json")
    path.write_bytes(data)
    try:
        lengths, found = _jackknife(".")
    except Exception as error:
        return refused(error, name=path.name)
    if not all(isinstance(row, list) for row in found):
        raise Wrong("rows that are no lists", found)
    if [len(row) for row in found] != lengths:
        raise Wrong("not a tag a token", found)
    if not all(isinstance(tag, str) for row in found for tag in row):
        raise Wrong("a tag that is no string", found)
    return "read"


slow = partial(Target, share=4, quick=4, seconds=20, megabytes=1024)


TARGETS = {
    "model": slow(models, check_model, nasty=crafted),
    "model-config": slow(models, check_model, mutate=mutate_config, quick=4),
    "resume": slow(
        states, check_resume, nasty=headers, mutate=mutate_state, share=30, quick=14
    ),
    "jackknife": slow(
        folds,
        check_jackknife,
        nasty=[b"[]", b"null", b"{}", b'{"run": [], "tags": []}', b"[" * 50_000],
        mutate=mutate_json,
        share=50,
        quick=14,
    ),
}
