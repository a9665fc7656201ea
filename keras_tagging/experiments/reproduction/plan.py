"""What a reproduction is to do, and its first lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from keras_tagging.cli.output import aligned
from keras_tagging.data import Corpus
from keras_tagging.experiments.papers.table import Row, Table
from keras_tagging.experiments.reproduction import corpus as corpora
from keras_tagging.experiments.reproduction.jobs import Job, choose_rows, make_jobs
from keras_tagging.experiments.reproduction.report_facts import describe_vectors
from keras_tagging.experiments.reproduction.settings import check_settings, settings_of
from keras_tagging.experiments.reproduction.store import Store


@dataclass
class Plan:
    """The jobs of a reproduction.

    Attributes:
        table: that is reproduced.
        info: what `reproduction.json` is to say.
        store: the folder.
        jobs: each behind the one that it needs.
        settings: of each row that has jobs all its settings, by its name.
        notes: what the user should know, a line each.
    """

    table: Table
    info: dict
    store: Store
    jobs: list[Job]
    settings: dict[str, dict]
    notes: list[str] = field(default_factory=list)

    @property
    def epochs(self) -> dict[str, int]:
        """Of each row, by its name."""
        return {name: given["epochs"] for name, given in self.settings.items()}

    def row(self, name: str) -> Row:
        return next(row for row in self.table.rows if row.name == name)

    def keywords(self, name: str) -> dict:
        """Those of `build` that make a row."""
        return settings_of(self.row(name), self.info)


def make_plan(
    table: Table,
    info: dict,
    store: Store,
    names: Sequence[str] | None,
    seeds: Sequence[int],
) -> Plan:
    """The jobs of some rows, and of those that they start from.

    Args:
        names: of rows, see `choose_rows`.

    Raises:
        ValueError: if there is no such row, or its settings are not possible.
    """
    chosen = choose_rows(table, names)
    jobs, added = make_jobs(table, chosen, seeds)
    rows = {job.row for job in jobs}
    settings = check_settings([row for row in table.rows if row.name in rows], info)
    plan = Plan(table, info, store, jobs, settings)
    if added:
        plan.notes.append(f"Others start from these, so they run too: {_listed(added)}")
    return plan


def add_corpus(plan: Plan, named: bool) -> Corpus:
    """Reads the corpus of a plan, and completes `info` with what it is.

    Rows that it cannot give all columns of are left out, if they were not named.

    Returns:
        The corpus.

    Raises:
        ValueError: if the corpus lacks what the table, or a row that was named, needs.
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
    plan.notes += [f"Left out: {name}: {why}" for name, why in missing.items()]
    return corpus


def summary(
    plan: Plan, corpus: Corpus | None = None, workers: int | None = None
) -> str:
    """What is about to run, or with --dry-run would.

    Args:
        corpus: None: not known.
        workers: how many run at once. None: none do.
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
    if any(plan.row(name).vectors for name in rows):
        lines.append(f"Vectors: {describe_vectors(info['embeddings'])}")
    if workers and todo:
        lines.append(f"Logs: {plan.store.folder}/jobs/*/log.txt")
    if info["recipe"] == "paper" and sum(plan.epochs[job.row] for job in todo) > 1:
        lines.append("The paper's settings can take days; --recipe fast is quicker")
    return "\n".join([*lines, *plan.notes])


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def jobs_table(plan: Plan) -> str:
    """The seeds of each row, those that are done, and what it is built with."""
    rows = [["row", "to run", "done", "architecture", "settings"]]
    for name in plan.settings:
        seeds = {True: [], False: []}
        for job in plan.jobs:
            if job.row == name:
                seeds[plan.store.done(job)].append(str(job.seed))
        if not any(seeds.values()):  # left out
            continue
        row = plan.row(name)
        given = [" ".join(f"{k}={v!r}" for k, v in plan.keywords(name).items())]
        if row.vectors and plan.info["embeddings"] != "none":
            given.append("pretrained vectors")
        if row.bootstrap:
            gates = "all gates" if row.gates == "all" else f"gate {' '.join(row.gates)}"
            given.append(f"{gates} from {row.bootstrap!r}")
        numbers = [" ".join(seeds[False]), " ".join(seeds[True])]
        told = "; ".join(filter(None, given))
        rows.append([name, *numbers, row.architecture, told])
    return aligned(rows)


def _listed(names: Sequence[str]) -> str:
    return "; ".join(names)
