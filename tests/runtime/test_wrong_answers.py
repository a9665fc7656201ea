"""ONNX files that do not do what they say: a line of error that names the file."""

from pathlib import Path

import numpy as np
import pytest
from models.biaffine import random_parser
from onnx import helper, numpy_helper
from onnx_files.odd import changed, describing

from keras_tagging import Sentence, runtime
from keras_tagging.service import worker

FIXTURES = Path(__file__).parents[1] / "fixtures/v0_2"
SENTENCES = [["the", "dog", "barks"], [], ["a"]]


def ending(output, *nodes, **constants):
    """A change: nodes compute an output from what it was, "before"."""

    def change(made):
        [last] = [node for node in made.graph.node if output in node.output]
        last.output[0] = "before"
        made.graph.node.extend(nodes)
        for name, value in constants.items():
            made.graph.initializer.append(numpy_helper.from_array(value, name))

    return change


def node(operation, inputs, output, **attributes):
    return helper.make_node(operation, inputs.split(), [output], **attributes)


ONE = np.array([1], "int64")
NAN = ending(
    "probabilities",
    node("Sub", "before before", "zero"),
    node("Div", "zero zero", "probabilities"),
)
CUT = ending("tags", node("Gather", "before first", "tags", axis=1), first=0 * ONE)
FEWER = ending(
    "all_probabilities",
    node("Gather", "before first", "all_probabilities", axis=2),
    first=0 * ONE,
)
DEEPER = ending(
    "tags",
    node("Unsqueeze", "before last", "deep"),
    # whose number of axes is not known before it runs
    node("Shape", "deep", "shape"),
    node("Reshape", "deep shape", "tags"),
    last=2 * ONE,
)
NO_PLACE = ending("tags", node("Gather", "before far", "tags", axis=0), far=99 * ONE)


def heads(value):
    """A change: every word has this head."""
    values = np.array(value, "int32")
    zero = node("Mul", "before nothing", "zeros")
    return ending(
        "heads",
        zero,
        node("Add", "zeros value", "heads"),
        nothing=np.array(0, "int32"),
        value=values,
    )


CASES = {
    "no numbers": ("crf", NAN, "gives probabilities that are no numbers"),
    "cut": ("crf", CUT, "does not give tags for each word"),
    "deeper": ("crf", DEEPER, "does not give tags for each word"),
    "no place": ("crf", NO_PLACE, "cannot be run by ONNX Runtime: .*99"),
    "other tags": (
        "crf",
        describing(tags=[f"{i}x" for i in range(9)]),
        "gives tags that cannot be",
    ),
    "far heads": ("parser", heads(7), "gives heads that cannot be"),
    "no heads": ("parser", heads(-1), "gives heads that cannot be"),
    "cycle": ("parser", heads(1), "gives heads that cannot be"),
    "two roots": ("parser", heads(0), "gives heads that cannot be"),
    "biaffine": ("biaffine", heads(1), "gives heads that cannot be"),
}


@pytest.mark.parametrize("name, change, message", CASES.values(), ids=CASES)
def test_answers_that_cannot_be(tmp_path, capfd, name, change, message):
    path = FIXTURES / f"{name}.onnx"
    if name == "biaffine":
        path = tmp_path / "model.onnx"
        random_parser().export(path, format="onnx")
    model = runtime.load(changed(path, tmp_path, change))
    with pytest.raises(OSError, match=message) as error:
        model.annotate(SENTENCES)
    told = str(error.value)
    assert told.startswith(str(tmp_path / "changed.onnx"))
    assert told.endswith("; export the model again") and "\n" not in told
    assert capfd.readouterr() == ("", "")


def test_probabilities_of_fewer_tags(tmp_path):
    model = runtime.load(changed(FIXTURES / "crf.onnx", tmp_path, FEWER))
    assert len(model.tag(SENTENCES)) == 3
    with pytest.raises(OSError, match="gives all_probabilities that cannot be"):
        model.predict(SENTENCES)


def test_nothing_is_printed_on_standard_output(tmp_path, capfd):
    def change(made):
        for each in made.graph.node:
            for attribute in each.attribute:
                if attribute.name == "pattern":
                    attribute.s = b"\xff("

    path = changed(FIXTURES / "crf.onnx", tmp_path, change)
    with pytest.raises(ValueError, match="cannot be run by ONNX Runtime") as error:
        runtime.load(path)
    assert "\n" not in str(error.value) and capfd.readouterr().out == ""


def test_the_service_does_not_blame_the_request(tmp_path, monkeypatch, capsys):
    model = runtime.load(changed(FIXTURES / "crf.onnx", tmp_path, NAN))
    monkeypatch.setitem(worker._models, "en", model)
    [(status, told)] = worker.answer("en", [([Sentence(["a"])], ["tags"])])
    assert (status, told) == (500, "en could not be run on this request")
    assert "gives probabilities that are no numbers" in capsys.readouterr().err
