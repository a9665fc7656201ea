"""The plan of a reproduction: its jobs, their settings, and the corpus they need.

There is a job for each of our systems and each seed.
"""

import glob
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from keras_tagging.architectures import resolve_settings
from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.loading import hold_out, load_treebank
from keras_tagging.corpora.word_classes import WordClasses
from keras_tagging.data import Corpus
from keras_tagging.data.named_columns import annotated
from keras_tagging.data.trees import trees_of
from keras_tagging.experiments.papers import Row, Table, choose_rows, slugs
from keras_tagging.experiments.reproduction.store import Job, Store
from keras_tagging.metrics import attachment_scores
from keras_tagging.models.files.saving import versions
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.stored import sha256_of
from keras_tagging.utils.tables import aligned
from keras_tagging.vectors import load_vectors

#: short names of keywords
SHORT = {"layers": "num_layers"}
#: keywords that have an option of their own
OPTIONS = {"epochs", "seed", "embeddings", "vectors"}


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
        if name in table.varies:
            raise ValueError(
                f"{name}={value!r}: the rows of Table {table.number} of {table.paper} "
                "differ in it, so it cannot be one for all: leave it out"
            )
        check_known("keyword", name, sorted(keywords - OPTIONS))
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
        ValueError: if `build` would refuse the settings of a row.
    """
    epochs = {} if info["epochs"] is None else {"epochs": info["epochs"]}
    return {
        row.name: resolve_settings(
            row.architecture, info["recipe"], settings_of(row, info)
        )
        | epochs
        for row in rows
    }


def check_embeddings(table: Table, embeddings: str | None) -> str | None:
    """Check --embeddings: "train", "none", a file or a name.

    Returns:
        The value, a file with its whole path; by default "train", if the table has rows
        with vectors.

    Raises:
        ValueError: if nothing has the name.
        OSError: if there is no such file.
    """
    if embeddings is None:
        return "train" if any(row.vectors for row in table.rows) else None
    if embeddings not in ("train", "none"):
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


# The plan of a reproduction, and the lines that announce it


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
    corpus = read_corpus(plan.info["reading"])
    plan.info |= described(corpus)
    first = min(job.seed for job in plan.jobs)
    hold_out_dev(corpus, plan.table, plan.info["dev_share"], first)
    check_corpus(corpus, plan.table, plan.info["punctuation"])
    missing = missing_columns(corpus, plan.settings)
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


# The corpus, and whether it has what a table needs

CLASSES = "word_class"  # the column that can be learnt


def absolute(path: str | None) -> str | None:
    """Make the path or pattern of existing files absolute; corpus names stay."""
    if path is None or not (os.path.exists(path) or glob.glob(path)):
        return path
    return os.path.abspath(path)


def read_corpus(reading: Mapping) -> Corpus:
    """Read a corpus as every process does.

    Args:
        reading: path, dev, test, format, errors, options as for `load_corpus`, and
            trees: whether the reader checks the trees, if its format can.
    """
    options = {name: reading[name] for name in ("format", "dev", "test", "errors")}
    load = load_treebank if reading["trees"] else load_corpus
    return load(reading["path"], **options | reading["options"])


def described(corpus: Corpus) -> dict:
    """The entries of `reproduction.json` on a corpus and on the first machine."""
    return {
        "sentences": {name: len(sentences) for name, sentences in corpus.splits()},
        "training fingerprint": Corpus(corpus.train).fingerprint(),
        "fingerprint": corpus.fingerprint(),
        **surroundings(),
    }


def surroundings() -> dict:
    """The installed versions and the machine of a job; they may differ between jobs."""
    return {
        "versions": {**versions(), "python": platform.python_version()},
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
    }


def hold_out_dev(corpus: Corpus, table: Table, share: float | None, seed: int) -> None:
    """Move sentences to the development set, if the table or --dev-share says so.

    The share of a table is drawn from the training and development sentences, again for
    each seed. The share of --dev-share is the same for all seeds.
    """
    if None not in (table.held_out, share):
        raise ValueError(f"--dev-share: the table holds out {table.held_out} itself")
    if table.held_out is not None:
        corpus.train, corpus.dev = corpus.train + corpus.dev, []
        hold_out(corpus, table.held_out, seed)
    elif share is not None:
        hold_out(corpus, share, 0)


def add_classes(corpus: Corpus, columns: Iterable[str]) -> str | None:
    """Add word classes learnt from the training sentences, if a model needs them.

    Args:
        corpus: the corpus, which is changed in place.
        columns: the columns that the model reads.

    Returns:
        "corpus" if it has its own word classes, "learnt", or None if none are needed.
    """
    if CLASSES not in columns:
        return None
    if not lacking(corpus, CLASSES):
        return "corpus"
    learnt = WordClasses.learn(corpus.train)
    for name, sentences in corpus.splits():
        setattr(corpus, name, learnt.annotate(sentences))
    return "learnt"


def lacking(corpus: Corpus, column: str) -> bool:
    return any(
        column not in sentence.columns
        for _, sentences in corpus.splits()
        for sentence in sentences
        if sentence.tokens
    )


def check_corpus(corpus: Corpus, table: Table, punctuation: str) -> None:
    """Check that all jobs can train on a corpus and measure every figure.

    Args:
        corpus: the corpus, after `hold_out_dev`.
        punctuation: as in `attachment_scores`, for parsers.

    Raises:
        ValueError: if something is missing; the message names the remedy.
    """
    if not corpus.dev:
        raise ValueError(
            f"{corpus.name} has no development sentences, on which the best epoch is "
            "chosen: give --dev FILE, or --dev-share 0.1 of the training sentences"
        )
    if not corpus.test and any(column.split == "test" for column in table.columns):
        raise ValueError(
            f"{corpus.name} has no test sentences, on which Table {table.number} of "
            f"{table.paper} measures: give --test FILE"
        )
    for name, sentences in corpus.splits():
        try:
            if is_of_parsers(table):
                trees_of(sentences)
                gold = [
                    [sentence.columns[column] for sentence in sentences]
                    for column in ("head", "deprel")
                ]
                attachment_scores(sentences, *gold, punctuation=punctuation)
            else:
                annotated(sentences)
        except ValueError as error:
            raise ValueError(f"{corpus.name}, {name}: {error}") from None


def is_of_parsers(table: Table) -> bool:
    return any(column.figure in ("uas", "las") for column in table.columns)


def missing_columns(corpus: Corpus, settings: Mapping[str, Mapping]) -> set[str]:
    """Find columns that rows need, and the corpus lacks and cannot learn.

    Args:
        settings: the settings of each row, by its name.
    """
    names = {name for keywords in settings.values() for name in keywords["columns"]}
    missing = {name for name in names if lacking(corpus, name)}
    with suppress(ValueError):  # of tags that are no slot labels
        if CLASSES in missing:
            WordClasses.learn(corpus.train)
            missing.remove(CLASSES)
    return missing
