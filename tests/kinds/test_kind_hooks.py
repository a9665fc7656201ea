"""What a model of a further kind may say of itself, and what it is told if it errs."""

import subprocess
import sys
from dataclasses import replace
from types import ModuleType

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY
from keras import ops

import keras_tagging
from keras_tagging import Sentence, cli, kinds, runtime, transitions
from keras_tagging.cli.loading import Reading
from keras_tagging.encoding.batching import plan_batches
from keras_tagging.kinds import Kind, Output
from keras_tagging.onnx.graphs import of_words, outputs_of
from keras_tagging.service import model_files

pytestmark = pytest.mark.usefixtures("installed")
WORDS = "the dog barks quickly and a cat sees two houses".split()
VOWELS = [str(sum(letter in "aeiou" for letter in word)) for word in WORDS]
TREE = {"head": ["2", "0"], "deprel": ["det", "root"]}
GOLD = [
    Sentence(WORDS[i : i + 3], None, {"vowels": VOWELS[i : i + 3]}) for i in range(8)
]


@pytest.fixture
def changed(installed, monkeypatch):
    """Function: a model of the kind `counter` whose class has other attributes."""

    def make(**attributes):
        cls = installed.at("model")
        for name, value in attributes.items():
            monkeypatch.setattr(cls, name, value, raising=False)
        return keras_tagging.build("counter", seed=1)

    return make


def figures_of(values):
    """An evaluator that finds one error after the other."""
    left = iter(values)
    return lambda self, sentences, *calls: lambda: {"error": next(left)}


def test_the_best_epoch_has_the_least_error(changed):
    found = figures_of([0.5, 0.25, 1.0])
    own = {"figures": ("error",), "lower_is_better": ("error",), "evaluator": found}
    model = changed(**own)
    assert model.default_monitor == "val_error"
    seen = {}
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.setdefault(epoch, model.get_weights())
    )
    history = model.fit(
        GOLD, validation_data=GOLD, epochs=3, verbose=0, callbacks=[keep]
    )
    assert history.history["val_error"] == [0.5, 0.25, 1.0]
    for value, best in zip(model.get_weights(), seen[1], strict=True):
        np.testing.assert_array_equal(value, best)


def test_an_error_is_not_printed_in_per_cent():
    scores = {"dev": {"error": 1.25, "accuracy": 0.5}}
    text = cli.output.figures(scores, ("error",))
    assert "accuracy %" in text and "50.00" in text
    assert "error %" not in text and "1.2500" in text
    many = {"dev": scores["dev"] | {f"figure{i}": 0.5 for i in range(8)}}
    assert "error %" not in cli.output.figures(many, ("error",))


def square(self, compiled, y, y_pred, sample_weight):
    error = ops.square(y_pred[..., 0] - ops.cast(y, "float32")) * sample_weight
    return ops.sum(error) / ops.sum(sample_weight)


def test_a_loss_that_is_no_cross_entropy(changed, installed):
    inherited = installed.at("model").objectives

    def objectives(self):
        return {**inherited(self), "weighted_metrics": []}

    model = changed(batch_loss=square, objectives=objectives)
    history = model.fit(GOLD, epochs=30, verbose=0).history
    assert set(history) == {"loss", "learning_rate"}
    first = [[int(n) for n in s.columns["vowels"]] for s in GOLD]
    found = [np.asarray(model(model.encode([s]).ids[None]))[0, :, 0] for s in GOLD]
    error = np.mean(np.square(np.array(first) - np.array(found)))
    assert history["loss"][-1] < 0.1 * history["loss"][0] and error < 0.1


def test_targets_that_would_be_cut_are_refused(changed):
    model = changed(targets=lambda self, s: np.array([0.5] * sum(map(len, s))))
    with pytest.raises(ValueError, match="counter are float64, .* be int32: scale"):
        model.fit(GOLD, epochs=1, verbose=0)
    model = changed(targets=lambda self, s: np.zeros(3, "int32"))
    with pytest.raises(ValueError, match="counter gives 3 for 24 tokens: give one"):
        model.fit(GOLD, epochs=1, verbose=0)


def test_count_labels_and_inventories_agree(changed):
    model = changed(inventories=("counts",))
    message = r"counter gives \[\], but its inventories are \['counts'\]: name"
    with pytest.raises(ValueError, match=message):
        model.adapt(GOLD)


