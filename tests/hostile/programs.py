"""Running the program in this process."""

import contextlib
import io
import warnings
from unittest import mock

from conftest import WORDS_ONLY

from keras_tagging import cli

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
