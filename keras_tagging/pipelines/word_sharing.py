"""Finding and writing the words that several parts of a pipeline read."""

import hashlib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from keras_tagging.runtime.folder import WORD_FORMS, WORDS
from keras_tagging.runtime.shared_words import (
    IDS,
    INPUTS,
    TABLE,
    VECTOR,
    WordTables,
    changed_rows,
    columns_of,
    stored_rows,
    stored_strings,
)
from keras_tagging.runtime.token_forms import CAPITAL, encodable, forms_needed
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import sha256_of

#: the share of the rows of a table that may differ from those of another part
MOST_CHANGED = 0.5


def shared_parts(parts: Mapping[str, object], least: int = 2) -> dict[str, list[str]]:
    """By feature, the parts that read the same words: so many or more.

    Their vectors are the same to the last bit, but for those that training has changed,
    or their classes are. Of several such groups it is the largest.

    Args:
        parts: models by name.
        least: a number of parts.
    """
    shared = {}
    for feature in INPUTS if len(parts) <= limits.SHARING_PARTS else ():
        groups: dict[str, list[str]] = {}
        for name, model in parts.items():
            if (digest := _digest(model, feature)) is not None:
                groups.setdefault(digest, []).append(name)
        several = [names for names in groups.values() if len(names) >= least]
        if feature == VECTOR:
            several = [_alike(names, parts) for names in several]
        largest = max(several, key=len, default=[])
        if len(largest) >= least:
            shared[feature] = largest
    return shared


def _alike(names: list[str], parts) -> list[str]:
    """Those parts of a group whose vectors are those of one, which is the first."""
    tables = {name: rows_of(parts[name]) for name in names}
    groups = []
    for base, rows in tables.items():
        most = MOST_CHANGED * len(rows)
        others = [name for name in names if name != base]
        alike = [x for x in others if len(changed_rows(tables[x], rows)) <= most]
        groups.append([base, *alike])
    return max(groups, key=len)


def rows_of(model) -> np.ndarray:
    """The table of the vectors that a model reads as a feature."""
    from keras import ops

    table = model.network.get_layer(f"{VECTOR}_embedding").embeddings
    return ops.convert_to_numpy(table)


def _digest(model, feature: str) -> str | None:
    """The same for the same words; None for a model without any, or an ensemble."""
    features = getattr(model, "features", None)
    if getattr(model, "network", None) is None or hasattr(model, "members"):
        return None
    # which words "dinarelli" lowers depends on the training sentences
    if feature not in features.names or features.normalise == "dinarelli":
        return None
    entries = model.vocabularies[feature]
    text = "".join(entries)
    if encodable(text) != text or not entries:
        return None
    digest = hashlib.sha256()
    for array in stored_strings(feature, entries).values():
        digest.update(array.tobytes())
    if feature == VECTOR:
        rows = rows_of(model)
        # a model that has diverged, or of another precision, is saved as it is
        if rows.dtype != np.float32 or not np.isfinite(rows).all():
            return None
        digest.update(str(rows.shape).encode())
    return digest.hexdigest()


def write_words(
    path: Path, parts, shared, half_precision: bool = False, vocabularies=()
) -> WordTables:
    """Write `words.npz`, with vectors in half precision if that changes none of them.

    Args:
        path: of the file.
        parts: models by name.
        shared: the output of `shared_parts`.
        half_precision: whether vectors are rounded.
        vocabularies: of parts, by name.

    Returns:
        What the file has.

    Raises:
        ValueError: if one is too large for that.
    """
    from keras_tagging.models.files.saving import half

    arrays = {}
    for feature, names in shared.items():
        model = parts[names[0]]
        arrays |= stored_strings(feature, model.vocabularies[feature])
        if feature == VECTOR:
            tables = {x: rows_of(parts[x]).astype(np.float32) for x in names}
            if half_precision or all(map(_is_half, tables.values())):
                tables = {x: half("a vector", rows) for x, rows in tables.items()}
            arrays |= stored_rows(tables)
    for name, words in dict(vocabularies).items():
        arrays |= stored_strings(TABLE + name, words)
    with replacing(path) as partial, partial.open("wb") as stream:
        np.savez(stream, **arrays)
    return WordTables(path.read_bytes())


