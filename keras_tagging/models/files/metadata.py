"""The metadata beside every saved model: its origin and its scores."""

import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import keras

PACKAGES = ("keras-tagging", "keras", "tensorflow", "jax", "torch", "numpy", "gensim")


def metadata_path(model_path: Path) -> Path:
    """`metadata.json` beside `model.keras`, else `NAME.metadata.json`."""
    if model_path.stem == "model":
        return model_path.with_name("metadata.json")
    return model_path.with_suffix(".metadata.json")


def write_metadata(model, path: Path, **more) -> None:
    """Write versions, settings, training corpus and scores as JSON, and `more`."""
    config = model.get_config()
    content = {
        "architecture": model.architecture,
        "settings": config["settings"],
        "seed": model.seed,
        **model.metadata,
        "parameters": model.count_params() if model.built else None,
        "backend": keras.backend.backend(),
        "python": platform.python_version(),
        "versions": versions(),
        **more,
    }
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """The versions of the installed packages that results depend on."""
    return {name: version for name in PACKAGES if (version := _version(name))}


@cache  # a run saves after every epoch
def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None
