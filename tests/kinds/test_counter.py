"""A kind that is registered in Python walks every road: see docs/architecture.rst."""

import keras
import numpy as np
import pytest
from conftest import reloaded
from keras import ops
from kinds import counter

import keras_tagging
from keras_tagging import Pipeline, Sentence, kinds, runtime
from keras_tagging.kinds import Output

pytestmark = pytest.mark.usefixtures("registered")
WORDS = "the dog barks quickly and a cat sees two houses".split()


def counted(words):
    """A sentence with the number of vowels of each word."""
    vowels = [str(sum(letter in "aeiou" for letter in word)) for word in words]
    return Sentence(words, None, {"vowels": vowels})


GOLD = [counted(WORDS[i:j]) for i in range(10) for j in range(i + 1, 11)]
FEW = [counted(WORDS[i : i + 3]) for i in range(8)]


@pytest.fixture(scope="module")
def registered():
    yield kinds.register(counter.KIND)
    del kinds._KINDS["counter"]


@pytest.fixture(scope="module")
def model(registered):
    model = keras_tagging.build("counter", seed=1)
    model.fit(GOLD, epochs=20, verbose=0)
    return model


@pytest.fixture
def changed(registered, monkeypatch):
    """Function: a model of the kind `counter` whose class has other attributes."""

    def make(**attributes):
        for name, value in attributes.items():
            monkeypatch.setattr(counter.Counter, name, value, raising=False)
        return keras_tagging.build("counter", seed=1)

    return make


def test_it_learns_and_is_saved(model, tmp_path):
    assert "counter" in keras_tagging.available()
    assert model.evaluate(GOLD, return_dict=True) == {"accuracy": 1.0}
    plain = [sentence.tokens for sentence in GOLD]
    assert model.annotate(plain) == list(model.annotate(iter(plain))) == GOLD
    assert model.predict(plain) == GOLD
    assert not model.annotate([[]])[0].columns["vowels"]
    again = reloaded(model, tmp_path)
    assert type(again) is type(model) and again.annotate([WORDS]) == [counted(WORDS)]


def test_it_runs_without_keras(onnx_file):
    loaded = runtime.load(onnx_file)
    assert loaded.kind == "counter"
    assert loaded.annotate([WORDS, []]) == [counted(WORDS), counted([])]
    [row] = loaded.predict_rows([WORDS], ["counts", "scores"])
    assert np.argmax(row["scores"], -1).tolist() == row["counts"]


def test_it_is_a_stage(model, tmp_path):
    pipeline = Pipeline(counter=model)
    assert [*pipeline.annotate(" ".join(WORDS))][0].columns == counted(WORDS).columns
    assert pipeline.columns == ("vowels",)
    pipeline.save(tmp_path / "keras")
    pipeline.export(tmp_path / "onnx", format="onnx")
    for load in (keras_tagging.load, runtime.load):
        folder = tmp_path / ("onnx" if load is runtime.load else "keras")
        assert [*load(folder).annotate([WORDS])] == [counted(WORDS)]


def test_unknown_kinds_are_named(onnx_file, model, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="no kind 'cook': there are tagger, .*counter"):
        kinds.find("cook")
    with pytest.raises(ValueError, match="another kind 'counter': choose"):
        kinds.register(kinds.Kind(name="counter", model="builtins:eval"))
    model.save(tmp_path / "model.keras")
    monkeypatch.delitem(kinds._KINDS, "counter")
    for load, path in (
        (keras_tagging.load, tmp_path / "model.keras"),
        (runtime.load, onnx_file),
    ):
        with pytest.raises(ValueError, match="install the package|holds no tagger"):
            load(path)


def test_the_best_epoch_has_the_least_error(changed):
    errors = iter([0.5, 0.25, 1.0])
    model = changed(
        figures=("error",),
        lower_is_better=("error",),
        evaluator=lambda self, sentences, *calls: lambda: {"error": next(errors)},
    )
    assert model.default_monitor == "val_error"
    seen = {}
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.setdefault(epoch, model.get_weights())
    )
    history = model.fit(FEW, validation_data=FEW, epochs=3, verbose=0, callbacks=[keep])
    assert history.history["val_error"] == [0.5, 0.25, 1.0]
    for value, best in zip(model.get_weights(), seen[1], strict=True):
        np.testing.assert_array_equal(value, best)


def square(self, compiled, y, y_pred, sample_weight):
    error = ops.square(y_pred[..., 0] - ops.cast(y, "float32")) * sample_weight
    return ops.sum(error) / ops.sum(sample_weight)


def test_a_loss_that_is_no_cross_entropy(changed):
    inherited = counter.Counter.objectives

    def objectives(self):
        return {**inherited(self), "weighted_metrics": []}

    model = changed(batch_loss=square, objectives=objectives)
    history = model.fit(FEW, epochs=30, verbose=0).history
    assert set(history) == {"loss", "learning_rate"}
    gold = [[int(n) for n in s.columns["vowels"]] for s in FEW]
    found = [np.asarray(model(model.encode([s]).ids[None]))[0, :, 0] for s in FEW]
    error = np.mean(np.square(np.array(gold) - np.array(found)))
    assert history["loss"][-1] < 0.1 * history["loss"][0] and error < 0.1


def test_a_vocabulary_of_labels_has_any_name(changed, tmp_path):
    model = changed(inventories=("sizes",), count_labels=lambda *_: {"sizes": ["1"]})
    model.adapt(FEW)
    assert model.vocabularies["sizes"] == ["1"] and "1 sizes" in model.size
    assert "sizes" not in model.features.vocabularies
    again = reloaded(model, tmp_path)
    assert again.vocabularies == model.vocabularies


def test_what_cannot_be_learnt(changed):
    with pytest.raises(ValueError, match="no labels in the column 'vowels'"):
        changed().fit([Sentence(WORDS)], epochs=1)


def test_a_file_with_other_outputs(onnx_file, monkeypatch):
    outputs = counter.OnnxCounter.outputs({}) | {"counts": Output("float", -1)}
    wrong = classmethod(lambda cls, about: outputs)
    monkeypatch.setattr(counter.OnnxCounter, "outputs", wrong)
    with pytest.raises(ValueError, match="has other outputs than a counter"):
        runtime.load(onnx_file)
