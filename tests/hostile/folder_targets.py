"""Folders of pipelines, the state of all callbacks, and models to start from.

An input that is a folder is JSON: its list, its files, and whether the list has the
checksum of what it says now, as that of a stranger may.
"""

import copy
import io
import json
import shutil
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from hostile.harness import Target, Wrong
from hostile.model_targets import (
    SENTENCES,
    check_tags,
    crafted,
    models,
    mutate_config,
    repacked,
)
from hostile.mutations import VALUES, mutate, mutate_json, mutate_value
from hostile.oracle import refused

from keras_tagging.runtime.folder import content_of, list_of, read_pipeline

FOLDER, OUTSIDE = Path("input.folder"), Path("elsewhere")
FILES = {"tagger": b"a tagger", "parser": b"a parser", "segmenter": b"a segmenter"}
#: what may be under a name: a file, nothing, or a link that stays or that leads out
KINDS = ["file", "file", "file", "missing", "empty", "folder", "inside", "outside"]
slow = partial(Target, share=4, quick=4, seconds=20, megabytes=1024)


# The list and the files of a folder, whose models are a few bytes


def folders() -> list[bytes]:
    import hashlib

    found = []
    for suffix in ("keras", "onnx"):
        for names in (["tagger"], ["tagger", "parser"], [*FILES]):
            parts = {x: {"sha256": hashlib.sha256(FILES[x]).hexdigest()} for x in names}
            content = {"files": suffix, "parts": parts, "metadata": {"scores": [0.5]}}
            files = {"pipeline.json": "file"}
            files |= {f"{name}.{suffix}": "file" for name in names}
            for version in (1, 2):
                whole = json.loads(list_of({"format": version, **content}))
                if version == 1:
                    del whole["sha256"]
                found.append({"list": whole, "sealed": False, "files": files})
    return [json.dumps(each).encode() for each in found]


def mutate_folder(rng: Random, known) -> bytes:
    """Another list, other files, or both."""
    found = json.loads(rng.choice(known))
    if rng.random() < 0.7:
        values = [*VALUES, *json.loads(rng.choice(known))["list"].values(), 2, "onnx"]
        found["list"] = mutate_value(rng, found["list"], values)
        found["sealed"] = rng.random() < 0.7
    if rng.random() < 0.1:
        text = mutate(rng, [json.dumps(found["list"]).encode()])
        found["list"] = text.decode("latin-1")
    while rng.random() < 0.5:
        names = [f"{part}.{end}" for part in FILES for end in ("keras", "onnx")]
        name = rng.choice(["pipeline.json", *names])
        found["files"][name] = rng.choice(KINDS)
    return json.dumps(found).encode()


def _written(given: dict) -> bytes:
    """The bytes of the list."""
    content = given["list"]
    if isinstance(content, str):
        return content.encode("latin-1", "replace")
    if given["sealed"] and isinstance(content, dict):
        return list_of(content).encode()
    return json.dumps(content).encode()


