"""Public corpora by name; downloads come from a server on the loopback."""

import hashlib
import io
import re
import zipfile
from pathlib import Path

import pytest
from conftest import needs_data
from corpora.web import serving

from keras_tagging.corpora import PUBLIC, load_corpus, public
from keras_tagging.corpora.public import (
    NAMES,
    File,
    PublicCorpus,
    in_cache,
    in_data_folder,
    locate,
)
from keras_tagging.data import FORMATS, CorpusError
from keras_tagging.data.readers import check_options
from keras_tagging.utils.stored import sha256_of

TRAIN, TEST = b"a\tx\tD\n\nb\ty\tN\n", b"c\tz\tV\n"


def pinned(name, data):
    return File(name, len(data), hashlib.sha256(data).hexdigest())


def archive(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as members:
        for name, data in files.items():
            members.writestr(f"inner/{name}.tsv", data)
        members.writestr("../outside.tsv", b"x")
    return stream.getvalue()


ARCHIVE = archive(train=TRAIN, test=TEST)


@pytest.fixture
def site(monkeypatch, tmp_path):
    """A server, and the corpora "pets" and "zipped" that the table says it has."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERAS_TAGGING_DATA", raising=False)
    monkeypatch.setattr(public, "_shown", set())
    with serving() as site:
        site.files |= {"/pets/train.tsv": TRAIN, "/pets/test.tsv": TEST}
        about = {"title": "Pets", "licence": "CC0", "citation": "Cat & Dog (2001)"}
        about |= {"folder": "my-pets", "format": "conll", "options": {"tag_column": 1}}
        files = {"train": pinned("train.tsv", TRAIN), "test": pinned("test.tsv", TEST)}
        pets = PublicCorpus(base=f"{site.url}/pets", files=files, **about)
        packed = {"archive": pinned("all.zip", ARCHIVE), "inside": "inner"}
        zipped = PublicCorpus(base=site.url, files=files, **about | packed)
        monkeypatch.setitem(PUBLIC, "pets", pets)
        monkeypatch.setitem(PUBLIC, "zipped", zipped)
        yield site


def words(corpus):
    return [
        [token for sentence in part for token in sentence.tokens]
        for part in (corpus.train, corpus.dev, corpus.test)
    ]


def test_a_corpus_is_downloaded_once(site, tmp_path):
    corpus = load_corpus("pets")
    assert words(corpus) == [["a", "b"], [], ["c"]]
    assert [s.tags for s in corpus.train] == [["x"], ["y"]]  # tag_column=1
    assert (corpus.name, corpus.format) == ("pets", "conll")
    assert corpus.files["test"] == [str(tmp_path / "cache" / "pets" / "test.tsv")]
    assert len(site.seen) == 2
    assert load_corpus("pets", tag_column=2).train[0].tags == ["D"]
    assert load_corpus("pets", require_train=False).test == corpus.test
    assert len(site.seen) == 2


def test_licence_and_citation_are_printed_once(site, capsys):
    first = load_corpus("pets")
    site.files.clear()  # it works offline
    assert load_corpus("pets").fingerprint() == first.fingerprint()
    assert in_cache("pets")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "pets: Pets. Licence: CC0.\n  Please cite: Cat & Dog (2001).\n"


def test_format_options_and_splits_can_be_given(site, tmp_path):
    (tmp_path / "dev.x").write_text("d\tD\n")
    assert words(load_corpus("pets", dev=tmp_path / "dev.x"))[1] == ["d"]
    assert load_corpus("pets", "tokens").train[0].tags is None
    with pytest.raises(ValueError, match="unknown option of format 'conll' 'trees'"):
        load_corpus("pets", trees=True)


def test_a_path_comes_before_a_name(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pets").write_text("mine\tX\n")
    assert words(load_corpus("pets"))[0] == ["mine"]
    assert not site.seen


@pytest.mark.parametrize("folder", ["my-pets", "pets"])
def test_the_data_folder_comes_before_a_download(site, tmp_path, monkeypatch, folder):
    monkeypatch.setenv("KERAS_TAGGING_DATA", str(tmp_path))
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "train.tsv").write_bytes(TRAIN)
    assert in_data_folder("pets") is None  # not all of it
    (tmp_path / folder / "test.tsv").write_bytes(TEST)
    assert words(load_corpus("pets")) == [["a", "b"], [], ["c"]]
    assert not site.seen
    (tmp_path / folder / "test.tsv").write_bytes(b"other\tx\tV\n")
    with pytest.warns(UserWarning, match="test.tsv: is not the version that 'pets'"):
        assert words(load_corpus("pets"))[2] == ["other"]


def test_files_from_anarchive(site, tmp_path):
    site.files["/all.zip"] = ARCHIVE
    assert words(load_corpus("zipped")) == [["a", "b"], [], ["c"]]
    assert words(load_corpus("zipped")) == [["a", "b"], [], ["c"]]
    assert len(site.seen) == 1
    assert not list(tmp_path.rglob("outside.tsv"))
    site.files.clear()
    (tmp_path / "cache" / "zipped" / "test.tsv").write_bytes(b"damaged")
    assert words(load_corpus("zipped"))[2] == ["c"]  # from the archive again


def test_errors_of_downloads_are_those_of_corpora(site, tmp_path):
    site.files["/all.zip"] = ARCHIVE[:-1] + b"x"
    with pytest.raises(CorpusError, match="all.zip: another file came, .*; log in"):
        load_corpus("zipped")
    assert not (tmp_path / "cache" / "zipped" / "test.tsv").exists()
    del site.files["/pets/test.tsv"]
    with pytest.raises(CorpusError, match="the server answers 404"):
        load_corpus("pets")


@pytest.mark.parametrize("name, near", [("ATIS", "atis"), ("ud-en", "ud-en-ewt")])
def test_unknown_names(name, near):
    with pytest.raises(CorpusError) as caught:
        load_corpus(name)
    message = str(caught.value)
    assert f"(did you mean {near!r}?)" in message
    assert all(known in message for known in NAMES)
    with pytest.raises(CorpusError, match="no such corpus") as caught:
        load_corpus("zzzzzz")
    assert "mean" not in str(caught.value)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_table(name):
    corpus = PUBLIC[name]
    assert re.search(r"/[0-9a-f]{40}(/|$)", corpus.base)
    assert corpus.base.startswith("https://")
    assert corpus.title and corpus.licence and corpus.citation
    assert not corpus.citation.endswith(".")
    assert re.fullmatch("[a-z]{2}", corpus.language)
    assert corpus.format in FORMATS
    check_options(corpus.format, corpus.options)
    assert "train" in corpus.files
    for file in [*corpus.files.values(), *filter(None, [corpus.archive])]:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", PUBLIC)
def test_the_real_ones(name):
    corpus = PUBLIC[name]
    if not in_data_folder(name):
        pytest.skip(f"KERAS_TAGGING_DATA has no {corpus.folder}")
    for split, path in locate(name).items():
        assert sha256_of(path) == corpus.files[split].sha256
        assert path.stat().st_size == corpus.files[split].size
