"""Clients of a running service: latency, throughput, and whether each answer is right.

    python benchmarks/service_load.py URL tagger.onnx [--requests 2000] [--clients 8]

URL is what `keras-tagging serve tagger.onnx` prints. Each request is one sentence of 1
to 200 tokens, drawn from words of the demo corpus, and each answer is compared with
that of `keras_tagging.runtime`. `--pid` prints the memory of that process and its
children meanwhile, and their CPU time for each request. This process imports no
TensorFlow.

    python benchmarks/service_load.py URL en --texts sentences.txt --pid PID --clients 1

asks a pipeline at `/annotate` for each line of a file in turn. With `--peer` it is
another system, such as `spacy_service.py`: its answers are not compared.

    python benchmarks/service_load.py URL tagger.onnx --hostile --longest 40 --repeat 5

asks beside clients that say nothing, are slow, are many, or send sentences of 1,990
words to the model `--long NAME`, each in turn with none, and asks for the service's
health meanwhile.
"""

import argparse
import http.client
import json
import multiprocessing
import random
import resource
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import keras_tagging
from keras_tagging import runtime
from keras_tagging.data.annotation import as_object
from keras_tagging.utils.named_models import find_model

LONGEST = 200
LONG = 1990  # words of a hostile sentence


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


def sentences(count: int, longest: int = LONGEST) -> list[list[str]]:
    """Made of the words of the demo corpus, as many of each length."""
    words = [w for s in keras_tagging.load_corpus("demo").train for w in s.tokens]
    rng = random.Random(0)
    return [rng.choices(words, k=1 + i % longest) for i in range(count)]


def cpu(pid: int) -> list[float]:
    """Seconds of CPU of a process and of its children, in all their threads."""
    return [
        sum(
            int(task.joinpath("schedstat").read_text().split()[0]) / 1e9
            for task in Path(f"/proc/{process}/task").iterdir()
        )
        for process in (pid, *children(pid))
    ]


def upos(found) -> list[str]:
    """The tags of all words of sentences, as JSON has them."""
    return [w["upos"] for s in found for token in s["tokens"] for w in token["words"]]


