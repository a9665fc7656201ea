"""`annotate` beside spaCy, and UDPipe 1, in one run: words a CPU second from raw text.

    python benchmarks/annotate_peers.py en book.txt --peers-python peers/bin/python \
        [--udpipe en.udpipe] [--threads 2] [--repeat 3]

Each system annotates the text in turn, in a process of its own, which tells the CPU
seconds after start-up and a first sentence, its own and its children's, and the largest
resident memory. spaCy's package is in the environment of `--peers-python`; it finds
entities, as `en` does, reads the pieces between empty lines as documents, and gives the
attributes that CoNLL-U has. Give a text with empty lines: one long document is slow for
it. PIPELINES are names or folders of ONNX files; all run in `--threads`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

MEASURE = """
import json, os, resource, sys, time
def used():
    found = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(x.ru_utime + x.ru_stime for x in found)
def tell(words, start, clock):
    spent = time.perf_counter() - clock
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([words, used() - start, spent, memory]))
name, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = open(path, encoding="utf-8").read()
"""
OURS = (
    MEASURE
    + """
from keras_tagging import runtime
from keras_tagging.data.annotation import ConlluWriter
from keras_tagging.utils.heap import return_large_blocks
return_large_blocks()  # as the command does
pipeline, writer = runtime.load(name, threads=threads), ConlluWriter()
list(pipeline.annotate("The first sentence."))
start, clock, words = used(), time.perf_counter(), 0
for sentence in pipeline.annotate(text):
    writer.write(sentence)
    words += len(sentence)
tell(words, start, clock)
"""
)
SPACY = (
    MEASURE
    + """
import spacy
nlp = spacy.load(name)
list(nlp.pipe(["The first sentence."]))
start, clock, words = used(), time.perf_counter(), 0
documents = text.split("\\n\\n")
for document in nlp.pipe(documents, n_process=threads):
    for t in document:
        t.text, t.lemma_, t.tag_, t.pos_, str(t.morph), t.head.i, t.dep_, t.ent_type_
        words += not t.is_space  # which is a token there
tell(words, start, clock)
"""
)
UDPIPE = (
    MEASURE
    + """
from ufal import udpipe
model, error = udpipe.Model.load(name), udpipe.ProcessingError()
pipeline = udpipe.Pipeline(model, "tokenize", "", "", "conllu")
pipeline.process("The first sentence.", error)
start, clock = used(), time.perf_counter()
found = pipeline.process(text, error)
ids = (line.partition("\\t")[0] for line in found.split("\\n"))
tell(sum(map(str.isdigit, ids)), start, clock)  # of words, not of multiword tokens
"""
)


def measured(python, script, *given):
    """The words, CPU seconds, seconds and megabytes of a process."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [python, "-c", script, *map(str, given)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=environment, timeout=3600
    )
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipelines", nargs="+")
    parser.add_argument("text", type=Path)
    parser.add_argument("--peers-python", required=True)
    parser.add_argument("--spacy", default="en_core_web_sm", metavar="PACKAGE")
    parser.add_argument("--udpipe", type=Path, metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1, help="of spaCy processes")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    systems = {f"annotate {p}": (sys.executable, OURS, p) for p in args.pipelines}
    systems["spaCy"] = args.peers_python, SPACY, args.spacy
    if args.udpipe:
        systems["UDPipe 1"] = args.peers_python, UDPIPE, args.udpipe
    runs = {name: [] for name in systems}
    for _ in range(args.repeat):  # in turn
        for name, (python, script, model) in systems.items():
            found = measured(python, script, model, args.text, args.threads)
            runs[name].append(found)
    rates = {
        name: statistics.median(words / cpu for words, cpu, *_ in found)
        for name, found in runs.items()
    }
    for name, found in runs.items():
        clock = statistics.median(words / seconds for words, _, seconds, _ in found)
        print(
            f"{name}: {rates[name]:,.0f} words a CPU second, "
            f"{rates[name] / rates['spaCy']:.2f} of spaCy's; {clock:,.0f} a second by "
            f"the clock; {max(memory for *_, memory in found):.0f} MB"
        )


if __name__ == "__main__":
    main()
