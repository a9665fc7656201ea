"""`annotate --engine ray`: shards of files, on the processors of many machines."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.progress import bars

Out = Annotated[
    Path | None,
    typer.Option(help="With --engine ray, the folder that gets a file for each shard."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="With --engine ray, processes; by default as many as it has CPUs."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="With --engine ray, CPUs of each process; by default 1."),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Of a Ray cluster, such as HOST:6379 or auto; by default Ray runs on this "
        "machine."
    ),
]
ShardSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --engine ray, bytes of input after which a shard ends as soon as it "
        "can; by default a million.",
    ),
]


def annotate_shards(
    run: Path,
    files: list[str] | None,
    input: str | None,
    output: str,
    encoding: str | None,
    *,
    out: Path | None,
    workers: int | None,
    threads: int | None,
    address: str | None,
    shard_size: int | None,
) -> None:
    """Annotate the shards of files that are not yet in a folder, and check all of them.

    Raises:
        ValueError: if an option is missing, or as in `scale.cluster.run`.
    """
    from keras_tagging.scale import cluster, shards
    from keras_tagging.scale.worker import OUTPUTS

    if out is None:
        raise ValueError("--engine ray writes a folder: name it with --out")
    if not files:
        raise ValueError("--engine ray reads files: name one, or a folder of them")
    if output not in OUTPUTS:
        raise ValueError(
            f"--output {output} has no identifiers to check: with --engine ray give "
            f"{' or '.join(OUTPUTS)}"
        )
    try:
        cluster.imported_ray()  # before the inputs are read, which may take minutes
    except ImportError as error:
        raise ValueError(str(error)) from error
    work = cluster.work_of(run, out, output, threads or 1)
    plan = shards.plan(files, input, encoding, shard_size or shards.SIZE)
    told = cluster.run(work, plan, workers=workers, address=address)
    counts = {"annotated": [0, 0, 0], "checked": [0, 0, 0]}
    for step, sentences, words in _shown(told, len(plan.shards)):
        for place, number in enumerate((1, sentences, words)):
            counts[step][place] += number
    done, (whole, sentences, words) = counts["annotated"][0], counts["checked"]
    before = f", {whole - done:,} of them before" if done < whole else ""
    print(
        f"{out}: {whole:,} shards{before}; {sentences:,} sentences, {words:,} words, "
        "each checked to be there once"
    )


def _shown(told: Iterator[tuple], count: int) -> Iterator[tuple]:
    """The same steps, with a bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield from told
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.fields[step]} {task.completed:,.0f} of {task.total:,.0f}"),
        TextColumn("shards"),
        BarColumn(),
        TimeRemainingColumn(),
    ]
    with bars(*columns) as display:
        tasks = {}
        for step, *others in told:
            if step not in tasks:
                tasks[step] = display.add_task("", total=count, step=step)
            display.advance(tasks[step])
            yield step, *others
