"""The jobs of a table: one for each of its systems and each seed."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from keras_tagging.experiments.papers.table import Row, Table
from keras_tagging.utils.suggestions import nearest


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
        ValueError: if a name fits no row or several rows, or a system of other authors.
    """
    if not names:
        return [row for row in table.rows if row.architecture]
    chosen = {_row_named(table, name).name for name in names}
    return [row for row in table.rows if row.name in chosen]


def _row_named(table: Table, name: str) -> Row:
    known = slugs(table)
    wanted = name.casefold()

    def rows(fits) -> list[Row]:
        fitting = [row for row in table.rows if any(map(fits, _names(row, known)))]
        return [row for row in fitting if row.architecture] or fitting

    fitting = rows(wanted.__eq__) or rows(lambda other: other.startswith(wanted))
    if len(fitting) == 1 and fitting[0].architecture:
        return fitting[0]
    ours = _quoted(known)
    if not fitting:
        spelled = {row.name.casefold(): row.name for row in table.rows}
        near = nearest(wanted, spelled)
        hint = f"; did you mean {spelled[near]!r}?" if near else "."
        raise ValueError(
            f"--rows {name!r}: Table {table.number} of {table.paper} has no such row"
            f"{hint} Its rows: {ours}"
        )
    if not fitting[0].architecture:
        raise ValueError(
            f"--rows {name!r}: {fitting[0].name} is a system of other authors, printed "
            f"for comparison only. Ours: {ours}"
        )
    several = _quoted(row.name for row in fitting)
    raise ValueError(f"--rows {name!r} could be {several}: write more of it")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _names(row: Row, known: Mapping[str, str]) -> list[str]:
    return [row.name.casefold(), known.get(row.name, row.name.casefold())]


def make_jobs(
    table: Table, rows: Sequence[Row], seeds: Sequence[int]
) -> tuple[list[Job], list[str]]:
    """List the jobs of some rows, seed by seed.

    A job comes after the one that it needs.

    Returns:
        The jobs, and the names of the rows that were added because others start from
        them.
    """
    known = slugs(table)
    names = [row.name for row in rows]
    needed = [row.bootstrap for row in rows if row.bootstrap]
    added = [name for name in dict.fromkeys(needed) if name not in names]
    chosen = [row for row in table.rows if row.name in (*names, *added)]
    chosen.sort(key=lambda row: row.bootstrap is not None)
    jobs = []
    for seed in seeds:
        for row in chosen:
            needs = row.bootstrap and known[row.bootstrap]
            jobs.append(Job(row.name, seed, known[row.name], needs))
    return jobs, added
