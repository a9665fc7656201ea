"""Whether two versions of the package write the same reports of the kept results.

    git worktree add ../before v0.2.0
    python benchmarks/kept_reports.py ../before .

For each archive of `reproduce` in `benchmarks/results`, each version writes the report:
Markdown, LaTeX, CSV and plot. A line for each file says whether the two are equal,
whether at least all numbers in them are, or how many differ; the exit code is 1 if some
do. It takes half a minute a version and archive.
"""

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

RESULTS = Path(__file__).with_name("results")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def reports(tree: Path, archive: Path) -> dict[str, bytes]:
    """The files of a report, by their names."""
    with TemporaryDirectory() as folder:
        with tarfile.open(archive) as members:
            members.extractall(folder, filter="data")
        [info] = Path(folder).rglob("reproduction.json")
        out = Path(folder, "out")  # of one name, as the report has it in its command
        info.parent.rename(out)
        command = [sys.executable, "-m", "keras_tagging", "reproduce", "--report"]
        env = {**os.environ, "PYTHONPATH": str(tree), "TF_CPP_MIN_LOG_LEVEL": "3"}
        subprocess.run(
            [*command, "--out", "out"],
            cwd=folder,
            env=env,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # of the plots, a .pdf has the time in it
        found = (path for path in out.glob("report*") if path.suffix != ".pdf")
        return {path.name: path.read_bytes() for path in found}


def compared(before: bytes, after: bytes) -> tuple[str, bool]:
    """What is to be said of two files, and whether their numbers are the same."""
    if before == after:
        return "equal", True
    numbers = [NUMBER.findall(text.decode("latin1")) for text in (before, after)]
    if numbers[0] == numbers[1]:
        return "other words, equal numbers", True
    differ = sum(a != b for a, b in zip(*numbers, strict=False))
    return f"{differ} of {len(numbers[0])} numbers differ", False


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    trees = [Path(name).resolve() for name in sys.argv[1:]]
    same = True
    for archive in sorted(RESULTS.glob("*20??-table-*.tar.xz")):
        before, after = (reports(tree, archive) for tree in trees)
        for name in sorted(before | after):
            told, equal = "only in one", False
            if name in before and name in after:
                told, equal = compared(before[name], after[name])
            same &= equal
            print(f"{archive.name.removesuffix('.tar.xz')}/{name}: {told}", flush=True)
    sys.exit(not same)


if __name__ == "__main__":
    main()
