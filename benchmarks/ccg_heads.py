"""Derivations of CCG parsers by moves, with predicted heads and without.

    python benchmarks/ccg_heads.py runs/moves-1 runs/moves-2 --split test \
        --corpus "$KERAS_TAGGING_DATA/ewt-ccg" --pipeline en --beam-width 16

The tagger and the parser of the pipeline annotate the bare words of the split once.
Each run, such as those of several seeds, then derives its sentences with each of
`--weights` as its `head_weight`; with 0 it reads no heads. A line has the means over
the runs, with standard deviations. *before* are the network's tags before the search,
and *CPU* is the processor time of all sentences, that for heads included where they are
read. `--out DIR` keeps the single figures as `runs.csv`, and the derivations as `.auto`
files. A run is a file, or a folder that `train` has written.
"""

import argparse
import time
from pathlib import Path
from statistics import mean, stdev

import pandas as pd

import keras_tagging
from keras_tagging.data.annotation import AutoWriter
from keras_tagging.metrics import derivation_scores
from keras_tagging.utils.tables import aligned

COLUMNS = ("coverage", "before", "supertags", "labelled", "unlabelled", "dependencies")
COLUMNS += ("exact", "CPU")


def seconds(function):
    """What a function gives, and the processor time that it takes."""
    start = time.process_time()
    found = function()
    return found, time.process_time() - start


def figures(model, gold, trees, weight):
    """The figures of a model as a row, and its sentences: see above."""
    model.head_weight = weight
    model.derive(trees[:1])  # compiles the network
    found, cpu = seconds(lambda: model.derive(trees))
    right = [s.derivation for s in gold]
    scores = derivation_scores(right, [s.derivation for s in found])._asdict()
    before = model.predict_rows(trees, ["tags"])  # it may read their columns
    pairs = [
        (leaf.category, tag)
        for derivation, row in zip(right, before, strict=True)
        for leaf, tag in zip(derivation.leaves, row["tags"], strict=True)
    ]
    scores["before"] = sum(a == b for a, b in pairs) / len(pairs)
    scores = {name: 100 * share for name, share in scores.items()}
    return scores | {"CPU": cpu}, found


def spread(values):
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if values[1:] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--pipeline", default="en")
    parser.add_argument("--weights", type=float, nargs="+", default=[0.0, 1.5])
    parser.add_argument("--beam-width", type=int)
    parser.add_argument("--every", type=int, default=1, help="take every nth sentence")
    parser.add_argument("--out", type=Path, metavar="DIR")
    args = parser.parse_args()
    gold = getattr(keras_tagging.load_corpus(args.corpus), args.split)
    gold = [s for s in gold[:: args.every] if len(s)]
    pipeline = keras_tagging.load(args.pipeline)
    pipeline = pipeline.only({*pipeline.parts} & {"tagger", "parser"})
    words = [s.tokens for s in gold]
    list(pipeline.annotate(words[:1]))
    trees, cpu = seconds(lambda: list(pipeline.annotate(words)))
    rows, kept = {weight: [] for weight in args.weights}, []
    for run in args.runs:
        model = keras_tagging.load(run)
        if args.beam_width is not None:
            model.beam_width = args.beam_width
        for weight in args.weights:
            row, found = figures(model, gold, trees, weight)
            rows[weight].append(row | {"CPU": row["CPU"] + (cpu if weight else 0)})
            if args.out:
                args.out.mkdir(parents=True, exist_ok=True)
                name = Path(run).name if Path(run).is_dir() else Path(run).stem
                about = {"run": name, "split": args.split, "head_weight": weight}
                kept.append(about | rows[weight][-1])
                pd.DataFrame(kept).round(4).to_csv(args.out / "runs.csv", index=False)
                path = args.out / f"{name}.{args.split}.{weight:g}.auto"
                path.write_text("".join(map(AutoWriter().write, found)), "utf-8")
            print(run, weight, *(f"{k} {row[k]:.2f}" for k in COLUMNS), flush=True)
    table = [["head_weight", *COLUMNS]]
    for weight, found in rows.items():
        table.append([f"{weight:g}", *(spread([r[k] for r in found]) for k in COLUMNS)])
    print(f"{len(gold)} sentences, heads of {args.pipeline}, {len(args.runs)} runs")
    print(aligned(table))


if __name__ == "__main__":
    main()
