"""Clients of a running service: latency, throughput, and whether each answer is right.

    python benchmarks/service_load.py URL tagger.onnx [--requests 2000] [--clients 8]

URL is what `keras-tagging serve tagger.onnx` prints, or any other that answers
TensorFlow Serving's `:predict`. Each request is one sentence of 1 to 200 tokens, drawn
from words of the demo corpus, and each answer is compared with that of
`keras_tagging.runtime`. `--pid` prints the memory of that process and its children
meanwhile. This process imports no TensorFlow.
"""

import argparse
import http.client
import json
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import keras_tagging
from keras_tagging import runtime

LONGEST = 200


def memory(pid: int) -> float:
    """MB of a process and its children; what they share counts once."""
    kilobytes = 0
    for process in (pid, *children(pid)):
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        kilobytes += int(text.partition("\nPss:")[2].split()[0])
    return kilobytes / 1000


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [*map(int, found)]


def sentences(count: int) -> list[list[str]]:
    """Made of the words of the demo corpus, as many of each length."""
    words = [w for s in keras_tagging.load_corpus("demo").train for w in s.tokens]
    rng = random.Random(0)
    return [rng.choices(words, k=1 + i % LONGEST) for i in range(count)]


class Client:
    """Asks one after the other, over one connection."""

    def __init__(self, url: str, model: str):
        self._url, self._path = urlsplit(url), f"/v1/models/{model}:predict"
        self._connection = None

    def ask(self, tokens: list[str]):
        """The tags, and the seconds it took."""
        start = time.perf_counter()
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._url.netloc, timeout=90)
        body = json.dumps({"instances": [{"tokens": tokens}]})
        self._connection.request("POST", self._path, body)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise ValueError(f"{response.status}: {content[:200]}")
        tags = json.loads(content)["predictions"][0]["tags"]
        return tags, time.perf_counter() - start


def load(url, model, given, expected, requests, clients, pid=None) -> None:
    """Asks, and prints what was found."""
    done, wrong, errors, seconds = 0, 0, [], []
    every = max(requests // 4, 1)

    def client(number):
        nonlocal done, wrong
        connection = Client(url, model)
        rng = random.Random(number)
        for _ in range(requests // clients):
            i = rng.randrange(len(given))
            try:
                tags, took = connection.ask(given[i])
            except (OSError, ValueError, http.client.HTTPException) as error:
                errors.append(str(error))
                connection = Client(url, model)
                continue
            seconds.append(took)
            wrong += tags != expected[i]
            done += 1
            if pid and done % every == 0:
                print(f"  after {done:7,} requests {memory(pid):6.0f} MB", flush=True)

    first = Client(url, model)
    for tokens in given[:LONGEST]:  # warm up, each length
        first.ask(tokens)
    if pid:
        print(f"  at the beginning      {memory(pid):6.0f} MB")
    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    took = time.perf_counter() - start
    cuts = statistics.quantiles(seconds, n=100)
    print(
        f"  {done:,} answers to {clients} clients in {took:.0f} s: p50 "
        f"{1000 * cuts[49]:.0f} ms, p99 {1000 * cuts[98]:.0f} ms, longest "
        f"{1000 * max(seconds):.0f} ms"
    )
    print(f"  {len(errors)} errors, {wrong} wrong answers", *errors[:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", help="its name there; by default the file's")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--pid", type=int)
    args = parser.parse_args()
    given = sentences(args.sentences)
    expected = runtime.load(args.file).tag(given)
    load(
        args.url,
        args.model or args.file.stem,
        given,
        expected,
        args.requests,
        args.clients,
        args.pid,
    )


if __name__ == "__main__":
    main()
