"""Development figure against seconds of training, beside other taggers, in one run.

    python benchmarks/time_to_accuracy.py atis --ours bigru "bigru units=150" \
        --peers-python peers/bin/python --peers crfsuite spacy --ncrfpp NCRFpp/ \
        --out atis.csv --plot atis.png

The corpora are those of `benchmarks/corpora.py`. One system after the other trains in a
process of its own; nothing else should run. Printed are, for each, the best figure and
when it was first reached, and when some levels were. Seconds are those of training from
raw sentences on, compilation included, without imports and without the tagging of the
development sentences.

`--peers-python` is the interpreter of an environment with python-crfsuite, spaCy and,
for `--ncrfpp` (a checkout of github.com/jiesutd/NCRFpp), PyTorch. NCRF++ has the
settings of its paper for CoNLL-2000 without pretrained vectors: characters by CNN, an
LSTM of 200, CRF, SGD, batches of 10; its own figures are taken.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpora
import pandas as pd

from keras_tagging.metrics import chunk_scores, token_accuracy

NCRFPP = """
train_dir={train}
dev_dir={dev}
test_dir={few}
model_dir={folder}/model
norm_word_emb=False
norm_char_emb=False
number_normalized=True
seg={chunks}
word_emb_dim=50
char_emb_dim=30
use_crf=True
use_char=True
word_seq_feature=LSTM
char_seq_feature=CNN
status=train
optimizer=SGD
iteration={epochs}
batch_size=10
ave_batch_loss=False
cnn_layer=4
char_hidden_dim=50
hidden_dim=200
dropout=0.5
lstm_layer=1
bilstm=True
learning_rate=0.015
lr_decay=0.05
momentum=0
l2=1e-8
"""


def figure(corpus, tags, chunks) -> float:
    gold = [s.tags for s in corpus.dev]
    if chunks:
        return 100 * chunk_scores(gold, tags).f1
    return 100 * token_accuracy(gold, tags)["accuracy"]


def ours(args):
    """Trains in this process; a line of JSON an epoch."""
    name, *pairs = args.train.split()
    settings = dict(pair.split("=", 1) for pair in pairs)
    settings = {key: ast.literal_eval(value) for key, value in settings.items()}
    corpus = corpora.load(args.corpus, Path(os.environ["KERAS_TAGGING_DATA"]))
    import keras

    import keras_tagging

    class Points(keras.callbacks.Callback):
        """After each epoch, the seconds that are not those of evaluation."""

        def __init__(self):
            super().__init__()
            self.start, self.others = time.perf_counter(), 0.0

        def on_epoch_end(self, epoch, logs=None):
            seconds = time.perf_counter() - self.start - self.others
            measured = logs.get("val_f1", logs["val_accuracy"])
            line = {"seconds": seconds, "figure": 100 * measured}
            with open(args.out, "a") as file:
                file.write(json.dumps(line) + "\n")

    points = Points()
    model = keras_tagging.build(name, seed=args.seed, **settings)
    evaluator = model.evaluator

    def timed(*given):
        evaluate = evaluator(*given)

        def measure():
            start = time.perf_counter()
            figures = evaluate()
            points.others += time.perf_counter() - start
            return figures

        return measure

    model.evaluator = timed
    model.fit(corpus.train, validation_data=corpus.dev, callbacks=[points], verbose=0)


def run_ours(spec, args, folder):
    out = folder / "ours.jsonl"
    command = [sys.executable, __file__, args.corpus, "--train", spec]
    command += ["--seed", str(args.seed), "--out", out]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in out.read_text().splitlines()]


def run_peer(name, args, folder, corpus, chunks):
    out = folder / "points.jsonl"
    command = [args.peers_python, Path(__file__).with_name("peers.py"), name]
    command += [folder / "train", folder / "dev", out, "--seconds", str(args.seconds)]
    subprocess.run(command, check=True)
    points = [json.loads(line) for line in out.read_text().splitlines()]
    for point in points:
        point["figure"] = figure(corpus, point.pop("tags"), chunks)
    return points


def run_ncrfpp(args, folder, chunks):
    """Its log tells the seconds of each epoch and the development figure."""
    few = (folder / "dev").read_text().split("\n\n", 1)[0] + "\n\n"
    (folder / "few").write_text(few)
    for name in ("train", "dev", "few"):  # it splits at spaces
        text = (folder / name).read_text().replace("\t", " ")
        (folder / f"{name}.bmes").write_text(text)
    paths = {name: folder / f"{name}.bmes" for name in ("train", "dev", "few")}
    config = NCRFPP.format(folder=folder, epochs=args.epochs, chunks=chunks, **paths)
    (folder / "config").write_text(config)
    command = [args.peers_python, "main.py", "--config", folder / "config"]
    done = subprocess.run(command, cwd=args.ncrfpp, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"NCRF++ failed: {done.stderr.strip()[-500:]}")
    seconds = re.findall(r"training finished\. Time: ([\d.]+)s", done.stdout)
    kind = "f" if chunks else "acc"
    found = re.findall(rf"^Dev: .*\b{kind}: ([\d.]+)", done.stdout, re.M)
    spent, points = 0.0, []
    for epoch, value in zip(seconds, found, strict=True):
        spent += float(epoch)
        points.append({"seconds": spent, "figure": 100 * float(value)})
    return points


def write(sentences, path):
    lines = ["".join(f"{w}\t{t}\n" for w, t in zip(s.tokens, s.tags, strict=True))
             for s in sentences if len(s)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


def summary(table, levels):
    rows = []
    for system, points in table.groupby("system", sort=False):
        best = points.loc[points.figure.idxmax()]
        row = {"system": system, "best": best.figure, "after s": best.seconds}
        for level in levels:
            reached = points[points.figure >= level].seconds
            row[f"s to {level:g}"] = reached.min() if len(reached) else float("nan")
        rows.append(row)
    return pd.DataFrame(rows).round(2)


def plot(table, path, title):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    picture, axes = pyplot.subplots(figsize=(7, 4.5))
    for system, points in table.groupby("system", sort=False):
        axes.plot(points.seconds, points.figure.cummax(), marker=".", label=system)
    axes.set(xscale="log", xlabel="seconds of training", ylabel=title)
    ticks = [t for t in (5, 10, 20, 50, 100, 200, 500) if t < table.seconds.max()]
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.set_ylim(bottom=table.groupby("system").figure.max().min() - 5)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False, ncols=2)
    picture.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--ours", nargs="*", default=["bigru"], metavar="SPEC",
                        help='such as "bigru units=150"')  # fmt: skip
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", nargs="*", default=[], choices=["crfsuite", "spacy"])
    parser.add_argument("--peers-python", type=Path)
    parser.add_argument("--ncrfpp", type=Path, metavar="FOLDER")
    parser.add_argument("--epochs", type=int, default=20, help="of NCRF++")
    parser.add_argument("--seconds", type=float, default=600, help="of the peers")
    parser.add_argument("--levels", type=float, nargs="*", default=[])
    parser.add_argument("--out", type=Path, help="CSV file for all points")
    parser.add_argument("--plot", type=Path, help="PNG or SVG file")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        ours(args)
        return
    if (args.peers or args.ncrfpp) and not args.peers_python:
        parser.error("--peers and --ncrfpp need --peers-python")
    corpus = corpora.load(args.corpus, Path(os.environ["KERAS_TAGGING_DATA"]))
    chunks = corpora.FIGURES.get(args.corpus) == "f1"
    systems = {spec: lambda f, s=spec: run_ours(s, args, f) for spec in args.ours}
    for name in args.peers:
        systems[name] = lambda f, n=name: run_peer(n, args, f, corpus, chunks)
    if args.ncrfpp:
        systems["NCRF++"] = lambda f: run_ncrfpp(args, f, chunks)
    rows = []
    for system, run in systems.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            write(corpus.train, folder / "train")
            write(corpus.dev, folder / "dev")
            rows += [{"system": system, **point} for point in run(folder)]
        table = pd.DataFrame(rows)
        print(table[table.system == system].round(2).to_string(index=False), flush=True)
        if args.out:
            table.to_csv(args.out, index=False)
    title = "F1 of development sentences" if chunks else "accuracy of development words"
    print("\n" + summary(table, args.levels).to_string(index=False))
    if args.plot:
        plot(table, args.plot, title)


if __name__ == "__main__":
    main()
