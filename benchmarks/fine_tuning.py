"""A tagger that starts from another one, beside one from scratch.

    python benchmarks/fine_tuning.py --seeds 1 2 3 --shares 0.1 1 --out tuning.csv

UPOS of UD French Sequoia, from a tagger of UPOS of UD English EWT: `Tagger.retarget`.
The corpora are looked for in the folder that the environment variable
KERAS_TAGGING_DATA names. A share of the French training sentences is drawn by the seed.
Both taggers have the same settings, epochs and sentences; the epoch is chosen on the
development sentences, and the test sentences are read once, at the end.
"""

import argparse
import os
import random
import time
from pathlib import Path

import pandas as pd

import keras_tagging


def measure(model, train, corpus, epochs) -> dict:
    start = time.perf_counter()
    history = model.fit(
        train, validation_data=corpus.dev, epochs=epochs, verbose=0
    ).history
    scores = model.evaluate(corpus.test, return_dict=True)
    return {
        "seconds": time.perf_counter() - start,
        "first epoch": 100 * history["val_accuracy"][0],
        "dev": 100 * max(history["val_accuracy"]),
        "test": 100 * scores["accuracy"],
        "test, unseen": 100 * scores["oov_accuracy"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="bigru")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--english-epochs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, help="of fine-tuning")
    parser.add_argument("--out", type=Path, help="CSV file for the single runs")
    args = parser.parse_args()
    folder = Path(os.environ["KERAS_TAGGING_DATA"])
    english = keras_tagging.load_corpus(folder / "ud-english-ewt")
    french = keras_tagging.load_corpus(folder / "ud-french-sequoia")
    rows = []
    for seed in args.seeds:
        source = keras_tagging.build(args.arch, seed=seed)
        source.fit(
            english.train,
            validation_data=english.dev,
            epochs=args.english_epochs,
            verbose=0,
        )
        for share in args.shares:
            count = round(share * len(french.train))
            train = random.Random(seed).sample(french.train, count)
            changes = {}
            if args.learning_rate:
                changes["learning_rate"] = args.learning_rate
            systems = {
                "from scratch": keras_tagging.build(args.arch, seed=seed),
                "from English": source.retarget(train, **changes),
            }
            for name, model in systems.items():
                figures = measure(model, train, french, args.epochs)
                rows.append({"sentences": count, "start": name, "seed": seed} | figures)
                print(pd.DataFrame(rows[-1:]).round(2).to_string(index=False))
                if args.out:
                    pd.DataFrame(rows).to_csv(args.out, index=False)
    figures = ["first epoch", "dev", "test", "test, unseen", "seconds"]
    table = pd.DataFrame(rows).groupby(["sentences", "start"], sort=False)[figures]
    print("\n" + table.agg(["mean", "std"]).round(2).to_string())


if __name__ == "__main__":
    main()
