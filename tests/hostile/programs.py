"""Running the program in this process, on a small corpus."""

import contextlib
import io
import warnings
from unittest import mock

from conftest import WORDS_ONLY, short

from keras_tagging import cli, load_corpus
from keras_tagging.data import Sentence, write

TINY = ["--set", "units=4", "--set", "num_layers=1", "--set", "word_dim=4"]
TINY += ["--epochs", "1"]
for pair in WORDS_ONLY.items():
    TINY += ["--set", "{}={}".format(*pair)]


def program(*args):
    """Runs the program: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(warnings, "formatwarning", warnings.formatwarning),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main([str(arg) for arg in args])
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()
    raise AssertionError("the program did not exit")


def failing(*args):
    """Runs the program into an error and gives its message, which is one line."""
    code, _, err = program(*args)
    assert code == 2, err
    assert err.startswith("keras-tagging: error: ") and err.count("\n") == 1, err
    return err.removeprefix("keras-tagging: error: ").rstrip("\n")


def write_corpus(folder, count=30):
    """A few sentences of the demo corpus, training and development."""
    folder.mkdir()
    corpus = load_corpus("demo")
    for name in ("train", "dev"):
        some = [Sentence(s.tokens, s.tags) for s in short(getattr(corpus, name), count)]
        write(some, folder / f"{name}.conll")
    return folder
