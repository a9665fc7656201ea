"""The folder of a pipeline: its models, and a file that says which they are."""

from collections.abc import Callable
from pathlib import Path

from keras_tagging.runtime.pipeline import TextPipeline, stages
from keras_tagging.utils.stored import read_object, sha256_of

#: says that a folder holds a pipeline, and of which models
PIPELINE = "pipeline.json"
FORMAT = 1
SUFFIXES = {"keras": ".keras", "onnx": ".onnx"}
REMEDY = "copy the folder again from where it was saved"


def content_of(folder: Path) -> dict:
    """The content of `pipeline.json`: "files", "parts" by name, and "metadata".

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
    named = isinstance(parts, dict) and parts and set(parts) <= set(stages())
    # in a list: what a stranger wrote there may have no hash
    if not named or content["files"] not in [*SUFFIXES]:
        raise ValueError(f"{path}: does not name the parts of a pipeline: {REMEDY}")
    content["metadata"] = metadata if isinstance(metadata, dict) else {}
    return content


def read_pipeline(
    folder: Path, content: dict, load: Callable[[Path], object], kind=TextPipeline
) -> TextPipeline:
    """The pipeline of a folder.

    Args:
        folder: of the pipeline.
        content: see `content_of`.
        load: function from the file of a model to the model.
        kind: the class of the pipeline.

    Raises:
        ValueError: if a file is missing, or not the one that the content tells of, or
            the models make no pipeline.
        OSError: if a file cannot be opened.
    """
    paths = {}
    for name, about in content["parts"].items():
        path = paths[name] = folder / f"{name}{SUFFIXES[content['files']]}"
        if not path.is_file():
            raise ValueError(f"{path}: is missing: {REMEDY}")
        expected = about.get("sha256") if isinstance(about, dict) else None
        if sha256_of(path) != expected:
            raise ValueError(
                f"{path}: is not the file that {PIPELINE} describes: {REMEDY}"
            )
    pipeline = kind(**{name: load(path) for name, path in paths.items()})
    pipeline.metadata = content["metadata"]
    return pipeline


def holds_parts(folder: Path) -> bool:
    """Whether a folder has a file that is named as a pipeline's model."""
    names = (f"{part}{suffix}" for part in stages() for suffix in SUFFIXES.values())
    return any((folder / name).is_file() for name in names)


def is_onnx(path: Path) -> bool:
    """Whether a path is an ONNX file, or a folder with a pipeline of them.

    Raises:
        ValueError: if it is a folder with a pipeline whose description is damaged.
    """
    if path.suffix == ".onnx":
        return True
    return (path / PIPELINE).is_file() and content_of(path)["files"] == "onnx"
