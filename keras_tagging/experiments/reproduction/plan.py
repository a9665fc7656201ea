"""The plan of a reproduction, and the lines that announce it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from keras_tagging.data import Corpus
from keras_tagging.experiments.papers import Table
from keras_tagging.experiments.reproduction import corpus as corpora
from keras_tagging.experiments.reproduction.jobs import (
    Job,
    check_settings,
    choose_rows,
    make_jobs,
    settings_of,
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
    without = [r for r, keys in plan.settings.items() if missing & {*keys["columns"]}]
    kept = [job for job in plan.jobs if job.row not in without]
    if without:
        note = f"the corpus has no column {', '.join(sorted(missing))}, which these "
        note += f"rows need: {'; '.join(without)}"
        if named or not kept:
            raise ValueError(note)
        plan.notes.append(f"Left out: {note}")
    plan.jobs = kept
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
    epochs = sorted({plan.epochs[job.row] for job in jobs})
    lines = [
        f"{table.paper}, Table {table.number}: {table.caption} ({table.corpus})",
        f"{len(jobs)} jobs, {len(todo)} still to run, in {plan.store.folder}",
        f"{info['recipe']} recipe, {info['settings']}, epochs "
        f"{' to '.join(map(str, epochs))}, vectors {info['embeddings']}",
    ]
    if corpus is not None:
        sizes = ", ".join(f"{len(part):,} {name}" for name, part in corpus.splits())
        lines.append(f"{corpus.name}: {sizes} sentences")
    if workers and todo:
        lines.append(f"{workers} at once, logs: {plan.store.folder}/jobs/*/log.txt")
    if info["recipe"] == "paper" and todo:
        lines.append("The paper's settings can take days; --recipe fast is quicker")
    return "\n".join([*lines, *plan.notes])


def jobs_table(plan: Plan) -> str:
    """A table of the rows: seeds to run, seeds done, architecture and settings."""
    lines = [["row", "to run", "done", "architecture", "settings"]]
    for row in plan.table.rows:
        jobs = [job for job in plan.jobs if job.row == row.name]
        if not jobs:
            continue
        seeds: dict[bool, list[str]] = {False: [], True: []}
        for job in jobs:
            seeds[plan.store.done(job)].append(str(job.seed))
        settings = settings_of(row, plan.info)
        if row.vectors:
            settings["vectors"] = plan.info["embeddings"]
        if row.bootstrap:
            settings |= {"bootstrap": row.bootstrap, "gates": row.gates}
        words = " ".join(f"{k}={v!r}" for k, v in settings.items())
        numbers = map(" ".join, seeds.values())
        lines.append([row.name, *numbers, row.architecture, words])
    return aligned(lines)
