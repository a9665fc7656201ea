"""Whether one tagger is better than another: a paired permutation test.

    python benchmarks/compare.py "right/erg-wsj.bigru.*.json" \
        "right/erg-wsj.shortcut-bilstm.*.json"

Each argument is a pattern of files that `benchmarks/corpora.py --right` wrote, one a
seed, on the same test sentences. The statistic is the difference of the accuracies,
averaged over the seeds. Under the null hypothesis the two systems are exchangeable on
each sentence; sentences and not tokens, as the tokens of one depend on each other.
"""

import argparse
import json
from glob import glob

import numpy as np
from scipy.stats import permutation_test


def read(pattern: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean number of right tokens a sentence over the seeds, and its length."""
    paths = sorted(glob(pattern))
    if not paths:
        raise SystemExit(f"{pattern}: no such file")
    runs = []
    for path in paths:
        with open(path) as file:
            runs.append(json.load(file))
    counts = np.array([[sum(sentence) for sentence in run] for run in runs])
    return counts.mean(0), np.array([len(sentence) for sentence in runs[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--resamples", type=int, default=9999)
    args = parser.parse_args()
    (a, lengths), (b, other) = read(args.first), read(args.second)
    if not np.array_equal(lengths, other):
        raise SystemExit("the files are not of the same sentences")
    tokens = lengths.sum()
    found = permutation_test(
        (a, b),
        lambda a, b, axis: (b - a).sum(axis) / tokens,
        permutation_type="samples",
        vectorized=True,
        batch=500,
        n_resamples=args.resamples,
        rng=np.random.default_rng(0),
    )
    print(f"first  {100 * a.sum() / tokens:.2f}\nsecond {100 * b.sum() / tokens:.2f}")
    print(f"difference {100 * found.statistic:+.2f}, p = {found.pvalue:.4f}")


if __name__ == "__main__":
    main()
