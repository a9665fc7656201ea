"""Files of word vectors, and those that are kept of them."""

import bz2
import gzip
import io
import pickle
import unicodedata
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from hostile.file_targets import Gadget
from hostile.harness import Target, Wrong
from hostile.mutations import mutate
from hostile.oracle import refused
from vectors.examples import BINARY, CONTENTS, FASTTEXT, GLOVE, WORD2VEC, WORDS

from keras_tagging.vectors import load_vectors

TEXTS = [GLOVE, WORD2VEC, FASTTEXT]


def check_vectors(name: str, data: bytes) -> str:
    """Reads a file as a whole, and twice some words of it: their vectors are equal."""
    path = Path(name)
    path.write_bytes(data)
    whole = _loaded(path)
    some = [_loaded(path, vocabulary=WORDS) for _ in range(2)]
    if isinstance(some[0], str) or isinstance(some[1], str):
        if some[0] != some[1]:
            raise Wrong("reading twice gives something else")
        return whole if isinstance(whole, str) else "read"
    if some[0].words != some[1].words or not _equal(some[0].matrix, some[1].matrix):
        raise Wrong("reading twice gives something else")
    if isinstance(whole, str):
        return "read"
    forms = Counter(unicodedata.normalize("NFC", word) for word in whole.words)
    for word, row in some[0].index.items():
        if forms[word] == 1 and word in whole.index:
            if not _equal(some[0].matrix[row], whole.matrix[whole.index[word]]):
                raise Wrong("a word's vector is not that of the whole file", word)
    return "read"


def _loaded(path: Path, **options):
    """Sound vectors, or the name of an error."""
    try:
        vectors = load_vectors(path, cache=False, **options)
    except Exception as error:
        return refused(error)
    if vectors.matrix.shape[0] != len(vectors.words) or not vectors.words:
        raise Wrong("not a vector a word")
    if len(set(vectors.words)) != len(vectors.words):
        raise Wrong("a word that occurs twice")
    if vectors.matrix.dtype != np.float32 or not np.isfinite(vectors.matrix).all():
        raise Wrong("a vector that is not finite")
    return vectors


def _equal(one, other) -> bool:
    return np.allclose(one, other, rtol=1e-4, atol=1e-6)


def fasttext() -> list[bytes]:
    """A model as fastText writes it."""
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sizes = {"vector_size": 4, "bucket": 20, "min_n": 3, "max_n": 4, "min_count": 1}
    model = FastText([WORDS, ["the", "Über"]] * 3, epochs=1, workers=1, **sizes)
    save_facebook_model(model, "input.bin")
    return [Path("input.bin").read_bytes()]


def check_kept(data: bytes) -> str:
    """What is kept of a search is damaged: it is made anew, and not believed."""
    path, kept = Path("searched.txt"), Path("kept")
    if not path.exists():
        path.write_text(WORD2VEC, encoding="utf-8")
        load_vectors(path, vocabulary=["the", "1.5"], cache=kept)
    [file] = kept.glob("*.npz")
    file.write_bytes(data)
    found = load_vectors(path, vocabulary=["the", "1.5"], cache=kept)
    if found.words != ["the", "1.5"] or found.matrix.tolist() != KEPT.tolist():
        raise Wrong("other vectors are believed", found.words)
    return "read"


KEPT = np.array([[0.5, -1, 0.25], [0, 0, -4]], np.float32)


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def kept_words(words: bytes):
    return npz(words=np.frombuffer(words, np.uint8), matrix=KEPT)


# The words that several parts of a pipeline read


def shared(**changes) -> bytes:
    arrays = {
        "vector_words": np.frombuffer("doggnué".encode(), np.uint8),
        "vector_lengths": np.array([3, 3, 2], "uint32"),
        "vector_rows": np.arange(10, dtype="float16").reshape(5, 2),
        "cluster_words": np.frombuffer(b"01\tdog\tgnu10\temu", np.uint8),
        "cluster_lengths": np.array([10, 6], "uint32"),
        "vector_changed_names": np.array([1, 3], "uint32"),
        "vector_rows_names": np.ones((2, 2), "float16"),
        "table_word_words": np.frombuffer("gnuégnu".encode(), np.uint8),
        "table_word_lengths": np.array([3, 2, 3], "uint32"),
    }
    return npz(**arrays | changes)


