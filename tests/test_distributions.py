"""The package and the models as distributions: built, checked, installed, used."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODELS = sorted(path.parent for path in ROOT.glob("models/*/pyproject.toml"))
ENGLISH = ROOT / "models" / "en"  # packed in CI too
TREE = "".join(
    line.replace(" ", "\t") + "\n"
    for line in (
        "1 Dogs dog NOUN NNS Number=Plur 2 nsubj _ _",
        "2 sleep sleep VERB VBP _ 0 root _ SpaceAfter=No",
        "3 . . PUNCT . _ 2 punct _ _",
        "",
    )
)
# Of a process that knows nothing of our environment: pip takes a checkout on PYTHONPATH
# for an installed package.
HIDDEN = ("KERAS_TAGGING_DATA", "KERAS_BACKEND", "PYTHONPATH")
ALONE = {name: value for name, value in os.environ.items() if name not in HIDDEN}
TEXT = "Don't panic! Ms. Smith bought 3 books, for $10 each. She'll read them."


def run(*command, **options):
    command = list(map(str, command))
    options = {"env": ALONE, "capture_output": True, "text": True, **options}
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(dist, tmp_path_factory, *sources, options=()):
    """Adds a wheel and a source archive of each to the folder."""
    for source in sources:
        # of a copy: the build leaves folders behind
        copy = tmp_path_factory.mktemp("source") / source.name
        tracked = run("git", "ls-files", "-z", ".", cwd=source).split("\0")
        for name in filter(None, tracked):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((source / name).read_bytes())
        command = [sys.executable, "-m", "build", "--no-isolation", *options]
        run(*command, "--outdir", dist, copy)
    return dist


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of the wheel and the source archive of the package."""
    return build(tmp_path_factory.mktemp("package"), tmp_path_factory, ROOT)


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    """The folder of the wheel of the model `en`."""
    folder = tmp_path_factory.mktemp("english")
    return build(folder, tmp_path_factory, ENGLISH, options=["--wheel"])


@pytest.fixture(scope="module")
def built(package, tmp_path_factory):
    """That of the package with those of the models, which take seconds to pack."""
    dist = shutil.copytree(package, tmp_path_factory.mktemp("dist") / "all")
    return build(dist, tmp_path_factory, *MODELS)


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """The interpreter of an environment that has the wheels, and what they need."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    paths = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    wheels = sorted(built.glob("*.whl"))
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", site]
    run(sys.executable, "-m", "pip", *install, *wheels)
    # the dependencies, not the package, which the wheels bring
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


PACKED = pytest.param("built", 1 + len(MODELS), marks=pytest.mark.slow)


@pytest.mark.parametrize("fixture, number", [("package", 1), PACKED])
def test_what_is_built_passes_the_checks_of_an_index(fixture, number, request):
    files = sorted(request.getfixturevalue(fixture).iterdir())
    assert len(files) == 2 * number
    told = run(sys.executable, "-m", "twine", "check", "--strict", *files)
    assert told.count("PASSED") == len(files)


def test_the_package_has_its_data_and_nothing_else(package):
    [wheel] = package.glob("keras_tagging-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top.split("-")[0] for top in tops} == {"keras_tagging"}
    files = ("page.html", "page.js", "public.toml", "wu2016.json", "py.typed")
    for name in (*files, "cells/__init__.pyi", "models/factory.pyi"):
        assert any(other.endswith(f"/{name}") for other in names)
    [archive] = package.glob("keras_tagging-*.tar.gz")
    with tarfile.open(archive) as members:
        held = {name.partition("/")[2] for name in members.getnames()}
    assert {"LICENSE", "README.rst", "setup.cfg"} <= held
    assert {"data_prep/atis.py", "data_prep/preparing/archives.py"} <= held


@pytest.mark.parametrize(
    "fixture, model",
    [
        pytest.param(
            *(("english", path) if path == ENGLISH else ("built", path)),
            marks=() if path == ENGLISH else pytest.mark.slow,
            id=path.name,
        )
        for path in MODELS
    ],
)
def test_a_model_names_its_licence_and_holds_no_corpus(fixture, model, request):
    about = json.loads((model / "about.json").read_text("utf-8"))
    [wheel] = request.getfixturevalue(fixture).glob(f"{about['package']}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for form, suffix in (("/model/", ".keras"), ("/onnx/", ".onnx")):
        held = {Path(name).suffix for name in names if form in name}
        # forms of words are looked up where no network reads their characters
        words = {".npz"} if form == "/onnx/" and model.name != "fr" else set()
        assert held == {".json", suffix} | words
    card = json.loads((model / about["package"] / "card.json").read_text("utf-8"))
    assert card["licence"] == about["licence"] and card["figures"]["test"]
    assert about["licence"] in (model / "README.rst").read_text("utf-8")
    assert wheel.stat().st_size < 27e6  # both forms


# One process loads all models, as TensorFlow takes seconds to start.
ANNOTATE = """
import json, sys, keras_tagging

