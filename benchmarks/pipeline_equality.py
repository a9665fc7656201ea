"""A pipeline, its ONNX files and its SavedModels: equal annotation of many sentences.

    python benchmarks/pipeline_equality.py MODEL CORPUS... [--limit 100000] [--capitals]

MODEL is the name or folder of a pipeline with a tagger of named columns and a parser;
of each CORPUS (a name, a file or a folder) only the words count, in the sentences that
it has. With `--capitals` each sentence comes again in capitals. The pipeline is
exported in both forms. The SavedModel of the parser reads the columns that the pipeline
gives, since a parser's file takes its tags as an input. Labels are the best ones, one
by one: a SavedModel has no rules of what occurs together in training. Printed are the
sentences and words, and in how many words each form has another answer than the Keras
models, column by column.
"""

import argparse
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from unicodedata import normalize

import numpy as np
import tensorflow as tf
from onnx_equality import sentences

import keras_tagging
from keras_tagging import Sentence, runtime
from keras_tagging.data.named_columns import field_of
from keras_tagging.encoding.batching import slices

ROWS = 64
TREE = {"head": "heads", "deprel": "deprels"}


def words_of(sentence: Sentence) -> list[str]:
    """The words in NFC, which a SavedModel expects."""
    return [normalize("NFC", token) for token in sentence.tokens]


def served(serve, columns: dict[str, str], given: list[Sentence], reads=()):
    """The answers of a SavedModel, as lists of a sentence, by column.

    Args:
        serve: its signature.
        columns: the names of its outputs, by column.
        given: sentences.
        reads: columns of the sentences that it takes.
    """
    order = sorted(range(len(given)), key=lambda i: len(given[i]))
    found: list = [None] * len(given)
    for start in range(0, len(order), ROWS):
        rows = order[start : start + ROWS]
        lengths = [len(given[i]) for i in rows]
        width = max(lengths)

        def padded(lists, width=width):
            return tf.constant([[*row, *[""] * (width - len(row))] for row in lists])

        tensors = {name: padded(given[i].columns[name] for i in rows) for name in reads}
        answer = serve(
            tokens=padded(given[i].tokens for i in rows),
            lengths=tf.constant(lengths, tf.int32),
            **tensors,
        )
        arrays = {name: answer[output].numpy() for name, output in columns.items()}
        for row, (i, length) in enumerate(zip(rows, lengths, strict=True)):
            found[i] = {name: x[row, :length] for name, x in arrays.items()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--capitals", action="store_true")
    args = parser.parse_args()
    pipeline = keras_tagging.load(args.model)
    pipeline = pipeline.only([part for part in pipeline.parts if part != "segmenter"])
    # that labels keep to what training has is Python after the network, the same for
    # Keras and ONNX, which a SavedModel lacks
    pipeline.tagger.rules = None
    names = [name for name in pipeline.tagger.column_names if name != "lemma"]
    tagged = {field_of(name): name for name in names}
    with tempfile.TemporaryDirectory() as folder:
        pipeline.export(Path(folder) / "onnx", format="onnx")
        pipeline.export(Path(folder) / "saved")
        onnx = runtime.load(Path(folder) / "onnx")
        models = {
            part: tf.saved_model.load(f"{folder}/saved/{part}").signatures[
                "serving_default"
            ]
            for part in ("tagger", "parser")
        }
        count = words = 0
        differ: Counter = Counter()
        given = map(words_of, sentences(args.corpora, (), args.capitals))
        for chunk in slices(islice(given, args.limit)):
            ours = list(pipeline.annotate(chunk))
            theirs = [s.columns for s in onnx.annotate(chunk)]
            rows = zip(
                served(models["tagger"], tagged, ours),
                served(models["parser"], TREE, ours, pipeline.parser.input_columns),
                strict=True,
            )
            for one, other, (tags, tree) in zip(ours, theirs, rows, strict=True):
                count, words = count + 1, words + len(one)
                for form, columns in (("ONNX", other), ("SavedModel", tags | tree)):
                    for name, labels in columns.items():
                        labels = np.asarray(labels).astype(str)
                        own = np.asarray(one.columns[name], str)
                        differ[form, name] += int((labels != own).sum())
            print(f"{count:,} sentences, {words:,} words", flush=True)
    for (form, name), number in differ.items():
        print(f"{form:10} {name:8} {number} words have another answer")


if __name__ == "__main__":
    main()