def test_a_vocabulary_of_labels_has_any_name(changed, tmp_path):
    counts = {"inventories": ("sizes",), "count_labels": lambda *_: {"sizes": ["1"]}}
    model = changed(**counts)
    model.adapt(GOLD)
    assert model.vocabularies["sizes"] == ["1"] and "1 sizes" in model.size
    assert "sizes" not in model.features.vocabularies
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path / "model.keras")
    assert again.vocabularies == model.vocabularies


def test_a_missing_column_is_told(changed):
    with pytest.raises(ValueError) as told:
        changed().fit([Sentence(WORDS)], epochs=1)
    assert "no labels in the column 'vowels'" in str(told.value)
    assert str(told.value).endswith("in JSON has strings or integers")
    assert "tags=" not in str(told.value)


def test_batches_need_a_size(installed):
    with pytest.raises(ValueError, match="batch_size or token_budget: neither"):
        plan_batches(np.array([1, 2]))
    with pytest.raises(ValueError, match="batch_size or token_budget, not both"):
        plan_batches(np.array([1, 2]), batch_size=1, token_budget=1)


@pytest.fixture
def adapted(changed):
    model = changed()
    model.adapt(GOLD)
    return model


def test_a_kind_that_is_not_exported(adapted, tmp_path, monkeypatch):
    only = replace(kinds.find("counter"), graph=None, runtime=None, route=None)
    monkeypatch.setitem(kinds.kind._KINDS, "counter", only)
    monkeypatch.delattr(type(adapted), "serving")
    message = "kind 'counter' are not exported as {}: use the .keras file"
    with pytest.raises(ValueError, match=message.format("SavedModels")):
        adapted.export(tmp_path / "model")
    with pytest.raises(ValueError, match=message.format("ONNX files")):
        adapted.export(tmp_path / "model.onnx", format="onnx")
    told = cli.output.next_commands("out", None, Reading(None, []), adapted)
    assert "annotate out" in told and "export" not in told


def test_an_output_of_another_type_is_told(adapted, installed, tmp_path, monkeypatch):
    adapted.export(tmp_path / "model.onnx", format="onnx")
    said = classmethod(lambda cls, about: {"counts": Output("float", -1)})
    monkeypatch.setattr(installed.at("runtime"), "outputs", said)
    what = r"tensor\(int32\) of 2 axes, not tensor\(float\) of 2 axes"
    with pytest.raises(ValueError, match=what):
        runtime.load(tmp_path / "model.onnx")


def test_files_of_a_kind_that_is_not_installed(adapted, tmp_path, monkeypatch):
    adapted.save(tmp_path / "model.keras")
    adapted.export(tmp_path / "model.onnx", format="onnx")
    monkeypatch.delitem(kinds.kind._KINDS, "counter")
    for load, name, what in (
        (keras_tagging.load, "keras", "registers 'counter_kind>Counter'"),
        (runtime.load, "onnx", "but a 'counter': install the package of that kind"),
    ):
        with pytest.raises(ValueError, match="install the package") as told:
            load(tmp_path / f"model.{name}")
        assert str(told.value).endswith(what)


def test_a_file_of_a_system_that_is_not_installed(tmp_path, monkeypatch):
    system = replace(transitions.transition_system("arc-standard"), name="there")
    transitions.register(system)
    model = keras_tagging.build("ffn-parser", system="there", tags=None)
    model.adapt([Sentence(["a", "dog"], None, TREE)])
    model.save(tmp_path / "model.keras")
    monkeypatch.delitem(transitions.system._SYSTEMS, "there")
    with pytest.raises(ValueError, match="install or import what registers") as told:
        keras_tagging.load(tmp_path / "model.keras")
    assert "copy the file" not in str(told.value)
    (tmp_path / "model.keras").write_bytes(b"PK")
    with pytest.raises(ValueError, match="damaged, .*; copy the file again"):
        keras_tagging.load(tmp_path / "model.keras")


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"learns": "lengths"}, "learns='lengths': possible are 'tags', 'trees'"),
        ({"reads": "bytes"}, "reads='bytes': possible are 'tokens', 'text'"),
        ({"command": "count"}, "command='count': possible are 'annotate'"),
        ({"name": "../other"}, "name='../other': give a word in small letters"),
        ({"route": "models"}, "route='models' is taken"),
        ({"route": "health"}, "route='health' is taken"),
        ({"graph": "a:c"}, "other has one of runtime= and graph="),
    ],
)
def test_fields_of_a_kind_are_checked(wrong, message):
    with pytest.raises(ValueError, match=message):
        Kind(**{"name": "other", "model": "a:b", **wrong})
    with pytest.raises(ValueError, match="type='float32': possible are 'string'"):
        Output("float32", 0.0)


