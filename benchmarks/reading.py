"""How fast corpora are read, and in how much memory.

    python benchmarks/reading.py [--tokens 10000000] [--formats conll conllu] [FILE ...]

A file of so many tokens is made for each format, a second one of a tenth of it, and
both are streamed through `data.read` in a process of their own: tokens a second of one
core (the best of `--repeat`), and how far the resident memory rose above where it stood
before. Streaming is flat if the second figure is the same for both files. FILEs are
read as well, with `--option KEY=VALUE` where they need it.
"""

import argparse
import ast
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keras_tagging.data import read

TYPES = 50_000
LENGTH = 25  # tokens of a sentence, on average


def sentences(tokens: int, seed: int = 0) -> Iterator[list[str]]:
    """Made-up words, a few of them often and most of them rarely, as in real text."""
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxzéà"
    words = ["".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(TYPES)]
    while tokens > 0:
        count = min(tokens, rng.randint(1, 2 * LENGTH - 1))
        yield [words[int(TYPES ** rng.random()) - 1] for _ in range(count)]
        tokens -= count


def conll(words: list[str]) -> str:
    return "".join(f"{w}\tNN{len(w)}\tB-{ord(w[0]) % 20}\n" for w in words) + "\n"


def conllu(words: list[str]) -> str:
    rows = (
        f"{i}\t{w}\t{w}\tNOUN\tNN{len(w)}\t_\t{i - 1}\tdep\t_\tSpaceAfter=No\n"
        for i, w in enumerate(words, 1)
    )
    return f"# text = {' '.join(words)}\n{''.join(rows)}\n"


WRITERS = {"conll": conll, "conllu": conllu}


def make(path: Path, format: str, tokens: int) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(map(WRITERS[format], sentences(tokens)))


def memory(line: str) -> float | None:
    """A line of Linux's /proc/self/status in MB."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return int(status.split(f"{line}:")[1].split()[0]) / 1024


def measure(path: str, format: str | None, repeat: int, options: dict) -> dict:
    """Tokens, tokens a second of processor time, and the rise of memory in MB."""
    before = memory("VmRSS")
    if before is not None:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        tokens = sum(map(len, read(path, format, **options)))
        best = min(best, time.process_time() - start)
    rise = None if before is None else round(memory("VmHWM") - before, 1)
    return {"tokens": tokens, "tokens/s": round(tokens / best), "MB": rise}


def in_a_process(*args) -> dict:
    """`measure` where nothing has been read before."""
    command = [sys.executable, __file__, "--measure", json.dumps(args)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--formats", nargs="*", default=list(WRITERS), choices=WRITERS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(*json.loads(args.measure))))
        return
    options = {}
    for assignment in args.option:
        key, _, value = assignment.partition("=")
        options[key] = ast.literal_eval(value)
    print(f"{'file':40} {'tokens':>10} {'tokens/s':>10} {'memory, MB':>11}")

    def report(name, *what):
        found = in_a_process(*what)
        rise = "-" if found["MB"] is None else f"+{found['MB']}"
        numbers = f"{found['tokens']:10} {found['tokens/s']:10} {rise:>11}"
        print(f"{name:40} {numbers}", flush=True)

    for format in args.formats:
        with tempfile.TemporaryDirectory() as folder:
            for tokens in (args.tokens // 10, args.tokens):
                path = Path(folder, f"{tokens}.{format}")
                make(path, format, tokens)
                size = path.stat().st_size / 1e6
                report(f"{format}, {size:.0f} MB", str(path), format, args.repeat, {})
    for file in args.files:
        report(file[-40:], file, None, args.repeat, options)


if __name__ == "__main__":
    main()
