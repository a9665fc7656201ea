"""The folder of a pipeline: its models, and a file that says which they are."""

import hashlib
from pathlib import Path

from keras_tagging.runtime.pipeline import PARTS
from keras_tagging.utils.stored import read_object

#: says that a folder holds a pipeline, and of which models
PIPELINE = "pipeline.json"
FORMAT = 1
SUFFIXES = {"keras": ".keras", "onnx": ".onnx"}
REMEDY = "copy the folder again from where it was saved"


def content_of(folder: Path) -> dict:
    """What `pipeline.json` says: "files", "parts" by name, and "metadata".

    Raises:
        ValueError: if there is no such file, or it is damaged.
        OSError: if it cannot be opened.
    """
    path = folder / PIPELINE
    if not path.is_file():
        raise ValueError(
            f"{folder}: holds no pipeline, as {PIPELINE} is missing: {REMEDY}"
        )
    content = read_object(path, REMEDY)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path}: has the format {str(content.get('format'))[:20]!r}, and this "
            f"version reads {FORMAT}: update keras-tagging"
        )
    content.setdefault("files", "keras")  # earlier files lack it
    parts, metadata = content.get("parts"), content.get("metadata")
    named = isinstance(parts, dict) and parts and set(parts) <= set(PARTS)
    if not named or content["files"] not in [*SUFFIXES]:
        raise ValueError(f"{path}: does not name the parts of a pipeline: {REMEDY}")
    content["metadata"] = metadata if isinstance(metadata, dict) else {}
    return content


def model_paths(folder: Path, content: dict) -> dict[str, Path]:
    """The files of the models by name, which are those that `content_of` tells of.

    Raises:
        ValueError: if one is missing, or another one.
        OSError: if one cannot be opened.
    """
    paths = {}
    for name, about in content["parts"].items():
        path = paths[name] = folder / f"{name}{SUFFIXES[content['files']]}"
        if not path.is_file():
            raise ValueError(f"{path}: is missing: {REMEDY}")
        expected = about.get("sha256") if isinstance(about, dict) else None
        if checksum(path) != expected:
            raise ValueError(
                f"{path}: is not the file that {PIPELINE} describes: {REMEDY}"
            )
    return paths


def holds_parts(folder: Path) -> bool:
    """Whether a folder has a file that is named as a pipeline's model."""
    names = (f"{part}{suffix}" for part in PARTS for suffix in SUFFIXES.values())
    return any((folder / name).is_file() for name in names)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_onnx(path: Path) -> bool:
    """Whether a path is an ONNX file, or a folder with a pipeline of them.

    Raises:
        ValueError: if it is a folder with a pipeline whose description is damaged.
    """
    if path.suffix == ".onnx":
        return True
    return (path / PIPELINE).is_file() and content_of(path)["files"] == "onnx"