def test_only_kinds_are_registered(installed):
    [architecture] = installed.at("architectures")
    with pytest.raises(
        ValueError, match="Architecture is registered, which is no Kind"
    ):
        kinds.register(architecture)


@pytest.mark.parametrize("place", ["nowhere.model:A", "counter_kind:Nobody", "a b"])
def test_a_wrong_place_is_told(place):
    kind = Kind(name="other", model=place)
    with pytest.raises(ValueError, match="kind 'other' has model=.* cannot be loaded"):
        kind.at("model")


def test_a_missing_dependency_stays_an_import_error(tmp_path, monkeypatch):
    (tmp_path / "needs_more.py").write_text("import nowhere\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere'"):
        Kind(name="other", model="needs_more:A").at("model")


def test_a_network_names_the_kind_that_has_it(installed, monkeypatch):
    [architecture] = installed.at("architectures")
    monkeypatch.setattr(architecture.network, "kind", "tagger")
    with pytest.raises(ValueError, match="'counter' says that its kind is 'tagger'"):
        keras_tagging.build("counter")


def test_the_service_does_not_advise_an_export_that_cannot_be(tmp_path, monkeypatch):
    error = (
        "keras-tagging: error: models of the kind 'x' are not exported as ONNX files"
    )
    failed = subprocess.CompletedProcess([], 1, "", f"a line\n{error}\n")
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: failed)
    with pytest.raises(ValueError, match="'x' are not exported as ONNX files") as told:
        model_files.as_onnx("x", tmp_path / "x.keras", tmp_path)
    assert "keras-tagging export" not in str(told.value)


def test_a_route_of_another_kind_reads_the_same():
    with pytest.raises(ValueError, match="'tag' is that of the kind 'tagger', which"):
        kinds.register(Kind(name="other", model="a:b", route="tag", reads="text"))


@pytest.mark.parametrize(
    "places, message",
    [
        (["nowhere:ARCHITECTURE"], "kind 'broken' has architectures='nowhere:ARCH"),
        (["another:RHN"], "an architecture 'rhn' too"),
    ],
)
def test_a_kind_that_does_not_fit_is_left_out(places, message, monkeypatch, tmp_path):
    """And ours go on: what they build, and what they load."""
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    model.adapt([Sentence(["a", "b"], ["X", "Y"])])
    model.save(tmp_path / "model.keras")
    another = ModuleType("another")
    another.RHN = replace(keras_tagging.architectures.architecture("rhn"), summary="x")
    monkeypatch.setitem(sys.modules, "another", another)
    broken = Kind(name="broken", model="nowhere:Model", architectures=tuple(places))
    monkeypatch.setitem(kinds.kind._KINDS, "broken", broken)
    with pytest.warns(UserWarning, match=message):
        found = keras_tagging.architectures.architectures()
    assert {"bigru", "counter"} <= found.keys() and found["rhn"].summary != "x"
    with pytest.warns(UserWarning):
        assert keras_tagging.load(tmp_path / "model.keras").architecture == "bigru"


def test_an_output_of_several_values(adapted, installed, monkeypatch, tmp_path):
    runs, module = installed.at("runtime"), sys.modules["counter_kind.model"]

    def outputs(cls, about):
        ranked = Output("float", 0.0, ranked=True)
        return {"counts": Output("int32", -1), "scores": ranked}

    def graph(xp, model, top_k):
        def answer(request):
            scores = outputs_of(request, model)
            best = xp.cast(xp.argmax(scores, -1), "int32")
            return {"counts": xp.where(request.real, best, -1), "scores": scores}

        return of_words(xp, model, answer)

    monkeypatch.setattr(runs, "outputs", classmethod(outputs))
    monkeypatch.setattr(module, "graph", graph)
    adapted.export(tmp_path / "model.onnx", format="onnx")
    found = runtime.load(tmp_path / "model.onnx").answer([WORDS], ["counts", "scores"])
    assert np.argmax(found[0]["scores"], -1).tolist() == found[0]["counts"]
