"""How fast `annotate --engine ray` is: two workers, one worker, and no engine.

    python benchmarks/ray_speed.py en book.txt --repeat 3
    python benchmarks/ray_speed.py en book.txt --kills 5

In each repetition, in turn, the same text is annotated by this process with one thread,
by one worker of Ray, and by two, which begin together; each on its own Ray. Seconds are
those from the first shard that is done, with two workers the second one, to the last
one, so that starting Ray and loading the model do not count, and words are those of the
shards after it. CPU seconds are those of the processes that annotate, in the same span.
On a machine with other work, compare these: the clock's ratios need two free cores.
Printed too are the largest resident memory of a worker, and the seconds of the check.

With `--kills`, a run of two workers is killed so many times at random, now the command
and now a worker, and the identifiers that come out in the end are counted by a reader
of its own: those that were lost, and those that came out twice.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import psutil

from keras_tagging.scale import cluster, shards
from keras_tagging.scale.model_files import load_pipeline
from keras_tagging.scale.worker import Worker

WORKER = "ray::MapWorker"


def workers():
    """The processes of Ray that annotate."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or [""]
        if line[0].startswith(WORKER):
            found.append(process)
    return found


def cpu_seconds(processes):
    times = [process.cpu_times() for process in processes]
    return sum(t.user + t.system for t in times)


class Together(Worker):
    """A worker that waits until the others have loaded the model, too."""

    def __init__(self, work):
        super().__init__(work)
        place = Path(work.out).with_suffix(".loaded")
        place.mkdir(exist_ok=True)
        (place / str(os.getpid())).touch()
        while len(list(place.iterdir())) < int(Path(work.out).suffix[1:]):
            time.sleep(0.05)


class Span:
    """What was done from one moment to another."""

    def __init__(self, processes):
        self.processes = processes
        self.words, self.since = 0, time.perf_counter()
        self.cpu = cpu_seconds(processes)

    def figures(self):
        """Words a second, words a CPU second, and GB of the largest process."""
        seconds = time.perf_counter() - self.since
        cpu = cpu_seconds(self.processes) - self.cpu
        memory = max(p.memory_info().rss for p in self.processes) / 1e9
        return self.words / seconds, self.words / cpu, memory


def without_engine(work, plan):
    """The figures of a process, which is started for it."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    code += "import ray_speed; ray_speed.alone(*sys.argv[1:])"
    described = json.dumps([vars(shard) for shard in plan.shards])
    arguments = [sys.executable, "-c", code, work.model, work.out]
    done = subprocess.run(
        arguments, input=described, check=True, text=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout.splitlines()[-1])


def alone(model, out):
    """Annotate the shards that standard input lists, and print the figures."""
    plan = [shards.Shard(**fields) for fields in json.load(sys.stdin)]
    work = cluster.work_of(model, out)
    worker = Worker(work, lambda work: load_pipeline(work.model, work.threads))
    span = None
    for shard in plan:
        _, words = worker.annotate(shard)
        if span is None:
            span = Span([psutil.Process()])
        else:
            span.words += words
    print(json.dumps(span.figures()))


def with_ray(work, plan, count):
    """The figures of some workers, and the share of the check in all CPU seconds."""
    span = figures = None
    checked = 0.0
    cluster.Worker = Together
    done = 0
    for step, _, words in cluster.run(work, plan, workers=count):
        if step == "checked":
            continue
        done += 1
        if done == count:
            span = Span(workers())
        elif span is not None:
            span.words += words
        if done == len(plan.shards):
            # the workers end now
            figures, checked = span.figures(), time.perf_counter()
    return [*figures, time.perf_counter() - checked]


def speed(args, plan, folder):
    rows = []
    for repetition in range(args.repeat):
        for name in ("no engine", "1 worker", "2 workers"):
            out = folder / f"{repetition}.{name[0]}"
            work = cluster.work_of(args.model, out)
            if name == "no engine":
                found = [*without_engine(work, plan), 0.0]
            else:
                found = with_ray(work, plan, int(name[0]))
            rows.append([name, *found])
            print(*rows[-1], sep="\t", file=sys.stderr)
    names = ["", "words/s", "words/CPU s", "GB", "check s"]
    table = pd.DataFrame(rows, columns=names).groupby("", sort=False)
    table = table.agg(statistics.median)
    print(table.round(2).to_string())
    for first, second in (("1 worker", "no engine"), ("2 workers", "1 worker")):
        for unit in ("words/s", "words/CPU s"):
            ratio = table[unit][first] / table[unit][second]
            print(f"{first} against {second}, {unit}: {ratio:.2f}")


def killed(args, folder):
    """Kill a run at random, repeat it, and count the identifiers."""
    rng = random.Random(args.seed)
    source, out = folder / "rows.jsonl", folder / "killed"
    lines = args.text.read_text("utf-8").split("\n")
    sentences = [line for line in lines if line.strip()][: args.sentences]
    with source.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences):
            row = {"id": f"row{number}", "tokens": text.split()}
            file.write(json.dumps(row) + "\n")
    command = [sys.executable, "-m", "keras_tagging", "annotate", args.model]
    command += [str(source), "--engine", "ray", "--out", str(out), "--workers", "2"]
    command += ["--output", "jsonl", "--shard-size", str(args.shard_size)]
    kills = 0
    while kills < args.kills:
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        before = len(list(out.glob("part-*")))
        while run.poll() is None and len(list(out.glob("part-*"))) <= before:
            time.sleep(0.1)
        while run.poll() is None and kills < args.kills:
            time.sleep(rng.uniform(0.2, args.pause))
            kills += 1
            found = workers()
            if found and rng.random() < 0.5:
                victim = rng.choice(found)
                print(f"kill {kills}: a worker", file=sys.stderr)
                victim.send_signal(signal.SIGKILL)
            else:
                print(f"kill {kills}: the command", file=sys.stderr)
                run.kill()
                run.wait()
        if run.poll() is None:
            run.wait()
    subprocess.run(command, check=True)
    seen = [
        json.loads(line)["id"]
        for path in sorted(out.glob("part-*"))
        for line in path.read_text("utf-8").splitlines()
    ]
    lost = len(sentences) - len(set(seen))
    print(f"{len(sentences)} sentences, killed {kills} times")
    print(f"lost: {lost}; doubled: {len(seen) - len(set(seen))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("text", type=Path, help="running text, in UTF-8")
    parser.add_argument("--shard-size", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--pause", type=float, default=20.0, help="at most, in seconds")
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        if args.kills:
            killed(args, Path(folder))
        else:
            speed(args, shards.plan([args.text], size=args.shard_size), Path(folder))


if __name__ == "__main__":
    main()
