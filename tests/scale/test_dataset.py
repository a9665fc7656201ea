"""Tables with further columns, as a worker makes them."""

import pyarrow
import pytest

from keras_tagging.scale import dataset
from keras_tagging.scale.dataset import Annotator


@pytest.fixture
def annotator(onnx, pipeline, monkeypatch):
    monkeypatch.setattr(dataset, "load_pipeline", lambda *_: pipeline)
    return Annotator(str(onnx))


TEXTS = ["the dog barks .\n\nParis sees a cat", "", None, "12,5 \xe9t\xe9 cats !"]


def test_texts_have_a_list_for_each_sentence(annotator, pipeline):
    given = pyarrow.table({"stars": [1, 2, 3, 4], "text": TEXTS})
    found = annotator(given)
    names = ["stars", "text", "tokens", "offsets", "upos", "xpos", "feats", "spans"]
    assert found.column_names == names
    for text, row in zip(TEXTS, found.to_pylist(), strict=True):
        wanted = [*pipeline.annotate(text or "")]
        assert row["text"] == text
        assert row["tokens"] == [s.tokens for s in wanted]
        assert row["upos"] == [s.columns["pos"] for s in wanted]
        assert row["feats"] == [s.columns["feats"] for s in wanted]
        offsets = [[tuple(x) for x in sentence] for sentence in row["offsets"]]
        assert offsets == [s.surface.offsets for s in wanted]
        spans = [x for s in wanted for x in s.spans]
        assert [x["text"] for x in row["spans"]] == [x.text for x in spans]
        for span in row["spans"]:
            assert text[span["start"] : span["end"]] == span["text"]
    assert sum(map(len, found["spans"].to_pylist())) > 3


@pytest.mark.usefixtures("eager")
def test_a_saved_pipeline_gives_what_an_exported_one_gives(whole, folder, tmp_path):
    """The first is run by Keras, the second by ONNX Runtime."""
    whole.save(tmp_path)
    given = pyarrow.table({"text": TEXTS})
    saved, exported = (Annotator(str(path))(given) for path in (tmp_path, folder))
    assert saved["head"].to_pylist() == exported["head"].to_pylist()
    tables = (saved.drop("spans"), exported.drop("spans"))
    assert tables[0].to_pylist() == tables[1].to_pylist()


def test_sentences_have_a_value_for_each_word(annotator, pipeline):
    words = [["the", "dog"], [], None, ["Paris"]]
    given = pyarrow.table({"tokens": words, "upos": ["x"] * 4, "id": [{"a": 1}] * 4})
    found = annotator(given)
    assert found.column_names == ["tokens", "upos", "id", "xpos", "feats", "spans"]
    assert found["tokens"].to_pylist() == words and found["id"] == given["id"]
    for own, row in zip(words, found.to_pylist(), strict=True):
        [sentence] = pipeline.annotate([own or []])
        assert row["upos"] == sentence.columns["pos"]  # in the place of the given one
        assert row["xpos"] == sentence.columns["xpos"]


def test_tables_of_no_rows_have_the_same_columns(annotator):
    given = pyarrow.table({"text": pyarrow.array(TEXTS, pyarrow.string())})
    whole, empty = annotator(given), annotator(given.slice(0, 0))
    assert empty.schema == whole.schema and len(empty) == 0


def test_a_row_without_words_is_named(annotator):
    with pytest.raises(ValueError, match="row 1 of a batch: has neither text nor tok"):
        annotator(pyarrow.table({"words": ["a"]}))
