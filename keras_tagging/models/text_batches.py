"""Batches of text that a teacher annotates, beside those of the training sentences."""

from copy import copy
from dataclasses import replace

from keras_tagging.data.named_columns import field_of
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.mixed_batches import MixedBatches, TextPlan
from keras_tagging.training import SoftTargets
from keras_tagging.training.soft_targets import labels_of


def check_text(text, teaching) -> None:
    """Raise a ValueError if an `Unlabelled` text has another teacher.

    Args:
        text: the `Unlabelled`.
        teaching: the `Teaching` of the training sentences.
    """
    if labels_of(text.teacher) != dict(teaching.targets.labels):
        raise ValueError(
            "the teacher of the unlabelled text has other labels than the soft "
            "targets: give the one that made them"
        )


def with_text(model, batches, teaching, text) -> MixedBatches:
    """The batches of a call of `fit`, and after each one some of a text.

    Args:
        model: the pupil, which has its network.
        batches: its batches with soft targets.
        teaching: the `Teaching` of these.
        text: the `Unlabelled`.

    Raises:
        ValueError: if the text has no token.
    """
    top_k = max(ids.shape[1] for ids in teaching.targets.ids.values())

    def lesson(sentences):
        options = {"top_k": top_k, "watch": text.watch}
        targets = SoftTargets.of(text.teacher, sentences, **options)
        return replace(teaching, targets=targets)

    def teach(sentences):
        return model.text_batches(sentences, text.teacher, lesson, batches)

    sizes = {"sizes": batches.sizes, "multiple": batches.multiple}
    plan = TextPlan(text.sentences, len(batches), **sizes, seed=batches.seed)
    return MixedBatches(batches, plan, teach)


def tagged_text(tagger, sentences, lesson, like):
    """The batches of sentences of a text, with what a teacher says of their labels.

    Args:
        tagger: the pupil.
        sentences: what they have of its labels is not read.
        lesson: function from sentences to their `Teaching`.
        like: the batches of the training sentences.
    """
    names, columns = tagger.column_names, tagger.label_columns
    bare = [without(sentence, names) for sentence in sentences]
    teaching = lesson(bare)
    encoded = tagger.encode(teaching.labelled(bare, names), targets=True)
    taught = copy(like)  # with its sizes, and what they are rounded to
    taught.sentences = teaching.encoded(encoded, bare, columns)
    return taught


def without(sentence: Sentence, names) -> Sentence:
    """A sentence without what it has of some columns of labels.

    Args:
        sentence: the sentence.
        names: of the columns; None and "tags" for its tags.
    """
    fields = {x for name in names if name for x in (name, field_of(name))}
    columns = {k: v for k, v in sentence.columns.items() if k not in fields}
    return replace(sentence, tags=None, columns=columns)