def mutate_shared(rng, known) -> bytes:
    """Another array, or a few other bytes."""
    if rng.random() < 0.3:
        return mutate(rng, known)
    own = ["rows", "changed_names", "rows_names"]
    name = rng.choice(["words", "lengths", "lengths", *own])
    lists = ["vector", "cluster", "table_word"]
    feature = "vector" if name in own else rng.choice(lists)
    dtype = rng.choice(["uint8", "uint32", "uint32", "float16", "float32", "<i8", "O"])
    shape = rng.choice([(3,), (2,), (5, 2), (8,), (0,), (5, 0), (1, 1, 1), ()])
    values = [rng.choice([0, 2, 3, 8, 10, 6, -1, 2**40]) for _ in range(10)]
    values = np.resize(np.array(values), shape)
    with np.errstate(all="ignore"):
        return shared(**{f"{feature}_{name}": values.astype(dtype)})


def check_shared(data: bytes) -> str:
    """All words are found where they stand first, and rows are numbers."""
    from keras_tagging.encoding.vocabulary import numbered
    from keras_tagging.runtime.shared_words import read_tables

    try:
        tables = read_tables(Path("input.npz"), data, "copy it again")
    except Exception as error:
        return refused(error)
    try:
        entries = {name: tables.entries(name) for name in tables.features}
    except Exception as error:
        return refused(error, name="")  # who reads a model's file names it
    for name, own in entries.items():
        expected = dict(reversed([*numbered(name, own)]))
        found = tables.index(name).find([*expected])
        if found.tolist() != [*expected.values()]:
            raise Wrong("words are not found where they are", found)
    for ids in tables.tables.values():
        if not ids or len({*ids.values()}) < len(ids) or min(ids.values()) != 2:
            raise Wrong("words of a table have other ids than their places", ids)
    if "vector" in entries:
        if tables.rows.shape[0] != 2 + len(entries["vector"]):
            raise Wrong("not a row a word")
        for part in (None, *tables.changed):
            rows = tables.rows_of(part)
            if rows.shape != tables.rows.shape or not np.isfinite(rows).all():
                raise Wrong("a vector that is not finite", part)
    return "read"


HUGE = [b"4 9999999999999\n", b"9999999999999 3\n", b"99999999 99999999\n", b"9" * 5000]
TARGETS = {
    "shared-words": Target(
        lambda: [shared()],
        check_shared,
        nasty=[b"", npz(), shared(vector_lengths=np.full(3, 2**32 - 1, "uint32"))],
        mutate=mutate_shared,
        share=500,
        quick=40,
    ),
    "vectors": Target(
        lambda: [c for name, c in CONTENTS.items() if "binary" not in name],
        partial(check_vectors, "input.txt"),
        nasty=[
            *(size + GLOVE.encode() for size in HUGE),
            *(pickle.dumps(Gadget(), protocol) for protocol in (2, 4)),
            b"the " + b"1 " * 60_000,
            b"the 1\n" * 20_000,
            b"the 1e999 nan\n",
        ],
        share=30,
        seconds=5,
    ),
    "vectors-binary": Target(
        lambda: [BINARY, CONTENTS["binary-no-newlines"]],
        partial(check_vectors, "input.bin"),
        nasty=[size + BINARY[4:] for size in HUGE],
        share=30,
        seconds=5,
    ),
    "vectors-gz": Target(
        lambda: [gzip.compress(text.encode(), mtime=0) for text in TEXTS],
        partial(check_vectors, "input.gz"),
        # not before it is asked for: that takes seconds, and all tests import this
        nasty=lambda: [b"", gzip.compress(b"the " + b"1" * (300 << 20), 1, mtime=0)],
        share=15,
        seconds=10,
    ),
    "vectors-bz2": Target(
        lambda: [bz2.compress(text.encode()) for text in TEXTS],
        partial(check_vectors, "input.bz2"),
        nasty=[b""],
        share=15,
        seconds=5,
    ),
    "vectors-fasttext": Target(
        fasttext, partial(check_vectors, "input.bin"), share=30, seconds=5
    ),
    "vectors-kept": Target(
        lambda: [kept_words(b'["the", "1.5"]')],
        check_kept,
        nasty=[
            kept_words(b"{}"),
            kept_words(b'["the"]'),
            kept_words(b"[" * 50_000),
            npz(words=np.array([Gadget()], object), matrix=KEPT),
            pickle.dumps(Gadget()),
            b"",
        ],
        share=30,
        seconds=5,
    ),
}
