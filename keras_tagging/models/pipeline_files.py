"""The folder of a pipeline: its models, and a file that says which they are.

Keras is imported for its own models alone: those that are ONNX files need none.
"""

import hashlib
import json
import os
import tempfile
from pathlib import Path

from keras_tagging.models.pipeline import PARTS, Pipeline
from keras_tagging.models.run_files import PIPELINE
from keras_tagging.utils.atomic import naming, replacing, replacing_together
from keras_tagging.utils.stored import read_object
from keras_tagging.utils.suggestions import check_known

FORMAT = 1
SUFFIXES = {"keras": ".keras", "onnx": ".onnx"}
FORMATS = {"tf_saved_model": "", "onnx": SUFFIXES["onnx"]}
REMEDY = "copy the folder again from where it was saved"


def save_pipeline(
    pipeline: Pipeline,
    folder: Path,
    overwrite: bool = True,
    half_precision: bool = False,
) -> None:
    """Write `segmenter.keras`, `tagger.keras`, `parser.keras` and `pipeline.json`.

    The last one has the checksums of the others, so that a folder that was halved by a
    kill, or mixed with another one, is refused. Beside each model are its metadata.
    With `half_precision` the files have half the size, and cannot go on with training
    as if it had not stopped: see `models.half_precision`.

    Raises:
        FileExistsError: if the folder has a pipeline, and `overwrite` is false.
        ValueError: if a part is an ONNX file, which has no weights to save.
        OSError: if the folder cannot be written.
    """
    from keras_tagging.models.half_precision import halve

    if (folder / PIPELINE).exists() and not overwrite:
        raise FileExistsError(f"{folder} has a pipeline: give overwrite=True")
    for name, model in pipeline.parts.items():
        if not hasattr(model, "save"):
            raise ValueError(
                f"the {name} is an ONNX file, which has no weights to save"
            )
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".save-") as partial:
        partial = Path(partial)
        described = {}
        for name, model in pipeline.parts.items():
            path = partial / f"{name}.keras"
            model.save(path)
            if half_precision:
                whole = path.rename(partial / "whole")
                halve(whole, path)
                whole.unlink()
            described[name] = {"sha256": _checksum(path)}
        written = sorted(path.name for path in partial.iterdir())
        names = [folder / PIPELINE, *(folder / name for name in written)]
        with replacing_together(*names) as [first, *others]:
            first.write_text(_content(pipeline, described), encoding="utf-8")
            for name, path in zip(written, others, strict=True):
                os.replace(partial / name, path)
    for name in set(PARTS) - set(pipeline.parts):  # of the pipeline before
        for suffix in (".keras", ".metadata.json"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)


def _content(pipeline, parts: dict, files: str = "keras") -> str:
    """The text of `pipeline.json`."""
    from keras_tagging.models.metadata import versions

    content = {"format": FORMAT, "files": files, "parts": parts}
    content |= {"versions": versions(), "metadata": pipeline.metadata}
    return json.dumps(content, indent=2) + "\n"


def load_pipeline(folder: Path, threads: int | None = None) -> Pipeline:
    """Read the folder that `save_pipeline` or `export_pipeline` has written.

    It opens these files alone, whatever `pipeline.json` says, and each model is checked
    as by `keras_tagging.load`, or `keras_tagging.runtime.load` if it is an ONNX file.

    Args:
        folder: of the pipeline.
        threads: of ONNX Runtime; None for as many as there are cores.

    Raises:
        ValueError: if there is no pipeline, or a file is missing, damaged, or not the
            one that was saved.
        ImportError: for ONNX files without ONNX Runtime.
        OSError: if a file cannot be opened.
    """
    content = _read(folder)
    files, described = content.get("files", "keras"), content.get("parts")
    named = isinstance(described, dict) and described and set(described) <= set(PARTS)
    if not named or files not in SUFFIXES:
        path = folder / PIPELINE
        raise ValueError(f"{path}: does not name the parts of a pipeline: {REMEDY}")
    parts = {}
    for name, about in described.items():
        model_path = folder / f"{name}{SUFFIXES[files]}"
        if not model_path.is_file():
            raise ValueError(f"{model_path}: is missing: {REMEDY}")
        expected = about.get("sha256") if isinstance(about, dict) else None
        if _checksum(model_path) != expected:
            raise ValueError(
                f"{model_path}: is not the file that {PIPELINE} describes: {REMEDY}"
            )
        if files == "onnx":
            from keras_tagging import runtime

            parts[name] = runtime.load(model_path, threads=threads)
        else:
            from keras_tagging.models.factory import load

            parts[name] = load(model_path)
    pipeline = Pipeline(**parts)
    metadata = content.get("metadata")
    pipeline.metadata = metadata if isinstance(metadata, dict) else {}
    return pipeline


