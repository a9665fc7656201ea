"""Let the tagger and the parser of a pipeline learn from what a teacher annotated.

    python models/pupil.py models/en/keras_tagging_en/model --corpus ud-en-ewt \
        --teacher runs/teacher --out runs/en-pupil
    python models/make.py en runs/en-pupil

`runs/teacher` is the folder that `teacher.py` wrote. Both parts start from their
weights and keep their vocabularies, their sizes and their speed. In each epoch the
tagger reads the training sentences and the whole text: it learns the teacher's
probabilities, and of the training sentences the gold labels, too. Lemmas, which the
teacher lacks, are those of the tagger itself before. The parser learns the gold trees
and the teacher's, each with the columns that the tagger predicted before; so the two
parts may learn at the same time, with `--only tagger` and `--only parser`. The
development sentences choose the epoch of each. What is finished is kept in `--out`: the
same command goes on, and makes the pipeline when both parts are there.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import keras_tagging
from keras_tagging import SoftTargets
from keras_tagging.data import read
from keras_tagging.data.sentence import as_sentences
from keras_tagging.data.trees import heads_of
from keras_tagging.models.distillation import fingerprint_of
from keras_tagging.models.report import without_nan

#: each reads the training sentences and the text once
EPOCHS = {"tagger": 3, "parser": 5}


def together(one: SoftTargets, other: SoftTargets) -> SoftTargets:
    """The soft targets of the same sentences with the columns of both."""
    pairs = {
        name: {**getattr(one, name), **getattr(other, name)}
        for name in ("labels", "ids", "probabilities")
    }
    return replace(one, **pairs)


def joined(one: SoftTargets, other: SoftTargets, sentences) -> SoftTargets:
    """The soft targets of some sentences, and of others after them."""
    ids, values = (
        {name: np.concatenate([a[name], b[name]]) for name in one.labels}
        for a, b in ((one.ids, other.ids), (one.probabilities, other.probabilities))
    )
    offsets = np.concatenate([one.offsets, one.offsets[-1] + other.offsets[1:]])
    return SoftTargets(one.labels, ids, values, offsets, fingerprint_of(sentences))


class Lemmas:
    """The lemmas of a tagger alone, as a teacher."""

    def __init__(self, tagger):
        self.tagger = tagger
        self.tags = {"lemma": tagger.tags["lemma"]}

    def predict(self, sentences):
        for found in self.tagger.predict(sentences):
            yield {"lemma": found["lemma"]}


def taught_tagger(tagger, corpus, text, args):
    """The tagger, which has learnt from the teacher's probabilities too."""
    words = [list(sentence.tokens) for sentence in text]
    parts = []
    for name, sentences in (("train", corpus.train), ("text", words)):
        stored = SoftTargets.load(args.teacher / f"{name}.npz")
        parts.append(together(stored, SoftTargets.of(Lemmas(tagger), sentences)))
    mixed = [*corpus.train, *words]
    own = {"seed": args.seed, "learning_rate": args.learning_rate}
    pupil = tagger.retarget(corpus.train, **own)
    pupil.fit(
        mixed,
        validation_data=corpus.dev,
        soft_targets=joined(*parts, as_sentences(mixed)),
        epochs=args.epochs or EPOCHS["tagger"],
        resume=args.out / "tagger",
        verbose=2,
    )
    return pupil


def taught_parser(parser, tagger, corpus, text, args):
    """The parser, which has learnt from the teacher's trees too."""
    train, dev, trees = (
        list(tagger.annotate(part))
        for part in (corpus.train, corpus.dev, filter(heads_of, text))
    )
    parser.optimizer.learning_rate = args.learning_rate
    parser.fit(
        train + trees,
        validation_data=dev,
        epochs=args.epochs or EPOCHS["parser"],
        resume=args.out / "parser",
        verbose=2,
    )
    return parser


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path, help="its folder, with Keras models")
    parser.add_argument("--corpus", required=True, help="the treebank of the teacher")
    parser.add_argument("--teacher", type=Path, required=True, help="its folder")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--only", choices=("tagger", "parser"))
    parser.add_argument("--epochs", type=int, help=f"of a part, by default {EPOCHS}")
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    pipeline = keras_tagging.load(args.pipeline)
    corpus = keras_tagging.load_corpus(args.corpus, surface=True)
    text = list(read(args.teacher / "text.conllu"))
    old, taught = pipeline.parts, {}
    for name in EPOCHS if args.only is None else (args.only,):
        path = args.out / name / "model.keras"
        if path.exists():
            taught[name] = keras_tagging.load(path)
            continue
        if name == "tagger":
            taught[name] = taught_tagger(old["tagger"], corpus, text, args)
        else:
            both = old["parser"], old["tagger"]
            taught[name] = taught_parser(*both, corpus, text, args)
        taught[name].save(path)
    if args.only is not None:
        return
    found = keras_tagging.Pipeline(**{**old, **taught})
    scores = {
        name: without_nan(found.evaluate(sentences))
        for name, sentences in corpus.splits()
        if name != "train"
    }
    found.metadata = {**pipeline.metadata, "scores": scores}
    found.save(args.out)


if __name__ == "__main__":
    main()
