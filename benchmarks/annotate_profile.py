"""Where `annotate` spends its time, by stage: CPU seconds with ONNX files.

    python benchmarks/annotate_profile.py en book.txt [--words 1000000]

The text is repeated until it has so many words. Printed are the CPU seconds of each
stage, Python's and those of each file, and the words a CPU second; then the time of the
operations of each file, from ONNX Runtime's own profile of the first `--profiled`
characters, whose clock also counts what it takes to note the times. A flame graph of
Python's part, with py-spy::

    py-spy record -o annotate.svg -- python benchmarks/annotate_profile.py en book.txt
"""

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from keras_tagging import runtime
from keras_tagging.data.annotation import ConlluWriter
from keras_tagging.encoding.batching import slices
from keras_tagging.runtime import session as sessions
from keras_tagging.utils.heap import return_large_blocks

#: operations of a file that are printed
SHOWN = 8


class Clock:
    """CPU seconds by stage; what runs inside of another stage does not count there."""

    def __init__(self):
        self.seconds, self._open = Counter(), []

    @contextmanager
    def of(self, stage):
        start = time.process_time()
        self._open.append(0.0)
        try:
            yield
        finally:
            spent = time.process_time() - start
            self.seconds[stage] += spent - self._open.pop()
            if self._open:
                self._open[-1] += spent

    def watch(self, name, model):
        run = model.session.answers

        def answers(*given):
            with self.of(f"{name}: file"):
                return run(*given)

        model.session.answers = answers


def annotated(pipeline, text, clock):
    """Annotate a text by stages; the number of its words."""
    writer, words = ConlluWriter(), 0
    parts = slices(pipeline.sentences(text), growing=True)
    while True:
        with clock.of("segmenter: Python"):
            part = next(parts, None)
        if part is None:
            return words
        for name, model in pipeline.parts.items():
            if name != "segmenter":
                with clock.of(f"{name}: Python"):
                    part = model.annotate(part)
        with clock.of("writing"):
            for sentence in part:
                writer.write(sentence)
        words += sum(map(len, part))


@contextmanager
def profiled(folder):
    """Sessions that are made in the block write profiles."""
    plain = sessions.session_options

    def options(*given):
        made = plain(*given)
        made.enable_profiling = True
        made.profile_file_prefix = f"{folder}/profile"
        return made

    sessions.session_options = options
    try:
        yield
    finally:
        sessions.session_options = plain


def operations(path):
    """The share of each operation of a file, those inside of a loop its own."""
    found, loops = Counter(), 0
    for event in json.loads(Path(path).read_text()):
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            name = event["args"]["op_name"]
            if name == "Loop":
                loops += event["dur"]
            else:
                found[name] += event["dur"]
    total = sum(found.values())
    shares = [f"{name} {n / total:.0%}" for name, n in found.most_common(SHOWN)]
    within = f"; in loops, with what noting takes, {loops / 1e6:.2f} s" if loops else ""
    return ", ".join(shares) + within


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="a name, or a folder of ONNX files")
    parser.add_argument("text", type=Path)
    parser.add_argument("--words", type=int, default=0, help="once, if not given")
    parser.add_argument("--profiled", type=int, default=30_000, help="0: not")
    args = parser.parse_args()
    text = args.text.read_text("utf-8")
    return_large_blocks()  # as the command does
    pipeline, clock = runtime.load(args.pipeline, threads=1), Clock()
    list(pipeline.annotate(text[:1000]))
    for name, model in pipeline.parts.items():
        clock.watch(name, model)
    words = annotated(pipeline, text, clock)
    while words < args.words:
        words += annotated(pipeline, text, clock)
    table = pd.DataFrame(clock.seconds.items(), columns=["stage", "CPU seconds"])
    total = table["CPU seconds"].sum()
    table["share"] = (100 * table["CPU seconds"] / total).round(1)
    print(table.round(2).to_string(index=False))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{words:,} words, {words / total:,.0f} a CPU second, {memory:.0f} MB")
    if args.profiled:
        with tempfile.TemporaryDirectory() as folder, profiled(folder):
            pipeline = runtime.load(args.pipeline, threads=1)
            list(pipeline.annotate(text[: args.profiled]))
            for name, model in pipeline.parts.items():
                print(f"{name}: {operations(model.session.end_profiling())}")


if __name__ == "__main__":
    main()
