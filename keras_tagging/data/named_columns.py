"""Columns of labels by name: where they stand in a sentence, and what they are called.

A column without a name, None, is `Sentence.tags`, and so is the name "tags". Any other
name is one of `Sentence.columns`; "upos" is CoNLL-U's name for `pos`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from keras_tagging.data.sentence import (
    ALIASES,
    Sentence,
    as_sentences,
    beginning,
    strings_of,
)

# where CoNLL-U has `_` in the whole sentence, it is not annotated
ANNOTATED = ("pos", "xpos", "lemma", "deprel")
NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")
RESERVED = ("tokens", "lengths")  # what exported models take
#: the figures of a column, and those of all columns together
FIGURES = ("loss", "accuracy", "oov_accuracy", "sentence_accuracy")
CHUNK_FIGURES = ("precision", "recall", "f1")
TOGETHER = ("loss", "accuracy", "joint_accuracy")


def field_of(name: str) -> str:
    """The name of a column in `Sentence.columns`."""
    return ALIASES.get(name, name)


def parts_of_speech(sentence: Sentence, unknown: str) -> list[str]:
    """Those of its treebank if there are any, else universal ones, else `unknown`."""
    for name in ("xpos", "pos"):
        tags = sentence.columns.get(name, [])
        if {*tags} - {"_", ""}:  # CoNLL-U always has an XPOS, if only "_"
            return tags
    return [unknown] * len(sentence)


def labels_of(sentence: Sentence, name: str | None) -> list[str] | None:
    """The labels of a sentence in a column; None if it is not annotated there."""
    if name is None:
        return sentence.tags
    if not sentence.tokens:
        return []
    if name == "tags":
        return sentence.tags
    labels = sentence.columns.get(name)
    if field_of(name) in ANNOTATED and labels and set(labels) == {"_"}:
        return None
    return labels


def with_labels(
    sentence: Sentence,
    labels: Mapping[str, list[str]],
    probabilities: Mapping[str, list[float]] | None = None,
) -> Sentence:
    """A sentence with other labels in these columns.

    Its tags change with a column that they are the same as, such as UPOS of CoNLL-U.

    Args:
        sentence: whose other columns stay.
        labels: by the name of the column.
        probabilities: those of these labels, by the same names; None if they are not
            known. Those of the labels that were there before do not stay.
    """
    columns, tags = dict(sentence.columns), labels.get("tags", sentence.tags)
    kept = {field_of(name): row for name, row in (probabilities or {}).items()}
    if sentence.probabilities:
        gone = {"tags", *map(field_of, labels)}
        kept = {k: v for k, v in sentence.probabilities.items() if k not in gone} | kept
    for name in labels:  # in their order, which formats keep
        if name == "tags":
            continue
        place = name if name in columns else field_of(name)
        if tags is sentence.tags is not None and tags == columns.get(place):
            tags = labels[name]
        columns[place] = labels[name]
    return replace(sentence, tags=tags, columns=columns, probabilities=kept)


def check_labelled(
    sentences: Sequence[Sentence],
    names: Iterable[str | None],
    remedy: str = "give annotated sentences, or name other columns in tags=",
) -> None:
    """Raise a ValueError if a sentence is not annotated in one of the columns."""
    for number, sentence in enumerate(sentences, 1):
        for name in names:
            if labels_of(sentence, name) is None:
                columns = ["tags"] * (sentence.tags is not None) + [*sentence.columns]
                missing = "tags" if name is None else f"labels in the column {name!r}"
                what = f"sentence {number} has no {missing} (it begins "
                what += f"{beginning(sentence)}; its columns are "
                raise ValueError(f"{what}{', '.join(columns) or 'none'}): {remedy}")


def annotated(sentences, names: Sequence[str | None] = (None,)) -> list[Sentence]:
    """The sentences, after a check that they are annotated in these columns.

    Raises:
        ValueError: if a sentence is not; the message has its number.
    """
    sentences = as_sentences(sentences)
    check_labelled(sentences, names)
    return sentences


def check_names(names: Sequence[str]) -> None:
    """Raise a ValueError if these names cannot be the columns of one model."""
    for name in names:
        if not NAME.fullmatch(name) or name in RESERVED:
            what = "is reserved, or not a letter and up to 39 letters, digits and _"
            raise ValueError(f"tags: {name[:60]!r} {what}")
    if len({*map(field_of, names)}) < len(names):
        raise ValueError(f"tags: {', '.join(names)} name a column twice")


def output_names(name: str | None) -> dict[str, str]:
    """The names of the outputs of an exported model, by what they hold.

    Those of a column `upos` are `upos`, `upos_probabilities`, `top_upos`,
    `top_upos_probabilities`, and in ONNX `all_upos_probabilities`.
    """
    bases = ("tags", "probabilities", "top_tags", "top_probabilities")
    bases += ("all_probabilities",)
    if name is None:
        return {base: base for base in bases}
    named = (name, f"{name}_probabilities", f"top_{name}", f"top_{name}_probabilities")
    return dict(zip(bases, (*named, f"all_{name}_probabilities"), strict=True))


def by_column(names: Sequence[str | None], items: Sequence):
    """The item of a column without a name; else a dict of the items by name."""
    no_name = [*names] == [None]
    return items[0] if no_name else dict(zip(names, items, strict=True))


def with_targets(x, y, names):
    """The sentences with what is to be learnt, given apart as in Keras.

    Args:
        x: sentences, or lists of words.
        y: lists of tags; a dict of such lists by the names of columns; or None if the
            sentences have them.
        names: the columns of labels of the model.

    Raises:
        ValueError: for targets that do not fit the sentences.
    """
    if y is None:
        return x
    if not isinstance(y, Mapping):
        if tuple(names) != (None,):
            raise ValueError("y is one list: the model learns y={NAME: [...]}")
        y = {"tags": y}
    labelled, rows = [], zip(as_sentences(x), *y.values(), strict=True)
    for number, (sentence, *values) in enumerate(rows, 1):
        labels = {
            name: [*map(str, row)] if field_of(name) == "head" else strings_of(row)
            for name, row in zip(y, values, strict=True)
        }
        try:
            labelled.append(with_labels(sentence, labels))
        except ValueError as error:
            raise ValueError(f"sentence {number}: {error}") from None
    return labelled
