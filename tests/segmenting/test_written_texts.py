"""The texts that the segmenter of `en` learns from: their marks are read as meant."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from treebanks import sentences_of

from keras_tagging.data.sentence import text_of

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture(scope="module")
def texts():
    spec = spec_from_file_location("texts", MODELS / "texts.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_marks_are_ends_of_sentences_and_tokens(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "HERE", tmp_path)
    (tmp_path / "en").mkdir()
    content = "%%% mail\nHi Jo¬,¦\nI don't see\nit¬.¦Bye¬!¦  So¦\n\n%%% b\nNo¬.¦\n"
    (tmp_path / "en" / "train-a.txt").write_text(content, encoding="utf-8")
    treebank = texts.Treebank(sentences_of("english"))
    first, second = texts.written(treebank, "en", "train")
    assert [sentence.surface.tokens for sentence in first] == [
        ["Hi", "Jo", ","],
        ["I", "don't", "see", "it", "."],
        ["Bye", "!"],
        ["So"],
    ]
    assert text_of(first) == "Hi Jo,\nI don't see\nit.Bye!  So\n\n"
    assert text_of(second) == "No.\n\n"
    content = "%%% a\nNo¬.¦\n\n%%% b\nSo¬.¦\nBest¬,¦\nJo¦\n> a¦\n"
    (tmp_path / "en" / "train-a.txt").write_text(content, encoding="utf-8")
    [mail] = texts.written(treebank, "en", "train", joined=True)
    assert text_of(mail) == "So. Best, Jo\n> a\n\n"


@pytest.mark.parametrize("part", ["train", "dev"])
def test_texts_are_read_whole(texts, part):
    """Nothing is lost or changed but the marks."""
    treebank = texts.Treebank(sentences_of("english"))
    files = sorted((MODELS / "texts" / "en").glob(f"{part}*.txt"))
    content = "\n".join(file.read_text("utf-8") for file in files)
    plain = re.split("(?m)^%%%.*\n", re.sub("[¦¬]", "", content))[1:]
    read = [text_of(text) for text in texts.written(treebank, "en", part)]
    assert len(read) == len(plain) > 100
    blanks = [re.sub(r"\s+", " ", text).strip() for text in plain]
    assert [re.sub(r"\s+", " ", text).strip() for text in read] == blanks