def holds_onnx(folder: Path) -> bool:
    """Whether a folder holds a pipeline of ONNX files.

    Raises:
        ValueError: if it holds a pipeline of a file that is damaged.
    """
    return (folder / PIPELINE).is_file() and _read(folder).get("files") == "onnx"


def is_onnx(path: Path) -> bool:
    """Whether a path is an ONNX file, or a folder with a pipeline of them."""
    return path.suffix == ".onnx" or holds_onnx(path)


def load_onnx(path: Path, threads: int | None = None):
    """The model or pipeline of such a path: see `load_pipeline`.

    Raises:
        ValueError: as there, and without ONNX Runtime.
    """
    try:
        if path.is_dir():
            return load_pipeline(path, threads)
        from keras_tagging import runtime

        return runtime.load(path, threads=threads)
    except ImportError as error:
        raise ValueError(str(error)) from error


def _read(folder: Path) -> dict:
    """The content of `pipeline.json`."""
    path = folder / PIPELINE
    if not path.is_file():
        raise ValueError(f"{folder}: holds no pipeline, as {PIPELINE} is missing")
    content = read_object(path, REMEDY)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path}: has the format {str(content.get('format'))[:20]!r}, and this "
            f"version reads {FORMAT}: update keras-tagging"
        )
    return content


def export_pipeline(
    pipeline: Pipeline, folder: Path, format: str = "tf_saved_model", **options
) -> dict[str, str]:
    """Write each model of a pipeline for serving: see `models.export`.

    ONNX files have a `pipeline.json` beside them: `annotate` and `Pipeline.load` take
    the folder, and need no TensorFlow. A parser's file reads the tags as an input, as
    it does alone.

    Args:
        pipeline: its models are no ONNX files.
        folder: gets `segmenter.onnx`, `tagger.onnx` and `parser.onnx`, or the folders
            `tagger` and `parser` with SavedModels.
        format: "tf_saved_model" or "onnx".
        **options: of `models.export`; `top_k` is for the tagger.

    Returns:
        The parts that are left out because they have no such form, with the reason.

    Raises:
        ValueError: if there is no such format, nothing can be exported, the folder
            holds a pipeline that was saved, or as in `models.export`.
    """
    check_known("format", format, list(FORMATS))
    if (folder / PIPELINE).is_file() and not holds_onnx(folder):
        raise ValueError(f"{folder} holds a saved pipeline: choose another folder")
    left_out, described = {}, {}
    for name, model in pipeline.parts.items():
        own = dict(options)
        if name != "tagger":
            own.pop("top_k", None)
        if not hasattr(model, "export"):
            left_out[name] = f"it is a {type(model).__name__}, which has no export"
            continue
        if name == "segmenter" and format == "tf_saved_model":
            left_out[name] = "no SavedModel reads text of any length: give ONNX"
            continue
        path = folder / f"{name}{FORMATS[format]}"
        model.export(path, format=format, **own)
        if format == "onnx":
            described[name] = {"sha256": _checksum(path)}
    if len(left_out) == len(pipeline.parts):
        raise ValueError(f"nothing to export: {'; '.join(left_out.values())}")
    if described:
        with replacing(folder / PIPELINE) as partial:
            content = _content(pipeline, described, "onnx")
            partial.write_text(content, encoding="utf-8")
    return left_out


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
