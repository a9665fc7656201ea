"""Which jobs a table asks for: one for each of its systems and each seed."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from unicodedata import normalize

from keras_tagging.experiments.papers.table import Row, Table


@dataclass(frozen=True)
class Job:
    """One system with one seed.

    Attributes:
        row: the name of its row in the table.
        seed: of weights, dropout, order and whatever else is drawn.
        slug: the row's name as files have it.
        needs: the slug of the row whose model of the same seed must be there, or None.
    """

    row: str
    seed: int
    slug: str
    needs: str | None = None

    def __str__(self) -> str:
        return f"{self.row}, seed {self.seed}"

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.slug}.{self.seed}"

    @property
    def needed(self) -> str | None:
        """The name of the job that must be done before."""
        return self.needs and f"{self.needs}.{self.seed}"


def slugs(table: Table) -> dict[str, str]:
    """For each row that is ours its name as the name of a file.

    Lower-case ASCII letters, digits and hyphens; where two rows come to the same, a
    hash of the name follows. What a row is called does not depend on other rows' order.
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
    """Rows of the table by their names, in the order of the table.

    Args:
        names: whole names, slugs, or how one of them and no other begins; case does not
            count. None: all systems that are ours.

    Raises:
        ValueError: if no row or several have such a name, or it is the system of
            others.
    """
    if not names:
        return [row for row in table.rows if row.architecture]
    chosen = {_row_named(table, name).name for name in names}
    return [row for row in table.rows if row.name in chosen]


def _row_named(table: Table, name: str) -> Row:
    known = slugs(table)
    wanted = name.casefold()

    def rows(fits) -> list[Row]:
        found = [row for row in table.rows if any(map(fits, _names(row, known)))]
        return [row for row in found if row.architecture] or found

    found = rows(wanted.__eq__) or rows(lambda other: other.startswith(wanted))
    if len(found) == 1 and found[0].architecture:
        return found[0]
    ours = _quoted(known)
    if not found:
        spelled = {row.name.casefold(): row.name for row in table.rows}
        near = get_close_matches(wanted, spelled, n=1, cutoff=0.5)
        hint = f"; did you mean {spelled[near[0]]!r}?" if near else "."
        raise ValueError(
            f"--rows {name!r}: Table {table.number} of {table.paper} has no such row"
            f"{hint} Its rows: {ours}"
        )
    if not found[0].architecture:
        raise ValueError(
            f"--rows {name!r}: {found[0].name} is a system of others, which only "
            f"stands beside ours: {ours}"
        )
    several = _quoted(row.name for row in found)
    raise ValueError(f"--rows {name!r} could be {several}: write more of it")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _names(row: Row, known: Mapping[str, str]) -> list[str]:
    return [row.name.casefold(), known.get(row.name, row.name.casefold())]


def make_jobs(
    table: Table, rows: Sequence[Row], seeds: Sequence[int]
) -> tuple[list[Job], list[str]]:
    """The jobs of some rows, the seeds one after the other.

    A job stands behind the one that it needs.

    Returns:
        The jobs, and the names of the rows that were added since others start from
        them.
    """
    known = slugs(table)
    given = [row.name for row in rows]
    needed = [row.bootstrap for row in rows if row.bootstrap]
    added = [name for name in dict.fromkeys(needed) if name not in given]
    chosen = [row for row in table.rows if row.name in (*given, *added)]
    chosen.sort(key=lambda row: row.bootstrap is not None)
    jobs = []
    for seed in seeds:
        for row in chosen:
            needs = row.bootstrap and known[row.bootstrap]
            jobs.append(Job(row.name, seed, known[row.name], needs))
    return jobs, added
