"""Accuracy on real corpora, over several seeds: the figures of docs/results/.

    python benchmarks/corpora.py atis pmb-en erg-wsj ud-en-ewt --seeds 1 2 3

The corpora are looked for in the folder that the environment variable
KERAS_TAGGING_DATA names. The model is `keras_tagging.build("bigru")`, or that of
`--arch` and `--recipe`; the epoch is chosen on the development sentences, the
test sentences are read once, at the end, and with `--dev-only` not at all, for choosing
settings. `--set` changes a keyword for all corpora.
`--models DIR` keeps the models, for `keras-tagging compare`. With `--teachers` they are
pupils of these files' ensemble, whose own figures come first; `--text` is what they
learn beside the corpus.
"""

import argparse
import ast
import os
import resource
import time
from pathlib import Path

import pandas as pd

import keras_tagging
from keras_tagging.architectures import RECIPES
from keras_tagging.corpora.loading import hold_out
from keras_tagging.data import CorpusFiles

FIGURES = {"atis": "f1", "conll2000": "f1"}


def load(name: str, folder: Path):
    if name == "atis":
        return keras_tagging.load_corpus(folder / "atis")
    if name == "conll2000":  # which has no development part
        corpus = keras_tagging.load_corpus(folder / "conll2000")
        hold_out(corpus, 0.1, seed=1)
        return corpus
    if name == "pmb-en":
        gold = folder / "pmb-ccg" / "4.0.0" / "en" / "gold"
        return keras_tagging.load_corpus(gold, tag_column=4)
    if name == "ud-en-ewt":
        return keras_tagging.load_corpus(folder / "ud-english-ewt")
    if name == "ud-en-ewt-xpos":
        return keras_tagging.load_corpus(folder / "ud-english-ewt", tag="xpos")
    if name == "erg-wsj":
        sections = sorted((folder / "erg-supertags" / "derived").glob("wsj*.tsv"))
        train = [path for path in sections if path.stem < "wsj20"]
        dev, test = (sections[0].with_name(f"wsj{n}.tsv") for n in (20, 21))
        return keras_tagging.load_corpus(train, dev=dev, test=test)
    if name == "ewt-ccg":
        return keras_tagging.load_corpus(folder / "ewt-ccg")
    if name == "ud-fr-sequoia":
        return keras_tagging.load_corpus(folder / "ud-french-sequoia")
    known = "atis, conll2000, pmb-en, ud-en-ewt, ud-en-ewt-xpos, erg-wsj, ewt-ccg"
    raise SystemExit(f"no corpus {name!r}: known are {known}, ud-fr-sequoia")


def lessons_of(name, corpus, args) -> dict:
    """What pupils learn from: the distributions of an ensemble, and other text."""
    if not args.teachers:
        return {}
    figure = FIGURES.get(name, "accuracy")
    teacher = keras_tagging.Ensemble([*map(keras_tagging.load, args.teachers)])
    parts = {"dev": corpus.dev} | ({} if args.dev_only else {"test": corpus.test})
    for part, sentences in parts.items():
        found = teacher.evaluate(sentences, return_dict=True)
        own = f"{100 * found[figure]:.2f}, unseen {100 * found['oov_accuracy']:.2f}"
        print(f"{name}: ensemble, {part}: {own}", flush=True)
    text = [list(sentence.tokens) for sentence in CorpusFiles(args.text or ())]
    sentences = [*corpus.train, *text]
    targets = keras_tagging.SoftTargets.of(teacher, sentences)
    return {"x": sentences, "soft_targets": targets}


def measure(name, corpus, seed, args, settings, lessons) -> dict:
    figure = FIGURES.get(name, "accuracy")
    model = keras_tagging.build(args.arch, recipe=args.recipe, seed=seed, **settings)
    start, cpu = time.perf_counter(), time.process_time()
    options = {"epochs": args.epochs, "verbose": 2}
    lessons = {"x": corpus.train} | lessons
    history = model.fit(validation_data=corpus.dev, **options, **lessons)
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu
    scores = history.history[f"val_{figure}"]
    best = scores.index(max(scores))
    dev = model.evaluate(corpus.dev, return_dict=True)
    tested = {}
    if not args.dev_only:
        test = model.evaluate(corpus.test, return_dict=True)
        tested = {"test": 100 * test[figure], "test_oov": 100 * test["oov_accuracy"]}
    if args.models:
        args.models.mkdir(parents=True, exist_ok=True)
        model.save(args.models / f"{name}.{args.label or args.arch}.{seed}.keras")
    return {
        "corpus": name,
        "arch": args.arch,
        "seed": seed,
        "figure": figure,
        "dev": 100 * scores[best],
        "dev_oov": 100 * dev["oov_accuracy"],
        **tested,
        "best_epoch": best + 1,
        "epochs": len(scores),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "seconds_to_best": seconds * (best + 1) / len(scores),
        "parameters": model.count_params(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--arch", default="bigru")
    parser.add_argument("--recipe", default="fast", choices=RECIPES)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, help="CSV file for the single runs")
    parser.add_argument("--dev-only", action="store_true")
    parser.add_argument("--models", type=Path, metavar="DIR")
    parser.add_argument("--teachers", nargs="+", metavar="FILE")
    parser.add_argument("--text", nargs="+", metavar="FILE")
    parser.add_argument("--label", help="name of the models; else --arch")
    args = parser.parse_args()
    if args.text and not args.teachers:
        parser.error("--text is what teachers annotate: give --teachers, too")
    folder = Path(os.environ["KERAS_TAGGING_DATA"])
    settings = {}
    for assignment in args.set:
        key, _, value = assignment.partition("=")
        settings[key] = ast.literal_eval(value)
    rows = []
    for name in args.corpora:
        corpus = load(name, folder)
        lessons = lessons_of(name, corpus, args)
        for seed in args.seeds:
            rows.append(measure(name, corpus, seed, args, settings, lessons))
            print(pd.DataFrame(rows[-1:]).round(2).to_string(index=False), flush=True)
            if args.out:
                pd.DataFrame(rows).to_csv(args.out, index=False)
    table = pd.DataFrame(rows).groupby(["corpus", "figure"], sort=False)
    shown = ["dev", "dev_oov", "test", "test_oov", "seconds", "seconds_to_best"]
    shown = [name for name in shown if name in rows[0]]
    summary = table[shown].agg(["mean", "std"])
    print(f"\n{len(args.seeds)} seeds\n{summary.round(2).to_string()}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"largest resident memory {memory:.2f} GiB")


if __name__ == "__main__":
    main()
