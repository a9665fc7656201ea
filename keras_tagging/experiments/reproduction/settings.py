"""The settings that build the rows of a table in a reproduction."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments.papers.table import Row, Table
from keras_tagging.experiments.reproduction.corpus import absolute, is_of_parsers
from keras_tagging.utils.stored import sha256_of
from keras_tagging.utils.suggestions import nearest
from keras_tagging.vectors import load_vectors

#: short names of keywords
SHORT = {"layers": "num_layers"}
#: keywords that have an option of their own
OPTIONS = {
    "epochs": "--epochs N",
    "seed": "--seeds N",
    "embeddings": "--embeddings FILE, a name, train or none",
    "vectors": "--embeddings FILE, a name, train or none",
}


def check_scale(table: Table, scale: Mapping) -> dict:
    """Check the settings of --scale and --set, which hold for every row.

    Returns:
        The settings, with short names spelled out.

    Raises:
        ValueError: for a keyword in which the rows of the table differ, or that no row
            has.
    """
    scale = {SHORT.get(name, name): value for name, value in scale.items()}
    for name in scale:
        if name in OPTIONS:
            raise ValueError(f"{name}={scale[name]!r}: give {OPTIONS[name]} instead")
        if name in table.varies:
            raise ValueError(
                f"{name}={scale[name]!r}: the rows of Table {table.number} of "
                f"{table.paper} differ in it, so it cannot be one for all: leave it out"
            )
    ours = [row for row in table.rows if row.architecture]
    every = set().union(*map(known_keywords, ours))
    for name in [name for name in scale if name not in every]:
        near = nearest(name, sorted({*every, *SHORT}))
        hint = f"; did you mean {near!r}?" if near else "."
        names = sorted({row.architecture for row in ours})
        which = names[0] if len(names) == 1 else f"ARCH ({', '.join(names)})"
        raise ValueError(
            f"unknown keyword {name!r}{hint} For all: keras-tagging list {which}"
        )
    return scale


def known_keywords(row: Row) -> set[str]:
    return set(resolve_settings(row.architecture, "paper", {}))


def settings_of(row: Row, info: Mapping) -> dict:
    """The keywords of `build` for a row in a reproduction.

    A row with one layer, such as the recurrent highway network, keeps one.

    Args:
        info: the content of `reproduction.json`; settings that the row's architecture
            lacks are left out.
    """
    own = resolve_settings(row.architecture, "paper", row.settings)
    scale = {k: v for k, v in info["settings"].items() if k in own}
    if own.get("num_layers") == 1:
        scale.pop("num_layers", None)
    return {**row.settings, **scale}


def check_settings(rows: Sequence[Row], info: Mapping) -> dict[str, dict]:
    """All settings of each row, by its name.

    Raises:
        ValueError: if `build` would refuse the settings of a row, with its name.
    """
    settings = {}
    for row in rows:
        try:
            settings[row.name] = resolve_settings(
                row.architecture, info["recipe"], settings_of(row, info)
            )
        except ValueError as error:
            raise ValueError(f"row {row.name!r}: {error}") from None
        if info["epochs"] is not None:
            settings[row.name]["epochs"] = info["epochs"]
    return settings


# Keywords that have an option of their own


def check_embeddings(table: Table, embeddings: str | None) -> str | None:
    """Check --embeddings: "train", "none", a file or a name, for rows with vectors.

    Returns:
        The value, a file with its whole path; None for a table without such rows, if
        none are given.

    Raises:
        ValueError: if nothing has the name, or the table has no such rows and the
            value is "train" or "none".
        OSError: if there is no such file.
    """
    if embeddings in (None, "train", "none"):
        if any(row.vectors for row in table.rows):
            return embeddings or "train"
        if embeddings is None:
            return None
        raise ValueError(
            f"--embeddings {embeddings}: no row of Table {table.number} of "
            f"{table.paper} has pretrained vectors: leave it out, or give a file or a "
            "name, and the words of all rows start from these"
        )
    load_vectors(embeddings, limit=1)  # refuses a file without vectors
    return absolute(embeddings)


def embeddings_checksum(embeddings: str | None) -> str | None:
    """The SHA-256 of the file of --embeddings; None for a name, "train" or "none".

    Args:
        embeddings: the output of `check_embeddings`.
    """
    path = Path(embeddings or "")
    return sha256_of(path) if path.is_absolute() and path.is_file() else None


def takes_vectors(row: Row, table: Table, embeddings: str | None) -> bool:
    """Whether --embeddings is for a row: the table's own, or all where it has none.

    Args:
        embeddings: the output of `check_embeddings`.
    """
    if any(other.vectors for other in table.rows):
        return row.vectors
    return embeddings is not None


def check_punctuation(table: Table, punctuation: str | None) -> str:
    """Check --punctuation: the words of a parser's sentences that do not count.

    Raises:
        ValueError: if the table is not of parsers.
    """
    if punctuation is not None and not is_of_parsers(table):
        raise ValueError(
            f"--punctuation is for parsers, but Table {table.number} of {table.paper} "
            "measures taggers"
        )
    return punctuation or table.punctuation


def check_dev_share(table: Table, share: float | None) -> float | None:
    """Check --dev-share, the share of the training sentences for development.

    Raises:
        ValueError: if the table has a share of its own.
    """
    if share is not None and table.held_out is not None:
        raise ValueError(
            f"--dev-share: Table {table.number} of {table.paper} holds out "
            f"{table.held_out} itself, other sentences with each seed"
        )
    return share
