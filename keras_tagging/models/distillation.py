"""Distillation: a model that learns from the probabilities of a trained one."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from keras import ops

from keras_tagging import kinds
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.sentence import Corpus, Sentence
from keras_tagging.encoding.mixed_batches import MixedBatches, TextPlan
from keras_tagging.models.files.run_folder import ENSEMBLE, MODEL, SOFT_TARGETS
from keras_tagging.models.labels import some
from keras_tagging.training.distillation import (
    MOVES,
    TOP_K,
    SoftTargets,
    Unlabelled,
    check_columns,
    teacher_labels,
)
from keras_tagging.training.objectives import soft_cross_entropy
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.stored import sha256_of


def digest_of(path: str | Path) -> str:
    """The SHA-256 of a model's file; of an ensemble that of the list of its files.

    Args:
        path: as `keras_tagging.load` takes it.

    Raises:
        OSError: if there is no such file.
    """
    path = find_model(path)
    if path.is_dir():
        path /= ENSEMBLE if not (path / MODEL).exists() else MODEL
    return sha256_of(path)


@dataclass(frozen=True)
class Teacher:
    """A trained model, or an ensemble, from which another one learns.

    Args:
        model: a tagger, a parser, or an ensemble.
        path: where it was, for messages and metadata.
        sha256: from `digest_of`.
        weight, temperature: `soft_weight` and `temperature` of `fit`.
        watch: as in `SoftTargets.of`.
        text: sentences without annotation, as in `Unlabelled`, or None.
    """

    model: object
    path: str
    sha256: str
    weight: float = 0.5
    temperature: float = 1.0
    watch: Callable[[Sequence], Iterable] = iter
    text: Iterable | None = None

    def check(self, student) -> list[str]:
        """Refuse a student that cannot learn from it, before anything is computed.

        Args:
            student: a model with vocabularies.

        Returns:
            Lines about labels that one of them lacks.

        Raises:
            ValueError: if the student learns from no soft targets, is of another kind,
                has a column that the teacher lacks, or none of its labels; and if text
                without annotation may have moves that a parser does not learn.
        """
        student.check_student()
        kind, teacher_kind = kinds.of(student).name, kinds.of(self.model).name
        if kind != teacher_kind:
            raise ValueError(
                f"{self.path} holds a {teacher_kind}, which cannot teach a {kind}: "
                f"give a {kind}, or an ensemble of them"
            )
        labels, of_teacher = teacher_labels(student), teacher_labels(self.model)
        check_columns(f"{self.path}, the teacher, has", of_teacher, labels)
        lines = []
        for name, of_student in labels.items():
            lines += self._differences(name or "tags", of_student, of_teacher[name])
        return lines

    def _differences(self, name: str, of_student, of_teacher) -> list[str]:
        """Lines about the labels of a column that one lacks."""
        shared = {*of_student} & {*of_teacher}
        missed = [label for label in of_student if label not in shared]
        if len(missed) == len(of_student):
            raise ValueError(
                f"{self.path} knows none of the labels to learn in {name!r} "
                f"({some(of_student)}): its own are {some(of_teacher)}; train the "
                "student on sentences with its labels, or choose another teacher"
            )
        more = [label for label in of_teacher if label not in shared]
        lines = []
        if missed:
            lines.append(
                f"The teacher lacks {len(missed):,} of {len(of_student):,} labels in "
                f"{name!r} ({some(missed)}), and gives them no probability"
            )
        if more and self.text is not None and name.startswith(MOVES):
            raise ValueError(
                f"{self.path} gives {len(more):,} moves that are not to be learnt "
                f"({some(more)}), and text without annotation may have them: leave "
                "that text out, or train on sentences with all deprels of the teacher"
            )
        if more:
            lines.append(
                f"{len(more):,} labels of the teacher in {name!r} are none of the "
                f"student's ({some(more)}): their probability goes to the others"
            )
        return lines

    def fit_arguments(
        self, sentences: Sequence[Sentence], out: Path
    ) -> dict[str, object]:
        """Keywords of the student's `fit`.

        What the teacher says is computed once, and kept in the folder of the run, where
        a resumed run finds it.

        Args:
            sentences: the training sentences.
            out: the folder.

        Raises:
            ValueError: if the file in the folder is damaged; the message has the
                remedy.
        """
        # with every column that the teacher may read
        fingerprint = Corpus(sentences).fingerprint(self.model.input_columns)
        key = hashlib.sha256(
            f"{self.sha256} {fingerprint} {TOP_K}".encode()
        ).hexdigest()
        path = out / SOFT_TARGETS.replace("*", key[:16])
        if not path.exists():
            SoftTargets.of(self.model, sentences, watch=self.watch).save(path)
        text = None
        if self.text is not None:
            text = Unlabelled(self.model, self.text, self.watch)
        try:
            targets = SoftTargets.load(path)
        except ValueError as error:
            raise ValueError(f"{error}; remove the file for that") from error
        return {
            "soft_targets": targets,
            "soft_weight": self.weight,
            "temperature": self.temperature,
            "unlabelled": text,
        }

    @cached_property
    def about(self) -> dict[str, object]:
        """The teacher in the metadata of its student."""
        about = {
            "path": self.path,
            "sha256": self.sha256,
            "model": self.name,
            "weight": self.weight,
            "temperature": self.temperature,
        }
        return about if self.text is None else about | {"unlabelled": repr(self.text)}

    @property
    def name(self) -> str:
        """Its architecture, or those of its members."""
        members = getattr(self.model, "members", None)
        if members is None:
            return self.model.architecture
        return f"ensemble of {', '.join(model.architecture for model in members)}"

    def __str__(self) -> str:
        beside = "" if self.text is None else ", also on text without annotation"
        return (
            f"Learns from {self.path} ({self.name}), with the weight {self.weight:g} "
            f"and the temperature {self.temperature:g}{beside}"
        )


# The batches of text that a teacher annotates


def check_unlabelled(text: Unlabelled, distillation) -> None:
    """Raise a ValueError if a text has no soft targets beside it, or another teacher's.

    Args:
        text: the `Unlabelled`.
        distillation: the `Distillation` of the training sentences, or None.
    """
    if distillation is None:
        raise ValueError(
            "unlabelled text is learnt as a teacher annotates it: give soft_targets= "
            "too, those of the teacher for the training sentences"
        )
    if teacher_labels(text.teacher) != dict(distillation.targets.labels):
        raise ValueError(
            "the teacher of the unlabelled text has other labels than the soft "
            "targets: give the one that made them"
        )


def with_unlabelled(model, batches, distillation, text) -> MixedBatches:
    """The batches of a call of `fit`, and after each one some of a text.

    Args:
        model: the student, which has its network.
        batches: its batches with soft targets.
        distillation: the `Distillation` of these.
        text: the `Unlabelled`.

    Raises:
        ValueError: if the text has no token.
    """
    top_k = max(ids.shape[1] for ids in distillation.targets.ids.values())

    def distilled(sentences):
        options = {"top_k": top_k, "watch": text.watch}
        targets = SoftTargets.of(text.teacher, sentences, **options)
        return replace(distillation, targets=targets)

    def annotated(sentences):
        return model.unlabelled_batches(sentences, text.teacher, distilled, batches)

    sizes = {"sizes": batches.sizes, "multiple": batches.multiple}
    plan = TextPlan(text.sentences, len(batches), **sizes, seed=batches.seed)
    return MixedBatches(batches, plan, annotated)


def without(sentence: Sentence, names) -> Sentence:
    """A sentence without what it has of some columns of labels.

    Args:
        sentence: the sentence.
        names: of the columns; None and "tags" for its tags.
    """
    fields = {x for name in names if name for x in (name, field_of(name))}
    columns = {k: v for k, v in sentence.columns.items() if k not in fields}
    return replace(sentence, tags=None, columns=columns)


# The loss of a batch


def joined(model, gold, soft):
    """The loss of gold targets and that of soft ones, by the share of the latter.

    See `training.soft_cross_entropy`.

    Args:
        model: its `soft_share` has the share and the temperature.
        gold, soft: mean losses of the targets.
    """
    share, temperature = model.soft_share
    return (1 - share) * gold + share * temperature**2 * soft


def without_share(model, y):
    """The targets; the gold ones alone if the share of the others is 0.

    So training is then what it is without a teacher, to the last bit.
    """
    return y["gold"] if isinstance(y, dict) and not model.soft_share[0] else y


def mean_soft(ids, probabilities, logits, sample_weight, temperature):
    """The mean of `training.soft_cross_entropy` over what counts, a scalar.

    Args:
        ids, probabilities, logits, temperature: as there.
        sample_weight: `(batch, time)`, 0 in the padding.
    """
    losses = soft_cross_entropy(ids, probabilities, logits, temperature)
    total = ops.sum(losses * sample_weight)
    return total / ops.maximum(ops.sum(sample_weight), 1)


def measured_targets(y):
    """The label ids that the figures of training are measured with.

    With soft targets, the teacher's best label stands for a gold label that is missing.
    """
    if not isinstance(y, dict):
        return y
    gold = y["gold"]
    best = ops.where(y["probabilities"][..., 0] > 0, y["ids"][..., 0], -1)
    best = ops.cast(best if len(gold.shape) == 3 else best[..., 0], gold.dtype)
    return ops.where(gold >= 0, gold, best)
