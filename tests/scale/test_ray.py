"""Ray with two workers on this machine, which are killed, and so is the run itself.

What takes long is left to `make test-slow`: one run, with an error in it, shows that
Ray does what is asked of it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path

import pytest

import keras_tagging
from keras_tagging import cli
from keras_tagging.scale import cluster, shards
from keras_tagging.scale.checking import check
from keras_tagging.scale.worker import Worker

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray and what it imports
PAGE = Path(__file__).parents[2] / "docs" / "scale.rst"
BLOCK = re.compile(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)")
COUNT = 40  # sentences of a shard


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A file of 12 shards, each of which takes a worker a moment."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    line = '{{"id": "r{:05}", "tokens": ["the", "dog", "barks", "{}"]}}\n'
    path.write_text(
        "".join(line.format(i, "x" * (1 + i % 7)) for i in range(12 * COUNT))
    )
    return path


@pytest.fixture
def plan(rows):
    plan = shards.plan([rows], size=rows.stat().st_size // 12)
    assert 12 <= len(plan.shards) <= 13
    return plan


class Slow(Worker):
    """A worker that takes half a second for a shard, in which it can be killed."""

    def annotate(self, shard):
        time.sleep(0.5)
        return super().annotate(shard)


def identifiers(work, plan):
    return [
        json.loads(line)["id"]
        for shard in plan.shards
        for line in work.path(shard).read_text("utf-8").splitlines()
    ]


def processes(name):
    """The processes of Ray that run this."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True)
    lines = (line.split(None, 1) for line in found.stdout.splitlines())
    return [int(pid) for pid, rest in lines if rest.startswith(f"ray::{name}")]


@pytest.mark.slow
def test_a_killed_worker_is_replaced(ray, onnx, plan, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "Worker", Slow)
    work = cluster.work_of(onnx, tmp_path / "out", "jsonl")
    run, killed = cluster.run(work, plan, workers=2), None
    done = []
    for step in run:
        done.append(step)
        if killed is None:
            [killed, *_] = processes("MapWorker")
            os.kill(killed, signal.SIGKILL)
            missing = [s for s in plan.shards if not work.path(s).exists()]
            assert len(missing) > 4
    assert killed not in processes("MapWorker")
    steps = [step for step, *_ in done]
    assert steps == ["annotated"] * len(plan.shards) + ["checked"] * len(plan.shards)
    # checked by hand, too
    assert identifiers(work, plan) == [f"r{i:05}" for i in range(12 * COUNT)]
    for first, second in (("annotated", 1), ("checked", 1)):
        assert sum(x[second] for x in done if x[0] == first) == 12 * COUNT


@pytest.mark.slow
def test_a_killed_run_goes_on(ray, onnx, plan, rows, tmp_path, capsys):
    out = tmp_path / "out"
    size = str(rows.stat().st_size // 12)
    command = ["annotate", onnx, rows, "--engine", "ray", "--out", out, "--workers", 1]
    command += ["--output", "jsonl", "--shard-size", size]
    command = [*map(str, command)]
    code = (
        "import sys, time; from keras_tagging import cli; "
        "from keras_tagging.scale import cluster, worker\n"
        "class Slow(worker.Worker):\n"
        "    def annotate(self, shard):\n"
        "        time.sleep(0.5)\n"
        "        return super().annotate(shard)\n"
        "cluster.Worker = Slow\n"
        "cli.main(sys.argv[1:])\n"
    )
    address = ray.get_runtime_context().gcs_address
    arguments = [sys.executable, "-c", code, *command, "--address", address]
    driver = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    while len(done := list(out.glob("part-*"))) < 2:
        assert driver.poll() is None, driver.stderr.read().decode()
        time.sleep(0.05)
    driver.kill()
    driver.communicate()
    assert len(done) < 10
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in done}
    with pytest.raises(SystemExit) as caught:
        cli.main([*command[:-3], "conllu", *command[-2:]])  # another output
    assert caught.value.code == 2 and "another --output" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        cli.main(command)
    printed, told = capsys.readouterr()
    assert caught.value.code == 0 and told == ""
    count = len(plan.shards)
    before_count = int(printed.split(" of them before")[0].split()[-1])
    assert printed.startswith(f"{out}: {count} shards, ") and before_count >= len(done)
    assert f"{12 * COUNT} sentences, " in printed
    assert {x: (x.stat().st_ino, x.stat().st_mtime_ns) for x in done} == before
    work = cluster.work_of(onnx, out, "jsonl")
    assert identifiers(work, plan) == [f"r{i:05}" for i in range(12 * COUNT)]
    # what was damaged after all is found, and named
    lost = work.path(plan.shards[3])
    lost.write_text(lost.read_text("utf-8").partition("\n")[2], "utf-8")
    with pytest.raises(SystemExit):
        cli.main(command)
    assert f"{lost}: is not what" in capsys.readouterr().err
    lost.unlink()
    with pytest.raises(SystemExit) as caught:
        cli.main(command)
    assert caught.value.code == 0
    check(work, plan.shards[3])


