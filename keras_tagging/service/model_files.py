"""The models of a service: names and ONNX files."""

import os
import re
import subprocess
import sys
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def named(arguments: list[str]) -> dict[str, Path]:
    """Paths by the name of the model.

    Args:
        arguments: each a path, or NAME=PATH. The name of a path alone is its stem.

    Raises:
        ValueError: for a name that is no part of an address, or is given twice, or a
            path that does not exist.
    """
    found = {}
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
        if name in found:
            raise ValueError(
                f"{found[name]} and {path} would both be called {name}: give one of "
                "them another name, NAME=PATH"
            )
        if not path.exists():
            raise ValueError(f"{path}: no such file or folder")
        if (path / "pipeline.json").is_file():
            raise ValueError(
                f"{path} holds a pipeline, whose models are served one by one: give "
                "the tagger.onnx or parser.onnx that keras-tagging export --onnx writes"
            )
        found[name] = path
    return found


def as_onnx(name: str, path: Path, folder: Path) -> Path:
    """The ONNX file of a model, exported into the folder if it is none.

    Only that needs TensorFlow, in a process of its own.

    Raises:
        ValueError: if it cannot be exported; with the remedy.
    """
    if path.suffix == ".onnx":
        return path
    made = folder / f"{name}.onnx"
    command = [sys.executable, "-m", "keras_tagging", "export", str(path), str(made)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        *_, last = done.stderr.strip().splitlines() or ["it told nothing"]
        reason = last.partition("error: ")[2] or last
        raise ValueError(
            f"{path} could not be exported as ONNX, which is what is served: "
            f"{reason.rstrip('.')}. Where TensorFlow is, keras-tagging export {path} "
            f"{name}.onnx does it, and keras-tagging serve {name}.onnx needs none"
        )
    return made
