"""The examples of docs/interoperability.rst run, one after the other."""

import re
import textwrap
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "interoperability.rst"
BLOCK = re.compile(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)")


@pytest.mark.one_backend
@pytest.mark.usefixtures("eagerly")
def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    *examples, last = map(textwrap.dedent, BLOCK.findall(PAGE.read_text("utf-8")))
    for code in examples:
        exec(compile(code, PAGE.name, "exec"), names)
    assert names["sentence"].tags == ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]
    labels = [span["label"] for span in names["drawn"]["ents"]]
    assert labels == ["PER", "LOC"] and len(names["table"]) == 3
    names["model"].export("tagger.onnx", format="onnx")
    exec(compile(last, PAGE.name, "exec"), names)
