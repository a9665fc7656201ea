"""What is imported when: Keras and TensorFlow take seconds, so only what needs them."""

import json
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import keras_tagging
from keras_tagging.utils.registration import CLASSES

HEAVY = ("keras", "tensorflow", "jax", "torch", "gensim", "sklearn")


def imported(code, tmp_path):
    """The heavy packages that a process has imported in the end."""
    told = tmp_path / "modules.json"
    code += (
        "\nimport json, sys; from pathlib import Path; "
        f"Path({str(told)!r}).write_text(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name for name in json.loads(told.read_text()) if name in HEAVY}


def run(*arguments):
    return (
        "from keras_tagging.cli import main\n"
        f"try: main({list(map(str, arguments))})\n"
        "except SystemExit as end: assert not end.code, end.code"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("train", "--help"),
        ("analyse", "--help"),
        ("serve", "--help"),
        ("annotate", "--help"),
        ("list",),
        ("list", "lstm-parser"),
        ("corpora",),
        ("describe", "demo"),
        ("reproduce",),
        ("reproduce", "wu2017"),
    ],
    ids=" ".join,
)
def test_what_needs_no_network_imports_none(arguments, tmp_path):
    assert imported(run(*arguments), tmp_path) == set()


def test_importing_the_package_imports_none_of_them(tmp_path):
    code = "import keras_tagging as kt; kt.available(); kt.load_corpus; dir(kt)"
    assert imported(code, tmp_path) == set()


def test_what_needs_keras_imports_it(tmp_path):
    """Else the tests above could not fail."""
    found = imported("import keras_tagging; keras_tagging.GRUCell", tmp_path)
    assert {"keras", "tensorflow"} <= found


def test_tensorflow_is_quiet():
    code = "import keras_tagging as kt; kt.build('bigru', units=2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    "imports", ["import keras, keras_tagging", "import keras_tagging, keras"]
)
def test_keras_loads_our_models_whichever_comes_first(imports, tmp_path):
    model = keras_tagging.build("bigru", units=2, word_dim=2, num_layers=1, seed=1)
    model.adapt(keras_tagging.load_corpus("demo").train[:9])
    model.save(tmp_path / "m.keras")
    code = (
        f"{imports}; model = keras.saving.load_model({str(tmp_path / 'm.keras')!r}); "
        "print(type(model).__name__, len(model.tag([['a', 'b']])[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["Tagger", "2"], done.stderr


def test_every_registered_class_has_a_stand_in():
    import keras

    for module in walk_packages(keras_tagging.__path__, "keras_tagging."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    known = keras.saving.get_custom_objects()
    ours = {name.split(">")[1] for name in known if name.startswith("keras_tagging>")}
    assert ours == set(CLASSES)
    for name, module in CLASSES.items():
        found = getattr(import_module(f"keras_tagging.{module}"), name)
        assert keras.saving.get_registered_name(found) == f"keras_tagging>{name}"


def test_the_names_of_the_package_are_there():
    for name in keras_tagging.__all__:
        assert getattr(keras_tagging, name) is not None
    assert keras_tagging.__version__
    with pytest.raises(AttributeError):
        keras_tagging.nothing  # noqa: B018
