"""Text without annotation, from which a pupil learns what its teacher says of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Sentences that a teacher annotates as a pupil needs them.

    In each epoch the pupil learns from as many batches of them as of the training
    sentences, or from all if there are fewer; the next epoch goes on where the last one
    ended. Memory does not grow with the text::

        text = keras_tagging.Unlabelled(teacher, CorpusFiles(["news.txt"]))
        pupil.fit(corpus.train, soft_targets=targets, unlabelled=text)

    What the sentences have of the labels to learn is not read.

    Args:
        teacher: as in `SoftTargets.of`, which made the soft targets.
        sentences: sentences, or lists of words, which can be read again and again: a
            list, or `data.CorpusFiles`.
        watch: as in `SoftTargets.of`; it is called in each epoch.

    Raises:
        ValueError: if the sentences can be read only once.
    """

    teacher: object
    sentences: Iterable
    watch: Callable[[Sequence], Iterable] = iter

    def __post_init__(self):
        if iter(self.sentences) is self.sentences:
            raise ValueError(
                f"unlabelled sentences are read again in later epochs, and a "
                f"{type(self.sentences).__name__} can be read once: give a list, or "
                "CorpusFiles(paths)"
            )
