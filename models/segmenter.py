"""Train the segmenter of a model, on treebanks and on texts that are made from them.

    python models/segmenter.py en first.keras ud-en-ewt GUM --learn-all --texts 25
    python models/segmenter.py en second.keras ud-en-ewt GUM --learn-all --texts 15 \\
        --start first.keras --teachers a.onnx b.onnx --set epochs=3 \\
        --classes brown.tsv.gz --vectors glove.6B.50d.txt.gz
    python models/make.py en --segmenter second.keras

`texts.py` makes the texts, and reads those of `texts/LANGUAGE/`, which were written by
hand: 7,040 to learn from, and 560 to measure. It prints the figures of the development
sentences, as they are and with their lines wrapped, and in how many of the texts that
are kept back a sentence or a token is wrong. With `--learn-all` the kinds and words
that are kept back are learnt, too, and only their combinations are new to the model.
With `--keep` the weights are the mean of those of `--start` and the new ones (Wortsman
et al. 2022): old texts are not forgotten. With `--teachers`, exported segmenters, three
fifths of what is learnt are the means of their answers (Hinton et al. 2015), but for
texts that are `--unseen`. With `--classes` the network reads the classes of the most
frequent words, which are the first ones of `--vectors`.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np
import texts
from keras import ops

import keras_tagging
from keras_tagging import runtime
from keras_tagging.cli.options import pairs
from keras_tagging.data.sentence import document_of
from keras_tagging.encoding.vocabulary import CLUSTER, grouped
from keras_tagging.metrics.raw_text import segmentation_scores
from keras_tagging.models.segmenter.segmenter import Segmenter
from keras_tagging.segmenting.segmentation import LABELS
from keras_tagging.segmenting.symbols import TextStream, symbols_of
from keras_tagging.vectors import load_vectors, read_word_classes

#: texts of a kind that are measured
MEASURED = 20
#: how often the treebanks are read as they are
PLAIN = 6
#: and the texts that were written by hand
WRITTEN = 3
#: words that have a class
CLASSED = 50_000
#: by evidence on the development sentences, where the recipe has others
SETTINGS = {"window": 75, "batch_size": 64, "epochs": 8, "weight_average": 0.999}
SETTINGS |= {"dropout": 0.2, "layer_dropout": 0.4}


class Pupil(Segmenter):
    """A segmenter that learns the answers of others beside the gold ones.

    Its targets are rows of `table`, `(symbols, labels)`: what is to be learnt of each.
    """

    #: of exported files; a tuple, as Keras would train layers
    teachers = ()
    #: of their answers in what is learnt
    share = 0.6
    #: sentences that they have not read, of which they know little
    unseen = frozenset()

    def objectives(self):
        return {**super().objectives(), "weighted_metrics": []}

    def batches(self, sentences, fitting):
        batches = super().batches(sentences, fitting)
        asked = batches.targets >= 0
        table = np.eye(len(LABELS), dtype="float16")[np.maximum(batches.targets, 0)]
        text, surfaces = document_of(sentences)
        text = text.rstrip() + "\n\n"
        answers = sum(probabilities(x, text) for x in self.teachers)
        share = np.full((len(answers), 1), self.share, "float16")
        offsets = symbols_of(text).offsets
        for surface in surfaces:
            if surface.text in self.unseen:
                bounds = surface.start, surface.start + len(surface.text)
                share[slice(*np.searchsorted(offsets, bounds))] = 0
        # the teachers do not read the white space at the end
        known = table[: len(answers)]
        known += share * (answers / len(self.teachers) - known)
        self.table = ops.convert_to_tensor(table)
        batches.targets = np.where(asked, np.arange(len(asked)), -1).astype("int32")
        return batches

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        wanted = ops.take(self.table, ops.maximum(y, 0), axis=0)
        losses = -ops.sum(ops.cast(wanted, "float32") * ops.log_softmax(y_pred), -1)
        return ops.sum(losses * sample_weight) / ops.sum(sample_weight)


def probabilities(teacher, text: str) -> np.ndarray:
    """What a runtime segmenter answers for each symbol, `(symbols, labels)`."""
    scored = teacher.segmentation.scored(TextStream(text))
    parts = (ops.softmax(np.float32(logits)) for _, logits in scored)
    return np.concatenate([np.asarray(part, "float16") for part in parts])


def wrong_of(segmenter, made: dict) -> dict[str, list[int]]:
    """By kind the texts, those with a wrong sentence, and those with a wrong token."""
    counts = {}
    for kind, of_kind in made.items():
        gold = [places_of(text) for text in of_kind]
        plain = [keras_tagging.data.sentence.text_of(text) for text in of_kind]
        answers = map(places_of, segmenter.segment_each(plain))
        pairs = [*zip(gold, answers, strict=True)]
        wrong = [sum(g[level] != a[level] for g, a in pairs) for level in (0, 1)]
        counts[kind] = [len(pairs), *wrong]
    return counts


def places_of(text) -> tuple[list[int], list[tuple[int, int]]]:
    """Where the sentences of a text end, and where its tokens are."""
    surfaces = [sentence.surface for sentence in text]
    ends = [surface.start + len(surface.text) for surface in surfaces]
    return ends, [place for surface in surfaces for place in surface.offsets]


def classes_of(source: Path, vectors: Path) -> dict[str, str]:
    """The classes of the most frequent words, in small letters.

    Args:
        source: as `read_word_classes` reads it.
        vectors: of words in small letters, the most frequent ones first.
    """
    classes = read_word_classes(source)
    lowered = {word.lower(): name for word, name in reversed(classes.items())} | classes
    words = (x for x in load_vectors(vectors).words if x.isalpha() and x in lowered)
    return {word: lowered[word] for word in islice(words, CLASSED)}


def take_weights(segmenter: Segmenter, start: Segmenter) -> None:
    """Begin with the weights of another one, which may read no classes of words."""
    weights = segmenter.network.weights
    if len(weights) > len(start.get_weights()):
        weights = [x for x in weights if "cluster" not in x.path]
    for weight, old in zip(weights, start.get_weights(), strict=True):
        value = 0.2 * ops.convert_to_numpy(weight)  # what is new begins small
        value[: len(old)] = old
        weight.assign(value)


def material(corpora, language: str, seed: int, count: int, learn_all: bool) -> list:
    """The training sentences: of the treebanks, laid out anew, and made of them."""
    sentences = [sentence for corpus in corpora for sentence in corpus.train]
    treebank = texts.Treebank(sentences)
    sentences *= PLAIN
    for text in texts.laid_out(treebank, seed):
        sentences += text
    for text in texts.written(treebank, language, "train"):
        sentences += WRITTEN * text
    for text in texts.written(treebank, language, "train", joined=True):
        sentences += text
    for kept in (False, True)[: 1 + learn_all]:
        made = texts.made(treebank, language, kept, count, seed, all_words=learn_all)
        sentences += [s for of_kind in made.values() for text in of_kind for s in text]
    return sentences


def figures(segmenter, corpora, language: str) -> None:
    """Print what is measured on development sentences and what is made of them."""
    for corpus in corpora:
        dev = list(corpus.dev)
        treebank = texts.Treebank(dev)
        ways = {"": dev, ", wrapped": [*texts.wrapped_sentences(treebank, 1)]}
        for way, gold in ways.items():
            scores = segmentation_scores(gold, segmenter.predictions(gold))
            levels = ("tokens", "words", "sentences")
            shown = (f"{x} {100 * getattr(scores, x).f1:.2f}" for x in levels)
            print(f"{corpus.name}{way}: {', '.join(shown)}")
    treebank = texts.Treebank([s for corpus in corpora for s in corpus.dev])
    parts = {
        "learnt": texts.made(treebank, language, False, MEASURED, 7),
        "kept back": texts.made(treebank, language, True, MEASURED, 7),
        "written": {"dev": [*texts.written(treebank, language, "dev")]},
    }
    for part, made in parts.items():
        counts = wrong_of(segmenter, made)
        print(part, "(texts, sentences, tokens wrong):")
        for kind, row in counts.items():
            print(f"  {kind:16} {' '.join(f'{x:4}' for x in row)}")
        sums = map(sum, zip(*counts.values(), strict=True))
        print(f"  {'all':16} {' '.join(f'{x:4}' for x in sums)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("language")
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learn-all", action="store_true")
    parser.add_argument("--texts", type=int, default=80, help="of each kind")
    parser.add_argument("--start", type=Path, help="whose weights are learnt on")
    parser.add_argument("--keep", type=float, default=0.0, help="share of the start's")
    parser.add_argument("--teachers", type=Path, nargs="+", default=[])
    parser.add_argument("--unseen", nargs="*", default=[], help="texts new to these")
    parser.add_argument("--classes", type=Path, help="of words")
    parser.add_argument("--vectors", type=Path, help="of words, by frequency")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--only-measure", action="store_true")
    asked = parser.parse_args()
    corpora = [keras_tagging.load_corpus(x, surface=True) for x in asked.corpora]
    if asked.keep and not asked.start:
        parser.error("--keep is a share of the weights of --start: give it")
    if asked.classes and not asked.vectors:
        parser.error("--classes are those of the first words of --vectors: give it")
    if asked.unseen and not asked.teachers:
        parser.error("--unseen says what --teachers have not read: give them")
    if asked.only_measure:
        segmenter = keras_tagging.load(asked.out)
        segmenter = getattr(segmenter, "segmenter", None) or segmenter
        figures(segmenter, corpora, asked.language)
        return
    settings = SETTINGS | pairs("--set", asked.set)
    about = keras_tagging.build("segmenter", seed=asked.seed, **settings).get_config()
    classes = classes_of(asked.classes, asked.vectors) if asked.classes else None
    if asked.start:
        start = keras_tagging.load(asked.start)
        about |= {"vocabularies": dict(start.vocabularies), "spaces": start.spaces}
        if classes and start.vocabularies[CLUSTER]:
            parser.error("the segmenter of --start has classes: leave out --classes")
        if classes:
            about["vocabularies"][CLUSTER] = grouped(classes)
    segmenter = (Pupil if asked.teachers else Segmenter).from_config(about)
    if asked.start:
        take_weights(segmenter, start)
    if asked.teachers:
        segmenter.teachers = tuple(runtime.load(x, threads=1) for x in asked.teachers)
        treebank = texts.Treebank([s for corpus in corpora for s in corpus.train])
        names = (f"train-{name}" for name in asked.unseen)
        parts = (texts.written(treebank, asked.language, name) for name in names)
        new = (s.surface.text for part in parts for text in part for s in text)
        segmenter.unseen = frozenset(new)
    train = material(corpora, asked.language, asked.seed, asked.texts, asked.learn_all)
    dev = [sentence for corpus in corpora for sentence in corpus.dev]
    if not asked.start:
        segmenter.adapt(train, classes)
    segmenter.fit(train, validation_data=dev, verbose=2)
    if asked.keep:
        both = zip(start.get_weights(), segmenter.get_weights(), strict=True)
        mean = [asked.keep * old + (1 - asked.keep) * new for old, new in both]
        segmenter.set_weights(mean)
    trained, segmenter = segmenter, Segmenter.from_config(segmenter.get_config())
    segmenter.set_weights(trained.get_weights())
    segmenter.save(asked.out, overwrite=True)
    figures(segmenter, corpora, asked.language)


if __name__ == "__main__":
    main()
