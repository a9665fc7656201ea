"""A small corpus with trees, and folders of reproductions."""

from types import SimpleNamespace

import numpy as np
import pytest
from experiments.reproduction.made_up import make_info

from keras_tagging import load_corpus
from keras_tagging.data import write
from keras_tagging.experiments.papers import Column, Row, Table
from keras_tagging.experiments.reproduction import plan
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.vectors import WordVectors, named, save_vectors


def write_corpus(folder, longest, sizes=(24, 8, 8)):
    """So many sentences of the demo corpus, of so many tokens at most."""
    sizes = dict(zip(("train", "dev", "test"), sizes, strict=True))
    for name, sentences in load_corpus("demo").splits():
        some = [s for s in sentences if len(s) <= longest][: sizes[name]]
        write(some, folder / f"{name}.jsonl", "jsonl")
    return folder


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory):
    """A folder: 24, 8 and 8 sentences of the demo corpus."""
    return write_corpus(tmp_path_factory.mktemp("small"), longest=8)


@pytest.fixture(scope="session")
def shortest_corpus(tmp_path_factory):
    """Less of half the tokens, where networks run without graphs."""
    return write_corpus(tmp_path_factory.mktemp("shortest"), 3, sizes=(12, 4, 4))


@pytest.fixture(scope="session")
def describe(small_corpus):
    """What `reproduction.json` says, for a table and what differs from the usual."""

    def of(table, folder=small_corpus, **changes):
        info = make_info(table, corpus="small", recipe="fast", epochs=1)
        info["reading"] |= {"path": str(folder)}
        return info | plan.described(plan.read_corpus(info["reading"])) | changes

    return of


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "out")


@pytest.fixture
def tiny_vectors(tmp_path, monkeypatch):
    """Vectors that are installed as "tiny", of two values; there are no others."""
    vectors = WordVectors(["the", "a"], np.float32([[1, 2], [3, 4]]))
    save_vectors(vectors, tmp_path / "tiny.npz")
    offered = {"tiny": SimpleNamespace(part=lambda name: tmp_path / "tiny.npz")}
    groups = {named.VECTORS: offered, named.CLASSES: {}}
    monkeypatch.setattr(named, "installed_models", groups.get)
    monkeypatch.setattr(named, "downloadable", dict)
    return vectors


@pytest.fixture
def table():
    """Four systems of ours, of which one needs another, and one of others."""
    columns = (Column("Dev", "accuracy", "dev"), Column("Test", "accuracy", "test"))
    rows = (
        Row("Bi-LSTM", (90.0, 91.0), "bilstm"),
        Row("Bi-LSTM, gate (a)", (91.0, 92.0), "bilstm", bootstrap="Bi-LSTM"),
        Row("Bi-LSTM, gate [b]", (None, 92.5), "bilstm"),
        Row("Größe 1/2 ±", (93.0, 93.1), "bigru"),
        Row("Bi-RNN (Xu et al.)", (93.49, 93.52), citation="xu2016"),
    )
    return Table(
        "wu2016", 99, "Made up", "CCGbank", columns, rows, varies=("num_layers",)
    )