room, text, *names = sys.argv[1:]
load = keras_tagging.load if room == "keras" else keras_tagging.runtime.load
found = {name: list(load(name).annotate(text)) for name in names}
found = {
    name: [[s.tokens, [s.tags, *s.columns.values()]] for s in sentences]
    for name, sentences in found.items()
}
print(json.dumps([keras_tagging.__file__, found]))
"""


@pytest.fixture(scope="module")
def annotated(python, tmp_path_factory):
    """Where there is no training data, and nothing but the wheels: the sentences of
    each model by its name."""
    empty = tmp_path_factory.mktemp("empty")
    listed = run(python, "-m", "keras_tagging", "models", cwd=empty).split()
    assert {model.name for model in MODELS} <= set(listed)
    return sentences_of(python, "keras", empty)


def sentences_of(python, room, folder):
    arguments = [room, TEXT, *(model.name for model in MODELS)]
    told = run(python, "-c", ANNOTATE, *arguments, cwd=folder).splitlines()[-1]
    file, found = json.loads(told)
    assert not Path(file).is_relative_to(ROOT)
    return found


@pytest.mark.slow  # an installed model annotates in `make demo` too
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
def test_an_installed_model_annotates_raw_text(model, annotated):
    sentences = annotated[model.name]
    tokens = [token for tokens, _ in sentences for token in tokens]
    assert "".join(tokens) == TEXT.replace(" ", "")
    for tokens, columns in sentences:
        assert any(columns)
        for values in filter(None, columns):
            assert len(values) == len(tokens) and all(values)


@pytest.fixture(scope="module")
def small(package, english, tmp_path_factory):
    """The programs of an environment that has only `requirements-runtime.txt`, and the
    model `en`."""
    folder = tmp_path_factory.mktemp("small")
    venv.create(folder, with_pip=False)
    site = sysconfig.get_path("purelib", vars={"base": str(folder)})
    pins = (ROOT / "requirements-runtime.txt").read_text("utf-8")
    for name, version in re.findall("^([^#\n]+)==(.+)$", pins, re.M):
        found = metadata.distribution(name)  # which pip would take long to install
        assert found.version == version, f"{name} is not that of constraints.txt"
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            source = Path(found.locate_file(top))
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, Path(site) / top)
    install(folder / "bin", *package.glob("*.whl"), *english.glob("*.whl"))
    return folder / "bin"


def install(programs, *wanted):
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", *wanted)


COMMANDS = """
import sys
from keras_tagging.cli import main
sys.stderr = sys.stdout
for line in sys.argv[1:]:
    try: main(line.split())
    except SystemExit as end: print("exit", end.code)
"""


def test_models_run_without_tensorflow(small, tmp_path):
    """As docs/export.rst says."""
    files = [path for path in small.parent.rglob("*") if path.is_file()]
    assert 50e6 < sum(path.stat().st_size for path in files) < 250e6
    program = small / "keras-tagging"
    options = {"input": TEXT, "cwd": tmp_path}
    told = run(program, "annotate", "en", "--output", "text", **options)
    assert told.startswith("Do|AUX n't|PART panic|VERB")
    (tmp_path / "two.conllu").write_text(TREE, "utf-8")
    onnx = next(small.parent.rglob("keras_tagging_en/onnx/parser.onnx"))
    lines = ["evaluate en --corpus two.conllu", "corpora"]
    lines += [f"evaluate {onnx} --corpus two.conllu", "export en served"]
    told = run(small / "python", "-c", COMMANDS, *lines, cwd=tmp_path)
    whole, corpora, parser, error, _ = re.split("exit ([02])\n", told)[::2]
    assert re.findall("exit (.)\n", told) == ["0", "0", "2", "2"]
    assert "Words      100.00" in whole and "LAS " in whole
    assert "ud-en-ewt" in corpora and "Downloads are kept in" in corpora
    assert "sentence 1 has no labels in the column 'ner'" in parser
    assert "TensorFlow is not installed, and this needs it" in error
    command = [program, "serve", "en", "--port", "0"]
    options = {"stdout": subprocess.PIPE, "env": ALONE, "cwd": tmp_path}
    with subprocess.Popen(command, **options) as service:
        started = service.stdout.readline()
        service.terminate()
    assert started.startswith(b"Serving en at http://127.0.0.1")


@pytest.mark.slow  # a process that loads TensorFlow
def test_onnx_files_of_models_give_what_their_models_do(
    small, built, annotated, tmp_path
):
    install(small, "--force-reinstall", *built.glob("*.whl"))
    found = sentences_of(small / "python", "runtime", tmp_path)
    assert found == annotated
