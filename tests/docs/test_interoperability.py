"""The examples of docs/interoperability.rst run, one after the other, and that of
docs/getting-started.rst with words and tags as two lists."""

from pathlib import Path

import pytest
from pages import examples

from keras_tagging.data import read

PAGE = "interoperability"


@pytest.mark.one_backend
@pytest.mark.usefixtures("eagerly")
def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    [lists] = (code for code in examples("getting-started") if "class_weight" in code)
    exec(f"import keras_tagging\n{lists}", names)
    for code in examples(PAGE):
        exec(code, names)
    assert names["sentence"].tags == ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]
    assert len(names["table"]) == 3


@pytest.mark.slow
@pytest.mark.one_backend
def test_the_road_of_a_dataset(tmp_path, monkeypatch):
    """From a data set to a picture, to the files that are served, and to a corpus."""
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("spacy")
    tags = datasets.ClassLabel(names=["O", "B-LOC", "I-LOC", "B-PER", "I-PER"])
    kinds = {"tokens": datasets.Value("string"), "ner_tags": tags}
    kinds = {name: datasets.Sequence(kind) for name, kind in kinds.items()}
    rows = [
        {"tokens": "Ada lives in New York .".split(), "ner_tags": [3, 0, 0, 1, 2, 0]},
        {"tokens": "Bob Dylan came .".split(), "ner_tags": [3, 4, 0, 0]},
    ]
    part = datasets.Dataset.from_list(rows * 25, features=datasets.Features(kinds))
    whole = datasets.DatasetDict(train=part, validation=part, test=part)
    monkeypatch.setattr(datasets, "load_dataset", lambda name: whole)
    monkeypatch.chdir(tmp_path)
    literal = examples(PAGE, "::")  # they need what the tests have not
    road, written = (
        next(code for code in literal if line in code)
        for line in ("import datasets", "data.write(")
    )
    names = {}
    exec(road, names)
    assert "New York" in names["page"] and 'class="entity"' in names["page"]
    assert sorted(path.name for path in Path("served").iterdir()) == [
        "entities.onnx",
        "pipeline.json",
        "segmenter.onnx",
    ]
    exec(written, names)
    assert list(read("dev.conll")) == names["corpus"].dev
