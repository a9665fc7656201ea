"""The columns of labels that a tagger learns from its training sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence

from keras_tagging.data.named_columns import labels_of
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.label_columns import (
    LabelColumn,
    learns_scripts,
    scripts_of,
    vocabulary_of,
)
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.metrics import looks_like_chunks
from keras_tagging.models.known_labels import (
    check_labels,
    refuse_unknown,
    some,
    tags_to_learn,
)
from keras_tagging.models.tagger.constraint import decoding_scheme

Names = Sequence[str | None]


def inventories(sentences: list[Sentence], names: Names, least: int):
    """The labels of each column, by frequency.

    Args:
        sentences: training sentences, annotated in the columns.
        names: of the columns.
        least: the number of occurrences that a label needs.

    Raises:
        ValueError: if a column has no label, or a single one.
    """
    if names[0] is None:
        return [tags_to_learn(sentences, least)]
    found = []
    for name in names:
        counts = Counter(x for s in sentences for x in _to_learn(s, name))
        labels = count_vocabulary(counts, least)
        if len(counts) < 2 or not labels:
            has = f"the labels {some(counts)}" if counts else "no tokens"
            raise ValueError(
                f"nothing to learn in the column {name!r}: the training sentences have "
                f"{has} there (min_count={least}); leave it out of tags="
            )
        found.append(labels)
    return found


def columns_to_learn(
    sentences: list[Sentence], settings, known=None
) -> tuple[LabelColumn, ...]:
    """The columns of labels of training sentences.

    Args:
        sentences: annotated in the columns.
        settings: the `Settings` of a tagger. `constrained=True` concerns the columns
            with chunk tags, of which there must be one.
        known: function from the inventories to those that the model is to have; None
            for the same.

    Raises:
        ValueError: as in `inventories`, or if there are no chunk tags to constrain.
    """
    names, constrained = settings.task.columns, settings.get("constrained", False)
    labels = inventories(sentences, names, settings.task.min_count)
    labels = known(labels) if known else labels
    if constrained and any(map(looks_like_chunks, labels)):
        wanted = [constrained if looks_like_chunks(row) else None for row in labels]
    else:
        wanted = [constrained] * len(names)
    columns = []
    for name, row, constraint in zip(names, labels, wanted, strict=True):
        rows = [_to_learn(sentence, name) for sentence in sentences]
        scheme = decoding_scheme(constraint, row, rows)
        columns.append(LabelColumn(name, row, scheme, learns_scripts(name)))
    return tuple(columns)


def _to_learn(sentence: Sentence, name: str | None) -> list[str]:
    return (scripts_of if learns_scripts(name) else labels_of)(sentence, name)


def schemes_of(columns: Sequence[LabelColumn]):
    """The chunk schemes of columns for `restored_columns`, as they are saved."""
    if columns and columns[0].name is None:
        return columns[0].scheme
    return {c.name: c.scheme for c in columns if c.scheme is not None} or None


def restored_columns(
    names: Names, vocabularies: Mapping[str, Sequence[str]], schemes
) -> tuple[LabelColumn, ...]:
    """The columns of a model, from what is saved of it.

    Args:
        names: of the columns.
        vocabularies: of the model.
        schemes: the scheme of the column without a name, or None; else schemes by name,
            which may lack some.
    """
    if not isinstance(schemes, Mapping):
        schemes = {} if schemes is None else {None: schemes}
    if set(schemes) - set(names):
        raise ValueError(f"chunk schemes of {some(schemes)}, which are no columns")
    found = ((name, vocabularies[vocabulary_of(name)]) for name in names)
    return tuple(
        LabelColumn.stored(name, list(labels), schemes.get(name))
        for name, labels in found
    )


def check_known_labels(sentences, columns: Sequence[LabelColumn], least: int) -> None:
    """Refuse, or warn of, labels that a trained model does not know."""
    for column in columns:
        check_labels(*_counted(sentences, column), column.ids, least)


def check_development(sentences, columns: Sequence[LabelColumn]) -> None:
    """Refuse development sentences of whose labels in a column none is known."""
    for column in columns:
        refuse_unknown(*_counted(sentences, column), column.ids, "development")


def _counted(sentences, column: LabelColumn) -> tuple[str, Counter]:
    """The name for the labels of a column, and their numbers."""
    kind = "tags" if column.name is None else f"labels in {column.name!r}"
    return kind, Counter(label for row in column.learnt(sentences) for label in row)
