"""The plan of a reproduction, and the lines that announce it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from keras_tagging.data import Corpus
from keras_tagging.experiments.papers.table import Row, Table
from keras_tagging.experiments.reproduction import corpus as corpora
from keras_tagging.experiments.reproduction.jobs import Job, choose_rows, make_jobs
from keras_tagging.experiments.reproduction.report_facts import describe_vectors
from keras_tagging.experiments.reproduction.settings import (
    check_settings,
    settings_of,
    takes_vectors,
)
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.utils.tables import aligned


@dataclass
class Plan:
    """The jobs of a reproduction.

    Attributes:
        table: the table that is reproduced.
        info: the content of `reproduction.json`.
        store: the folder.
        jobs: the jobs, each after the one that it needs.
        settings: all settings of each row that has jobs, by its name.
        notes: messages for the user, a line each.
    """

    table: Table
    info: dict
    store: Store
    jobs: list[Job]
    settings: dict[str, dict]
    notes: list[str] = field(default_factory=list)

    @property
    def epochs(self) -> dict[str, int]:
        """The number of epochs of each row, by its name."""
        return {row: settings["epochs"] for row, settings in self.settings.items()}

    def row(self, name: str) -> Row:
        return next(row for row in self.table.rows if row.name == name)

    def takes_vectors(self, name: str) -> bool:
        """Whether the words of a row start from pretrained vectors."""
        return takes_vectors(self.row(name), self.table, self.info["embeddings"])

    def keywords(self, name: str) -> dict:
        """The keywords of `build` for a row."""
        return settings_of(self.row(name), self.info)


def make_plan(
    table: Table,
    info: dict,
    store: Store,
    names: Sequence[str] | None,
    seeds: Sequence[int],
) -> Plan:
    """Plan the jobs of some rows, and of the rows that they start from.

    Args:
        names: the names of the rows, see `choose_rows`.

    Raises:
        ValueError: if there is no such row, or `build` would refuse its settings.
    """
    chosen = choose_rows(table, names)
    jobs, added = make_jobs(table, chosen, seeds)
    rows = {job.row for job in jobs}
    settings = check_settings([row for row in table.rows if row.name in rows], info)
    plan = Plan(table, info, store, jobs, settings)
    if added:
        plan.notes.append(
            f"Others start from these, so they run too: {'; '.join(added)}"
        )
    return plan


def add_corpus(plan: Plan, named: bool) -> Corpus:
    """Read the corpus of a plan, and add its description to `info`.

    Rows that need a missing column are left out, unless the user named them.

    Args:
        named: whether the user named the rows.

    Returns:
        The corpus.

    Raises:
        ValueError: if the corpus lacks data that the table, or a named row, needs.
    """
    corpus = corpora.read_corpus(plan.info["reading"])
    plan.info |= corpora.described(corpus)
    first = min(job.seed for job in plan.jobs)
    corpora.hold_out_dev(corpus, plan.table, plan.info["dev_share"], first)
    corpora.check_corpus(corpus, plan.table, plan.info["punctuation"])
    missing = corpora.missing_columns(corpus, plan.settings)
    kept = [job for job in plan.jobs if job.row not in missing]
    if missing and (named or not kept):
        name, reason = next(iter(missing.items()))
        raise ValueError(f"row {name!r}: {reason}")
    plan.jobs = kept
    plan.notes += [f"Left out: {row}: {reason}" for row, reason in missing.items()]
    return corpus


def summary(
    plan: Plan, corpus: Corpus | None = None, workers: int | None = None
) -> str:
    """The lines that announce a run, or a dry run.

    Args:
        corpus: the corpus, if it is known.
        workers: number of jobs at once; None for a dry run.
    """
    table, info, jobs = plan.table, plan.info, plan.jobs
    todo = [job for job in jobs if not plan.store.done(job)]
    rows, seeds = ({getattr(job, name) for job in jobs} for name in ("row", "seed"))
    epochs = {plan.epochs[job.row] for job in jobs}
    epochs = " to ".join(map(str, sorted({min(epochs), max(epochs)})))
    scaled = "".join(f", {k}={v!r}" for k, v in info["settings"].items())
    lines = [
        f"{table.paper}, Table {table.number}: {table.caption} ({table.corpus})",
        f"{counted(len(jobs), 'job')}: {counted(len(rows), 'row')} x "
        f"{counted(len(seeds), 'seed')}, {len(todo)} still to run, "
        f"{f'{workers} at once, ' if workers else ''}in {plan.store.folder}",
        f"{info['recipe']} recipe{scaled}, {epochs} epoch{'s' * (epochs != '1')}",
    ]
    if corpus is not None:
        sizes = ", ".join(f"{len(part):,} {name}" for name, part in corpus.splits())
        lines.append(f"{corpus.name}: {sizes} sentences")
    if any(map(plan.takes_vectors, rows)):
        lines.append(f"Vectors: {describe_vectors(info['embeddings'])}")
    if workers and todo:
        lines.append(f"Logs: {plan.store.folder}/jobs/*/log.txt")
    if info["recipe"] == "paper" and sum(plan.epochs[job.row] for job in todo) > 1:
        lines.append("The paper's settings can take days; --recipe fast is quicker")
    return "\n".join([*lines, *plan.notes])


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def jobs_table(plan: Plan) -> str:
    """A table of the rows: seeds to run, seeds done, architecture and settings."""
    rows = [["row", "to run", "done", "architecture", "settings"]]
    for name in plan.settings:
        seeds = {True: [], False: []}
        for job in plan.jobs:
            if job.row == name:
                seeds[plan.store.done(job)].append(str(job.seed))
        if not any(seeds.values()):  # left out
            continue
        row = plan.row(name)
        settings = [" ".join(f"{k}={v!r}" for k, v in plan.keywords(name).items())]
        if plan.takes_vectors(name) and plan.info["embeddings"] != "none":
            settings.append("pretrained vectors")
        if row.bootstrap:
            gates = "all gates" if row.gates == "all" else f"gate {' '.join(row.gates)}"
            settings.append(f"{gates} from {row.bootstrap!r}")
        numbers = [" ".join(seeds[False]), " ".join(seeds[True])]
        described = "; ".join(filter(None, settings))
        rows.append([name, *numbers, row.architecture, described])
    return aligned(rows)
