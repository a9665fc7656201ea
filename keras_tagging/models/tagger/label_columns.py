"""The columns of labels that a tagger learns from its training sentences."""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain

from keras_tagging.corpora.problems import refuse_one_label
from keras_tagging.data.named_columns import labels_of
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.label_columns import (
    LabelColumn,
    learns_scripts,
    scripts_of,
    vocabulary_of,
)
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.metrics import looks_like_chunks, nearest_scheme
from keras_tagging.metrics.chunks import warn_of_odd_names
from keras_tagging.models.labels import refuse_unknown, some

Names = Sequence[str | None]


def columns_to_learn(
    sentences: list[Sentence], names: Names, settings, keeping: Sequence[Callable] = ()
) -> tuple[LabelColumn, ...]:
    """The columns of labels of training sentences.

    Args:
        sentences: annotated in the columns.
        names: of the columns.
        settings: the `Settings` of a tagger. `constrained=True` concerns the columns
            with chunk tags, of which there must be one.
        keeping: for each column a function from its labels to those that the model is
            to have; by default the same.

    Raises:
        ValueError: if a column has no label, or a single one, or if there are no chunk
            tags to constrain.
    """
    least, constrained = settings.task.min_count, settings.get("constrained", False)
    counted_columns = []
    for i, name in enumerate(names):
        read = scripts_of if learns_scripts(name) else labels_of
        rows = [read(sentence, name) for sentence in sentences]
        counts = Counter(chain(*rows))
        labels = count_vocabulary(counts, least)
        if len(counts) < 2 or not labels:
            if name is None:
                refuse_one_label(sentences)
            has = f"the labels {some(counts)}" if counts else "no tokens"
            raise ValueError(
                f"nothing to learn in the column {name or 'tags'!r}: the training "
                f"sentences have {has} there (min_count={least}); leave it out of tags="
            )
        labels = keeping[i](labels) if keeping else labels
        counted_columns.append((name, rows, labels))
    some_chunks = any(looks_like_chunks(labels) for *_, labels in counted_columns)
    columns = []
    for name, rows, labels in counted_columns:
        is_free = constrained and some_chunks and not looks_like_chunks(labels)
        scheme = decoding_scheme(None if is_free else constrained, labels, rows)
        columns.append(LabelColumn(name, labels, scheme, learns_scripts(name)))
    return tuple(columns)


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
    named = ((name, vocabularies[vocabulary_of(name)]) for name in names)
    return tuple(
        LabelColumn.stored(name, list(labels), schemes.get(name))
        for name, labels in named
    )


def counted(sentences, column: LabelColumn) -> tuple[str, Counter]:
    """The name for the labels of a column, and their numbers."""
    kind = "tags" if column.name is None else f"labels in {column.name!r}"
    return kind, Counter(label for row in column.learnt(sentences) for label in row)


def check_known_labels(sentences, columns: Sequence[LabelColumn], least: int) -> None:
    """Refuse training labels if the model knows none; warn if it lacks some.

    A model that has been trained, or loaded, keeps its labels, and learns nothing from
    others.

    Args:
        sentences: of training.
        columns: of the model.
        least: rarer labels are left out on purpose, without a warning.

    Raises:
        ValueError: if there are labels, and the model knows none of them.
    """
    for column in columns:
        kind, labels = counted(sentences, column)
        refuse_unknown(kind, labels, column.ids, "training")
        missed = {k: n for k, n in labels.items() if k not in column.ids and n >= least}
        if missed:
            warnings.warn(
                f"{sum(missed.values()):,} of {labels.total():,} training tokens have "
                f"{kind} that this model does not know ({some(missed)}), and it learns "
                "nothing from them: build a new model to learn these",
                stacklevel=4,  # the line that calls fit
            )


def decoding_scheme(
    constrained: bool | None, tags: Collection[str], sentences: Sequence[Sequence[str]]
) -> str | None:
    """The chunk scheme that decoding follows, or None if it is free.

    Args:
        constrained: the setting: None to constrain chunk tags if they are consistent in
            all training sentences, True to constrain them in any case, False never.
        tags: the tag inventory.
        sentences: the tags of the training sentences.

    Raises:
        ValueError: if `constrained` is True and the tags are not those of chunks.
    """
    warn_of_odd_names(tags, 7)
    if constrained is False:
        return None
    if not looks_like_chunks(tags):
        if constrained:
            raise ValueError(f"constrained=True is for chunk tags, not {some(tags)}")
        return None
    scheme, inconsistent = nearest_scheme(sentences)
    if constrained or not inconsistent:
        return scheme
    warnings.warn(
        f"{inconsistent:,} of {len(sentences):,} training sentences have chunk tags "
        f"that break {scheme.upper()}, so decoding may break it too: give "
        "constrained=True to forbid that, constrained=False to allow it",
        stacklevel=7,  # the line that calls fit
    )
    return None