def _is_half(rows) -> bool:
    """Whether half precision changes no value."""
    with np.errstate(over="ignore"):
        return np.array_equal(rows.astype(np.float16), rows)


def write_for_onnx(folder: Path, parts) -> dict[str, dict]:
    """Write `words.npz` and `words.onnx` of the parts that share words.

    Args:
        folder: gets the files, or loses those of an export before.
        parts: models by name.

    Returns:
        By the name of a part what its own file says of them: see `onnx_model`.
    """
    import keras

    # other backends export in another process, with a model of its own
    on_tensorflow = keras.backend.backend() == "tensorflow"
    # tokens are looked up faster beside a file than in it, also those of a single part
    shared = shared_parts(parts, least=1) if on_tensorflow else {}
    if not shared:
        for name in (WORDS, WORD_FORMS):
            (folder / name).unlink(missing_ok=True)
        return {}
    from keras_tagging.onnx.model_file import forms_model

    folder.mkdir(parents=True, exist_ok=True)
    described: dict[str, dict] = {}
    for feature, names in shared.items():
        for name in names:
            forms = forms_needed(parts[name].features, feature)
            described.setdefault(name, {})[feature] = forms
    vocabularies: dict[str, list[str]] = {}
    for name, about in described.items():
        if _gives_ids(parts[name]):
            about[IDS] = _columns(name, parts[name], [*about], vocabularies)
    tables = write_words(folder / WORDS, parts, shared, vocabularies=vocabularies)
    columns = chain(*(chain(*columns_of(x).values()) for x in described.values()))
    # a lower case is that of the letters that any vocabulary has
    words = {k: parts[names[0]].vocabularies[k] for k, names in shared.items()}
    words["word"] = [*chain(*vocabularies.values())]
    made = forms_model(words, sorted({x for _, *forms in columns for x in forms}))
    with replacing(folder / WORD_FORMS) as partial:
        partial.write_bytes(made.SerializeToString())
    files = {name: {"sha256": sha256_of(folder / name)} for name in (WORDS, WORD_FORMS)}
    for name in tables.changed:
        described[name]["part"] = name
    return {name: {"files": files, **about} for name, about in described.items()}


def _gives_ids(model) -> bool:
    """Whether the ids of all features of its tokens can be an input of its file."""
    features = model.features
    return not (
        features.letters
        or features.characters
        or IDS in model.input_columns
        # what its own tagger reads
        or {*features.columns} - {*model.input_columns}
    )


def _columns(part: str, model, shared, vocabularies) -> list[list]:
    """The description of the input `IDS`: see `runtime.shared_words.shared_of`.

    Args:
        part: the name of the part.
        model: the part.
        shared: the features that are inputs of their own.
        vocabularies: by name; gets those of the part that are not there yet.
    """
    columns, features = [], model.features
    for name in features.names:
        if name in features.columns:
            continue
        table, forms = name, forms_needed(features, name)
        if name != CAPITAL:
            words = [encodable(word) for word in model.vocabularies[name]]
            if name in shared or not words:
                table, forms = "", []
            else:
                equal = (k for k, others in vocabularies.items() if others == words)
                table = next(equal, f"{part}_{name}")
                vocabularies[table] = words
        columns.append([table, forms])
    return columns


def write_for_keras(folder: Path, parts, half_precision: bool) -> dict[str, dict]:
    """Write `words.npz`, and take these words out of the files of the parts.

    Args:
        folder: has the files of the parts.
        parts: models by name.
        half_precision: whether the files are of half precision.

    Returns:
        The file with its checksum; {} if no words are shared.
    """
    from keras_tagging.models.files.saving import thin

    shared = shared_parts(parts)
    if not shared:
        return {}
    path = folder / WORDS
    tables = write_words(path, parts, shared, half_precision)
    files = {WORDS: {"sha256": sha256_of(path)}}
    for name in dict.fromkeys(chain(*shared.values())):
        features = [feature for feature, names in shared.items() if name in names]
        thin(folder / f"{name}.keras", files, features, tables, name)
    return files
