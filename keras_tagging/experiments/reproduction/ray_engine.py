"""An engine that runs jobs on the machines of a Ray cluster.

The environment variable RAY_ADDRESS names the cluster. Without it, the engine uses a
cluster that was started on this machine, or starts one on its cores that ends with this
process. All machines need the package, and the folder of the reproduction, the corpus
and the vectors under the same paths.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from keras_tagging.experiments.reproduction.engines import (
    MODULE,
    arguments,
    environment,
)
from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.utils.ray_cluster import imported_ray, start

#: variables of this process that a job on another machine needs too
PASSED = ("KERAS_BACKEND", "KERAS_TAGGING_DATA", "KERAS_TAGGING_CACHE")


class RayEngine:
    """An engine that sends jobs to a Ray cluster, each to a process of its own.

    Args:
        store: the folder of the reproduction.
        workers: number of jobs at once; None: one for each core of the cluster. Jobs
            share the cores, and the GPUs, if there are any.

    Raises:
        ValueError: if Ray is not installed, or there is no such cluster.
    """

    def __init__(self, store: Store, workers: int | None = None):
        try:
            self.ray = ray = imported_ray()
            self.is_own = start(ray)
        except (ImportError, OSError) as error:
            raise ValueError(str(error)) from error
        self.store = store
        self.started: list = []
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        self.workers = workers or max(1, int(sum(n.get("CPU", 0) for n in nodes)))
        share = resources(nodes, self.workers)
        self.environment = environment(share["num_cpus"])
        self.environment |= {k: os.environ[k] for k in PASSED if k in os.environ}
        self.remote = ray.remote(_process()).options(max_retries=0, **share)

    def start(self, job: Job) -> Future:
        log = self.store.log(job).absolute()
        log.parent.mkdir(parents=True, exist_ok=True)
        program = ["-m", MODULE, *arguments(self.store, job)]
        self.started.append(self.remote.remote(program, self.environment, str(log)))
        return self.started[-1].future()

    def close(self) -> None:
        for reference in self.started:
            self.ray.cancel(reference, force=True)
        if self.is_own:
            self.ray.shutdown()


def resources(nodes: Sequence[Mapping], workers: int) -> dict:
    """The share of each job in the resources of a cluster.

    Args:
        nodes: the resources of each machine.
        workers: number of jobs at once.
    """
    every = [int(node.get("CPU", 0)) for node in nodes]
    # a job runs on one machine, so its cores are the limit
    cpus = max(1, min(sum(every) // workers, max(every, default=1)))
    gpus = sum(node.get("GPU", 0) for node in nodes)
    return {"num_cpus": cpus, "num_gpus": min(1, gpus / workers)}


def _process():
    """A function that runs a Python program and returns its exit code.

    Ray sends the function itself, so its workers need not import this package, which
    takes memory and starts TensorFlow.
    """

    def process(program, environment, log):
        import os
        import subprocess
        import sys

        with open(log, "ab") as output:
            with subprocess.Popen(
                [sys.executable, *program],
                stdin=subprocess.PIPE,  # the job ends when Ray's worker is gone
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
            ) as child:
                try:
                    return child.wait()
                finally:
                    child.kill()

    return process
