"""Time and memory of loading pretrained vectors, on files that it generates.

    python benchmarks/vectors.py
    python benchmarks/vectors.py --folder vectors/ --large

GloVe text of 400,000 words and 100 dimensions, of which 25,000 words are kept; with
`--large` also word2vec's binary of 3 million words and 300 dimensions (3.6 GB), of
which 100,000 are kept. The second load is from the cache. Files that are in the folder
already are not written again. Every row is a process of its own: memory is its peak
less that after the import of the package, and is also given in terms of the matrix that
is kept. Times include what the load imports. `--whole` also reads the GloVe file
without a vocabulary, as gensim does.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GLOVE = (400_000, 100, 25_000)
GOOGLE_NEWS = (3_000_000, 300, 100_000)
BLOCK = 10_000


def words_of(start: int, end: int) -> list[str]:
    return [f"word{i}" for i in range(start, end)]


def write_text(path: Path, count: int, dim: int) -> None:
    """GloVe: no header, values of 5 to 8 characters."""
    rng = np.random.default_rng(0)
    values = np.array([f"{x:.5g}" for x in rng.normal(0, 0.4, 100_000)])
    with open(path, "w") as file:
        for start in range(0, count, BLOCK):
            rows = values[rng.integers(len(values), size=(BLOCK, dim))]
            for word, row in zip(words_of(start, start + BLOCK), rows, strict=True):
                file.write(f"{word} {' '.join(row)}\n")


def write_binary(path: Path, count: int, dim: int) -> None:
    """word2vec's, as GoogleNews is."""
    rng = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(f"{count} {dim}\n".encode())
        for start in range(0, count, BLOCK):
            rows = rng.normal(0, 0.2, (BLOCK, dim)).astype("<f4")
            for word, row in zip(words_of(start, start + BLOCK), rows, strict=True):
                file.write(word.encode() + b" " + row.tobytes() + b"\n")


def peak() -> float:
    """Most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load(path: str, count: int, kept: int, cache: str | None) -> dict:
    """One load, in a process of its own."""
    from keras_tagging.vectors import load_vectors

    vocabulary = None
    if kept:
        numbers = np.random.default_rng(1).choice(count, kept, replace=False)
        vocabulary = [f"word{i}" for i in numbers]
    before, start, busy = peak(), time.perf_counter(), time.process_time()
    vectors = load_vectors(path, vocabulary=vocabulary, cache=cache or False)
    seconds, memory = time.perf_counter() - start, peak() - before
    size = vectors.matrix.nbytes / 2**20
    return {
        "vectors": len(vectors.words),
        "seconds": round(seconds, 2),
        "CPU seconds": round(time.process_time() - busy, 2),
        "above the interpreter, MB": round(memory),
        "matrix, MB": round(size),
        "memory / matrix": round(memory / size, 2),
    }


def run(*args) -> dict:
    command = [sys.executable, __file__, "--load", json.dumps(args)]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    output = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    return json.loads(output.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="for the files; else a new one")
    parser.add_argument("--large", action="store_true", help="3 million x 300 too")
    parser.add_argument("--whole", action="store_true", help="GloVe as a whole too")
    parser.add_argument("--load", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.load:
        print(json.dumps(load(*json.loads(args.load))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        kinds = [("glove.txt", write_text, *GLOVE)]
        if args.large:
            kinds.append(("google-news.bin", write_binary, *GOOGLE_NEWS))
        for name, write, count, dim, kept in kinds:
            path = folder / name
            if not path.exists():
                print(f"writing {path}", file=sys.stderr, flush=True)
                partial = path.with_name(f".{name}")
                write(partial, count, dim)
                partial.rename(path)
            title = f"{name}, {count:,} x {dim}, {path.stat().st_size / 1e9:.2f} GB"
            print(f"\n{title}, {kept:,} words", flush=True)
            cache = str(Path(scratch, "cache"))
            for turn in ("first load", "second load"):
                print(f"  {turn:<12}", run(str(path), count, kept, cache), flush=True)
            if args.whole and name == "glove.txt":
                print("  whole       ", run(str(path), count, 0, None), flush=True)


if __name__ == "__main__":
    main()
