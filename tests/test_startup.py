"""What is imported when: Keras and TensorFlow take seconds, so only what needs them."""

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import walk_packages

import pytest

import keras_tagging
from keras_tagging import cli
from keras_tagging.data.surface import Surface
from keras_tagging.pipelines import pipeline
from keras_tagging.utils import startup
from keras_tagging.utils.registration import CLASSES

ROOT = Path(__file__).parents[1]
HEAVY = ("keras", "tensorflow", "jax", "torch", "gensim", "sklearn", "pandas")


# What needs no network: code, and the arguments of the program
PACKAGE = (
    "import keras_tagging as kt; kt.available(); kt.load_corpus; dir(kt); "
    "[kt.cells, kt.data, kt.layers, kt.metrics, kt.models, kt.training, kt.vectors]; "
    "[kt.SoftTargets, kt.models.distillation]; "
    "[kt.pipelines.load, kt.pipelines.Pipeline, kt.pipelines.PipelinePlan]"
)
LIGHT = [
    ("--help",),
    ("train", "--help"),
    ("analyse", "--help"),
    ("compare", "--help"),
    ("serve", "--help"),
    ("annotate", "--help"),
    ("list",),
    ("list", "lstm-parser"),
    ("corpora",),
    ("describe", "demo"),
    ("reproduce",),
    ("reproduce", "wu2017"),
]
# One process does all of it, and notes what is imported after each.
DO_ALL = """
import json, sys
from pathlib import Path

folder, steps = Path(sys.argv[1]), json.loads(sys.argv[2])
for number, step in enumerate(steps):
    if isinstance(step, str):
        exec(step)
    else:
        from keras_tagging.cli import main
        try:
            main(step)
        except SystemExit as end:
            assert not end.code, (step, end.code)
    (folder / f"{number}.json").write_text(json.dumps(list(sys.modules)))
"""


