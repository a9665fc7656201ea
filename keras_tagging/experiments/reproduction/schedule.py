"""The loop that runs the jobs of a reproduction in order."""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from keras_tagging.experiments.reproduction.engines import Engine, failure_reason
from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.progress import Progress
from keras_tagging.experiments.reproduction.store import Store

PAUSE = 0.2  # seconds between two looks at the progress


def run_jobs(
    jobs: Sequence[Job], store: Store, engine: Engine, progress: Progress
) -> dict[Job, str]:
    """Run the jobs that have no result yet; one that fails does not stop the rest.

    Args:
        jobs: the jobs, each after the one that it needs.
        store: the folder of the reproduction.
        engine: runs the jobs; it is closed at the end, also after an interrupt.
        progress: reports which jobs start and end.

    Returns:
        The jobs that failed, or could not be run, with the reason in one line.
    """
    waiting = [job for job in jobs if not store.done(job)]
    for job in set(jobs) - set(waiting):
        store.tidy(job)  # a kill may have left files
    failed: dict[Job, str] = {}
    running: dict[Future, Job] = {}

    def fail(job, reason):
        failed[job] = reason
        store.write_failure(job, reason)
        progress.failed(job, reason)

    try:
        while waiting or running:
            open_names = {job.name for job in (*waiting, *running.values())}
            failed_names = {job.name for job in failed}
            for job in list(waiting):
                if job.needed in failed_names:
                    waiting.remove(job)
                    fail(job, f"not run, because {job.needed}, which it needs, failed")
                elif job.needed not in open_names and len(running) < engine.workers:
                    waiting.remove(job)
                    running[engine.start(job)] = job
                    progress.started(job)
            progress.tick()
            wait(running, PAUSE, FIRST_COMPLETED)
            for ended in [future for future in running if future.done()]:
                job = running.pop(ended)
                if reason := failure_reason(store, job, ended):
                    fail(job, reason)
                else:
                    progress.finished(job)
    finally:
        engine.close()
    return failed
