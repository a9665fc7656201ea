"""Mutated inputs of every reader: each is read, or refused in one line of ours.

Mutated inputs are made from the name of a target and a number, so that a failure can be
repeated. `make fuzz` tries a thousand times as many.
"""

import io
import json
import pickle
import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from data.test_readers import RENDER
from hostile import text_seeds as seeds
from hostile.harness import (
    ROUNDS,
    Stream,
    check_reading,
    check_written,
    refused,
    run_code,
    within,
)
from hostile.mutations import MARKS, VALUES, mutate, mutate_json, mutate_value
from hostile.onnx_files import check_believed, files, mutate_file
from hostile.saved_models import archived, members, whole
from pickles import Runs
from vectors.examples import write

import keras_tagging
from keras_tagging import Sentence, load_corpus, runtime
from keras_tagging.ccg.categories import CategoryError, parse_category, write_category
from keras_tagging.data import FORMATS, read
from preparing.archives import Member
from preparing.atis import read_atis
from preparing.ftb import read_ftb
from preparing.media import read_media

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are those of Linux"
)


@dataclass(frozen=True)
class Target:
    """A reader and the inputs it is tried with.

    Args:
        sound: makes the sound inputs, which must be read.
        check: takes an input; gives "read" or "refused", or raises an error.
        nasty: inputs that are no sound ones.
        mutate: makes another input of some.
        count: how many mutated inputs are tried.
        limits: seconds and megabytes that an input may take.
    """

    sound: Callable
    check: Callable
    nasty: Callable = list
    mutate: Callable = mutate
    count: int = 14
    limits: tuple = (8, 256)


def trying(function):
    """A check: the function takes the input, and may refuse it."""

    def check(data):
        try:
            return function(data) or "read"
        except Exception as error:
            return refused(error)

    return check


# Text, folders and archives


def check_format(format, options, data):
    lines = data.count(b"\n") + data.count(b"\r") + 1
    start = partial(read, format=format, **options)
    loose = format in ("jsonl", None)
    kind, sentences = check_reading(
        lambda **more: start(Stream(data), **more), lines, loose
    )
    if not options:
        check_written(sentences, *(["conllu"] if format == "conllu" else []))
    return kind


def reader(format, *sound, **options):
    return Target(
        lambda: [text.encode() for text in sound],
        partial(check_format, format, options),
        lambda: seeds.NASTY,
    )


def check_category(data):
    try:
        category = parse_category(data.decode("utf-8", "replace"))
        for notation in ("ccgbank", "pmb"):
            assert parse_category(write_category(category, notation)) == category
    except CategoryError:
        return "refused"
    return "read"


def folder_of(data):
    """Files, each after a line with its name."""
    shutil.rmtree("input.folder", ignore_errors=True)
    Path("input.folder").mkdir()
    for part in data.split(b"%% ")[1:]:
        name, _, content = part.partition(b"\n")
        name = "".join(c for c in name.decode("latin-1") if c.isalnum() or c in "._-")
        if name.strip("."):
            Path("input.folder", name[:100]).write_bytes(content)
    return Path("input.folder")


def folder(**files):
    text = "".join(f"%% {n.replace('__', '.')}\n{text}" for n, text in files.items())
    return text.encode()


def xml(sound, read_xml):
    def start(errors, skipped, data):
        collected = skipped if errors == "skip" else None
        for each in read_xml(
            Member("input", "input", lambda: io.BytesIO(data)), skipped=collected
        ):
            yield each if isinstance(each, Sentence) else each.sentence

    def check(data):
        lines = data.count(b"\n") + data.count(b"\r")
        return check_reading(partial(start, data=data), lines)[0]

    return Target(lambda: [sound.encode("latin-1")], check)


FTB = """<text>
<SENT nb="1"><NP fct="SUJ"><w cat="D" ee="D-def-ms" lemma="le">Le</w>
<w cat="N" ee="N-C-ms" lemma="chat">Chat &amp; chien</w></NP>
<w cat="ADV" ee="ADV" compound="yes"><w catint="ADV">tout</w> <w catint="N">s</w></w>
</SENT><SENT nb="2"/></text>"""
MEDIA = """<?xml version="1.0" encoding="ISO-8859-1"?>
<MEDIA><dialogue id="70R" nameSpk="speaker#1">
<turn speaker="wiz"><semAnnotation withContext="false">
<sem concept="null" specif="null"><transcription>bonjour</transcription></sem>
</semAnnotation></turn>
<turn speaker="spk"><semAnnotation withContext="false">
<sem concept="ville" specif="-hotel"><transcription>Aix<Sync time="2"/>
sur mer</transcription></sem></semAnnotation></turn></dialogue></MEDIA>"""
# Models

LAYERS = [
    {"module": "os", "class_name": "system", "config": "x", "registered_name": None},
    {"class_name": "__lambda__", "config": {"value": "4wA="}},
    {"module": "builtins", "class_name": "function", "config": "eval"},
]