class Client:
    """Asks one after the other, over one connection: tokens, or a text."""

    def __init__(self, url: str, model: str):
        self._url, self._model = urlsplit(url), model
        self._connection = None

    def ask(self, given: list[str] | str):
        """The tags, or the sentences, and the seconds it took."""
        start = time.perf_counter()
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._url.netloc, timeout=90)
        text = isinstance(given, str)
        path = "/annotate" if text else "/tag"
        body = {"model": self._model, "sentences": [given]}
        if text:
            body = {"model": self._model, "text": given}
        kind = {"Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), kind)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise ValueError(f"{response.status}: {content[:200]}")
        took, answer = time.perf_counter() - start, json.loads(content)
        if text:
            return upos(answer["sentences"]), took
        return answer["sentences"][0]["tags"], took


def load(url, model, given, expected, requests, clients, pid=None) -> None:
    """Asks, and prints what was found."""
    every = max(requests // 4, 1)

    def told(done):
        if pid and done % every == 0:
            print(f"  after {done:7,} requests {memory(pid):6.0f} MB", flush=True)

    first = Client(url, model)
    for tokens in given[:LONGEST]:  # warm up, each length
        first.ask(tokens)
    if pid:
        print(f"  at the beginning      {memory(pid):6.0f} MB")
    start, before = time.perf_counter(), cpu(pid) if pid else []
    seconds, wrong, errors = ask(url, model, given, expected, requests, clients, told)
    took = time.perf_counter() - start
    if pid:
        pairs = zip(cpu(pid), before, strict=True)
        spent = [1000 * (now - then) / len(seconds) for now, then in pairs]
        each = ", ".join(f"{x:.2f}" for x in spent if x > 0.005)
        print(f"  CPU ms a request: {each} (HTTP, workers); in all {sum(spent):.2f}")
    cuts = statistics.quantiles(seconds, n=100)
    print(
        f"  {len(seconds):,} answers to {clients} clients in {took:.0f} s: p50 "
        f"{1000 * cuts[49]:.0f} ms, p99 {1000 * cuts[98]:.0f} ms, longest "
        f"{1000 * max(seconds):.0f} ms; {len(seconds) / took:.0f} a second"
    )
    print(f"  {len(errors)} errors, {wrong} wrong answers", *errors[:3])


def ask(
    url, model, given, expected, requests, clients, told=lambda done: None, most=1e9
):
    """The seconds of each answer, the number of wrong ones, and the errors.

    It ends after so many requests, or the most seconds.
    """
    wrong, errors, seconds = 0, [], []
    until = time.perf_counter() + most

    def client(number):
        nonlocal wrong
        connection = Client(url, model)
        rng = random.Random(number)
        for _ in range(requests // clients):
            if time.perf_counter() > until:
                return
            i = rng.randrange(len(given))
            try:
                tags, took = connection.ask(given[i])
            except (OSError, ValueError, http.client.HTTPException) as error:
                errors.append(str(error))
                connection = Client(url, model)
                continue
            seconds.append(took)
            wrong += expected is not None and tags != expected[i]
            told(len(seconds))

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    return seconds, wrong, errors


class Hostile:
    """Clients in a process of their own that harm others, while the block runs.

    Args:
        url: of the service.
        connections: that say nothing. One that is closed is opened anew.
        slow: how many of them send a byte of a header twice a second.
        long: clients that send long sentences, as many as they can.
        path, body: where they send them, and what.
    """

    def __init__(self, url, connections=0, slow=0, long=0, path="", body=None):
        address = urlsplit(url).hostname, urlsplit(url).port
        context = multiprocessing.get_context("spawn")
        runs = [(send_long, (address, path, json.dumps(body)))] * long
        runs += [(hold, (address, connections, slow))] * bool(connections)
        self._processes = [
            context.Process(target=run, args=args, daemon=True) for run, args in runs
        ]

    def __enter__(self):
        for process in self._processes:
            process.start()
        time.sleep(4 if self._processes else 0)

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
            process.join()


def send_long(address, path, body):
    while True:
        connection = http.client.HTTPConnection(*address, timeout=90)
        with suppress(OSError, http.client.HTTPException):
            connection.request("POST", path, body)
            connection.getresponse().read()
        connection.close()


def hold(address, count, slow):
    """Holds connections: it opens all at once, then 100 anew twice a second."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192,) * 2)
    held, most = [], count
    while True:
        for _ in range(min(count - len(held), most)):
            with suppress(OSError):
                held.append(socket.create_connection(address, timeout=1))
                held[-1].setblocking(False)
                if len(held) <= slow:
                    held[-1].send(b"POST /tag HTTP/1.1\r\nX: ")
        time.sleep(0.5)
        held = [c for i, c in enumerate(held) if is_open(c, i < slow)]
        most = 100


def is_open(connection, slow) -> bool:
    try:
        if slow:
            connection.send(b"x")
        connection.recv(1000)
    except BlockingIOError:
        return True
    except OSError:
        pass
    connection.close()
    return False


def health(url, over, seconds, errors):
    """Asks for the service's health, each time over a new connection."""
    while not over.wait(0.1):
        start = time.perf_counter()
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
        try:
            connection.request("GET", "/v2/health/ready")
            if (status := connection.getresponse().status) != 200:
                errors.append(status)
        except (OSError, http.client.HTTPException) as error:
            errors.append(str(error))
        connection.close()
        seconds.append(time.perf_counter() - start)


def long_request(url, model):
    """The path and the body of a request with one sentence, as long as may be."""
    with urlopen(f"{url}/models") as answer:
        listed = json.load(answer)["models"]
    [about] = [found for found in listed if found["name"] == model]
    path, words = f"/{about['command']}", ["word"] * LONG
    if about["kind"] == "pipeline":
        return path, {"model": model, "text": "a " * 4999}
    columns = {column: [["_"] * LONG] for column in about["columns"]}
    return path, {"model": model, "sentences": [words], "columns": columns}


def hostile(urls, model, long, given, expected, args) -> None:
    """Asks beside each kind of hostile clients, in turn, and prints what was found."""
    path, body = long_request(urls[0], long) if long else ("", None)
    kinds = {
        "none": {},
        "1,100 say nothing": {"connections": 1100},
        "500 of 1,100 slow": {"connections": 1100, "slow": 500},
        "2,000 say nothing": {"connections": 2000},
        "4 with long": {"long": 4 * bool(long), "path": path, "body": body},
    }
    found = {(url, kind): ([], [], [], []) for kind in kinds for url in urls}
    for _ in range(args.repeat):
        for (url, kind), (seconds, errors, probed, sick) in found.items():
            over = threading.Event()
            probing = (url, over, probed, sick)
            with Hostile(url, **kinds[kind]):
                probe = threading.Thread(target=health, args=probing)
                probe.start()
                sizes = (args.requests, args.clients)
                took, wrong, failed = ask(
                    url, model, given, expected, *sizes, most=args.seconds
                )
                over.set()
                probe.join()
            seconds += took
            errors += failed + ["wrong"] * wrong
    print("beside, p50 and p99 in ms, errors; of health p99 in ms, errors:")
    for (url, kind), (seconds, errors, probed, sick) in found.items():
        cut = [1000 * x for x in statistics.quantiles(seconds or [0, 0], n=100)]
        probe = 1000 * statistics.quantiles(probed or [0, 0], n=100)[98]
        print(
            f"  {url} {kind:20} {cut[49]:8.1f} {cut[98]:8.1f} {len(errors):6}"
            f" {probe:8.1f} {len(sick):6}",
            *errors[:1],
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="with --hostile, several with commas between")
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=Path, help="a text for a pipeline on each line")
    parser.add_argument("--peer", action="store_true", help="with --texts")
    parser.add_argument("--model", help="its name there; by default the file's")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens")
    parser.add_argument("--pid", type=int)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--long", help="the model that hostile clients ask")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each, at most")
    args = parser.parse_args()
    if args.peer and not args.texts:
        parser.error("--peer needs --texts")
    if args.peer:
        given = args.texts.read_text("utf-8").splitlines()
        expected = None
    elif args.texts:
        given = args.texts.read_text("utf-8").splitlines()
        annotate = runtime.load(find_model(args.file, to_run=True)).annotate
        expected = [upos(map(as_object, annotate(text))) for text in given]
    else:
        given = sentences(args.sentences, args.longest)
        expected = runtime.load(args.file).tag(given)
    model = args.model or args.file.stem
    if args.hostile:
        hostile(args.url.split(","), model, args.long, given, expected, args)
        return
    load(
        args.url,
        model,
        given,
        expected,
        args.requests,
        args.clients,
        args.pid,
    )


if __name__ == "__main__":
    main()
