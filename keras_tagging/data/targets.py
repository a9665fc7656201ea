"""Sentences and their labels given apart, as Keras' `x` and `y`."""

from collections.abc import Mapping

from keras_tagging.data.named_columns import field_of, with_labels
from keras_tagging.data.sentence import as_sentences, check_several


def with_targets(x, y, names):
    """The sentences with what is to be learnt, given apart as in Keras.

    Args:
        x: sentences, or lists of words.
        y: lists of tags; a dict of such lists by the names of columns; or None if the
            sentences have them.
        names: the columns of labels of the model.

    Raises:
        ValueError: for a `tf.data.Dataset`, or targets that do not fit the sentences.
    """
    if hasattr(x, "element_spec"):
        raise ValueError(
            "a tf.data.Dataset cannot be read: vocabularies and batches by length need "
            "all words as Python strings at once; give lists, fit(tokens, tags)"
        )
    if y is None:
        return x
    if not isinstance(y, Mapping):
        if tuple(names) != (None,):
            wanted = ", ".join(f"{name!r}: [...]" for name in names)
            raise ValueError(
                "y is one list, but the model learns columns: give "
                + (f"y={{{wanted}}}, or " if wanted else "")
                + "the annotation in the sentences, Sentence(tokens, columns=...)"
            )
        y = {"tags": y}
    sentences = as_sentences(x)
    rows = {}
    for name, given in y.items():
        check_several(given)
        rows[name] = given = list(given)
        if len(given) != len(sentences):
            raise ValueError(
                f"{len(sentences):,} sentences, but {len(given):,} of {name} in y: "
                "give a list for each sentence"
            )
    found = []
    for i, sentence in enumerate(sentences):
        own = {name: _strings(given[i], name, i) for name, given in rows.items()}
        try:
            found.append(with_labels(sentence, own))
        except ValueError as error:
            raise ValueError(f"sentence {i + 1}: {error}") from None
    return found


def _strings(row, name, i) -> list[str]:
    if isinstance(row, str | Mapping) or not hasattr(row, "__iter__"):
        raise ValueError(
            f"{name} of sentence {i + 1} in y are {row!r:.60}: give a list of strings, "
            "one a token"
        )
    return [str(label) if field_of(name) == "head" else label for label in row]
