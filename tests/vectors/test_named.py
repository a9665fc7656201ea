"""Vectors and word classes by name: installed ones, and those of gensim-data."""

import gzip
import hashlib
import json
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from corpora.web import serving
from gensim import downloader

import keras_tagging
from keras_tagging.cli import main
from keras_tagging.utils import named_models
from keras_tagging.vectors import (
    WordVectors,
    coverage,
    load_vectors,
    read_word_classes,
    save_vectors,
    train_vectors,
)
from keras_tagging.vectors.named import OWN

MATRIX = np.float32([[1, 2, 3], [0.1, -4, 0.5]])
VECTORS = WordVectors(["the", "dog"], MATRIX)
NAME = "glove-tiny-3"
CARD = {"language": "made-up", "licence": "CC0", "summary": "two words"}
ENTRIES = """\
[keras_tagging.vectors]
tiny = tiny_words
[keras_tagging.word_classes]
brown-tiny = tiny_words
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The only package with vectors and classes, and an empty working directory."""

    def entries_here(group):
        found = entry_points(group=group)
        return [x for x in found if tmp_path in x.dist.locate_file("x").parents]

    monkeypatch.setattr(named_models, "entry_points", entries_here)
    package, info = tmp_path / "tiny_words", tmp_path / "tiny_words-1.5.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('code ran')")
    (package / "card.json").write_text(json.dumps(CARD))
    save_vectors(VECTORS, package / "vectors.npz")
    classes = gzip.compress(b"the\t01\ndog\t11\n")
    (package / "word_classes.tsv.gz").write_bytes(classes)
    about = "Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.5\n"
    (info / "METADATA").write_text(about)
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return package


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with one set of vectors, in the place of gensim-data."""
    content = gzip.compress(b"2 3\nthe 1 2 3\ndog 0.1 -4 0.5\n")
    about = {"checksum": hashlib.md5(content).hexdigest(), "file_name": f"{NAME}.gz"}
    models = {NAME: about | {"parts": 1}, "__testing_word2vec": about}
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    with serving() as site:
        site.files[f"/{NAME}/{NAME}.gz"] = content
        listed = json.dumps({"corpora": {}, "models": models})
        site.files["/list.json"] = listed.encode()
        point_gensim_at(monkeypatch, site.url, tmp_path / "gensim-data")
        yield site


@pytest.fixture
def offline(tmp_path, monkeypatch):
    point_gensim_at(monkeypatch, "http://127.0.0.1:9", tmp_path / "gensim-data")


def point_gensim_at(monkeypatch, address, cache):
    monkeypatch.setattr(downloader, "DOWNLOAD_BASE_URL", address)
    monkeypatch.setattr(downloader, "BASE_DIR", str(cache))
    monkeypatch.setattr(downloader, "base_dir", str(cache), raising=False)
    defaults = (f"{address}/list.json", "utf-8")
    monkeypatch.setattr(downloader._load_info, "__defaults__", defaults)


def test_installed_vectors_and_classes_have_names(site):
    found = load_vectors("tiny")
    assert found.words == VECTORS.words and found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix, MATRIX.astype("float16"))
    assert load_vectors("tiny", limit=1).words == ["the"]
    assert load_vectors("tiny", vocabulary=["Dog", "cat"]).words == ["dog"]
    assert read_word_classes("brown-tiny") == {"the": "01", "dog": "11"}
    model = keras_tagging.build("bigru", embeddings="tiny", word_classes="brown-tiny")
    assert model.settings["word_dim"] == 3 and model.settings["embeddings"] == "tiny"


def test_a_file_of_that_name_comes_first_but_not_a_folder(site, monkeypatch):
    monkeypatch.delattr(downloader, "info")  # gensim-data is not asked
    Path("tiny").mkdir()
    assert load_vectors("tiny").words == VECTORS.words
    Path("tiny").rmdir()
    Path("tiny").write_text("cat 1 2\n")
    assert load_vectors("tiny").words == ["cat"]
    Path("other").mkdir()
    with pytest.raises(IsADirectoryError, match="other"):
        load_vectors("other")


def test_vectors_of_gensim_data_are_downloaded_once(server, site, capsys):
    found = load_vectors(NAME)
    assert found.words == VECTORS.words
    np.testing.assert_array_equal(found.matrix, MATRIX)
    assert not capsys.readouterr().out
    del server.files[f"/{NAME}/{NAME}.gz"]
    assert load_vectors(NAME, cache=False).words == VECTORS.words


def test_a_list_that_names_another_file_is_an_error(server, site, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the 1 2 3\n")
    listed = json.loads(server.files["/list.json"])
    listed["models"][NAME]["file_name"] = str(secret)
    server.files["/list.json"] = json.dumps(listed).encode()
    with pytest.raises(ValueError, match=f"^{NAME}: gensim-data has it in another"):
        load_vectors(NAME)


def test_an_unknown_name_says_what_there_is(server, site):
    with pytest.raises(ValueError) as error:
        load_vectors("glove-tiny-4")
    message = str(error.value)
    assert "(there are tiny, glove-tiny-3)" in message
    assert f"did you mean {NAME!r}?" in message and "\n" not in message
    with pytest.raises(ValueError, match=r"there are brown-tiny\)"):
        read_word_classes("brown")


@pytest.mark.parametrize("read", [load_vectors, read_word_classes])
@pytest.mark.parametrize("name", OWN)
def test_those_of_the_repository_say_how_to_install_them(offline, site, read, name):
    with pytest.raises(ValueError) as error:
        read(name)
    remedy = f"pip install {OWN[name]} in a clone of keras_tagging"
    assert str(error.value) == f"{name}: is not installed: {remedy}"
    assert (Path(keras_tagging.__file__).parents[1] / OWN[name]).is_dir()


def test_the_command_lists_them_and_shows_a_card(server, site, capsys):
    def told(*args, code="0"):
        with pytest.raises(SystemExit, match=code):
            main(["vectors", *args])
        return capsys.readouterr()

    listed = told().out
    for word in ("tiny", "brown-tiny", "two words", NAME, "word classes", "1.5"):
        assert word in listed
    assert "__testing" not in listed
    for name, file in (("tiny", "vectors.npz\n"), ("brown-tiny", "classes.tsv.gz\n")):
        first, second, *card = told(name).out.splitlines(keepends=True)
        assert first == f"{name} 1.5\n" and second.endswith(file)
        assert any(line.startswith("licence: ") for line in card)
    assert "or word classes 'tin'; did you mean 'tiny'?" in told("tin", code="2").err


def test_without_a_connection_there_are_the_installed_ones(offline, site, caplog):
    with pytest.raises(ValueError, match="there are tiny.*cannot be asked: ") as error:
        load_vectors("glove-tiny-4")
    assert "\n" not in str(error.value) and not caplog.records


# Files of half precision


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_saved_and_loaded(tmp_path, dtype):
    save_vectors(VECTORS, str(tmp_path / "v.npz"), dtype)
    found = load_vectors(tmp_path / "v.npz")
    np.testing.assert_array_equal(found.matrix, MATRIX.astype(dtype))
    path, large = tmp_path / "large.npz", WordVectors(["a"], np.float32([[1e6]]))
    with pytest.raises(ValueError, match="for float16: write dtype='float32'"):
        save_vectors(large, path)
    assert not path.exists()


def test_words_made_of_pieces_are_told_apart(tmp_path):
    sentences = [["walking", "walked", "dog"], ["dog", "walked"]]
    made = train_vectors(
        sentences, "fasttext", size=4, buckets=50, vocabulary=["Walker", "dog"]
    )
    assert made.composed == {"Walker"}
    save_vectors(made, tmp_path / "v.npz")
    for options in ({}, {"vocabulary": ["Walker", "dog", "Dog"]}):
        found = load_vectors(tmp_path / "v.npz", **options)
        assert found.composed == {"Walker"}
        share = coverage(["dog", "Dog", "Walker", "of"], found)
        assert share.subwords == {"Walker": 1} and share.missing == {"of": 1}
        assert share.types == share.tokens == 0.75
        assert "subwords" in str(share)


WRONG = "is damaged .it has not one vector, .* for each word.: write it again"


@pytest.mark.parametrize(
    "words, matrix, message",
    [
        (["a", "a"], [[1.0], [2.0]], WRONG),
        (["a"], [[1.0], [2.0]], WRONG),
        (["a"], [1.0], WRONG),
        (["a"], [[1]], WRONG),
        ([1], [[1.0]], WRONG),
        ({"a": 1}, [[1.0]], WRONG),
        (["a"], np.zeros((1, 10_001)), WRONG),
        ([], np.zeros((0, 1)), "no vectors"),
        (["a"], [[np.nan]], "'a' holds a value that is not a finite number"),
        (["a"], np.array([["x"]], object), "no array of numbers"),
    ],
)
def test_what_is_damaged_gets_one_line(tmp_path, words, matrix, message):
    path = tmp_path / "v.npz"
    given = np.frombuffer(json.dumps(words).encode(), np.uint8)
    np.savez(path, words=given, matrix=np.asarray(matrix))
    with pytest.raises(ValueError, match=message) as error:
        load_vectors(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)
