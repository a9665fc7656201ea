"""Tables 3 to 5 of Elkaref & Bohnet (2017): feed-forward, recurrent, bootstrapped.

    python benchmarks/parsers.py runs.jsonl --models parsers/
    python benchmarks/parsers.py vectors.jsonl --vectors train --models parsers-v/
    python benchmarks/parsers.py runs.jsonl --report

The treebank is looked for in the folder that the environment variable
KERAS_TAGGING_DATA names. A system is `ffn`, `lstm`, `elman` or `gru`, or one of the
last three with a colon and the gates that are bootstrapped, such as `lstm:all` or
`gru:r`; it starts from the feed-forward parser of its seed, which is kept in the folder
of `--models`. All systems have one recipe: the fast one, and what `--set` changes. Each
run appends a line to the file; those that are there already are not run again. The
epoch is chosen by LAS on the development sentences; the test sentences are parsed once
a run. UD's rule: punctuation counts, the subtypes of relations do not.

`--vectors train` starts the words from vectors that gensim trains on the training
text. `--report` prints the table, and for the paper's claims a permutation test that
exchanges the answers of two systems sentence by sentence, over the mean of the seeds.
"""

import argparse
import ast
import json
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

import keras_tagging
from keras_tagging.metrics import paired_permutation
from keras_tagging.models.files.run_folder import take_folds
from keras_tagging.vectors import train_vectors

SYSTEMS = ["ffn", "lstm", "lstm:all", "elman", "elman:all", "gru", "gru:all"]
#: (system, the one that it should surpass)
CLAIMS = [("lstm", "ffn"), ("lstm:all", "lstm"), ("elman:all", "elman"), ("gru", "ffn")]
CLAIMS += [("lstm:all", "ffn"), ("gru:all", "gru")]


def train(system, corpus, seed, settings, models: Path):
    """A trained parser, its history and how long it took."""
    name, _, gates = system.partition(":")
    parser = keras_tagging.build(f"{name}-parser", seed=seed, **settings)
    if gates:
        ffn = keras_tagging.load(models / f"ffn.{seed}.keras")
        parser.bootstrap(ffn, gates if gates == "all" else gates.split(","))
    folder = models / f"{system.replace(':', '-')}.{seed}"
    if gates:
        take_folds(models / f"ffn.{seed}", folder)
    start = time.perf_counter()
    history = parser.fit(
        corpus.train, validation_data=corpus.dev, verbose=2, resume=folder
    ).history
    seconds = time.perf_counter() - start
    if name == "ffn":
        models.mkdir(parents=True, exist_ok=True)
        parser.save(models / f"ffn.{seed}.keras")
    return parser, history, seconds


def measure(system, corpus, seed, settings, models) -> dict:
    parser, history, seconds = train(system, corpus, seed, settings, models)
    best = int(np.argmax(history["val_las"]))
    start = time.perf_counter()
    scores = parser.scores(corpus.test)
    rate = sum(map(len, corpus.test)) / (time.perf_counter() - start)
    return {
        "system": system,
        "seed": seed,
        "dev_uas": 100 * history["val_uas"][best],
        "dev_las": 100 * history["val_las"][best],
        "test_uas": 100 * scores.uas,
        "test_las": 100 * scores.las,
        "best_epoch": best + 1,
        "epochs": len(history["val_las"]),
        "seconds": seconds,
        "seconds_to_best": seconds * (best + 1) / len(history["val_las"]),
        "words_per_second": rate,
        "counts": scores.by_sentence.tolist(),
    }


def las(counts: np.ndarray) -> np.ndarray:
    """Of sums `(..., 3)`: words, right heads, right heads and labels."""
    words, _, right = np.moveaxis(counts, -1, 0)
    return 100 * right / words


def report(runs: list[dict]) -> None:
    table = pd.DataFrame(runs).drop(columns=["counts", "settings", "seed"])
    groups = table.groupby("system", sort=False)
    figures = groups.mean()
    for name in ("test_uas", "test_las"):
        figures.insert(
            figures.columns.get_loc(name) + 1, "sd", groups[name].std(), True
        )
    figures.insert(0, "seeds", groups.size())
    print(figures.round(2).to_string())
    counts = {}
    for run in runs:
        counts.setdefault(run["system"], {})[run["seed"]] = run["counts"]
    rows = []
    for better, than in CLAIMS:
        seeds = sorted(set(counts.get(better, ())) & set(counts.get(than, ())))
        if seeds:
            a, b = (
                np.array([counts[s][seed] for seed in seeds]) for s in (better, than)
            )
            row = {"claim": f"{better} > {than}", "seeds": len(seeds)}
            rows.append(
                row
                | {
                    "more LAS": las(a.sum(1)).mean() - las(b.sum(1)).mean(),
                    "p": paired_permutation(a, b, las),
                }
            )
    print(pd.DataFrame(rows).round(4).to_string(index=False))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="JSON lines, one a run")
    parser.add_argument("--corpus", default="ud-english-ewt")
    parser.add_argument("--models", type=Path, default=Path("parsers"))
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--vectors", help="'train', or a file of vectors")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    runs = []
    if args.out.exists():
        runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    if args.report:
        report(runs)
        return
    settings = {}
    for assignment in args.set:
        key, _, value = assignment.partition("=")
        settings[key] = ast.literal_eval(value)
    corpus = keras_tagging.load_corpus(
        Path(os.environ["KERAS_TAGGING_DATA"]) / args.corpus
    )
    own = {"corpus": args.corpus, "vectors": args.vectors}
    own |= {key: repr(value) for key, value in settings.items()}
    for run in runs:
        if run["settings"] != own:
            parser.error(
                f"{args.out} has runs with other settings, {run['settings']}, not "
                f"{own}: give another file, and other --models"
            )
    done = {(run["system"], run["seed"]) for run in runs}
    for seed in args.seeds:
        options = dict(settings)
        if args.vectors:
            options["embeddings"] = args.vectors
            if args.vectors == "train":
                options["embeddings"] = train_vectors(corpus.train, seed=seed)
        for system in args.systems:
            if (system, seed) in done:
                continue
            run = measure(system, corpus, seed, options, args.models)
            run["settings"] = own
            with args.out.open("a") as file:
                file.write(json.dumps(run) + "\n")
            run = {k: v for k, v in run.items() if k != "counts"}
            print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