def processed(steps, folder):
    """The heavy packages after each step, and what the process printed."""
    command = [sys.executable, "-c", DO_ALL, folder, json.dumps(steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    notes = [folder / f"{number}.json" for number in range(len(steps))]
    modules = [set(json.loads(note.read_text())) for note in notes]
    return [names & {*HEAVY} for names in modules], (done.stdout, done.stderr)


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The heavy packages that each of what needs no network adds."""
    steps = [PACKAGE, *LIGHT]
    after, _ = processed(steps, tmp_path_factory.mktemp("steps"))
    before = [set(), *after]
    added = (b - a for a, b in zip(before, after, strict=False))
    return dict(zip(steps, added, strict=True))


@pytest.mark.parametrize(
    "step", [PACKAGE, *LIGHT], ids=["the package", *map(" ".join, LIGHT)]
)
def test_what_needs_no_network_imports_none(step, imported):
    assert imported[step] == set()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A tagger as a `.keras` file, and a pipeline of ONNX files."""
    model = keras_tagging.build("bigru", units=2, word_dim=2, num_layers=1, seed=1)
    model.adapt(keras_tagging.load_corpus("demo").train[:9])
    files = [tmp_path_factory.mktemp("saved") / name for name in ("m.keras", "served")]
    model.save(files[0])
    segmenter = keras_tagging.build("segmenter", units=2, character_dim=2, seed=1)
    surface = Surface("a b", [(0, 1), (2, 3)], [1, 1])
    segmenter.adapt([keras_tagging.Sentence(["a", "b"], surface=surface)])
    keras_tagging.Pipeline(segmenter, model).export(files[1], format="onnx")
    return [str(file) for file in files]


TAG = "print(type(model).__name__, len(model.tag([['a', 'b']])[0]))"


@pytest.fixture(scope="module")
def with_keras(saved, tmp_path_factory):
    """The heavy packages by what has been done, and what one process printed.

    Names of the documentation that need no Keras come first, those that may come last.
    """
    names = sorted(printed_names(), key=lambda name: name.split(".")[1] in WITH_KERAS)
    light = sum(name.split(".")[1] not in WITH_KERAS for name in names)
    steps = ["import keras_tagging", *names[:light], "keras_tagging.GRUCell"]
    steps += [
        "assert 'keras_tagging.models.tagger' not in sys.modules",
        f"import keras; model = keras.saving.load_model({saved[0]!r})",
        "keras_tagging.build('bigru', units=2)",
        # TensorFlow tells of its kernels, once it computes
        f"import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 2); {TAG}",
    ]
    steps += names[light:]
    after, printed = processed(steps, tmp_path_factory.mktemp("with_keras"))
    return dict(zip(steps, after, strict=True)), names, printed


def test_what_needs_keras_imports_it_and_is_quiet(with_keras):
    """It imports them: else the tests above could not fail.

    Then Keras, which is not the first, loads one of our models.
    """
    after, _, printed = with_keras
    assert {"keras", "tensorflow"} <= after["keras_tagging.GRUCell"]
    assert printed == ("Tagger 2\n", "")


def test_names_that_the_documentation_prints(with_keras):
    """In a new process, where no test has imported a sub-package before."""
    after, names, _ = with_keras
    assert "keras_tagging.vectors.coverage" in names and len(names) > 40
    light = [name for name in names if name.split(".")[1] not in WITH_KERAS]
    assert len(light) > 9 and after[light[-1]] == set()
    assert "keras" in after[names[-1]]


def test_the_program_imports_what_a_command_needs(saved, tmp_path):
    """Keras would import scikit-learn and pandas: `tag` needs none, `evaluate` both.

    A pipeline of ONNX files does not even need Keras.
    """
    words, corpus = tmp_path / "words.txt", tmp_path / "corpus.conll"
    words.write_text("a b\n")
    corpus.write_text("a\tX\nb\tY\n")
    evaluate = ["evaluate", saved[0], "--corpus", str(corpus), "--per-tag"]
    library = f"import keras_tagging as kt; kt.Pipeline.load({saved[1]!r})"
    annotate = ["annotate", saved[1], str(words)]
    steps = [library, annotate, ["tag", saved[0], str(words)], evaluate]
    after, (out, _) = processed(steps, tmp_path)
    assert after[:2] == [set(), set()]
    assert "keras" in after[2] and not after[2] & {"sklearn", "pandas"}
    assert {"keras", "sklearn", "pandas"} <= after[3]
    assert "precision" in out


def test_the_line_that_installs_an_extra(monkeypatch):
    """The packages by name: no index need have this one."""
    rows = ['a>=1; extra == "x"', "keras-tagging[x,y]; extra == 'z'", "b"]
    rows += ['c[d]<2; extra == "y"', 'e; extra == "z"']
    monkeypatch.setattr(metadata, "requires", lambda name: rows)
    assert startup.install_line("z") == "pip install 'a>=1' 'c[d]<2' 'e'"

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    line = "pip install '.[z]'    # in the clone of keras_tagging"
    assert startup.install_line("z") == line


def test_without_tensorflow_it_says_so(saved, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "tensorflow")
    monkeypatch.setattr(startup, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        cli.main(["tag", saved[0]])
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("keras-tagging: error: TensorFlow is not installed, and")
    assert told.count("\n") == 1
    with pytest.raises(SystemExit):  # what is no model would need nothing
        cli.main(["tag", "no/model"])
    assert "no/model: no such model" in capsys.readouterr().err


def test_the_program_needs_no_docstrings():
    command = [sys.executable, "-OO", "-m", "keras_tagging", "list"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "bigru" in done.stdout
    done = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert "Options:" in done.stdout and "Example:" not in done.stdout


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_layers_alone_need_the_backend_alone(backend, monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    monkeypatch.setattr(startup, "find_spec", lambda name: None)
    monkeypatch.setenv("KERAS_BACKEND", backend)
    wanted = nullcontext()
    if backend == "tensorflow":
        wanted = pytest.raises(ImportError, match="TensorFlow is not installed")
    with wanted:
        startup.start_keras(layers_alone=True)
    for name in ("Tagger", "build"):
        with pytest.raises(ImportError, match="TensorFlow is not installed"):
            keras_tagging.models.__getattr__(name)


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


WITH_KERAS = ("cells", "layers", "models", "pipelines", "training")


@pytest.mark.one_backend
@pytest.mark.parametrize("room", WITH_KERAS)
def test_rooms_start_keras_quietly(room, monkeypatch):
    """`start_keras` goes before what imports Keras, and before nothing else."""
    started = []
    monkeypatch.setattr(startup, "start_keras", lambda **_: started.append(1))
    found = import_module(f"keras_tagging.{room}")
    for name in found.__all__:
        started.clear()
        assert found.__getattr__(name) is not None
        assert bool(started) == (f"kt.{room}.{name}" not in PACKAGE)
    with pytest.raises(AttributeError):
        found.nothing  # noqa: B018


@pytest.mark.parametrize(("given", "found"), [(None, "1"), ("0", "0")])
def test_tensorflow_uses_one_dnn_if_the_user_does_not_object(given, found, monkeypatch):
    name = "TF_ENABLE_ONEDNN_OPTS"
    monkeypatch.setenv(name, "")
    monkeypatch.delenv(name)
    if given:
        monkeypatch.setenv(name, given)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.setattr(startup, "find_spec", lambda name: None)  # not imported again
    with pytest.raises(ImportError):
        startup.start_keras()
    assert os.environ[name] == found


@pytest.mark.one_backend
def test_a_pipeline_starts_keras_quietly(monkeypatch):
    started = []
    monkeypatch.setattr(pipeline, "start_keras", lambda: started.append(1))
    folder = Path(__file__).parent / "fixtures" / "v0_2"
    keras_tagging.Pipeline.load(folder / "onnx-pipeline")
    assert not started
    keras_tagging.Pipeline.load(folder / "pipeline")
    assert started


def printed_names():
    """What the documentation prints as `keras_tagging.X.Y`, or refers to by it.

    Longer names are those of modules: only where they stand in code, not in a role,
    are they ones that a reader may type.
    """
    pages = [ROOT / "README.rst", *(ROOT / "docs").rglob("*.rst")]
    text = "\n".join(page.read_text() for page in pages)
    text = re.sub(r"^\.\. \w+:: .*|:mod:`.*?`|^ *from .*", "", text, flags=re.M)
    roles = re.findall(r":[\w:]+:`~?(keras_tagging\.\w+\.\w+)`", text)
    code = re.sub(r":[\w:]+:`.*?`", "", text, flags=re.DOTALL)
    return sorted({*roles, *re.findall(r"\bkeras_tagging(?:\.\w+){2,}", code)})


def test_dir_lists_the_sub_packages():
    rooms = {"cells", "data", "layers", "metrics", "papers", "runtime", "vectors"}
    assert rooms | set(keras_tagging.__all__) <= set(dir(keras_tagging))
    assert not rooms & set(keras_tagging.__all__)  # `import *` leaves them alone
    for name in rooms:
        assert getattr(keras_tagging, name).__name__.endswith(name)
