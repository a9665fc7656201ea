"""The folder of a pipeline: its models, and a file that says which they are."""

import hashlib
import json
import os
import tempfile
from pathlib import Path

from keras_tagging.models.factory import load
from keras_tagging.models.half_precision import halve
from keras_tagging.models.metadata import versions
from keras_tagging.models.pipeline import PARTS, Pipeline
from keras_tagging.models.run_files import PIPELINE
from keras_tagging.utils.atomic import naming, replacing_together
from keras_tagging.utils.stored import read_object
from keras_tagging.utils.suggestions import check_known

FORMAT = 1
FORMATS = {"tf_saved_model": "", "onnx": ".onnx"}


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
        content = {"format": FORMAT, "parts": described, "versions": versions()}
        content["metadata"] = pipeline.metadata
        names = [folder / PIPELINE, *(folder / name for name in written)]
        with replacing_together(*names) as [first, *others]:
            first.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            for name, path in zip(written, others, strict=True):
                os.replace(partial / name, path)
    for name in set(PARTS) - set(pipeline.parts):  # of the pipeline before
        for suffix in (".keras", ".metadata.json"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)


def load_pipeline(folder: Path) -> Pipeline:
    """Read the folder that `save_pipeline` has written.

    It opens these files alone, whatever `pipeline.json` says, and each model is checked
    as by `keras_tagging.load`.

    Raises:
        ValueError: if there is no pipeline, or a file is missing, damaged, or not the
            one that was saved.
        OSError: if a file cannot be opened.
    """
    path = folder / PIPELINE
    remedy = "copy the folder again from where it was saved"
    if not path.is_file():
        raise ValueError(f"{folder}: holds no pipeline, as {PIPELINE} is missing")
    content = read_object(path, remedy)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path}: has the format {str(content.get('format'))[:20]!r}, and this "
            f"version reads {FORMAT}: update keras-tagging"
        )
    described = content.get("parts")
    if not isinstance(described, dict) or not described or set(described) - set(PARTS):
        raise ValueError(f"{path}: does not name the parts of a pipeline: {remedy}")
    parts = {}
    for name, about in described.items():
        model_path = folder / f"{name}.keras"
        if not model_path.is_file():
            raise ValueError(f"{model_path}: is missing: {remedy}")
        expected = about.get("sha256") if isinstance(about, dict) else None
        if _checksum(model_path) != expected:
            raise ValueError(
                f"{model_path}: is not the file that {PIPELINE} describes: {remedy}"
            )
        parts[name] = load(model_path)
    pipeline = Pipeline(**parts)
    metadata = content.get("metadata")
    pipeline.metadata = metadata if isinstance(metadata, dict) else {}
    return pipeline


def export_pipeline(
    pipeline: Pipeline, folder: Path, format: str = "tf_saved_model", **options
) -> dict[str, str]:
    """Write each model of a pipeline for serving: see `models.export`.

    The parser's file reads the tags as an input, as it does alone.

    Args:
        pipeline: its models are no ONNX files.
        folder: gets `tagger.onnx` and `parser.onnx`, or the folders `tagger` and
            `parser` with SavedModels.
        format: "tf_saved_model" or "onnx".
        **options: of `models.export`; `top_k` is for the tagger.

    Returns:
        The parts that are left out because they have no such form, with the reason.

    Raises:
        ValueError: if there is no such format, nothing can be exported, or as in
            `models.export`.
    """
    check_known("format", format, list(FORMATS))
    left_out = {}
    for name, model in pipeline.parts.items():
        own = dict(options)
        if name != "tagger":
            own.pop("top_k", None)
        try:
            model.export(folder / f"{name}{FORMATS[format]}", format=format, **own)
        except (AttributeError, NotImplementedError, ValueError) as error:
            if name != "segmenter":
                raise
            left_out[name] = str(error) or "it has no such form"
    if len(left_out) == len(pipeline.parts):
        raise ValueError(f"nothing to export: {'; '.join(left_out.values())}")
    return left_out


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
