"""`annotate --engine ray`: shards of files, on the processors of many machines."""

from dataclasses import dataclass
from pathlib import Path

from keras_tagging.cli.messages import show
from keras_tagging.cli.options import Count
from keras_tagging.cli.progress import steps_shown


@dataclass(frozen=True)
class Sharding:
    """The options of --engine ray.

    Args:
        workers: With --engine ray, processes; by default as many as it has CPUs.
        threads: With --engine ray, CPUs of each process; by default 1.
        address: Of a Ray cluster, such as HOST:6379 or auto; by default Ray runs on
            this machine.
        shard_size: With --engine ray, bytes of input after which a shard ends as soon
            as it can; by default a million.
    """

    workers: Count = None
    threads: Count = None
    address: str | None = None
    shard_size: Count = None


def annotate_shards(
    run: Path,
    files: list[str] | None,
    input: str | None,
    output: str,
    encoding: str | None,
    out: Path | None,
    sharding: Sharding,
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
    cluster.imported_ray()  # before the inputs are read, which may take minutes
    work = cluster.work_of(run, out, output, sharding.threads or 1)
    plan = shards.plan(files, input, encoding, sharding.shard_size or shards.SIZE)
    steps = cluster.run(work, plan, workers=sharding.workers, address=sharding.address)
    counts = {"annotated": [0, 0, 0], "checked": [0, 0, 0]}
    for step, sentences, words in steps_shown(steps, len(plan.shards)):
        for place, number in enumerate((1, sentences, words)):
            counts[step][place] += number
    done, (whole, sentences, words) = counts["annotated"][0], counts["checked"]
    before = f", {whole - done:,} of them before" if done < whole else ""
    show(
        f"{out}: {whole:,} shards{before}; {sentences:,} sentences, {words:,} words, "
        "each checked to be there once"
    )