def mutate_config(rng, known):
    files = members(known[0])
    config = json.loads(files["config.json"])
    inner = config["config"]
    part = rng.choice((config, inner, inner["settings"], inner["vocabularies"]))
    new = mutate_value(rng, part, [*VALUES, "gadget.kv", *LAYERS])
    if isinstance(new, dict):
        part.clear()
        part |= new
    return archived(files | {"config.json": json.dumps(config).encode()})


def check_model(data):
    write(Path("gadget.kv"), pickle.dumps(Runs(run_code, "a pickle"), 4))
    model = keras_tagging.load(write(Path("input.keras"), data))
    if model.network is not None:
        [tags] = model.tag([["the", "dog"]])
        assert len(tags) == 2 and all(isinstance(tag, str) for tag in tags)


def pipelines():
    check_model(whole("tagger"))
    tagger = keras_tagging.load("input.keras")
    keras_tagging.Pipeline(tagger=tagger).save("input.pipeline")
    return [Path("input.pipeline/pipeline.json").read_bytes()]


def check_pipeline(data):
    write(Path("input.pipeline/pipeline.json"), data)
    pipeline = keras_tagging.load("input.pipeline")
    assert list(pipeline.parts) == ["tagger"] and isinstance(pipeline.metadata, dict)


def check_onnx(data):
    model = runtime.load(write(Path("input.onnx"), data), threads=1)
    check_believed(data)
    if model.kind == "segmenter":
        assert all(all(s.tokens) for s in model.segment("The dog barks.\n\n1984 É"))
        return
    words = [["the", "dog"], [], ["1984", "x" * 50, "\0"]]
    columns = dict.fromkeys(model.columns)
    sentences = [Sentence(t, None, {c: ["X"] * len(t) for c in columns}) for t in words]
    for sentence, tokens in zip(model.annotate(sentences), words, strict=True):
        for values in filter(None, [sentence.tags, *sentence.columns.values()]):
            assert len(values) == len(tokens)


slow = partial(Target, count=4, limits=(20, 1024))
SOUND = [(["Show", "caf\u00e9", "a|b"], ["V", "N", "O"]), (["\u65e5\u672c"], ["B-x"])]
PLAIN = ("tokens", "text", "pipe", "atis", "ctf", "conllx")
TARGETS = {format: reader(format, RENDER[format](SOUND)) for format in PLAIN}
TARGETS |= {
    "conll": reader("conll", seeds.CONLL, seeds.CONLL.replace("\t", " ")),
    "conll-rows": reader("conll", seeds.ROWS, separator="\t", comments=False),
    "auto": reader("auto", seeds.AUTO),
    "auto-ccg": reader("auto", seeds.AUTO, categories="ccgbank"),
    "mrg": reader("mrg", seeds.MRG),
    "pos": reader("pos", seeds.POS, all_tags=True, unescape=False),
    "jsonl": reader("jsonl", seeds.JSONL, seeds.JSON_OBJECTS),
    "csv": reader("csv", seeds.CSV),
    "conllu": reader("conllu", seeds.CONLLU),
    "conllu-surface": reader("conllu", seeds.CONLLU, trees=True, surface=True),
    "recognised": reader(None, seeds.CONLL, seeds.AUTO, seeds.MRG, seeds.JSONL),
    "categories": Target(
        lambda: [text.encode() for text in seeds.CATEGORIES],
        check_category,
        lambda: [b"(" * 400 + b"N" + b")" * 400, *(mark * 300 for mark in MARKS)],
    ),
    "folder": Target(
        lambda: [folder(train__conll=seeds.CONLL, dev__conll=seeds.CONLL, x__md="no")],
        trying(lambda data: load_corpus(folder_of(data)) and None),
    ),
    "atis-folder": Target(
        lambda: [folder(train__conll=seeds.ROWS, test__conll=seeds.ROWS)],
        trying(lambda data: read_atis(folder_of(data)) and None),
    ),
    "ftb": xml(FTB, read_ftb),
    "media": xml(MEDIA, read_media),
    "model": slow(lambda: [whole("tagger")], trying(check_model)),
    "model-config": slow(
        lambda: [whole("tagger")], trying(check_model), mutate=mutate_config
    ),
    "pipeline": slow(
        pipelines, trying(check_pipeline), lambda: [b"[]", b"[" * 50_000], mutate_json
    ),
    "onnx": Target(
        files, trying(check_onnx), mutate=mutate_file, count=40, limits=(10, 512)
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_inputs_are_read_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path))
    target = TARGETS[name]
    sound = list(target.sound())
    known = [*sound, *target.nasty()]
    for data in sound:
        assert target.check(data) == "read"
    for number in range(-len(known), target.count * ROUNDS):
        rng = random.Random(f"{name} {number}")
        data = known[number] if number < 0 else target.mutate(rng, known)
        try:
            with within(*target.limits):
                target.check(data)
        except BaseException as error:
            error.add_note(f"input {number} of {name}: {data[:300]!r}")
            raise


def test_every_format_has_a_target():
    assert set(FORMATS) <= {name.partition("-")[0] for name in TARGETS}
