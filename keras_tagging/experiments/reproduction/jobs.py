"""Jobs of a table, one for each of our systems and each seed, and their settings."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments.papers import Row, Table
from keras_tagging.experiments.reproduction.corpus import absolute, is_of_parsers
from keras_tagging.utils.stored import sha256_of
from keras_tagging.utils.suggestions import check_known
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


@dataclass(frozen=True)
class Job:
    """One system with one seed.

    Attributes:
        row: the name of its row in the table.
        seed: the seed of all random numbers: weights, dropout, order.
        slug: the row's name in file names.
        needs: the slug of the row whose model, of the same seed, this job starts from,
            or None.
    """

    row: str
    seed: int
    slug: str
    needs: str | None = None

    def __str__(self) -> str:
        return f"{self.row}, seed {self.seed}"

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.slug}.{self.seed}"

    @property
    def needed(self) -> str | None:
        """The name of the job that must be finished first."""
        return self.needs and f"{self.needs}.{self.seed}"


def slugs(table: Table) -> dict[str, str]:
    """Names for files, for each of our rows.

    A slug consists of lower-case ASCII letters, digits and hyphens. If two rows would
    share one, a hash of the name follows. Slugs do not depend on the order of the rows.
    """
    plain = {row.name: _plain(row.name) for row in table.rows if row.architecture}
    counts = Counter(plain.values())
    return {
        name: slug if slug and counts[slug] == 1 else f"{slug}-{_hash(name)}".strip("-")
        for name, slug in plain.items()
    }


def _plain(name: str) -> str:
    text = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", text).strip("-")[:60].strip("-")


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def choose_rows(table: Table, names: Sequence[str] | None) -> list[Row]:
    """Pick rows of the table by their names, in the order of the table.

    Args:
        names: full names, slugs, or beginnings that fit a single row, in any case. None
            picks all our systems.

    Raises:
        ValueError: if a name fits none of our systems, or several.
    """
    if not names:
        return [row for row in table.rows if row.architecture]
    chosen = {_row_named(table, name) for name in names}
    return [row for row in table.rows if row.name in chosen]


def _row_named(table: Table, name: str) -> str:
    wanted, rows = name.casefold(), slugs(table)
    names = {row: (row.casefold(), slug) for row, slug in rows.items()}
    fitting = [row for row in rows if wanted in names[row]]
    if not fitting:
        fitting = [row for row in rows if any(n.startswith(wanted) for n in names[row])]
    if len(fitting) != 1:
        raise ValueError(
            f"--rows {name!r} fits {len(fitting)} of the rows of Table {table.number} "
            f"of {table.paper} that are trained, not one: {'; '.join(fitting or rows)}"
        )
    return fitting[0]


def make_jobs(
    table: Table, rows: Sequence[Row], seeds: Sequence[int]
) -> tuple[list[Job], list[str]]:
    """List the jobs of some rows, seed by seed.

    A job comes after the one that it needs.

    Returns:
        The jobs, and the names of the rows that were added because others start from
        them.
    """
    files = slugs(table)
    names = [row.name for row in rows]
    needed = [row.bootstrap for row in rows if row.bootstrap]
    added = [name for name in dict.fromkeys(needed) if name not in names]
    chosen = [row for row in table.rows if row.name in (*names, *added)]
    chosen.sort(key=lambda row: row.bootstrap is not None)
    jobs = []
    for seed in seeds:
        for row in chosen:
            needs = row.bootstrap and files[row.bootstrap]
            jobs.append(Job(row.name, seed, files[row.name], needs))
    return jobs, added


# Settings


def check_scale(table: Table, scale: Mapping) -> dict:
    """Check the settings of --scale and --set, which hold for every row.

    Returns:
        The settings, with short names spelled out.

    Raises:
        ValueError: for a keyword in which the rows of the table differ, or that no row
            has.
    """
    scale = {SHORT.get(name, name): value for name, value in scale.items()}
    ours = [row for row in table.rows if row.architecture]
    keywords = set().union(
        *(resolve_settings(row.architecture, "paper", {}) for row in ours)
    )
    for name, value in scale.items():
        if name in OPTIONS:
            raise ValueError(f"{name}={value!r}: give {OPTIONS[name]} instead")
        if name in table.varies:
            raise ValueError(
                f"{name}={value!r}: the rows of Table {table.number} of {table.paper} "
                "differ in it, so it cannot be one for all: leave it out"
            )
        check_known("keyword", name, sorted(keywords))
    return scale


def settings_of(row: Row, info: Mapping) -> dict:
    """The keywords of `build` for a row in a reproduction.

    A row with one layer, such as the recurrent highway network, keeps one.

    Args:
        info: the content of `reproduction.json`; settings that the row's architecture
            lacks are left out.
    """
    every = resolve_settings(row.architecture, "paper", row.settings)
    scale = {k: v for k, v in info["settings"].items() if k in every}
    if every.get("num_layers") == 1:
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
    if embeddings is None:
        return "train" if any(row.vectors for row in table.rows) else None
    if embeddings not in ("train", "none"):
        load_vectors(embeddings, limit=1)  # refuses a file without vectors
        return absolute(embeddings)
    if not any(row.vectors for row in table.rows):
        raise ValueError(
            f"--embeddings {embeddings}: no row of Table {table.number} of "
            f"{table.paper} has pretrained vectors: leave it out, or give a file or a "
            "name, and the words of all rows start from these"
        )
    return embeddings


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


def check_table_options(
    table: Table, punctuation: str | None, dev_share: float | None
) -> None:
    """Check that a table has a use for --punctuation and --dev-share.

    Raises:
        ValueError: if it is not of parsers, or has a share of its own.
    """
    if punctuation is not None and not is_of_parsers(table):
        raise ValueError(
            f"--punctuation is for parsers, but Table {table.number} of {table.paper} "
            "measures taggers"
        )
    if dev_share is not None and table.held_out is not None:
        raise ValueError(
            f"--dev-share: Table {table.number} of {table.paper} holds out "
            f"{table.held_out} itself, other sentences with each seed"
        )
