"""Other taggers, trained in an environment of their own: for time_to_accuracy.py.

    python peers.py crfsuite train.conll dev.conll points.jsonl [--seconds 600]

Corpora are in two columns, word and tag, with an empty line after each sentence. After
some iterations each appends a line of JSON: the seconds of training until then, without
those of tagging, and the tags of the development sentences. It needs what it is asked
for: python-crfsuite, or spaCy.
"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path


def read(path):
    """[(words, tags), ...]"""
    blocks = Path(path).read_text("utf-8").strip("\n").split("\n\n")
    rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    return [tuple(map(list, zip(*sentence, strict=True))) for sentence in rows]


# A linear-chain CRF


def features(words):
    """Of each token: words up to two away, affixes and shape."""
    found = []
    for i, word in enumerate(words):
        here = ["bias", "word=" + word, "lower=" + word.lower()]
        here += [f"suffix{n}=" + word[-n:] for n in range(1, 5)]
        here += [f"prefix{n}=" + word[:n] for n in range(1, 4)]
        shape = "".join(
            "0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c
            for c in word
        )
        here.append("shape=" + shape)
        for step in (-2, -1, 1, 2):
            inside = 0 <= i + step < len(words)
            other = words[i + step].lower() if inside else "-"
            here.append(f"{step}={other}")
        found.append(here)
    return found


def crfsuite(train, dev, seconds, point):
    """L-BFGS with c1=0.1 and c2=0.01, cut after 25, 50, 100, ... iterations."""
    import pycrfsuite

    inputs = [features(words) for words, _ in dev]
    iterations, spent = 25, 0
    while 2 * spent < seconds:
        start = time.perf_counter()
        trainer = pycrfsuite.Trainer(verbose=False)
        for words, tags in train:
            trainer.append(features(words), tags)
        trainer.set_params({"c1": 0.1, "c2": 0.01, "max_iterations": iterations})
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model"
            trainer.train(path)
            spent = time.perf_counter() - start
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            point(spent, [tagger.tag(words) for words in inputs])
        if trainer.logparser.last_iteration["num"] < iterations:
            return  # it has converged
        iterations *= 2


# spaCy


def spacy(train, dev, seconds, point):
    """Its default network for efficiency, as a tagger, or for chunks as its NER."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example, biluo_tags_to_spans, iob_to_biluo
    from spacy.util import minibatch

    nlp = spacy.blank("xx")
    chunks = any(tag.startswith("B-") for _, tags in train for tag in tags)
    pipe = nlp.add_pipe("ner" if chunks else "tagger")

    def annotated(words, tags):
        doc = Doc(nlp.vocab, words=words)
        if chunks:
            doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
        else:
            for token, tag in zip(doc, tags, strict=True):
                token.tag_ = tag
        return Example(Doc(nlp.vocab, words=words), doc)

    start = time.perf_counter()
    examples = [annotated(*sentence) for sentence in train]
    optimizer = nlp.initialize(lambda: examples)
    spent = time.perf_counter() - start
    draw = random.Random(1)
    while spent < seconds:
        start = time.perf_counter()
        draw.shuffle(examples)
        for batch in minibatch(examples, 32):
            nlp.update(batch, sgd=optimizer, drop=0.1)
        spent += time.perf_counter() - start
        docs = [pipe(Doc(nlp.vocab, words=words)) for words, _ in dev]
        point(spent, [[_tag(t) if chunks else t.tag_ for t in doc] for doc in docs])


def _tag(token):
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=["crfsuite", "spacy"])
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    args = parser.parse_args()

    def point(spent, tags):
        with args.out.open("a") as file:
            file.write(json.dumps({"seconds": spent, "tags": tags}) + "\n")

    run = {"crfsuite": crfsuite, "spacy": spacy}[args.system]
    run(read(args.train), read(args.dev), args.seconds, point)


if __name__ == "__main__":
    main()
