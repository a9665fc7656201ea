"""Options from a TOML file, and those that every command has."""

import importlib.metadata
import logging

import pytest

from keras_tagging.cli.options import items


def test_training_takes_the_options_of_a_file(program, tmp_path, built):
    """Those of the command line count more; --set is that of both."""
    path, out = tmp_path / "run.toml", tmp_path / "run"
    corpus = tmp_path / "corpus.conll"
    corpus.write_text("a\tX\nb\tY\n\n" * 20)
    path.write_text(
        f'arch = "bigru"\ncorpus = "{corpus}"\nout = "{out}"\nepochs = 3\n'
        "dev_share = 0.1\n[set]\nunits = 16\nnum_layers = 1\n"
        "word_dim = 8\n"
    )
    args = ["--epochs", 1, "--set", "units=4", "--quiet"]
    code, printed, err = program("train", "--config", path, *args)
    assert code == 0 and "keras-tagging" not in err  # TensorFlow may say something
    assert printed == ""
    [(model, options)] = built
    assert options["epochs"] == 1
    assert model.settings["units"] == 4 and model.settings["num_layers"] == 1


@pytest.mark.parametrize(
    "text, part",
    [
        ("epoch = 3", "unknown option 'epoch'; did you mean 'epochs'?"),
        ('config = "other.toml"', "unknown option 'config'"),
        ("epochs = [1, 2]", "epochs has a single value, not [1, 2]"),
        ("epochs = ", "Invalid value (at end of document)"),
        (None, "No such file or directory"),
    ],
)
def test_a_wrong_file_is_named(failing, tmp_path, text, part):
    path = tmp_path / "run.toml"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    error = failing("train", "--config", path)
    assert f"{path}: " in error and part in error


def test_tables_are_settings():
    table = {"units": 200, "tagger": {"epochs": 5, "deep": {"er": [1, "a"]}}, "b": True}
    expected = ["units=200", "tagger.epochs=5", "tagger.deep.er=[1, 'a']", "b=True"]
    assert list(items(table)) == expected
    assert list(items(["a=1"])) == list(items("a=1")) == ["a=1"]


def test_version(silently):
    printed = silently("--version")
    version = importlib.metadata.version("keras-tagging")
    assert printed.startswith(f"keras-tagging {version} (Python 3.")
    assert "keras 3." in printed


def test_quiet_and_the_log(program, tmp_path):
    path = tmp_path / "a"
    path.write_text("a\tX\n\n")
    run = tmp_path / "none"
    what = "is read as"
    assert what in program("tag", run, path)[2]
    assert what not in program("tag", run, path, "-q")[2]
    assert "no such model" in program("tag", run, path, "-q")[2]
    log = logging.getLogger("keras_tagging")
    try:
        assert program("models", "--log-level", "debug")[0] == 0
        assert log.level == logging.DEBUG and len(log.handlers) == 1
        message = program("models", "--log-level", "loud")[2]
        assert "Invalid value for '--log-level': 'loud' is not one of" in message
    finally:
        log.handlers.clear()
        log.setLevel(logging.NOTSET)
