"""Write a CCG treebank with what a pipeline predicts for its words, to train `en-ccg`.

    python models/ccg_corpus.py models/en/keras_tagging_en/model EWT-CCG \
        --treebank ud-en-ewt --out runs/ewt-ccg-en
    keras-tagging train ccg-shift-reduce --corpus runs/ewt-ccg-en --option tag=auto ...

The splits are CoNLL-U with UPOS, XPOS, heads and relations as the pipeline's parser
predicts them, and the derivation in the comment `auto`. A parser makes far fewer errors
on sentences that it has learnt from than it will make on others. So two parsers like
that of the pipeline, without its teacher, learn from one half of the dependency
treebank each, 200 sentences here and 200 there, and each annotates the training
sentences of the other half (jackknifing). Sentences whose words differ in the two
treebanks go with those before them.
"""

import argparse
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

import keras_tagging
from keras_tagging.data.annotation import ConlluWriter

#: sentences that follow one another, often of one text, are in one half
BLOCK = 200
READ = ("pos", "xpos", "head", "deprel")
#: settings of the pipeline's parser that the others take
SETTINGS = ("units", "num_layers", "feed_dim", "vectors", "word_classes")
SETTINGS += ("trainable_vectors", "token_budget")
TAGS = ("upos", "xpos", "feats")


def half_of(number: int) -> int:
    return number // BLOCK % 2


def halves_of(sentences, treebank) -> list[int]:
    """The half of each sentence: that of the same one in the treebank, in order."""
    own, others = ([" ".join(s.tokens) for s in x] for x in (sentences, treebank))
    places = {}
    matcher = SequenceMatcher(None, others, own, autojunk=False)
    for there, here, size in matcher.get_matching_blocks():
        places |= {here + i: there + i for i in range(size)}
    found, place = [], -1
    for number in range(len(own)):
        place = places.get(number, place + 1)
        found.append(half_of(place))
    return found


def parser_of(half: int, parser, corpus, seed: int):
    """A parser that has learnt from one half of the treebank."""
    settings = {name: parser.settings[name] for name in SETTINGS}
    made = keras_tagging.build(parser.architecture, seed=seed, tags=TAGS, **settings)
    train = [s for i, s in enumerate(corpus.train) if half_of(i) == half]
    made.fit(train, validation_data=corpus.dev, verbose=2)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path, help="its folder, with Keras models")
    parser.add_argument("corpus", help="of derivations")
    parser.add_argument("--treebank", required=True, help="of the same sentences")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True)  # before minutes of training
    derivations = keras_tagging.load_corpus(args.corpus)
    corpus = keras_tagging.load_corpus(args.treebank)
    pipeline = keras_tagging.load(args.pipeline)
    whole = pipeline.parser
    # of the training sentences those of one half, parsed by what has read the other
    halves = halves_of(derivations.train, corpus.train)
    parsers = {half: parser_of(1 - half, whole, corpus, args.seed) for half in (0, 1)}
    for split in ("train", "dev", "test"):
        gold = getattr(derivations, split)
        words = [list(s.tokens) for s in gold]
        if split == "train":
            found = {}
            for half, own in parsers.items():
                places = [i for i, x in enumerate(halves) if x == half]
                made = own.annotate([words[i] for i in places])
                found |= zip(places, made, strict=True)
            parsed = [found[i] for i in range(len(gold))]
        else:
            parsed = whole.annotate(words)
        writer = ConlluWriter()
        path = args.out / f"{args.out.name}-{split}.conllu"
        with path.open("w", encoding="utf-8") as file:
            for sentence, tree in zip(gold, parsed, strict=True):
                columns = {name: tree.columns[name] for name in READ}
                made = replace(sentence, tags=None, columns=columns)
                file.write(writer.write(made))
        print(f"{path}: {len(gold)} sentences")


if __name__ == "__main__":
    main()
