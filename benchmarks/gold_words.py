"""Figures of pipelines on gold words, and whether the last differs from the first.

    git worktree add ../before 2062032  # with en 0.4
    python benchmarks/gold_words.py ../before/models/en/keras_tagging_en/model en \
        --corpus ud-en-ewt --split test

Tagger and parser of each pipeline, a name or a folder, annotate the words of the split.
UAS and LAS are those of UD: all words count, subtypes of relations do not. *Unseen* are
the words that training lacks, as `evaluate` counts them. p is that of McNemar's exact
test over the words, between the last pipeline and the first.
"""

import argparse
from itertools import chain

import numpy as np
from scipy.stats import binomtest

import keras_tagging
from keras_tagging.metrics import attachment_scores
from keras_tagging.utils.tables import aligned

COLUMNS = {"UPOS": "pos", "XPOS": "xpos", "FEATS": "feats", "LEMMA": "lemma"}


def right_of(pipeline, gold) -> dict[str, np.ndarray]:
    """For each figure which words are right."""
    found = list(pipeline.annotate([list(sentence.tokens) for sentence in gold]))
    right = {}
    for figure, name in COLUMNS.items():
        ours, theirs = (
            np.array([*chain.from_iterable(s.columns[name] for s in sentences)])
            for sentences in (found, gold)
        )
        right[figure] = ours == theirs
    heads = [list(map(int, s.columns["head"])) for s in found]
    arcs = attachment_scores(gold, heads, [s.columns["deprel"] for s in found])
    return right | {"UAS": arcs.right_heads, "LAS": arcs.right_arcs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipelines", nargs="+")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--split", default="dev", choices=("dev", "test"))
    args = parser.parse_args()
    gold = getattr(keras_tagging.load_corpus(args.corpus), args.split)
    gold = [sentence for sentence in gold if len(sentence)]
    rights, unseen = [], []
    for name in args.pipelines:
        pipeline = keras_tagging.load(name)
        pipeline = pipeline.only({*pipeline.parts} & {"tagger", "parser"})
        rights.append(right_of(pipeline, gold))
        first = pipeline.tagger or pipeline.parser
        own = first.evaluate(gold, return_dict=True, verbose=0)
        unseen.append(
            {x.upper(): own.get(f"{x}_oov_accuracy") for x in ("upos", "xpos")}
        )
    rows = [["Figure", *args.pipelines, "p"]]
    first, last = rights[0], rights[-1]
    for figure in first:
        better, worse = (
            int((a & ~b).sum())
            for a, b in ((last[figure], first[figure]), (first[figure], last[figure]))
        )
        p = binomtest(better, better + worse).pvalue if better + worse else 1.0
        shares = (f"{100 * right[figure].mean():.2f}" for right in rights)
        rows.append([figure, *shares, f"{p:.2g}"])
    for figure in ("UPOS", "XPOS"):
        shares = (f"{100 * own[figure]:.2f}" for own in unseen)
        rows.append([f"{figure}, unseen", *shares, ""])
    print(f"{args.corpus}, {args.split}: {len(last['UAS'])} words")
    print(aligned(rows))


if __name__ == "__main__":
    main()
