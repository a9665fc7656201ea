"""Options of `train` for a model that learns from another one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.loading import load_model
from keras_tagging.cli.options import refuse
from keras_tagging.cli.progress import watched
from keras_tagging.data import CorpusFiles
from keras_tagging.kinds import Kind

WEIGHT, TEMPERATURE = 0.5, 1.0


@dataclass(frozen=True)
class Lessons:
    """The teacher of a model.

    Args:
        teacher: Learn from the probabilities of this model or ensemble too
            (distillation): the --out of train, a folder of an ensemble, a .keras file,
            or the name of an installed model.
        teacher_weight: The share of the teacher in the loss; the rest is of the gold
            annotation. By default 0.5.
        temperature: Above 1, what the teacher thinks of improbable labels counts more.
            By default 1.
        unlabelled: A file of sentences without annotation, which the teacher annotates:
            each epoch learns from as much of it as of the corpus. A sentence a line
            with blanks between its tokens, or any format of a corpus. Once or several
            times.
    """

    teacher: Annotated[Path | None, typer.Option(metavar="MODEL")] = None
    teacher_weight: Annotated[float | None, typer.Option(min=0, max=1)] = None
    temperature: float | None = None
    unlabelled: Annotated[list[str] | None, typer.Option(metavar="FILE")] = None

    def check(self, arch: str, kind: Kind) -> None:
        """Refuse options that do not go together, or that a kind of models lacks.

        Raises:
            ValueError: naming the option.
        """
        if self.teacher is None:
            own = {k: v for k, v in vars(self).items() if k != "teacher"}
            refuse("without --teacher there is no", own)
        elif "teacher" not in kind.options:
            raise ValueError(
                f"{arch} is a {kind.name}, and a {kind.name} has no --teacher"
            )
        CorpusFiles(self.unlabelled or ())  # raises if there is no such file
        if self.temperature is not None and not 0 < self.temperature < float("inf"):
            raise ValueError(
                f"--temperature {self.temperature:g}: give a number above 0"
            )

    def load(self, kind: Kind):
        """The `models.teachers.Teacher`, or None.

        Args:
            kind: that of the model that learns.

        Raises:
            ValueError: if there is no such model, or no such file of text.
        """
        if self.teacher is None:
            return None
        text = CorpusFiles(self.unlabelled) if self.unlabelled else None
        model = load_model(self.teacher, part=kind.name)
        from keras_tagging.models.distillation import Teacher, digest_of

        def watch(sentences):
            return watched(sentences, len(sentences))

        return Teacher(
            model,
            str(self.teacher),
            digest_of(self.teacher),
            WEIGHT if self.teacher_weight is None else self.teacher_weight,
            TEMPERATURE if self.temperature is None else self.temperature,
            watch,
            text,
        )
