"""What serves a tagger: an ONNX file and the service beside the SavedModel and `tag`.

    python benchmarks/serving.py [RUN] [--file FILE --format conll] [--repeat 5]
        [--requests 2000] [--clients 8] 2> messages

RUN is the `--out` of `keras-tagging train`; without it, a Bi-GRU of the default size is
trained briefly on the demo corpus. FILE is what to tag, by default the demo corpus'
test sentences. Printed are, each in turn with what TensorFlow does: a new process to
its first tags, installed size, memory, one sentence of 20 tokens, tokens a second of
many sentences, and the service under load, with one worker and with as many as there
are cores, beside a server of 22 lines with the SavedModel.
`--requests 100000` is the long run, in which each answer is compared.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import service_load
from packaging.requirements import Requirement

PYTHON = (sys.executable, "-m", "keras_tagging")
RUNTIME = "lazy_loader wrapt numpy onnxruntime onnxruntime-extensions"
SERVE = RUNTIME + " typer starlette uvicorn prometheus_client"

SIMPLE_SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import tensorflow as tf
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        [row] = body["instances"]
        found = serve(tokens=tf.constant([row["tokens"]]),
                      lengths=tf.constant([len(row["tokens"])]))
        tags = [t.decode() for t in found["tags"][0].numpy().tolist()]
        answer = json.dumps({"predictions": [{"tags": tags}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *args):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"""


def prepared(folder: Path, run: Path | None):
    """Paths of a run, its SavedModel and its ONNX file, made in other processes."""
    if run is None:
        run = folder / "run"
        train = ("train", "bigru", "--corpus", "demo", "--out", run, "--epochs", "2")
        subprocess.run([*PYTHON, *train], check=True, stdout=subprocess.DEVNULL)
    made = folder / "served", folder / "tagger.onnx"
    for path in made:
        command = [*PYTHON, "export", run, path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return run, *made


def first_tags(run, file, repeat, folder):
    """Seconds of a new process that tags one sentence."""
    text = folder / "one.txt"
    text.write_text(" ".join(["the"] * 20) + "\n")
    times = {"TensorFlow": [], "ONNX": []}
    for _ in range(repeat):
        for name, model in (("TensorFlow", run), ("ONNX", file)):
            start = time.perf_counter()
            command = [*PYTHON, "tag", model, text, "--format", "text"]
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            assert status == 0
            spent = usage.ru_utime + usage.ru_stime
            times[name].append((time.perf_counter() - start, spent))
    for name, found in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"  {name:10} {wall:6.2f} s, {cpu:5.2f} s of CPU")


def installed(names: str) -> float:
    """MB of distributions and of all that they need."""
    wanted, seen, size = names.split(), set(), 0
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop().lower())
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        paths = {found.locate_file(file).resolve() for file in found.files or ()}
        size += sum(path.stat().st_size for path in paths if path.is_file())
        for text in found.requires or ():
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                wanted.append(need.name)
    return size / 1e6


def many(run, file, given, repeat):
    """Tokens a second of `tag` in both, and the latency of one sentence."""
    from keras_tagging import runtime

    sessions = {"ONNX": runtime.load(file)}  # before TensorFlow's libraries
    import tensorflow as tf

    import keras_tagging

    sessions["TensorFlow"] = keras_tagging.load(run)
    count = sum(map(len, given))
    times = {name: [] for name in sessions}
    for _ in range(repeat + 1):
        for name, model in sessions.items():
            start = time.perf_counter()
            model.tag(given)
            times[name].append(count / (time.perf_counter() - start))
    print(f"many sentences, tokens a second, {count:,} tokens:")
    for name, found in times.items():
        print(f"  {name:10} {statistics.median(found[1:]):9,.0f}")
    words, lengths = np.array([["the"] * 20], object), np.array([20], "int32")
    served = tf.saved_model.load(file.parent / "served").signatures["serving_default"]
    session = sessions["ONNX"].session
    feeds = {"tokens": words, "lengths": lengths}
    calls = {
        "SavedModel": lambda: served(
            tokens=tf.constant(words), lengths=tf.constant(lengths)
        )["tags"].numpy(),
        "ONNX": lambda: session.run(["tags"], feeds),
    }
    times = {name: [] for name in calls}
    for number in range(11):  # in turn, 20 at once: the first 20 warm up
        for name, call in calls.items():
            for _ in range(20):
                start = time.perf_counter()
                call()
                if number:
                    times[name].append(1000 * (time.perf_counter() - start))
    print("one sentence of 20 tokens:")
    for name, found in times.items():
        print(f"  {name:10} {statistics.median(found):6.2f} ms")


def under_load(command, name, file, args, given, expected):
    """Starts a server, asks it, and prints its memory before and after."""
    print(f"{name}:")
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", child.stdout.readline())[0]
        print(f"  ready after {time.perf_counter() - start:.1f} s")
        sizes = (args.requests, args.clients, child.pid)
        service_load.load(url, file.stem, given, expected, *sizes)
    finally:
        child.terminate()
        child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--format", help="of FILE")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    args = parser.parse_args()
    from keras_tagging import data, load_corpus, runtime

    given = (
        list(data.read(args.file, args.format))
        if args.file
        else load_corpus("demo").test
    )
    with tempfile.TemporaryDirectory() as folder:
        run, saved, file = prepared(Path(folder), args.run)
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"a new process to the first tags of a sentence, {args.repeat} runs:")
        first_tags(run, file, args.repeat, Path(folder))
        print("installed:")
        print(f"  TensorFlow and Keras   {installed('tensorflow keras'):6.0f} MB")
        print(f"  what runs ONNX files   {installed(RUNTIME):6.0f} MB")
        print(f"  what serves them       {installed(SERVE):6.0f} MB")
        asked = service_load.sentences(2000)
        expected = runtime.load(file).tag(asked)
        for workers in sorted({1, os.cpu_count()}):
            name = f"keras-tagging serve --workers {workers}"
            options = ("--port", "0", "--workers", str(workers))
            serve = [*PYTHON, "serve", file, *options]
            under_load(serve, name, file, args, asked, expected)
        args.requests = min(args.requests, 2000)
        simple = [sys.executable, "-c", SIMPLE_SERVER, saved]
        under_load(simple, "22 lines, SavedModel", file, args, asked, expected)
        many(run, file, given, args.repeat)


if __name__ == "__main__":
    main()
