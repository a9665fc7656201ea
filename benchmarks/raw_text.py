"""Raw text to CoNLL-U: figures and speed of pipelines, beside UDPipe 1, in one run.

    python benchmarks/raw_text.py en runs/en --peers-python peers/bin/python \
        --udpipe en.udpipe

Each pipeline or segmenter, a name, a run or an export, annotates the text of the test
sentences, or of `--split`. With `--only-tokens` UDPipe's model is a tokenizer alone; of
a segmenter and of such a model the figures of tokens, words and sentences count.
Seconds are those from the text to written CoNLL-U, without loading the model, after a
first sentence that is not counted. UDPipe's model is trained by `udpipe_peer.py`, in
the environment of `--peers-python`. The figures are those of the CoNLL 2018 shared
task.
"""

import argparse
import io
import json
import subprocess
import tempfile
import time
from pathlib import Path

import pandas as pd

import keras_tagging
from keras_tagging.data import read
from keras_tagging.data.annotation import ConlluWriter
from keras_tagging.data.sentence import text_of
from keras_tagging.metrics import raw_text_scores


def ours(name, text, out):
    """The seconds and CPU seconds that a pipeline takes for a text."""
    pipeline = keras_tagging.load(name)
    if isinstance(pipeline, keras_tagging.Segmenter):
        pipeline = keras_tagging.Pipeline(segmenter=pipeline)
    list(pipeline.annotate("The first sentence compiles the networks."))
    writer = ConlluWriter()
    start, cpu = time.perf_counter(), time.process_time()
    with out.open("w", encoding="utf-8") as file:
        for sentence in pipeline.annotate(io.StringIO(text)):
            file.write(writer.write(sentence))
    return time.perf_counter() - start, time.process_time() - cpu


def udpipe(model, text, out, python, only_tokens):
    """The same of UDPipe."""
    source = out.with_suffix(".txt")
    source.write_text(text, "utf-8")
    script = Path(__file__).with_name("udpipe_peer.py")
    command = [python, script, "annotate", model, source, out]
    command += ["--only-tokens"] * only_tokens
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    return told["seconds"], told["cpu_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipelines", nargs="*")
    parser.add_argument("--corpus", default="ud-en-ewt")
    parser.add_argument("--split", default="test", choices=["dev", "test"])
    parser.add_argument("--udpipe", type=Path, metavar="MODEL")
    parser.add_argument("--peers-python", type=Path)
    parser.add_argument("--only-tokens", action="store_true", help="of UDPipe")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if args.udpipe and not args.peers_python:
        parser.error("--udpipe needs --peers-python")
    corpus = keras_tagging.load_corpus(args.corpus, surface=True)
    gold = getattr(corpus, args.split)
    text, words = text_of(gold), sum(map(len, gold))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "annotated.conllu"
        for _ in range(args.repeat):  # in turn
            for name in args.pipelines:
                rows.append([name, *ours(name, text, out), out.read_text("utf-8")])
            if args.udpipe:
                peer = args.udpipe, text, out, args.peers_python
                found = udpipe(*peer, args.only_tokens)
                rows.append(["UDPipe 1", *found, out.read_text("utf-8")])
    table = []
    for system, runs in pd.DataFrame(rows).groupby(0, sort=False):
        predicted = list(read(io.StringIO(runs[3].iloc[0]), "conllu", surface=True))
        scores = raw_text_scores(gold, predicted)
        figures = {name: 100 * counts.f1 for name, counts in scores.items()}
        seconds, cpu = runs[1].median(), runs[2].median()
        speed = {"words/s": words / seconds, "words/CPU s": words / cpu}
        table.append({"system": system, **figures, **speed})
    print(pd.DataFrame(table).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
