"""The models of a service: names and ONNX files."""

import os
import re
import subprocess
import sys
from pathlib import Path

from keras_tagging.runtime.folder import PIPELINE, is_onnx
from keras_tagging.utils.named_models import find_model

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def named(arguments: list[str]) -> dict[str, Path]:
    """Paths by the name of the model.

    Args:
        arguments: each a path or the name of an installed model, or NAME=PATH. The
            name of a path alone is its stem.

    Raises:
        ValueError: for a name that is no part of an address, or is given twice, or
            what does not exist.
    """
    paths = {}
    for argument in arguments:
        name, separator, path = argument.partition("=")
        if not separator or os.path.exists(argument):
            path = Path(argument)
            name = path.stem if path.suffix in (".onnx", ".keras") else path.name
            name = name or path.resolve().name
        path = Path(path)
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a model: give NAME={path}, with "
                "letters, digits, '.', '_' and '-'"
            )
        if name in paths:
            raise ValueError(
                f"{paths[name]} and {path} would both be called {name}: give one of "
                "them another name, NAME=PATH"
            )
        if not (path := find_model(path, to_run=True)).exists():
            raise ValueError(f"{path}: no such file or folder")
        paths[name] = path
    return paths


def as_onnx(name: str, path: Path, folder: Path) -> Path:
    """The ONNX file of a model, or folder of a pipeline, exported if it is none.

    Only that needs TensorFlow, in a process of its own.

    Raises:
        ValueError: if it cannot be exported; with the remedy.
    """
    if is_onnx(path):
        return path
    whole = (path / PIPELINE).is_file()
    made = folder / (name if whole else f"{name}.onnx")
    command = [sys.executable, "-m", "keras_tagging", "export", str(path), str(made)]
    command += ["--onnx"] * whole
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:  # it says why
        raise ValueError(f"{path} could not be exported as ONNX, which is served")
    return made
