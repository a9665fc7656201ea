"""Start, stop, and workers that are killed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from hostile.programs import program
from service.conftest import serving

from keras_tagging.data.sentence import Sentence
from keras_tagging.service.worker import stamp
from keras_tagging.service.workers import Worker, WorkerDied

SLOW = {"sentences": [["the", "dog"] * 80]}  # some tenths of a second
REPLACED = "\nkeras_tagging_workers_replaced_total 2.0\n"


def workers(running):
    """The processes that run models, from Linux' own list."""
    pid = running.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def gone(pid):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_killed_workers_lose_no_request(model_files, direct):
    """Under load, all are answered, and rightly."""
    given = [["the", "dog", "barks"][:n] for n in (1, 2, 3)]
    expected = direct["tagger"].predict_rows(given, ["tags"])
    with serving(model_files["tagger"], "--workers", 2) as running:
        assert len(workers(running)) == 2
        over = threading.Event()

        def client(number):
            count, http = 0, requests.Session()
            while not over.is_set():
                i = (count + number) % 3
                body = {"sentences": [given[i]]}
                found = http.post(running.url + "/tag", json=body, timeout=30)
                assert found.status_code == 200, found.text
                assert found.json()["sentences"][0]["tags"] == expected[i]["tags"]
                count += 1
                time.sleep(0.01)
            return count

        with ThreadPoolExecutor(6) as pool:
            counts = [pool.submit(client, i) for i in range(6)]
            time.sleep(0.7)
            first = workers(running)
            os.kill(first[0], signal.SIGKILL)
            time.sleep(0.3)
            os.kill(first[1], signal.SIGKILL)  # now there may be none for a moment
            deadline = time.monotonic() + 60
            while REPLACED not in running.get("/metrics").text:
                if time.monotonic() > deadline:
                    break  # which is told below
                time.sleep(0.1)
            time.sleep(0.5)  # the new ones answer too
            over.set()
            assert all(count.result() > 0 for count in counts)
        assert len(workers(running)) == 2 and not set(first) & set(workers(running))
        assert REPLACED in running.get("/metrics").text
        code, errors = running.stop()
        assert code == 0
        assert sorted(errors.splitlines()) == sorted(
            f"worker {pid} has ended and is replaced" for pid in first
        )


def test_a_signal_lets_requests_in_flight_be_answered(model_files):
    with serving(model_files["parser"], "--max-batch", 1) as running:

        def ask(_):
            return requests.post(running.url + "/parse", json=SLOW, timeout=30)

        [worker] = workers(running)
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(ask, i) for i in range(4)]
            while "waiting_requests 3.0" not in running.get("/metrics").text:
                assert not any(answer.done() for answer in answers)
            # systemd tells the workers too
            os.kill(worker, signal.SIGTERM)
            code, errors = running.stop()
            assert [answer.result().status_code for answer in answers] == [200] * 4
        assert (code, errors) == (0, "")
        assert gone(worker)
        with pytest.raises(requests.ConnectionError):
            running.get("/v2")


def test_a_signal_at_the_start_is_not_lost(model_files):
    """Not even between the line that tells the address and the first request."""
    code = (
        "import os, signal, sys; from keras_tagging.cli import main; "
        "from keras_tagging.service import server; "
        "server.print = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM); "
        "main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "serve", model_files["tagger"]]
    assert subprocess.run([*command, "--port", "0"], timeout=60).returncode == 0


def test_a_service_that_is_killed_leaves_no_worker(model_files):
    with serving(model_files["tagger"]) as running:
        [worker] = workers(running)
        running.process.kill()
        assert gone(worker)


def test_a_worker_that_takes_too_long_is_replaced(model_files, monkeypatch):
    path, replaced = str(model_files["tagger"]), []
    jobs = [([Sentence(["the"])], ["tags"])]

    async def run():
        worker = Worker({"tagger": (path, stamp(path))}, lambda: replaced.append(1))
        await worker.start()
        first = worker.pid
        assert worker.ready and worker.models["tagger"].kind == "tagger"
        with monkeypatch.context() as patch:
            patch.setattr("keras_tagging.utils.limits.SERVICE_SECONDS", 0)
            # some seconds: one sentence may be done before its time is looked at
            slow = [Sentence(["the", "dog"] * 80)] * 20
            with pytest.raises(WorkerDied):
                await worker.answer("tagger", [(slow, ["tags"])])
        assert not worker.ready
        [[answer]] = await worker.answer("tagger", jobs)
        assert len(answer["tags"]) == 1 and worker.pid != first
        await worker.stop()
        assert gone(first) and gone(worker.pid) and replaced == [1]

    asyncio.run(run())


def test_an_address_that_is_taken(model_files, service):
    port = service.url.rpartition(":")[2]
    code, _, told = program("serve", model_files["tagger"], "--port", port)
    assert code == 2 and told.count("\n") == 1
    assert f"127.0.0.1, port {port}: " in told and "another --host or --port" in told


def test_it_listens_on_the_loopback_alone(service):
    assert service.line == (f"Serving tagger, parser, gold at {service.url}\n")
    assert service.url.startswith("http://127.0.0.1:")
    port = int(service.url.rpartition(":")[2])
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), timeout=5)
