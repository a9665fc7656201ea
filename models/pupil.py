"""Let the parser of a pipeline learn from what a teacher annotated.

    python models/pupil.py runs/en ud-en-ewt GUM --entities UNER \
        --teacher runs/teacher --out runs/en-pupil
    python models/make.py en runs/en-pupil

`runs/teacher` is the folder that `teacher.py` wrote, for the same treebanks and text;
of several the pupil learns the mean. The parser starts from its weights, and keeps its
vocabularies, its size and its speed. In each epoch it reads the training sentences and
the whole text: it learns the teacher's probabilities of tags, heads and labels, and of
the training sentences the gold ones, too; of entities those of the first treebank.
Lemmas, which the teacher lacks, are the best ones of the parser itself before. The
development sentences of the first treebank choose the epoch. What is finished is kept
in `--out`: the same command goes on. Those of `en` 0.9, of which the second one began
with the first, had `--epochs 6 --learning-rate 0.0015 --set dropout=0.15
layer_dropout=0.2 head_dropout=0.2 unknown_rate=0.3`, and `tag_weights=[1,1,1,0.3,2]`,
then `[1.5,2,1,0.5,3]`.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import keras_tagging
from keras_tagging import SoftTargets, runtime
from keras_tagging.cli.options import pairs
from keras_tagging.corpora.entities import add_entities
from keras_tagging.data import read
from keras_tagging.data.lemmas.scripts import script_of
from keras_tagging.data.sentence import as_sentences
from keras_tagging.encoding.label_columns import scripts_of
from keras_tagging.models.distillation import fingerprint_of
from keras_tagging.models.report import without_nan
from keras_tagging.pipelines.plan import weights_of

ROWS = 100_000  # tokens whose probabilities are in memory at once


def together(one: SoftTargets, other: SoftTargets) -> SoftTargets:
    """The soft targets of the same sentences with the columns of both."""
    pairs = {
        name: {**getattr(one, name), **getattr(other, name)}
        for name in ("labels", "ids", "probabilities")
    }
    return replace(one, **pairs)


def mean(targets: list[SoftTargets]) -> SoftTargets:
    """The mean of what several teachers say of the same sentences.

    Raises:
        ValueError: if the sentences or the labels are not the same.
    """
    first, ids, values = targets[0], {}, {}
    if not targets[1:]:
        return first
    same = first.labels, first.fingerprint
    if any((one.labels, one.fingerprint) != same for one in targets):
        raise ValueError("the teachers have read other sentences, or give other labels")
    for name, labels in first.labels.items():
        found = []
        for start in range(0, len(first.ids[name]), ROWS):
            rows = slice(start, start + ROWS)
            total = np.zeros((len(first.ids[name][rows]), len(labels)), np.float32)
            for one in targets:
                places = np.arange(len(total))[:, None], one.ids[name][rows]
                total[places] += one.probabilities[name][rows] / len(targets)
            best = np.argsort(-total, -1, kind="stable")[:, : first.ids[name].shape[1]]
            found.append((best, np.take_along_axis(total, best, -1)))
        ids[name], values[name] = map(np.concatenate, zip(*found, strict=True))
    return replace(first, ids=ids, probabilities=values)


def joined(one: SoftTargets, other: SoftTargets, sentences) -> SoftTargets:
    """The soft targets of some sentences, and of others after them."""
    ids, values = (
        {name: np.concatenate([a[name], b[name]]) for name in one.labels}
        for a, b in ((one.ids, other.ids), (one.probabilities, other.probabilities))
    )
    labels = {name: max(one.labels[name], other.labels[name], key=len) for name in ids}
    offsets = np.concatenate([one.offsets, one.offsets[-1] + other.offsets[1:]])
    return SoftTargets(labels, ids, values, offsets, fingerprint_of(sentences))


class Lemmas:
    """The best lemmas of a parser, as a teacher.

    Args:
        parser: its ONNX file annotates many times as fast.
        folder: where that is written.
    """

    def __init__(self, parser, folder):
        alone = keras_tagging.Pipeline(parser=parser)
        alone.export(folder, format="onnx", int8=True)
        self.annotate = runtime.load(folder).annotate
        self.tags = {"lemma": parser.tags["lemma"]}
        self.ids = {script: i for i, script in enumerate(self.tags["lemma"])}
        # where a rule gave a lemma that has no script
        self.same = self.ids[script_of("a", "a")]

    def predict(self, sentences):
        for sentence in self.annotate([list(x.tokens) for x in sentences]):
            rows = np.zeros((len(sentence), len(self.ids)), np.float32)
            found = [self.ids.get(x, self.same) for x in scripts_of(sentence, "lemma")]
            rows[np.arange(len(found)), found] = 1
            yield {"lemma": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path, help="its folder, with Keras models")
    parser.add_argument("corpora", nargs="+", help="the treebanks of the teacher")
    parser.add_argument("--entities", help="those of the first treebank")
    parser.add_argument(
        "--teacher", type=Path, required=True, nargs="+", help="its folder, or several"
    )
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--token-budget", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--set", nargs="*", default=[], metavar="NAME=VALUE", help="as dropout=0.15"
    )
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    pipeline = keras_tagging.load(args.pipeline)
    corpora = [keras_tagging.load_corpus(x, surface=True) for x in args.corpora]
    if args.entities:
        add_entities(corpora[0], args.entities)
    corpus, train = corpora[0], [x for each in corpora for x in each.train]
    words = [list(x.tokens) for x in read(args.teacher[0] / "text.conllu")]
    mixed, before = [*train, *words], pipeline.parser
    lemmas = Lemmas(before, args.out / "before")
    parts = [
        together(
            mean([SoftTargets.load(x / f"{name}.npz") for x in args.teacher]),
            SoftTargets.of(lemmas, sentences),
        )
        for name, sentences in (("train", train), ("text", words))
    ]
    options = {"seed": args.seed, "learning_rate": args.learning_rate}
    options["tag_weights"] = weights_of(before.column_names)
    options["token_budget"] = args.token_budget
    options |= pairs("--set", args.set)
    pupil = before.retarget(corpus.train, **options)
    pupil.fit(
        mixed,
        validation_data=corpus.dev,
        soft_targets=joined(*parts, as_sentences(mixed)),
        epochs=args.epochs,
        resume=args.out / "parser",
        verbose=2,
    )
    taught = keras_tagging.Pipeline(**{**pipeline.parts, "parser": pupil})
    scores = {
        name: without_nan(taught.evaluate(sentences))
        for name, sentences in corpus.splits()
        if name != "train"
    }
    taught.metadata = {**pipeline.metadata, "scores": scores}
    taught.save(args.out)


if __name__ == "__main__":
    main()
