"""Writing the words that the ONNX files of a pipeline read: see `runtime.words`."""

from pathlib import Path

import numpy as np

from keras_tagging import kinds
from keras_tagging.runtime.folder import WORD_FORMS, WORDS
from keras_tagging.runtime.token_forms import CAPITAL, encoded_ids, forms_needed
from keras_tagging.runtime.words import stored
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import sha256_of


def write_words(folder: Path, parts) -> dict[str, dict]:
    """Write `words.npz` and `words.onnx` of the parts whose tokens are looked up.

    Args:
        folder: gets the files, or loses those of an export before.
        parts: models by name.

    Returns:
        By the name of a part what its own file says of them: see `runtime.words`.
    """
    import keras

    # other backends export in another process, with a model of its own
    on_tensorflow = keras.backend.backend() == "tensorflow"
    read = {k: x for k, x in parts.items() if on_tensorflow and _reads_ids(x)}
    if not read:
        for name in (WORDS, WORD_FORMS):
            (folder / name).unlink(missing_ok=True)
        return {}
    from keras_tagging.onnx.model_file import forms_model

    folder.mkdir(parents=True, exist_ok=True)
    vocabularies: dict[str, dict[str, int]] = {}
    columns = {k: _columns(k, model, vocabularies) for k, model in read.items()}
    with replacing(folder / WORDS) as partial, partial.open("wb") as stream:
        np.savez(stream, **stored(vocabularies))
    every = {form for part in columns.values() for _, *forms in part for form in forms}
    # a lower case is that of the letters that any vocabulary has
    made = forms_model({"word": [*set().union(*vocabularies.values())]}, sorted(every))
    with replacing(folder / WORD_FORMS) as partial:
        partial.write_bytes(made.SerializeToString())
    files = {name: {"sha256": sha256_of(folder / name)} for name in (WORDS, WORD_FORMS)}
    return {k: {"files": files, "columns": x} for k, x in columns.items()}


def _reads_ids(model) -> bool:
    """Whether the ids of all features of its tokens can be an input of its file."""
    if kinds.of(model).reads != "tokens" or getattr(model, "network", None) is None:
        return False
    features = model.features
    return (
        {*features.names} > {*features.columns}
        and not (features.letters or features.characters)
        # which words "dinarelli" lowers depends on the training sentences
        and features.normalise != "dinarelli"
        # a column that its own tagger gives
        and {*features.columns} <= {*model.input_columns}
    )


def _columns(part: str, model, vocabularies: dict) -> list[list[str]]:
    """The vocabulary of each feature of a token, and the forms to look up there.

    Args:
        part: the name of the part.
        model: the part.
        vocabularies: by name; gets those of the part that are not there yet.
    """
    columns, features = [], model.features
    for name in features.names:
        if name in features.columns:
            continue
        table = name
        if name != CAPITAL:
            ids = encoded_ids(name, model.vocabularies[name])
            equal = (k for k, others in vocabularies.items() if others == ids)
            table = next(equal, f"{part}-{name}")
            vocabularies[table] = ids
        columns.append([table, *forms_needed(features, name)])
    return columns
