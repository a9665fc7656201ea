"""Put a trained pipeline into the distribution of a model, with its card.

    keras-tagging train pipeline --corpus ud-en-ewt --out runs/en-1 --seed 1
    python models/make.py en runs/en-1 runs/en-2 runs/en-3

The first run is the model; the others, of other seeds, are for the spread of the
figures. `models/NAME/about.json` has what no run can tell: language, licence, corpus,
limits. The weights are stored in half precision, and the figures that the development
sentences have with them, from raw text, are printed beside those of the run.
"""

import argparse
import json
import shutil
import statistics
from pathlib import Path

import keras_tagging

HERE = Path(__file__).parent
FIGURES = {
    "tokens": "tokens",
    "sentences": "sentences",
    "words": "words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "FEATS",
    "lemma": "LEMMA",
    "uas": "UAS",
    "las": "LAS",
}
CARD = """\
{title}
{line}

A model of keras_tagging, to be loaded by its name. From a clone of its repository::

    pip install . ./models/{name}
    echo "Don't panic!" | keras-tagging annotate {name}

{description}

* Language: {language}
* Licence: {licence}
* Corpus: {corpus}
* Please cite: {citation}
* Trained with: ``{command} --seed SEED``, {seeds}
* Limits: {limits}

Figures of the CoNLL 2018 shared task, from raw text, F1 in per cent: {spread}.

{table}
"""


def spread(values: list[float]) -> str:
    mean = f"{100 * statistics.mean(values):.2f}"
    return f"{mean} ± {100 * statistics.stdev(values):.2f}" if values[1:] else mean


def figures_of(runs: list[dict]) -> dict[str, dict[str, str]]:
    """Mean and standard deviation of each figure, by split."""
    return {
        split: {
            key: spread([run["scores"][split][key] for run in runs])
            for key in FIGURES
            if key in runs[0]["scores"][split]
        }
        for split in ("dev", "test")
    }


def table_of(figures: dict) -> str:
    """The figures as a table in reStructuredText."""
    rows = [["Figure", "Development", "Test"]]
    for key in figures["dev"]:
        rows.append([FIGURES[key], *(figures[s][key] for s in ("dev", "test"))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def check_halved(pipeline, run: dict, treebank: str) -> None:
    """Print the figures that half precision changes, on the development sentences."""
    corpus = keras_tagging.load_corpus(treebank, surface=True)
    for key, value in pipeline.evaluate(corpus.dev).items():
        before = run["scores"]["dev"][key]
        print(f"{key}: {100 * before:.2f}, in half precision {100 * value:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("runs", nargs="+", type=Path)
    args = parser.parse_args()
    root = HERE / args.name
    about = json.loads((root / "about.json").read_text(encoding="utf-8"))
    package = root / about["package"]
    runs = [
        json.loads((run / "pipeline.json").read_text(encoding="utf-8"))["metadata"]
        for run in args.runs
    ]
    plans = [
        json.loads((run / "training.json").read_text(encoding="utf-8"))["plan"]
        for run in args.runs
    ]
    pipeline = keras_tagging.load(args.runs[0])
    shutil.rmtree(package / "model", ignore_errors=True)
    pipeline.save(package / "model", half_precision=True)
    check_halved(keras_tagging.load(package / "model"), runs[0], about["treebank"])
    figures = figures_of(runs)
    seeds = ", ".join(str(plan["seed"]) for plan in plans)
    seeds = f"seeds {seeds}, of which the first is this model" if plans[1:] else seeds
    card = {**about, "seeds": seeds, "figures": figures}
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (package / "card.json").write_text(text, encoding="utf-8")
    several = "mean and standard deviation over the seeds"
    readme = CARD.format(
        line="=" * len(about["title"]),
        name=args.name,
        seeds=seeds if plans[1:] else f"seed {seeds}",
        spread=several if len(runs) > 1 else "one seed",
        table=table_of(figures),
        **about,
    )
    (root / "README.rst").write_text(readme, encoding="utf-8")
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    print(f"{package}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
