"""The folder of a pipeline: its models, and a list that says which they are."""

import hashlib
import json
from collections.abc import Callable, Collection
from pathlib import Path

from keras_tagging.runtime.pipeline import TextPipeline, kinds_of_part, stages
from keras_tagging.utils.named_models import installed_models
from keras_tagging.utils.stored import read_object

#: the list, which makes a folder a pipeline
PIPELINE = "pipeline.json"
#: Format 1, of version 0.2.0, has no checksum of itself; format 5 has the words of ONNX
#: files in files of their own, format 6 parts of installed models. Parts of formats 3
#: and 4 had words in common.
FORMAT, WITH_WORDS, WITH_MODELS, FORMATS, GONE = 2, 5, 6, (1, 2, 5, 6), (3, 4)
#: of a part, the name of the installed model whose part it is
MODEL = "model"
#: the vocabularies of ONNX files, and the forms in which they have a token
WORDS, WORD_FORMS = "words.npz", "words.onnx"
CHECKSUM = "sha256"
SUFFIXES = {"keras": ".keras", "onnx": ".onnx"}
#: of the package of an installed model
FOLDERS = {"keras": "model", "onnx": "onnx"}
REMEDY = "copy the folder again from where it was saved"


def list_of(content: dict) -> str:
    """The text of `pipeline.json`, with its format and its checksum.

    Args:
        content: "files", "parts" and "metadata", for JSON; "words", the files of words,
            if there are any; "format", if parts are those of installed models.
    """
    version = WITH_WORDS if content.get("words") else FORMAT
    content = json.loads(json.dumps({"format": version, **content}))
    return json.dumps(content | {CHECKSUM: _checksum(content)}, indent=2) + "\n"


def _checksum(content: dict) -> str:
    """The SHA-256 of a list, whatever its layout, without that checksum."""
    rest = {key: value for key, value in content.items() if key != CHECKSUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def content_of(folder: Path) -> dict:
    """The content of `pipeline.json`: "files", "parts" by name, and "metadata".

    Where words are in files of their own, it has these as "words".

    Raises:
        ValueError: if there is no such file, it is damaged, or names other models than
            the folder has.
        OSError: if it cannot be opened.
    """
    path = folder / PIPELINE
    if not path.is_file():
        raise ValueError(
            f"{folder}: holds no pipeline, as {PIPELINE} is missing: {REMEDY}"
        )
    content = read_object(inside(folder, PIPELINE), REMEDY)
    version = content.get("format")
    if version in GONE:
        raise ValueError(
            f"{path}: is of version 0.4 or 0.5, and no longer read: make it anew by "
            "keras-tagging train pipeline, or install the model again"
        )
    if type(version) is not int or version not in FORMATS:
        raise ValueError(
            f"{path}: has the format {str(version)[:20]!r}, and this version reads "
            f"{FORMATS[0]} to {FORMATS[-1]}: update keras-tagging"
        )
    if version > 1 and content.get(CHECKSUM) != _checksum(content):
        raise ValueError(f"{path}: its checksum is wrong: {REMEDY}")
    files, parts = content.setdefault("files", "keras"), content.get("parts")
    words = content.get("words", {})
    # in a list: what a stranger wrote there may have no hash
    fits = files in [*SUFFIXES] and isinstance(parts, dict) and bool(parts)
    fits = fits and all(map(kinds_of_part, parts))
    fits = fits and isinstance(content.setdefault("metadata", {}), dict)
    fits = fits and isinstance(words, dict) and {*words} <= {WORDS, WORD_FORMS}
    if not fits:
        raise ValueError(f"{path}: does not describe a pipeline: {REMEDY}")
    for other in strangers(folder, files, parts):
        raise ValueError(
            f"{other}: is no part of the pipeline, says {PIPELINE}: {REMEDY}, or "
            "remove it"
        )
    return content


def strangers(folder: Path, files: str, parts: Collection[str]) -> list[Path]:
    """The files in a folder that have the name of a part, and are none of these."""
    names = sorted({*stages()} - {*parts})
    paths = (folder / f"{name}{SUFFIXES[files]}" for name in names)
    return [path for path in paths if path.exists()]


def read_pipeline(
    folder: Path,
    content: dict,
    read: Callable[[Path, bytes], object],
    kind=TextPipeline,
) -> TextPipeline:
    """The pipeline of a folder.

    Args:
        folder: of the pipeline.
        content: see `content_of`.
        read: function from the path of a model's file, for messages, and the bytes of
            the file to the model.
        kind: the class of the pipeline.

    Raises:
        ValueError: if a file is missing, or not the one that the content tells of, a
            model whose parts it has is not installed, or the parts make no pipeline.
        OSError: if a file cannot be opened.
    """
    parts = {}
    for name, about in content["parts"].items():
        home = _home(folder, about, content["files"])
        path = home / f"{name}{SUFFIXES[content['files']]}"
        parts[name] = read(path, listed_bytes(path, about))
    pipeline = kind(**parts)
    pipeline.metadata = content["metadata"]
    return pipeline


def _home(folder: Path, about, files: str) -> Path:
    """The folder that has a part: that of the pipeline, or of an installed model.

    Raises:
        ValueError: if the model is not installed.
    """
    if not isinstance(about, dict) or MODEL not in about:
        return folder
    name, models = about[MODEL], installed_models()
    if not isinstance(name, str) or name not in models:
        what = f"has parts of the model {str(name)[:40]!r}: install that, too"
        raise ValueError(f"{folder / PIPELINE}: {what}")
    return models[name].part(FOLDERS[files])


def listed_bytes(path: Path, about) -> bytes:
    """The bytes of a file that a list in its folder describes.

    They are read once: a file that is replaced after the check is not what is loaded.

    Args:
        path: of the file.
        about: an object of the list, whose `sha256` is the checksum.

    Raises:
        ValueError: if the file is missing, or another one.
        OSError: if it cannot be opened.
    """
    if not path.is_file():
        raise ValueError(f"{path}: is missing: {REMEDY}")
    data = inside(path.parent, path.name).read_bytes()
    expected = about.get("sha256") if isinstance(about, dict) else None
    if hashlib.sha256(data).hexdigest() != expected:
        raise ValueError(
            f"{path}: is not the file that was saved with the others: {REMEDY}"
        )
    return data


def inside(folder: Path, name: str) -> Path:
    """The path of a file of a folder; a link may not lead out of the folder.

    A cache of the Hugging Face hub is a folder of its own: models are in
    `snapshots/REVISION`, and are links into `blobs`, beside `snapshots`.
    """
    home, path = folder.resolve(), (folder / name).resolve()
    blobs = home.parent.parent / "blobs" if home.parent.name == "snapshots" else home
    if path.is_relative_to(home) or path.parent == blobs:
        return folder / name
    raise ValueError(
        f"{folder / name}: is a link that leads out of the folder: copy the folder "
        "with its files (cp -rL)"
    )


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
