"""The examples of docs/tuning.rst run as printed, but with fewer sentences and small
models."""

from functools import partial

import pytest
from conftest import WORDS_ONLY, short
from pages import examples
from ray_clusters import cluster

import keras_tagging

WITH_KERAS_TUNER, WITH_RAY_TUNE = examples("tuning")


@pytest.fixture
def names(monkeypatch, tmp_path):
    """Where an example runs: an empty folder, and a small corpus."""
    monkeypatch.chdir(tmp_path)
    corpus = keras_tagging.load_corpus("demo")
    corpus.train, corpus.dev = short(corpus.train, 12), short(corpus.dev, 8)
    monkeypatch.setattr(keras_tagging, "load_corpus", lambda name: corpus)
    return {"keras_tagging": keras_tagging}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the tuner's own code
def test_keras_tuner_loads_the_best_model(names, eager, monkeypatch, capsys):
    small = {"num_layers": 1, "word_dim": 4, **WORDS_ONLY}
    build = partial(keras_tagging.build, **small)
    monkeypatch.setattr(keras_tagging, "build", build)
    code = WITH_KERAS_TUNER.replace("max_trials=3", "max_trials=2")
    exec(code.replace("epochs=2", "epochs=1"), names)
    [trial] = names["tuner"].oracle.get_best_trials(1)
    dev = names["corpus"].dev
    scores = names["best"].evaluate(dev, return_dict=True)
    assert scores["accuracy"] == pytest.approx(trial.score)
    again = keras_tagging.load("best.keras")
    assert again.settings["units"] == trial.hyperparameters["units"]
    assert again.evaluate(dev, return_dict=True) == scores


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_tune_finds_settings(names, monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_TRAIN_ENABLE_V2_MIGRATION_WARNINGS", "0")
    with cluster():
        storage = f'run_config=tune.RunConfig(storage_path="{tmp_path}", verbose=0),'
        code = WITH_RAY_TUNE.replace("trial,\n", f"trial,\n    {storage}\n", 1)
        code = code.replace("corpus.train,", "corpus.train[:12],")
        code = code.replace("=corpus.dev,", "=corpus.dev[:8],")
        # graphs take longer to make than to use once
        eager = "import keras, tensorflow\n    "
        eager += "tensorflow.config.run_functions_eagerly(True)\n"
        code = code.replace("import keras\n", eager, 1)
        # one after the other in one process, which imports TensorFlow once
        shared = "num_samples=2, max_concurrent_trials=1, reuse_actors=True"
        code = code.replace("num_samples=3", shared)
        exec(code, names)
    assert names["settings"]["units"] in (16, 32)
    assert names["best"].settings["units"] == names["settings"]["units"]
