"""The long run: mutated inputs of every target, until so many lines are read.

It goes on where it was stopped. `--replay TARGET SEED` shows one input again.
"""

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path

from hostile.harness import Outcome, Runner

STATE = "build/fuzz.json"
EVERY = 20  # seconds between two lines of progress


class Progress:
    """What was tried and found, kept in a file.

    Args:
        path: of the file, which need not exist.
    """

    def __init__(self, path: Path):
        self.path = path
        self.targets: dict[str, dict] = {}
        self.findings: dict[str, dict] = {}
        if path.exists():
            vars(self).update(json.loads(path.read_text(encoding="utf-8")))

    @property
    def lines(self) -> int:
        return sum(known["lines"] for known in self.targets.values())

    @property
    def inputs(self) -> int:
        return sum(known["next"] for known in self.targets.values())

    def target(self, name: str) -> dict:
        empty = {"next": 0, "lines": 0, "slowest": [0, 0], "largest": [0, 0]}
        return self.targets.setdefault(name, {**empty, "kinds": {}, "findings": 0})

    def add(self, outcome: Outcome) -> None:
        known = self.target(outcome.target)
        known["next"] = outcome.seed + 1
        known["lines"] += outcome.lines
        known["slowest"] = max(known["slowest"], [outcome.seconds, outcome.seed])
        known["largest"] = max(known["largest"], [outcome.megabytes, outcome.seed])
        if not outcome.is_finding:
            known["kinds"].setdefault(outcome.kind, 0)
            known["kinds"][outcome.kind] += 1
            return
        known["findings"] += 1
        key = f"{outcome.kind} | {outcome.place}"
        found = self.findings.setdefault(key, {"count": 0, "first": {}})
        found["count"] += 1
        place = [outcome.seed, outcome.detail.strip()]
        found["first"].setdefault(outcome.target, place)

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        content = {"targets": self.targets, "findings": self.findings}
        partial.write_text(json.dumps(content), encoding="utf-8")
        partial.replace(self.path)

    def summary(self) -> str:
        rows = [("target", "inputs", "lines", "slowest", "largest", "found", "ends")]
        for name, known in self.targets.items():
            kinds = sorted(known["kinds"].items(), key=lambda item: -item[1])
            seconds, slow = known["slowest"]
            megabytes, large = known["largest"]
            places = f"{seconds:.2f} s ({slow})", f"{megabytes:.0f} MB ({large})"
            told = ", ".join(f"{count} {kind}" for kind, count in kinds)
            counts = f"{known['next']:,}", f"{known['lines']:,}"
            rows.append((name, *counts, *places, str(known["findings"]), told))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        lines.append(f"\n{self.inputs:,} inputs, {self.lines:,} lines")
        lines.append(f"{len(self.findings)} kinds of findings")
        for key, found in sorted(self.findings.items()):
            lines.append(f"\n{found['count']} x {key}")
            for name, (seed, detail) in found["first"].items():
                lines.append(f"  --replay {name} {seed}")
                lines += [f"    {line[:160]}" for line in detail.splitlines()[-1:]]
        return "\n".join(lines)


def fuzz(options: argparse.Namespace) -> bool:
    """Runs rounds, in which each target has its share. Whether all was well."""
    progress = Progress(options.state)
    end = time.monotonic() + 60 * options.minutes
    told = time.monotonic()
    with Runner() as runner:
        names = options.only or list(runner.targets)
        goal = f"of {options.lines:,} lines"
        try:
            while time.monotonic() < end and (
                progress.lines < options.lines or progress.inputs < options.inputs
            ):
                for name in names:
                    start = progress.target(name)["next"]
                    share = range(start, start + runner.targets[name].share)
                    for outcome in runner.run(name, share):
                        progress.add(outcome)
                    progress.save()
                    if time.monotonic() - told > EVERY:
                        told = time.monotonic()
                        found = f"{len(progress.findings)} kinds of findings"
                        print(f"{progress.lines:,} {goal}, {name}: {found}", flush=True)
                    if time.monotonic() > end:
                        break
        except KeyboardInterrupt:
            pass
    print(progress.summary())
    return not progress.findings


def replay(name: str, seed: int, save: Path | None) -> bool:
    """Shows an input, and what happens. Whether all is well."""
    with Runner() as runner:
        [outcome] = runner.run(name, [seed])
        # some targets write files when they make their inputs
        with contextlib.chdir(runner.folder.name):
            data = runner.targets[name].input(name, seed)
    if save:
        save.write_bytes(data)
    print(f"{data[:2000]!r}{'...' * (len(data) > 2000)} ({len(data):,} bytes)")
    print(outcome.detail or "no error")
    print(f"{outcome.kind} {outcome.place or ''}")
    print(f"{outcome.seconds:.2f} s, {outcome.megabytes:.0f} MB")
    return not outcome.is_finding


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10**6, help="to read in all")
    parser.add_argument("--inputs", type=int, default=0, help="and so many inputs")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", nargs="+", metavar="TARGET")
    parser.add_argument("--state", type=Path, default=STATE, help="where to go on")
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "SEED"))
    parser.add_argument("--save", type=Path, help="the input that is replayed")
    options = parser.parse_args()
    sys.argv[0] = "keras-tagging"  # which imports TensorFlow only where it is needed
    if options.fresh:
        options.state.unlink(missing_ok=True)
    if options.replay:
        name, seed = options.replay
        sys.exit(not replay(name, int(seed), options.save))
    sys.exit(not fuzz(options))


if __name__ == "__main__":
    main()
