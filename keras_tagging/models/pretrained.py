"""Pretrained vectors, from where they are given until they are weights."""

from dataclasses import dataclass

import numpy as np

from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID
from keras_tagging.vectors import WordVectors, as_vectors


@dataclass(frozen=True)
class Pretrained:
    """The vectors that `build` was given; a model forgets them once it has its tables.

    Args:
        embeddings: what the word embeddings start as.
        vectors: a feature beside the words.
    """

    embeddings: WordVectors | None = None
    vectors: WordVectors | None = None

    @classmethod
    def read(cls, embeddings=None, vectors=None) -> "Pretrained":
        """From the names of files, `WordVectors` or gensim's `KeyedVectors`.

        This is the one place where a model opens a file of vectors. Only `build` calls
        it, with what its user gave: no saved model does.
        """
        sources = (None if x is None else as_vectors(x) for x in (embeddings, vectors))
        return cls(*sources)

    def __bool__(self):
        return self.embeddings is not None or self.vectors is not None


def described(source) -> str | None:
    """Vectors as a setting: their file, or how many an object held."""
    if source is None:
        return None
    words = getattr(source, "words", None)
    if words is None:
        words = getattr(getattr(source, "wv", source), "key_to_index", None)
    return str(source) if words is None else f"{len(words)} vectors given as an object"


def vector_table(vectors, size):
    """The embedding table of pretrained vectors: padding, unknown, the vectors.

    It is that of a feature beside the words: K18 section 2.2. A word without a vector
    has that of the file's unknown word, or where there is none, as in GoogleNews, the
    mean vector.

    Args:
        vectors: `WordVectors`.
        size: rows of the table.

    Returns:
        `(size, dim)` float32.
    """
    table = np.zeros((size, vectors.matrix.shape[1]), "float32")
    table[UNKNOWN_ID] = vectors.unknown()
    table[size - len(vectors.words) :] = vectors.matrix
    return table


def joined_words(features, words):
    """The words of training, then those of the vectors that are not among them.

    So a word unseen in training finds its vector. With `lookup="cascade"` words are
    found as they are written in the vectors; else by their normal form alone, and of
    several words with one such form the vector is that of the form itself, or there is
    none, of the first. That is also the vector of a training word that has none.

    Args:
        features: `TokenFeatures` that have counted the training words.
        words: those of the vectors, in NFC.

    Returns:
        The words of the table's rows, from `FIRST_ID` on, and by word the row of its
        vector.
    """
    trained = features.vocabularies["word"]
    rows = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)  # of two words that are one in NFC the first counts
    of_forms = {}
    for row, form in enumerate(features.normal_forms(words)):
        of_forms.setdefault(form, rows.get(form, row))
    if features.lookup == "cascade":
        wanted = {form: of_forms[form] for form in trained if form in of_forms}
        of_forms = wanted | rows
    return list(dict.fromkeys([*trained, *of_forms])), of_forms


def word_table(initial, words, rows, vectors):
    """The word table of a network, which starts as pretrained vectors.

    A word without a vector keeps its random row. The unknown word begins as in
    `vector_table`.

    Args:
        initial: `(FIRST_ID + words, dim)`, the random values.
        words, rows: what `joined_words` gives.
        vectors: `WordVectors`.

    Returns:
        An array like `initial`.
    """
    table = np.array(initial)
    table[UNKNOWN_ID] = vectors.unknown()
    pairs = [(i, rows[word]) for i, word in enumerate(words, FIRST_ID) if word in rows]
    if pairs:
        targets, sources = np.transpose(pairs)
        table[targets] = vectors.matrix[sources]
    return table
