"""Running the scripts of data_prep as their users do."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "data_prep"


@pytest.fixture
def samples():
    """The folder of real corpora, where there is one."""
    if "KERAS_TAGGING_DATA" not in os.environ:
        pytest.skip("KERAS_TAGGING_DATA is not set")
    return Path(os.environ["KERAS_TAGGING_DATA"])


@pytest.fixture
def run(capsys):
    """`run(script, *arguments)` gives its exit code, output and errors."""

    def run_script(name, *arguments):
        spec = spec_from_file_location(f"data_prep_{name}", FOLDER / f"{name}.py")
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        with pytest.raises(SystemExit) as stopped:
            module.main(list(map(str, arguments)))
        told = capsys.readouterr()
        return stopped.value.code, told.out, told.err

    return run_script


@pytest.fixture
def failing(run, tmp_path):
    """`failing(script, source, *options)` gives its error, which is one line.

    Nothing is printed or written.
    """

    def run_script(name, source, *options):
        code, out, error = run(name, source, tmp_path / "failed", *options)
        assert (code, out) == (1, "") and not (tmp_path / "failed").exists()
        assert error.startswith(f"{name}.py: error: ") and error.count("\n") == 1
        return error

    return run_script
