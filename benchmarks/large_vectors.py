"""One tagger with a vector for each of many words, in every form in which it is kept.

    python benchmarks/large_vectors.py VECTORS CORPUS [--words 20000]

VECTORS is a file or a name, such as the 400,000 words of glove.6B.50d.txt.gz. The
tagger learns words and tags from CORPUS; its weights are random and large, so that tags
differ as they do after training. It is saved, and exported as an ONNX file and as a
SavedModel. Each form is loaded in a process of its own, and tags `--words` words, drawn
from the vectors with a fixed seed: as they are, in capitals, and with a letter that
makes most of them unheard of. Printed for each form are its size; the CPU seconds and
the memory that loading takes, beyond that of its libraries; the largest memory of the
process; and, beside the Keras model, how many words have another tag, and the largest
difference of a probability.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unicodedata import normalize

import numpy as np

LENGTH = 20
FORMS = {"Keras": "model.keras", "ONNX": "model.onnx", "SavedModel": "served"}


def sentences(words: list[str], count: int) -> list[list[str]]:
    """So many words, three times, in sentences of `LENGTH`."""
    drawn = random.Random(1).choices(words, k=count)
    every = [*drawn, *map(str.upper, drawn), *(word + "q" for word in drawn)]
    every = [normalize("NFC", word) for word in every]  # as a SavedModel wants words
    return [every[i : i + LENGTH] for i in range(0, len(every), LENGTH)]


def prepare(vectors: str, corpus: str, folder: Path, count: int) -> None:
    import keras_tagging
    from keras_tagging.vectors import load_vectors

    given = load_vectors(vectors)
    settings = {"units": 50, "num_layers": 1, "seed": 1, "trainable_vectors": False}
    model = keras_tagging.build("bigru", vectors=given, **settings)
    model.adapt(keras_tagging.load_corpus(corpus).train)
    rng = np.random.default_rng(1)
    for weight in model.network.trainable_weights:
        weight.assign(rng.normal(0, 0.5, weight.shape))
    print(f"{len(given.words):,} vectors, {len(model.tags)} tags", flush=True)
    model.save(folder / FORMS["Keras"])
    model.export(folder / FORMS["ONNX"], format="onnx")
    model.export(folder / FORMS["SavedModel"])
    words = [word for word in given.words if word.isprintable()]
    (folder / "words.json").write_text(json.dumps(sentences(words, count)))


def loader(form: str):
    """A function that loads a path, and one that tags with what it gives."""

    def predicted(model, given):
        rows = np.concatenate(model.predict(given))
        return np.array(model.tags)[rows.argmax(-1)], rows.max(-1)

    if form == "ONNX":
        from keras_tagging import runtime

        return runtime.load, predicted
    import tensorflow as tf

    if form == "Keras":
        import keras_tagging

        keras_tagging.build("bigru")  # has loaded what any model needs
        return keras_tagging.load, predicted

    def served(model, given):
        serve = model.signatures["serving_default"]
        tags, found = [], []
        for start in range(0, len(given), 100):
            some = given[start : start + 100]
            answer = serve(
                tokens=tf.constant([row + [""] * (LENGTH - len(row)) for row in some]),
                lengths=tf.constant([len(row) for row in some], tf.int32),
            )
            for name, rows in (("tags", tags), ("probabilities", found)):
                pairs = zip(answer[name].numpy(), some, strict=True)
                rows += [each[: len(row)] for each, row in pairs]
        return np.concatenate(tags).astype(str), np.concatenate(found)

    return tf.saved_model.load, served


def memory(field: str) -> float:
    """Memory of this process in MB: VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6


def measure(form: str, folder: Path) -> None:
    """Load and use one form, in a process of its own."""
    load, predict = loader(form)
    given = json.loads((folder / "words.json").read_text())
    before, cpu = memory("VmRSS"), time.process_time()
    model = load(str(folder / FORMS[form]))
    cpu, gained = time.process_time() - cpu, memory("VmRSS") - before
    tags, probabilities = predict(model, given)
    np.savez(folder / f"{form}.npz", tags=tags, probabilities=probabilities)
    print(json.dumps({"cpu": cpu, "gained": gained, "peak": memory("VmHWM")}))


def size_of(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors")
    parser.add_argument("corpus")
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.form:
        measure(args.form, Path(args.vectors))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(args.vectors, args.corpus, folder, args.words)
        for form, name in FORMS.items():
            command = [sys.executable, __file__, made, "-", "--form", form]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            told = json.loads(done.stdout.splitlines()[-1])
            one, other = (np.load(folder / f"{k}.npz") for k in ("Keras", form))
            differ = (one["tags"] != other["tags"]).sum()
            apart = abs(one["probabilities"] - other["probabilities"]).max()
            tags = len(set(one["tags"].tolist()))
            print(
                f"{form:10} {size_of(folder / name):6.1f} MB, loaded in "
                f"{told['cpu']:5.2f} CPU s, {told['gained']:6.0f} MB gained, "
                f"{told['peak']:6.0f} MB at most; of {len(one['tags']):,} words with "
                f"{tags} tags {differ} have another, "
                f"probabilities differ by {apart:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
