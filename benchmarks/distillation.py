"""A tagger that learns from an ensemble, beside one that does not.

    python benchmarks/distillation.py --sentences 3000 --seeds 1 2 3 --out runs/teachers

UPOS of UD English EWT. The teachers are `--teachers` taggers with seeds of their own,
joined by `Ensemble`; they and the pupils learn from the same first `--sentences` of the
training part. `text` is the rest of that part without its annotation; a pupil of it
takes twice as many steps, and so does one alone, in twice the epochs. Each epoch is
chosen on the development sentences, whose figures are shown; the test sentences are not
read. The corpus is looked for in the folder that the environment variable
KERAS_TAGGING_DATA names. What is finished is kept in `--out`: the same command goes on.
"""

import argparse
import json
import os
import time
from pathlib import Path

import pandas as pd

import keras_tagging

FIGURES = ("accuracy", "oov_accuracy")


def fitted(path: Path, corpus, train, units, epochs, seed, **lessons):
    """A tagger in a file, which is trained if there is none, and its seconds."""
    if path.exists():
        return keras_tagging.load(path), float("nan")
    start = time.perf_counter()
    model = keras_tagging.build("bigru", units=units, seed=seed)
    options = {"validation_data": corpus.dev, "epochs": epochs, "verbose": 0}
    model.fit(train, **options, **lessons)
    seconds = time.perf_counter() - start
    model.save(path)
    return model, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--units", type=int, default=100, help="of the teachers")
    parser.add_argument("--pupil-units", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.5])
    parser.add_argument("--temperatures", type=float, nargs="+", default=[1.0])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    names = ("sentences", "teachers", "units", "pupil_units", "epochs")
    own = {name: getattr(args, name) for name in names}
    kept = args.out / "settings.json"
    if kept.exists() and json.loads(kept.read_text()) != own:
        parser.error(f"{args.out} has runs of {kept.read_text()}: give another --out")
    kept.write_text(json.dumps(own))
    folder = Path(os.environ["KERAS_TAGGING_DATA"])
    corpus = keras_tagging.load_corpus(folder / "ud-english-ewt")
    train = corpus.train[: args.sentences]
    rest = [sentence.tokens for sentence in corpus.train[args.sentences :]]
    table = args.out / "figures.csv"
    rows = pd.read_csv(table).to_dict("records") if table.exists() else []

    def add(system, seed, model, seconds):
        found = model.evaluate(corpus.dev, return_dict=True)
        own = {name: 100 * found[name] for name in FIGURES}
        rows.append({"system": system, "seed": seed, "seconds": seconds, **own})
        pd.DataFrame(rows).to_csv(table, index=False)
        print(pd.DataFrame(rows[-1:]).round(2).to_string(index=False), flush=True)

    def is_done(system, seed):
        return any((row["system"], row["seed"]) == (system, seed) for row in rows)

    members = []
    for seed in range(101, 101 + args.teachers):
        path = args.out / f"teacher-{seed}.keras"
        sizes = args.units, args.epochs, seed
        model, seconds = fitted(path, corpus, train, *sizes)
        members.append(model)
        if not is_done("teacher", seed):
            add("teacher", seed, model, seconds)
    teacher = keras_tagging.Ensemble(members)
    if not is_done("ensemble", 0):
        add("ensemble", 0, teacher, float("nan"))
    targets = keras_tagging.SoftTargets.of(teacher, train)
    for seed in args.seeds:
        systems = {"pupil alone": {}, "pupil alone, twice the epochs": {}}
        for weight in args.weights:
            for heat in args.temperatures:
                how = {"soft_targets": targets, "soft_weight": weight}
                how["temperature"] = heat
                name = f"weight {weight:g}, temperature {heat:g}"
                systems[name] = how
                text = keras_tagging.Unlabelled(teacher, rest)
                systems[f"{name}, text"] = how | {"unlabelled": text}
        for system, how in systems.items():
            if is_done(system, seed):
                continue
            name = f"{system.replace(', ', '-').replace(' ', '-')}-{seed}.keras"
            epochs = args.epochs * (1 + system.endswith("twice the epochs"))
            sizes = args.pupil_units, epochs, seed
            model, seconds = fitted(args.out / name, corpus, train, *sizes, **how)
            add(system, seed, model, seconds)
    figures = ["accuracy", "oov_accuracy", "seconds"]
    found = pd.DataFrame(rows).groupby("system", sort=False)[figures]
    print("\n" + found.agg(["mean", "std", "count"]).round(2).to_string())


if __name__ == "__main__":
    main()
