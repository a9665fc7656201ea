"""How fast `tag` and `annotate` are, in one process and in several, in one run.

    python benchmarks/jobs.py runs/ewt sentences.txt --jobs 2
    python benchmarks/jobs.py en text.txt --command annotate --jobs 2

Each round takes in turn the file once in one process, for the start-up, then several
times over in one process and with `--jobs`. Printed are words a second by the clock and
a second of processor time, without start-up, the largest resident memory of a process,
and the median ratio of the rounds. The outputs must be equal.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from keras_tagging.utils.tables import aligned


def measured(command: list[str], out: Path) -> tuple[float, float, float]:
    """Seconds, CPU seconds and GiB of a command with all its processes."""
    before = os.times()
    start = time.perf_counter()
    with out.open("wb") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    seconds, after = time.perf_counter() - start, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return seconds, cpu, usage.ru_maxrss / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--command", default="tag", choices=["tag", "parse", "annotate"]
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    program = [sys.executable, "-m", "keras_tagging", args.command, args.model]
    given = [] if args.command == "annotate" else ["--format", "text"]
    several = ["--jobs", str(args.jobs)]
    runs = {"start": (1, []), "start of jobs": (1, several)}
    runs |= {
        "one process": (args.times, []),
        f"{args.jobs} jobs": (args.times, several),
    }
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for count in (1, args.times):
            files[count] = Path(folder) / f"{count}.txt"
            text = args.file.read_text("utf-8").rstrip() + "\n\n"
            files[count].write_text(text * count, "utf-8")
        for _ in range(args.repeat):
            found = {}
            for name, (count, more) in runs.items():
                out = Path(folder) / name
                command = [*program, str(files[count]), *given, *more]
                found[name] = measured(command, out)
            outputs = [(Path(folder) / name).read_bytes() for name in list(runs)[2:]]
            if outputs[0] != outputs[1]:
                raise SystemExit("one process and several wrote different files")
            rounds.append(found)
        rows = (line.split(b"\t") for line in outputs[0].splitlines() if b"\t" in line)
        words = sum(cells[0].isdigit() or args.command == "tag" for cells in rows)
    words *= (args.times - 1) / args.times
    names = list(runs)
    table, steady = [["", "words/s", "words/CPU s", "GiB"]], {}
    for base, name in zip(names[:2], names[2:], strict=True):
        seconds, cpu = (
            [found[name][i] - found[base][i] for found in rounds] for i in (0, 1)
        )
        steady[name] = seconds
        speeds = (words / statistics.median(values) for values in (seconds, cpu))
        memory = max(found[name][2] for found in rounds)
        table.append([name, *(f"{speed:,.0f}" for speed in speeds), f"{memory:.2f}"])
    print(aligned(table))
    ratios = [a / b for a, b in zip(*steady.values(), strict=True)]
    print("times as fast, round by round:", *(f"{ratio:.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
