"""Running the program, and what it has trained."""

import io
import os
import signal
import subprocess
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import WORDS_ONLY, computing_once, made_once, short
from hostile.programs import program as run_here

import keras_tagging
from keras_tagging import cli, load_corpus
from keras_tagging.data import Sentence, write

SIZES = {"units": 16, "num_layers": 1, "batch_size": 16, **WORDS_ONLY}
TINY = [part for pair in SIZES.items() for part in ("--set", "{}={}".format(*pair))]


@pytest.fixture
def program_bytes(capfdbinary, monkeypatch):
    """Runs the program here: exit code, standard output, standard error."""

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)

    def run(*args, stdin=b""):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), "utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.main([str(arg) for arg in args])
        return caught.value.code, *capfdbinary.readouterr()

    return run


@pytest.fixture
def program(program_bytes):
    """The same with text."""

    def run(*args, stdin=""):
        code, out, err = program_bytes(*args, stdin=stdin.encode())
        return code, out.decode(), err.decode()

    return run


@pytest.fixture
def failing(program):
    """Runs the program into an error and gives its message."""

    def run(*args, **kwargs):
        code, out, err = program(*args, **kwargs)
        assert code == 2
        err = err.removeprefix(recognised(err))
        assert err.startswith("keras-tagging: error: ")
        assert err.count("\n") == 1
        return err

    return run


def recognised(err):
    """The line that says as what a file is read."""
    first, _, _ = err.partition("\n")
    return f"{first}\n" if first.endswith("; use --format to change this") else ""


@pytest.fixture
def start():
    """Starts the program, or some code, in a process of its own."""

    def run(*args, code=None, **kwargs):
        what = ["-c", code] if code else ["-m", "keras_tagging"]
        # TensorFlow in this process has set its own variables
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, *what, *map(str, args)]
        # a shell that runs these tests in the background has them ignore interrupts
        kwargs["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        return subprocess.Popen(command, env=env, text=True, **pipes, **kwargs)

    return run


@pytest.fixture(scope="session")
def tiny():
    """Settings of a small tagger."""
    return TINY


@pytest.fixture(scope="session")
def corpus_dir(tmp_path_factory):
    def make(folder):
        for name, sentences in load_corpus("demo").splits():
            count = 30 if name == "train" else 12
            some = short(sentences, count)  # those of test have unknown tags
            if name != "test":
                some = sorted(short(sentences, 150), key=len)[:count]
            sentences = [Sentence(s.tokens, s.tags) for s in some]
            write(sentences, folder / f"{name}.conll")

    return made_once("corpus", make, tmp_path_factory)


@pytest.fixture(scope="session")
def silently():
    """Runs the program, which must succeed, and gives what it printed."""

    def run(*args):
        code, out, err = run_here(*args)
        assert code == 0, err
        return out

    return run


@pytest.fixture(scope="session")
def trained(corpus_dir, tmp_path_factory, silently):
    """A folder with a tagger, and what `train` printed."""

    def make(folder):
        args = ["--corpus", corpus_dir, "--out", folder / "tiny", "--epochs", 2]
        printed = silently("train", "bigru", *args, "--tensorboard", *TINY)
        (folder / "printed").write_text(printed, "utf-8")

    folder = made_once("run", make, tmp_path_factory)
    return folder / "tiny", (folder / "printed").read_text("utf-8")


@pytest.fixture
def run_dir(trained):
    return trained[0]


@pytest.fixture(scope="session")
def loaded_models():
    """Models by the file that they come from."""
    with ExitStack() as stack:
        yield {}, stack


@pytest.fixture
def loaded_once(loaded_models, monkeypatch):
    """The program loads no model twice, nor computes a batch: tests of models do."""
    models, stack = loaded_models
    load = keras_tagging.load

    def once(path):
        path = Path(path)
        files = path, path / "model.keras", path / "pipeline.json"
        file = next(filter(Path.is_file, files), None)
        if file is None:
            return load(path)
        key = file, file.stat().st_mtime_ns
        if key not in models:
            model = load(path)
            for part in getattr(model, "parts", {"": model}).values():
                stack.enter_context(computing_once(part))
            models[key] = model, getattr(model, "beam_width", None)
        model, width = models[key]
        if width is not None:
            model.beam_width = width  # a command may have set another
        return model

    monkeypatch.setattr(keras_tagging, "load", once)


@pytest.fixture
def built(monkeypatch):
    """The models that `train` would train, each with the options of its training."""
    calls = []

    def train_run(model, data, out, **options):
        calls.append((model, options))

    where = "keras_tagging.models.files.run_folder.train_run"
    monkeypatch.setattr(where, train_run)
    return calls
