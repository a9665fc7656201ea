"""The files of a sentence model: saved, and what an export says of it."""

from pathlib import Path

from keras_tagging.models.files.metadata import metadata_path, write_metadata
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing_together


def save(model, keras_save, path: Path, overwrite: bool, **options) -> None:
    """Write a `.keras` file, and its metadata beside it: see `SentenceModel.save`.

    Args:
        model: a `SentenceModel`.
        keras_save: the method `keras.Model.save` of the model.
        path: of the file.
        overwrite: whether it may replace one.
        **options: of `keras_save`.
    """
    if path.suffix != ".keras":
        raise ValueError(f"{path}: the name of a model's file must end in .keras")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
    if model.given_vectors:
        raise ValueError(
            "call fit or adapt first: it makes the pretrained vectors part of the "
            "weights, which are saved"
        )
    with replacing_together(path, metadata_path(path)) as [partial, metadata]:
        keras_save(partial, **options)
        write_metadata(model, metadata)


def described(model, top_k: int) -> dict[str, object]:
    """The description of a model in an ONNX file: see `kinds.predictor.Predictor`."""
    corpus = model.metadata.get("corpus") or {}
    own = {}
    if model.inventory:
        own[model.inventory] = getattr(model, model.inventory)
    return {
        "columns": list(model.input_columns),
        **own,
        # the column of tags that have no name
        "corpus": {"tag_column": corpus.get("tag_column")},
        "top_k": top_k,
        # what a request should look like
        "normal_form": "NFC",
        "combining_marks": limits.COMBINING_MARKS,
        "sentence_tokens": limits.SENTENCE_TOKENS,
        "batch_tokens": model.batch_tokens,
    }
