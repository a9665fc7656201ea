"""A Ray cluster of two cores on this machine, or a stand-in for it.

What takes a cluster is slow; the stand-in has what the engine asks of Ray.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import ray_clusters

from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import ray_engine
from keras_tagging.experiments.reproduction.jobs import Job, choose_rows, make_jobs
from keras_tagging.experiments.reproduction.progress import Progress
from keras_tagging.experiments.reproduction.ray_engine import RayEngine, resources
from keras_tagging.experiments.reproduction.schedule import run_jobs

SLOW = pytest.mark.slow
A, B = Job("A", 1, "a"), Job("B", 1, "b")


@pytest.fixture(scope="module")
def cluster():
    with ray_clusters.cluster() as ray:
        yield ray


@pytest.fixture
def threads(monkeypatch):
    """Ray without processes of its own: a thread does what is sent to the cluster."""
    pool = ThreadPoolExecutor(2)

    def remote(function):
        def send(*arguments):
            done = pool.submit(function, *arguments)
            return SimpleNamespace(future=lambda: done)

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=send))

    ray = SimpleNamespace(
        is_initialized=lambda: True,
        nodes=lambda: [{"Alive": True, "Resources": {"CPU": 2.0}}],
        remote=remote,
        cancel=lambda reference, force: None,
    )
    monkeypatch.setattr(ray_engine, "imported_ray", lambda: ray)
    yield ray
    pool.shutdown()


@SLOW
def test_jobs_on_a_cluster(cluster, store, describe):
    table = papers.table("dinarelli2016", 7)
    scale = {"units": 4, "word_dim": 4, "label_dim": 3, "pretrain": None}
    store.open(describe(table, settings=scale))
    jobs, _ = make_jobs(table, choose_rows(table, ["i-rnn-forward"]), [1, 2])
    engine = RayEngine(store)
    assert engine.workers == 2
    assert engine.environment["OMP_NUM_THREADS"] == "1"
    with Progress(jobs, store, {jobs[0].row: 1}, engine.workers) as progress:
        assert not run_jobs(jobs, store, engine, progress)
    first, second = map(store.read, jobs)
    assert (first["seed"], second["seed"]) == (1, 2)
    assert first["evidence"] != second["evidence"]
    assert cluster.is_initialized()  # it is not the engine's own


def stand_in(engine, code, tmp_path, monkeypatch):
    """Has a program take the place of the one that does jobs."""
    (tmp_path / "stand_in.py").write_text(code)
    monkeypatch.setattr(ray_engine, "MODULE", "stand_in")
    engine.environment["PYTHONPATH"] = str(tmp_path)


@pytest.mark.parametrize("ray", ["threads", pytest.param("cluster", marks=SLOW)])
def test_failures_are_told(ray, request, store, describe, monkeypatch, tmp_path):
    request.getfixturevalue(ray)
    table = papers.table("kadari2018", 2)
    store.open(describe(table))
    [job], _ = make_jobs(table, choose_rows(table, None), [1])
    engine = RayEngine(store, 1)
    stand_in(engine, "raise SystemExit('the reason')", tmp_path, monkeypatch)
    with Progress([job], store, {"GRU": 1}, 1) as progress:
        failed = run_jobs([job], store, engine, progress)
    assert failed == {job: "the reason"}


@SLOW
def test_closing_ends_what_runs(cluster, store, monkeypatch, tmp_path):
    code = "import sys, os\nprint(os.getpid(), flush=True)\nos.read(0, 1)\n"
    engine = RayEngine(store, 2)
    stand_in(engine, code, tmp_path, monkeypatch)
    ended = [engine.start(A), engine.start(B)]
    while not all(store.log(job).exists() for job in (A, B)):
        time.sleep(0.05)
    while not all(store.log(job).read_text().endswith("\n") for job in (A, B)):
        assert not any(future.done() for future in ended)
        time.sleep(0.05)
    engine.close()
    deadline = time.monotonic() + 30
    for job in (A, B):
        while os.path.exists(f"/proc/{store.log(job).read_text().strip()}"):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("nodes", "workers", "cpus", "gpus"),
    [
        ([{"CPU": 2.0}], 2, 1, 0),
        ([{"CPU": 8.0}], 3, 2, 0),
        ([{"CPU": 2.0}], 5, 1, 0),
        ([{"CPU": 8.0, "GPU": 1.0}], 4, 2, 0.25),
        # a job does not extend over two machines
        ([{"CPU": 8.0, "GPU": 2.0}, {"CPU": 4.0}], 1, 8, 1),
        ([{"memory": 1.0}, {"CPU": 4.0}], 2, 2, 0),
    ],
)
def test_what_a_job_takes(nodes, workers, cpus, gpus):
    assert resources(nodes, workers) == {"num_cpus": cpus, "num_gpus": gpus}


def test_a_cluster_that_is_not_there_is_told(store, monkeypatch):
    def refuse(**_):
        raise ConnectionError("nothing answers\nand more")

    monkeypatch.setattr("ray.init", refuse)
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    with pytest.raises(ValueError, match="at 10.0.0.1:6379 .nothing answers.: see ray"):
        RayEngine(store)


def test_ray_that_is_missing_is_told(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="pip install 'keras-tagging\\[ray\\]'"):
        RayEngine(store)
