"""A running service with a tagger and two parsers, and one with a pipeline."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
import requests
from conftest import TINY, made_once, randomize
from models.columns import columned
from models.parsers import TRAIN, random_parser
from onnx_files.odd import tagger
from treebanks import TINY as SEGMENTER
from treebanks import sentences_of

import keras_tagging
from keras_tagging import Pipeline, runtime


@pytest.fixture(scope="session")
def model_files(train_sentences, tmp_path_factory):
    """ONNX files by the name of the model."""

    def make(folder):
        sizes = {"head_units": 4, "label_units": 3}
        parser = keras_tagging.build("biaffine-parser", **TINY, **sizes, tags="upos")
        parser.adapt(TRAIN)
        made = {
            "tagger": tagger("bigru", train_sentences, num_layers=1, tables={}),
            "parser": randomize(parser),
            "gold": random_parser("elman-parser"),
        }
        for name, model in made.items():
            model.export(folder / f"{name}.onnx", format="onnx")

    folder = made_once("served", make, tmp_path_factory)
    return {name: folder / f"{name}.onnx" for name in ("tagger", "parser", "gold")}


@pytest.fixture(scope="session")
def direct(model_files):
    """What `keras_tagging.runtime` makes of the same files."""
    return {name: runtime.load(path, threads=1) for name, path in model_files.items()}


class Running:
    """A service in a process of its own."""

    def __init__(self, process):
        self.process, self.line = process, process.stdout.readline()
        found = re.search(r"http://\S+", self.line)
        assert found, process.communicate(timeout=20)
        self.url = found[0]
        self.http = requests.Session()

    def connect(self):
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=20)

    def get(self, path):
        return self.http.get(self.url + path, timeout=20)

    def post(self, path, body=None, **options):
        return self.http.post(self.url + path, json=body, timeout=20, **options)

    def stop(self, number=signal.SIGTERM):
        """The exit code, and what was written to standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def serving(*arguments):
    command = [sys.executable, "-m", "keras_tagging", "serve", "--port", "0", "-q"]
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.stderr.close()
        process.wait()


@pytest.fixture(scope="session")
def service(model_files):
    with serving(*model_files.values(), "--max-tokens", 300) as running:
        yield running
        assert running.stop(signal.SIGINT) == (0, "")


@pytest.fixture(scope="session")
def folder(train_sentences, tmp_path_factory):
    """A pipeline of ONNX files."""

    def make(path):
        labels = keras_tagging.build("bigru", **TINY, tags=("upos", "xpos", "lemma"))
        sentences = columned(train_sentences)
        for sentence in sentences:
            sentence.columns["lemma"] = [w[:-1].lower() or w for w in sentence.tokens]
            sentence.columns["ner"] = [f"B-{tag}" for tag in sentence.columns["pos"]]
        labels.adapt(sentences)
        entities = keras_tagging.build("bigru", **TINY, tags="ner", columns=("pos",))
        entities.adapt(sentences)
        segmenter = keras_tagging.build("segmenter", **SEGMENTER)
        segmenter.adapt(sentences_of("english"))
        models = segmenter, randomize(labels), random_parser(tags="pos")
        pipeline = Pipeline(*models, entities=randomize(entities))
        pipeline.metadata = {"corpus": {"name": "ud-en-ewt", "language": "en"}}
        pipeline.export(path / "whole", format="onnx")

    return made_once("pipeline", make, tmp_path_factory) / "whole"


@pytest.fixture(scope="session")
def whole(folder, model_files, tmp_path_factory):
    """A service with the pipeline, and a tagger beside it."""
    log = tmp_path_factory.mktemp("log") / "access.log"
    arguments = (f"whole={folder}", model_files["tagger"], "--max-tokens", 20)
    arguments += ("--access-log", log)
    with serving(*arguments, "--workers", 2) as running:
        running.log = log
        yield running
        assert running.stop(signal.SIGINT) == (0, "")
