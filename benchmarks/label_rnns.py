"""Table 4 of Dinarelli & Tellier (2016): four networks, three directions, ATIS.

    python benchmarks/label_rnns.py runs.jsonl
    python benchmarks/label_rnns.py classes.jsonl --classes
    python benchmarks/label_rnns.py runs.jsonl --report

The corpus is looked for in the folder that the environment variable KERAS_TAGGING_DATA
names; 18% of its training sentences, development ones included, are held out, as in the
paper, other ones with each seed. All twelve rows have one recipe: the fast one, and
what `--set` changes. Each run appends a line to the file; those that are there already
are not run again. The epoch is chosen by F1 on the held-out sentences, in the paper by
accuracy; the test sentences are tagged once a run.

`--report` prints the table, and which networks differ: by a permutation test that
exchanges the answers of two networks sentence by sentence, with the mean F1 over the
seeds as the figure. It tells how far the test sentences bear out a difference between
these trained networks, not how far other seeds would. The last column is Holm's
correction for all pairs.
"""

import argparse
import ast
import json
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import keras_tagging
from keras_tagging.data.corpus import hold_out
from keras_tagging.data.word_classes import WordClasses
from keras_tagging.metrics import chunk_scores, holm, paired_permutation

NETWORKS = {
    "E-RNN": "elman-rnn",
    "J-RNN": "jordan-rnn",
    "I-RNN": "i-rnn",
    "I+E-RNN": "ie-rnn",
}
DIRECTIONS = ("forward", "backward", "bidirectional")
# words; words and classes
PUBLISHED = {
    "E-RNN": [(93.41, 93.18, 93.41), (94.73, 93.61, 94.71)],
    "J-RNN": [(93.61, 93.55, 93.74), (94.94, 94.80, 94.89)],
    "I-RNN": [(93.84, 93.56, 93.73), (95.21, 94.64, 94.75)],
    "I+E-RNN": [(93.74, 93.44, 93.60), (94.84, 94.61, 94.79)],
}


def load(classes: bool, seed: int):
    corpus = keras_tagging.load_corpus(Path(os.environ["KERAS_TAGGING_DATA"]) / "atis")
    corpus.train, corpus.dev = corpus.train + corpus.dev, []
    hold_out(corpus, 0.18, seed)
    if classes:
        learned = WordClasses.learn(corpus.train)
        corpus.train, corpus.dev, corpus.test = (
            learned.annotate(part) for part in (corpus.train, corpus.dev, corpus.test)
        )
    return corpus


def measure(corpus, network, direction, seed, classes, settings) -> dict:
    if classes:
        settings = {**settings, "columns": ("word_class",)}
    model = keras_tagging.build(
        NETWORKS[network], seed=seed, direction=direction, **settings
    )
    start = time.perf_counter()
    history = model.fit(corpus.train, validation_data=corpus.dev, verbose=0).history
    seconds = time.perf_counter() - start
    scores = history["val_f1"]
    counts = []
    for sentence, tags in zip(corpus.test, model.tag(corpus.test), strict=True):
        found = chunk_scores([sentence.tags], [tags])
        counts.append([found.gold, found.found, found.correct])
    return {
        "classes": classes,
        "settings": {k: str(v) for k, v in settings.items()},
        "network": network,
        "direction": direction,
        "seed": seed,
        "dev": 100 * max(scores),
        "test": float(f1(np.array(counts).sum(0))),
        "best_epoch": scores.index(max(scores)) + 1,
        "seconds": seconds,
        "counts": counts,
    }


def f1(counts: np.ndarray) -> np.ndarray:
    """Of `(..., 3)`: gold, found and correct chunks."""
    gold, found, correct = np.moveaxis(counts, -1, 0)
    return 100 * 2 * correct / (gold + found)


def report(runs: list[dict], classes: bool) -> None:
    table = pd.DataFrame(runs).drop(columns=["counts", "settings"])
    grouped = table.groupby(["network", "direction"])
    rows = []
    for network in NETWORKS:
        for direction, published in zip(
            DIRECTIONS, PUBLISHED[network][classes], strict=True
        ):
            if (network, direction) in grouped.groups:
                some = grouped.get_group((network, direction))
                row = {"network": network, "direction": direction, "seeds": len(some)}
                for name in ("dev", "test"):
                    row |= {name: some[name].mean(), f"{name} sd": some[name].std()}
                row |= {"published": published, "more": row["test"] - published}
                rows.append(row | {"epoch": some["best_epoch"].mean()})
    print(pd.DataFrame(rows).round(2).to_string(index=False))
    pairs = []
    for direction in DIRECTIONS:
        counts = {
            network: {
                run["seed"]: run["counts"]
                for run in runs
                if (run["network"], run["direction"]) == (network, direction)
            }
            for network in NETWORKS
        }
        for names in combinations(NETWORKS, 2):
            seeds = set.intersection(*(set(counts[name]) for name in names))
            if seeds:
                a, b = (np.array([counts[n][s] for s in sorted(seeds)]) for n in names)
                row = {"direction": direction, "better?": names[1], "than": names[0]}
                row |= {
                    "seeds": len(seeds),
                    "more": f1(b.sum(1)).mean() - f1(a.sum(1)).mean(),
                }
                pairs.append(row | {"p": paired_permutation(a, b, f1)})
    pairs.sort(key=lambda row: row["p"])
    for row, corrected in zip(pairs, holm([row["p"] for row in pairs]), strict=True):
        row["Holm"] = corrected
    print(pd.DataFrame(pairs).round(4).to_string(index=False))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="JSON lines, one a run")
    parser.add_argument("--classes", action="store_true", help="words and classes")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--directions", nargs="+", default=list(DIRECTIONS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    runs = []
    if args.out.exists():
        runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    settings = {}
    for assignment in args.set:
        key, _, value = assignment.partition("=")
        settings[key] = ast.literal_eval(value)
    recipe = args.classes, {k: str(v) for k, v in settings.items()}
    for run in runs:
        if (run["classes"], run["settings"]) != recipe:
            raise SystemExit(
                f"{args.out} has runs with classes={run['classes']} and "
                f"{run['settings']}: give the same options, or another file"
            )
    if args.report:
        report(runs, args.classes)
        return
    done = {(run["network"], run["direction"], run["seed"]) for run in runs}
    for seed in args.seeds:
        corpus = load(args.classes, seed)
        for network in args.networks:
            for direction in args.directions:
                if (network, direction, seed) in done:
                    continue
                run = measure(corpus, network, direction, seed, args.classes, settings)
                with args.out.open("a") as file:
                    file.write(json.dumps(run) + "\n")
                run = {k: v for k, v in run.items() if k != "counts"}
                print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
