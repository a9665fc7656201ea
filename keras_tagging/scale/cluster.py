"""Ray Data gives shards to workers, and replaces workers that die."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from keras_tagging.scale.checking import check
from keras_tagging.scale.folder import opened
from keras_tagging.scale.model_files import fingerprint, model_name
from keras_tagging.scale.shards import Plan, Shard
from keras_tagging.scale.worker import Work, Worker
from keras_tagging.utils.ray_cluster import imported_ray, start

#: shards that wait at a worker, so that it need not wait for the next one
AHEAD = 2


def work_of(model, out, output: str = "conllu", threads: int = 1) -> Work:
    """Describe the task that the workers of a run share.

    Args:
        model: a path, or the name of an installed model.
        out: the folder of the shards.
        output, threads: as in `Work`.

    Raises:
        ValueError: if there is no such model.
    """
    return Work(
        model_name(model), fingerprint(model), os.path.abspath(out), output, threads
    )


def run(
    work: Work, plan: Plan, *, workers: int | None = None, address: str | None = None
) -> Iterator[tuple[str, int, int]]:
    """Annotate the shards of a plan that are not yet done, and then check all of them.

    A worker that dies is replaced, and its shard begun again. What is done stays if the
    run is killed: the same run then does the rest.

    Args:
        work: what to do.
        plan: the inputs.
        workers: processes that annotate, each with `work.threads` CPUs; None for as
            many as there are CPUs for.
        address: of a Ray cluster; None for that of the environment variable
            RAY_ADDRESS, or else one on this machine, of this run alone.

    Yields:
        For each shard "annotated" or, in the end, "checked", and the numbers of its
        sentences and words.

    Raises:
        ValueError: if an input is malformed, the folder holds something else, or a
            shard is not what it should be; the message names it.
        ImportError: if Ray is not installed.
        OSError: if the cluster cannot be reached, or a file not be read or written.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"{workers} workers: give at least 1")
    ray = imported_ray()
    with opened(work, plan) as missing:
        if not plan.shards:  # no file has any text
            return
        with _started(ray, address, workers, work.threads):
            if missing:
                workers = workers or _most_workers(ray, work.threads)
                yield from _annotated(ray, work, missing, workers)
            yield from _checked(ray, work, plan.shards)


@contextmanager
def _started(ray, address: str | None, workers: int | None, threads: int):
    """Ray, for a block; if it runs in this process already, that one."""
    # Ray would wait for CPUs that are not there; workers can share those that are
    own = start(ray, address, max(os.cpu_count() or 1, (workers or 1) * threads))
    try:
        yield
    finally:
        if own:
            ray.shutdown()


def _most_workers(ray, threads: int) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


def _rows(ray, shards: Sequence[Shard]):
    """A dataset with a block for each shard."""
    rows = [{"shard": json.dumps(asdict(shard))} for shard in shards]
    return ray.data.from_items(rows, override_num_blocks=len(rows))


def _annotated(ray, work: Work, shards: Sequence[Shard], workers: int) -> Iterator:
    size = min(workers, len(shards))
    done = _rows(ray, shards).map(
        Worker,
        fn_constructor_args=(work,),
        compute=ray.data.ActorPoolStrategy(
            size=size, max_tasks_in_flight_per_actor=AHEAD
        ),
        num_cpus=work.threads,
    )
    for row in _taken(ray, done):
        yield "annotated", row["sentences"], row["words"]


def _checked(ray, work: Work, shards: Sequence[Shard]) -> Iterator:
    def compared(row: dict) -> dict:
        shard = Shard(**json.loads(row["shard"]))
        done = {"sentences": 0, "words": 0, "error": None}
        try:
            done["sentences"], done["words"] = check(work, shard)
        except (ValueError, OSError) as error:
            done["error"] = str(error)
        return done

    for row in _taken(ray, _rows(ray, shards).map(compared)):
        yield "checked", row["sentences"], row["words"]


def _taken(ray, dataset) -> Iterator[dict]:
    """The rows of a dataset as they come; an error in one is raised."""
    context = ray.data.DataContext.get_current()
    shown, context.enable_progress_bars = context.enable_progress_bars, False
    try:
        for row in dataset.iter_rows():
            if row["error"] is not None:
                raise ValueError(row["error"])
            yield row
    finally:
        context.enable_progress_bars = shown