def test_a_run_and_an_error_in_one_line(ray, onnx, tmp_path):
    row = "1\ta" + "\t_" * 8 + "\n\n"
    good, bad = tmp_path / "good.conllu", tmp_path / "bad.conllu"
    good.write_text(row + row)
    bad.write_text(f"{row}1\ta\n\n")
    plan = shards.plan([good], size=1)
    done = list(cluster.run(cluster.work_of(onnx, tmp_path / "all"), plan, workers=1))
    assert done == [("annotated", 1, 1)] * 2 + [("checked", 1, 1)] * 2
    plan = shards.plan([bad], size=1)
    work = cluster.work_of(onnx, tmp_path / "out")
    with pytest.raises(ValueError, match=f"^{bad}:3: "):
        list(cluster.run(work, plan, workers=1))
    with pytest.raises(ValueError, match="0 workers: give at least 1"):
        list(cluster.run(work, plan, workers=0))


@pytest.mark.slow
def test_the_example_of_the_page(ray, folder, tmp_path):
    """As printed, by a pipeline that is not the English one."""
    code = textwrap.dedent(BLOCK.search(PAGE.read_text("utf-8"))[1])
    code = code.replace('"en"', repr(str(folder)))
    # Ray's workers have the folder in which Ray was started
    out = str(tmp_path / "annotated-reviews")
    code = code.replace('"annotated-reviews"', repr(out))
    names = {}
    exec(compile(code, PAGE.name, "exec"), names)
    rows = names["ray"].data.read_parquet(out).take_all()
    assert sorted(row["id"] for row in rows) == ["a", "b"]
    pipeline = keras_tagging.load(folder)
    for row in rows:
        wanted = [*pipeline.annotate(row["text"])]
        assert plain(row["tokens"]) == [s.tokens for s in wanted]
        assert plain(row["upos"]) == [s.columns["pos"] for s in wanted]
        assert plain(row["head"]) == [[*map(int, s.columns["head"])] for s in wanted]
        for name in ("xpos", "feats", "deprel"):
            assert plain(row[name]) == [s.columns[name] for s in wanted]


def plain(values):
    return [list(row) for row in values]


def test_what_a_dataset_refuses(onnx):
    for name in ("workers", "threads", "batch_size"):
        with pytest.raises(ValueError, match=f"{name}=0: give an integer"):
            keras_tagging.annotate_dataset(onnx, None, **{name: 0})


# What the command refuses, before it starts Ray


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["a.txt", "--engine", "ray"], "name it with --out"),
        (["--engine", "ray", "--out", "x"], "reads files: name one"),
        (["a.txt", "--workers", "2"], "without --engine ray there is no --workers"),
        (
            ["a.txt", "--engine", "ray", "--out", "x", "--output", "spans"],
            "identifiers",
        ),
        (["none.txt", "--engine", "ray", "--out", "x"], "none.txt: there is no such"),
        (["a.txt", "--engine", "ray", "--input", "lines"], "and no --input lines"),
    ],
)
def test_what_is_refused(arguments, message, onnx, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        cli.main(["annotate", str(onnx), *arguments])
    assert caught.value.code == 2 and message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_shards_are_rows_of_json(plan):
    """Ray's own rows change types, such as None to NaN."""
    for shard in plan.shards:
        assert shards.Shard(**json.loads(json.dumps(asdict(shard)))) == shard
