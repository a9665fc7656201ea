"""The command that measures the systems of a published table: reproduce."""

import sys
from typing import Annotated

import typer

from keras_tagging.cli.loading import Reading
from keras_tagging.cli.options import (
    CORPUS,
    Count,
    Dev,
    Epochs,
    Folder,
    Pairs,
    Punctuation,
    Recipe,
    Test,
    pairs,
    refuse,
)
from keras_tagging.cli.output import note, one_line
from keras_tagging.utils.startup import start_program
from keras_tagging.utils.tables import aligned


def reproduce(
    *,
    paper: Annotated[str | None, typer.Argument()] = None,
    table: Count = None,
    corpus: Annotated[str | None, typer.Option(help=CORPUS)] = None,
    dev: Dev = None,
    test: Test = None,
    reading: Reading,
    dev_share: float | None = None,
    rows: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    seeds: Annotated[int, typer.Option(min=1)] = 5,
    epochs: Epochs = None,
    recipe: Recipe = "paper",
    scale: Annotated[str | None, typer.Option(metavar="KEY=VALUE,...")] = None,
    settings: Pairs = None,
    embeddings: Annotated[
        str | None, typer.Option(metavar="FILE|NAME|train|none")
    ] = None,
    punctuation: Punctuation = None,
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    out: Folder = None,
    report: bool = False,
    dry_run: bool = False,
) -> None:
    """Train the systems of a published table on a corpus, and compare the figures.

    Each system is trained several times; each row and seed is a job. DIR has a result
    for each finished job, its model in jobs/ROW.SEED, and report.md, report.csv (all
    runs), report.pairs.csv (tests of pairs of rows) and report.png. After a kill, the
    same command continues with the first unfinished epoch of every job, and ends with
    the same figures; it also runs failed jobs again. With other --rows or more --seeds
    it adds to the results. With the papers' own settings and a corpus of their size, a
    job can take days.

    Examples:
        keras-tagging reproduce
        keras-tagging reproduce wu2016
        keras-tagging reproduce wu2016 --table 2 --corpus demo --recipe fast --seeds 3
            --scale units=32,word_dim=32 --epochs 3 --out runs/wu2016
        keras-tagging reproduce dinarelli2016 --table 4 --corpus atis --rows
            i-rnn-forward --jobs 4
        keras-tagging reproduce --report --out runs/wu2016

    Args:
        paper: By default list them.
        table: By default list the paper's tables.
        dev_share: Share of the training sentences to use for development, the same ones
            for all jobs.
        rows: Run only this row; may be repeated. The start of its name is enough.
        seeds: Run each row N times, with the seeds 1 to N.
        scale: Keywords of all rows that have them, such as units=128,layers=3.
        settings: The same, for one keyword.
        embeddings: Vectors of the rows that have pretrained ones, or of all rows where
            the table has none: a file, or a name that the command vectors lists. By
            default gensim trains them on the training sentences.
        jobs: Number of jobs at once.
        out: By default PAPER-table-N.
        report: Only write the report of DIR.
        dry_run: Only check the options and list the jobs.
    """
    from keras_tagging.experiments import papers

    if not report and (paper is None or (table is None and paper in papers.PAPERS)):
        what = "PAPER" if paper is None else "--table"
        unused = {"table": table, "corpus": corpus, "dry_run": dry_run}
        refuse(f"without {what} there is no", unused)
        if paper is not None:
            print(list_tables(paper))
            return
        lines = [["paper", "tables", ""]]
        for name, of_name in papers.PAPERS.items():
            lines.append([name, ", ".join(map(str, of_name.TABLES)), of_name.authors])
        print(aligned(lines))
        return
    published = None if report else papers.table(paper, table)
    if rows and isinstance(published, papers.Table):
        papers.choose_rows(published, rows)  # refuses a name before Keras is loaded
    start_program()
    from keras_tagging.experiments.reproduction.store import Store  # with Keras

    store = Store(out or f"{paper}-table-{table}")
    if report:
        if out is None and None in (paper, table):
            raise ValueError("--report needs --out DIR, or the paper and --table")
        print_report(store)
        return
    if isinstance(published, papers.Settings):
        from keras_tagging.experiments.reproduction.report import settings_markdown

        print(settings_markdown(published))
        return
    from keras_tagging.experiments.reproduction import plan as planning

    scaled = pairs("--scale", scale and scale.split(",")) | pairs("--set", settings)
    source = planning.check_embeddings(published, embeddings)
    files = {"path": corpus, "dev": dev, "test": test}
    info = {
        "paper": paper,
        "table": table,
        "corpus": corpus,
        "reading": {name: planning.absolute(path) for name, path in files.items()}
        | {"format": reading.format, "errors": reading.errors}
        | {"options": reading.options, "trees": planning.is_of_parsers(published)},
        "dev_share": dev_share,
        "recipe": recipe,
        "settings": planning.check_scale(published, scaled),
        "epochs": epochs,
        "embeddings": source,
        "embeddings checksum": planning.embeddings_checksum(source),
        "punctuation": punctuation or published.punctuation,
    }
    plan = planning.make_plan(published, info, store, rows, range(1, seeds + 1))
    if corpus is None and not dry_run:
        raise ValueError("--corpus is missing: name the corpus to train and measure on")
    data = planning.add_corpus(plan, named=bool(rows)) if corpus is not None else None
    if dry_run:
        of_corpus = ("corpus", "reading") if data is None else ()
        store.check({k: v for k, v in info.items() if k not in of_corpus})
        print(f"{planning.summary(plan, data)}\n\n{planning.jobs_table(plan)}")
        return
    from keras_tagging.experiments.reproduction.run import run_jobs

    with store.locked():
        store.open(info)
        note(planning.summary(plan, data, jobs))
        del data
        try:
            failed = run_jobs(plan.jobs, store, jobs, plan.epochs)
        except KeyboardInterrupt:
            note("The same command continues with the first unfinished epochs")
            raise
        for job, reason in failed.items():
            text = f"{job}: {reason} (see {store.failure(job)})"
            sys.stderr.write(one_line("failed", text))
        if any(map(store.done, plan.jobs)):
            print_report(store)
        if failed:
            raise typer.Exit(1)


def list_tables(paper: str) -> str:
    """The tables of a paper."""
    from keras_tagging.experiments.papers import PAPERS, Settings

    lines = [["table", "rows", "figures", "measured on", "caption"]]
    for number, table in PAPERS[paper].TABLES.items():
        ours = figures = corpus = ""
        if not isinstance(table, Settings):
            ours = str(sum(row.architecture is not None for row in table.rows))
            measured = [f"{column.split} {column.figure}" for column in table.columns]
            figures, corpus = ", ".join(dict.fromkeys(measured)), table.corpus
        lines.append([str(number), ours, figures, corpus, table.caption])
    return aligned(lines)


def print_report(store) -> None:
    """Write and print the report of the results in a folder."""
    from keras_tagging.experiments import papers
    from keras_tagging.experiments.reproduction import read_results
    from keras_tagging.experiments.reproduction.report import write_report

    info, results = read_results(store.folder)
    if not results:
        raise ValueError(f"{store.folder} has no results yet: run its jobs first")
    published = papers.table(info["paper"], info["table"])
    page, *others = write_report(published, info, results, store.folder)
    print(page.read_text(encoding="utf-8"), flush=True)
    note(f"Written to {', '.join([str(page), *(path.name for path in others)])}")
    note(f"models: {store.model('ROW.SEED')}")
