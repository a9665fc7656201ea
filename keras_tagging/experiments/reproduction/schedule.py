"""The loop that runs the jobs of a reproduction in order."""

import time
from collections.abc import Sequence

from keras_tagging.experiments.reproduction.engines import Engine
from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.progress import Progress
from keras_tagging.experiments.reproduction.store import Store

PAUSE = 0.2  # seconds between two looks at the running jobs


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
    running: set[Job] = set()

    def fail(job, reason):
        failed[job] = reason
        store.write_failure(job, reason)
        progress.failed(job, reason)

    try:
        while waiting or running:
            open_names = {job.name for job in (*waiting, *running)}
            failed_names = {job.name for job in failed}
            for job in list(waiting):
                if job.needed in failed_names:
                    waiting.remove(job)
                    fail(job, f"not run, because {job.needed}, which it needs, failed")
                elif job.needed not in open_names and engine.has_room():
                    waiting.remove(job)
                    engine.start(job)
                    running.add(job)
                    progress.started(job)
            for job, reason in engine.ended():
                running.remove(job)
                if reason is None and not store.done(job):
                    reason = "its process ended without a result"
                if reason is None:
                    progress.finished(job)
                else:
                    fail(job, reason)
            progress.tick()
            time.sleep(PAUSE)
    finally:
        engine.close()
    return failed
