"""Rows of one table, measured twice: with vectors and without, or with other settings.

    python benchmarks/compare_reports.py runs/without runs/with

Each argument is the `--out` of a `keras-tagging reproduce` of the same table and
corpus. For each row that both have, and each figure of the table: means and standard
deviations over the seeds that both have, the difference of the means, in how many seeds
the second is ahead, and the p of the paired permutation test of the reports, with
Holm's correction for all lines that are printed.
"""

import argparse
from statistics import mean, stdev

import numpy as np

from keras_tagging.experiments import papers
from keras_tagging.experiments.comparison import p_value
from keras_tagging.experiments.reproduction.store import read_results
from keras_tagging.metrics import holm
from keras_tagging.utils.tables import aligned


def results_of(folder: str) -> tuple[dict, dict]:
    """What a folder was measured on, and its results by row and seed."""
    info, results = read_results(folder)
    return info, {(each["row"], each["seed"]): each for each in results}


def spread(values: list[float]) -> str:
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if values[1:] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    args = parser.parse_args()
    (info, first), (other, second) = map(results_of, (args.first, args.second))
    for key in ("paper", "table", "fingerprint"):
        if info[key] != other[key]:
            raise SystemExit(f"{key}: {info[key]} and {other[key]}, not the same")
    table, lines, found = papers.table(info["paper"], info["table"]), [], []
    for row in table.rows:
        seeds = sorted(
            s for name, s in first.keys() & second.keys() if name == row.name
        )
        for column in table.columns if seeds else ():
            both = [[each[row.name, s] for s in seeds] for each in (first, second)]
            figures = [[x["figures"][column.name] for x in side] for side in both]
            counts = [
                np.stack([np.transpose(x["evidence"][column.name]) for x in side])
                for side in both
            ]
            found.append(p_value(*counts, column.figure))
            gain = mean(figures[1]) - mean(figures[0])
            ahead = sum(b > a for a, b in zip(*figures, strict=True))
            numbers = [f"{gain:+.2f}", f"{ahead} of {len(seeds)}"]
            lines.append([row.name, column.name, *map(spread, figures), *numbers])
    if not lines:
        raise SystemExit("no row was measured in both with the same seed")
    head = ["row", "figure", "first", "second", "difference", "ahead", "p", "Holm"]
    ps = [f"{p:.4f}" for p in found]
    adjusted = [f"{p:.4f}" for p in holm(found)]
    rows = [[*a, p, q] for a, p, q in zip(lines, ps, adjusted, strict=True)]
    print(aligned([head, *rows]))


if __name__ == "__main__":
    main()