def check_folder(data: bytes) -> str:
    """Reads a folder: all of its models and nothing else, or it is refused."""
    given = json.loads(data)
    for folder in (FOLDER, OUTSIDE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, kind in given["files"].items():
        is_list = name == "pipeline.json"
        content = _written(given) if is_list else FILES[name.partition(".")[0]]
        path, real = FOLDER / name, FOLDER / f"own.{name}"
        match kind:
            case "file":
                path.write_bytes(content)
            case "empty":
                path.touch()
            case "folder":
                path.mkdir()
            case "inside" | "outside":
                real = real if kind == "inside" else OUTSIDE / name
                real.write_bytes(content)
                path.symlink_to(real.resolve())
    try:
        content = content_of(FOLDER)
        found = read_pipeline(FOLDER, content, lambda _, read: read, _Parts)
    except Exception as error:
        return refused(error, name=str(FOLDER))
    suffix = content["files"]
    there = {x for x in FILES if given["files"].get(f"{x}.{suffix}") in KINDS}
    there -= {x for x in there if given["files"][f"{x}.{suffix}"] == "missing"}
    if found.parts != {name: FILES[name] for name in there}:
        raise Wrong("other models than the folder has", found.parts)
    if "outside" in {given["files"][f"{x}.{suffix}"] for x in there}:
        raise Wrong("a link that leads out of the folder is followed", given["files"])
    if given["files"]["pipeline.json"] == "outside":
        raise Wrong("a list outside of the folder is read")
    if not isinstance(found.metadata, dict):
        raise Wrong("metadata that are no object", found.metadata)
    if not given["sealed"] and content["format"] == 2:
        if not any(content == json.loads(each)["list"] for each in folders()):
            raise Wrong("a list that was changed is believed", content)
    return "read"


class _Parts:
    def __init__(self, **parts):
        self.parts = parts


# The same with models, of which each takes a second


def pipelines() -> list[bytes]:
    """What says of which models a folder with a pipeline consists."""
    import keras_tagging

    models()
    tagger = keras_tagging.load("input.keras")
    keras_tagging.Pipeline(tagger=tagger).save("input.pipeline")
    return [Path("input.pipeline/pipeline.json").read_bytes()]


def mutate_list(rng: Random, known) -> bytes:
    data = mutate_json(rng, known)
    try:
        content = json.loads(data)
        return list_of(content).encode() if rng.random() < 0.7 else data
    except (ValueError, TypeError, AttributeError, RecursionError):
        return data


def check_pipeline(data: bytes) -> str:
    """Reads the folder of a pipeline, which opens its own models alone."""
    import keras_tagging

    Path("input.pipeline/pipeline.json").write_bytes(data)
    try:
        found = keras_tagging.load("input.pipeline")
    except Exception as error:
        return refused(error)
    if list(found.parts) != ["tagger"] or not isinstance(found.metadata, dict):
        raise Wrong("a pipeline has other parts", (found.parts, found.metadata))
    return "read"


# The state of training, with every callback that training has


class _Model:
    """Two numbers, which a step of training changes."""

    stop_training = False

    def __init__(self):
        import keras

        variable = keras.Variable
        self.variables = [variable(np.ones(2), dtype="float32")]
        self.optimizer = self
        self.learning_rate = variable(0.5, dtype="float32")

    def get_weights(self):
        return [np.array(each) for each in self.variables]

    def set_weights(self, weights):
        for variable, value in zip(self.variables, weights, strict=True):
            variable.assign(value)


def _training(folder: str):
    """A model, and callbacks as `training.run` plans them, and the user's."""
    import keras

    from keras_tagging.training.callbacks import TrainingLog
    from keras_tagging.training.decay import HalvingDecay
    from keras_tagging.training.resume import Resume

    own = keras.callbacks
    callbacks = [
        own.ReduceLROnPlateau("loss", patience=5),
        own.EarlyStopping("loss", patience=3, restore_best_weights=True),
        TrainingLog(),
        HalvingDecay("accuracy"),
    ]
    resume = Resume(Path(folder) / "resume.npz", callbacks, {"seed": 1})
    model = _Model()
    for callback in (*callbacks, resume):
        callback.set_params({"steps": 1})
        callback.set_model(model)
    return model, [*callbacks, resume]


def _epochs(callbacks, first: int, last: int) -> None:
    for epoch in range(first, last):
        for callback in callbacks:
            callback.on_epoch_end(epoch, {"loss": 2.0 - epoch, "accuracy": 0.5})


def trainings() -> list[bytes]:
    found = []
    for epochs in (1, 3):
        shutil.rmtree("sound", ignore_errors=True)
        Path("sound").mkdir()
        _, callbacks = _training("sound")
        for callback in callbacks:
            callback.on_train_begin()
        _epochs(callbacks, 0, epochs)
        found.append(Path("sound/resume.npz").read_bytes())
    return found


def _array(value) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return stream.getvalue()


ARRAYS = [np.ones(2), np.ones(3, "float32"), np.array("x"), np.int32(3), np.zeros(0)]


def mutate_training(rng: Random, known) -> bytes:
    state = rng.choice(known)
    if rng.random() < 0.2:
        return mutate(rng, [state])
    with np.load(io.BytesIO(state)) as file:
        arrays = dict(file)
    if rng.random() < 0.2:
        name = rng.choice(list(arrays))
        return repacked(state, f"{name}.npy", _array(rng.choice(ARRAYS)))
    header = json.loads(str(arrays["header"]))
    # the states of callbacks, more often than what surrounds them
    place, key = rng.choice([(header, None)] + 4 * [(header, "callbacks")])
    numbers = [*VALUES, 2, 3, 4, 1e9, float("inf"), {"arrays": rng.randint(-1, 3)}]
    changed = mutate_value(rng, copy.deepcopy(place[key] if key else place), numbers)
    if key:
        header[key] = changed
    return repacked(state, "header.npy", _array(json.dumps(header if key else changed)))


def check_training(data: bytes) -> str:
    """Goes on from a state for two epochs, to the end, or refuses it."""
    Path("input.run").mkdir(exist_ok=True)
    Path("input.run/resume.npz").write_bytes(data)
    try:
        model, callbacks = _training("input.run")
        for callback in callbacks:
            callback.on_train_begin()
    except Exception as error:
        return refused(error)
    resume = callbacks[-1]
    if type(resume.epoch) is not int or not 1 <= resume.epoch <= 10:
        raise Wrong("an epoch that is not in the log", resume.epoch)
    _epochs(callbacks, resume.epoch, resume.epoch + 2)
    for callback in callbacks:
        callback.on_train_end()
    if [weight.shape for weight in model.get_weights()] != [(2,)]:
        raise Wrong("other weights than the model has")
    _training("input.run")  # and what it has written is sound
    return "read"


# The model that `train --init` starts from


def check_start(data: bytes) -> str:
    """Begins a fine-tuning from a model, or refuses it."""
    from keras_tagging import Corpus, Sentence
    from keras_tagging.cli.training_options import Start

    path = Path("input.keras")
    path.write_bytes(data)
    start = Start(init=path)
    corpus = Corpus([Sentence(*sentence) for sentence in SENTENCES])
    try:
        other = start.other("bigru")
    except Exception as error:
        return refused(error)
    try:
        model, _ = start.model(other, "bigru", corpus, "fast", 1, {})
    except Exception as error:
        return refused(error, name="")
    return check_tags(model)


TARGETS = {
    "pipeline-folder": Target(folders, check_folder, mutate=mutate_folder, share=2000),
    "pipeline": slow(
        pipelines,
        check_pipeline,
        nasty=[b"[]", b"null", b'{"format": 1, "parts": {"../x": {}}}', b"[" * 50_000],
        mutate=mutate_list,
        share=30,
        quick=4,
    ),
    "resume-callbacks": slow(
        trainings, check_training, mutate=mutate_training, share=400, quick=20
    ),
    "init": slow(models, check_start, nasty=crafted, mutate=mutate_config),
}
