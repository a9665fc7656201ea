"""The vectors that a model is given, before they become weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, grouped
from keras_tagging.vectors import WordVectors, as_vectors, read_word_classes


@dataclass(frozen=True)
class GivenVectors:
    """The vectors passed to `build`; a model drops them once it has its tables.

    Args:
        embeddings: initial vectors of the word embeddings.
        vectors: vectors that are a feature beside the words.
        classes: of words, as `encoding.vocabulary` groups them.
    """

    embeddings: WordVectors | None = None
    vectors: WordVectors | None = None
    classes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls, embeddings=None, vectors=None, word_classes=None, class_prefixes=()
    ) -> "GivenVectors":
        """Read vectors and word classes: from files, by name, or from objects.

        This is the only place that opens a file of vectors for a model. Only `build`
        calls it, with its user's arguments; loading a saved model does not.
        """
        sources = (None if x is None else as_vectors(x) for x in (embeddings, vectors))
        classes = ()
        if word_classes is not None:
            classes = grouped(read_word_classes(word_classes, bool(class_prefixes)))
        return cls(*sources, tuple(classes))

    @cached_property
    def table(self):
        """The `vector_table` of `vectors`; no words and None without."""
        return vector_table(self.vectors) if self.vectors else ((), None)

    def __bool__(self):
        vectors = self.embeddings, self.vectors
        return any(x is not None for x in vectors) or bool(self.classes)


def described(source) -> str | None:
    """Vectors as a setting: the name of their file, or the number in an object."""
    if source is None:
        return None
    if isinstance(source, Mapping):
        return f"{len(source)} word classes given as an object"
    words = getattr(source, "words", None)
    if words is None:
        words = getattr(getattr(source, "wv", source), "key_to_index", None)
    return str(source) if words is None else f"{len(words)} vectors given as an object"


def vector_table(vectors):
    """The vocabulary and the embedding table of pretrained vectors.

    The table is for a feature beside the words: K18 section 2.2. A word without a
    vector gets the one of the file's unknown word, or the mean vector if the file has
    none, as GoogleNews. Words with the same vector share its row.

    Args:
        vectors: `WordVectors`.

    Returns:
        For each row the words that have it, with tabs between them; and `(rows, dim)`
        float32: padding, unknown, the vectors.
    """
    rows: dict[bytes, list[int]] = {}
    for place, row in enumerate(vectors.matrix):
        rows.setdefault(row.tobytes(), []).append(place)
    first = np.stack([np.zeros_like(vectors.matrix[0]), vectors.unknown()])
    kept = vectors.matrix[[places[0] for places in rows.values()]]
    words = [*map(to_nfc, vectors.words)]
    entries = ["\t".join(words[i] for i in places) for places in rows.values()]
    return entries, np.concatenate([first, kept])


def joined_words(features, words):
    """The words of training, followed by the other words of the vectors.

    So a word unseen in training has its vector. With `lookup="cascade"`, words are
    looked up as they are written in the vectors. Otherwise they are looked up by normal
    form: if several words have one normal form, the vector is that of the form itself
    if it has one, else that of the first word. A training word without a vector of its
    own gets this vector too.

    Args:
        features: `TokenFeatures` that have counted the training words.
        words: the words of the vectors, in NFC.

    Returns:
        The words of the table's rows, from `FIRST_ID` on, and the row of the vector of
        each word that has one.
    """
    trained = features.vocabularies["word"]
    rows = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)  # if two words have the same NFC, the first counts
    of_forms = {}
    for row, form in enumerate(features.normal_forms(words)):
        of_forms.setdefault(form, rows.get(form, row))
    if features.lookup == "cascade":
        wanted = {form: of_forms[form] for form in trained if form in of_forms}
        of_forms = wanted | rows
    return list(dict.fromkeys([*trained, *of_forms])), of_forms


def word_table(initial, words, rows, vectors):
    """The word table of a network, initialised with pretrained vectors.

    A word without a vector keeps its random row. The unknown word starts as in
    `vector_table`.

    Args:
        initial: `(FIRST_ID + words, dim)`, the random values.
        words, rows: the output of `joined_words`.
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
