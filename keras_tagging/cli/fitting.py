"""Options of train: the corpus, and how a model is fitted to it."""

from collections.abc import Iterable
from dataclasses import dataclass

from keras_tagging.cli.loading import Reading
from keras_tagging.cli.options import CorpusPath, Count, Dev, Epochs, Test
from keras_tagging.corpora.entities import add_entities
from keras_tagging.corpora.loading import hold_out

SINGLE = "train pipeline trains several models, and has no"


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted, and what becomes of an earlier run.

    Args:
        seed: For weights, dropout and order.
        patience: Stop after this many epochs without improvement.
        monitor: The figure that selects the best epoch: val_accuracy, ...
        resume: Continue the run that was stopped in DIR.
        tensorboard: Write events to DIR/tensorboard.
        force: Replace the finished model in DIR.
        devices: Devices that share each batch, those of all machines together; needs
            JAX (KERAS_BACKEND=jax).
    """

    epochs: Epochs = None
    seed: int = 0
    patience: Count = None
    monitor: str | None = None
    resume: bool = True
    tensorboard: bool = False
    force: bool = False
    devices: Count = None

    @property
    def limits(self) -> dict:
        """Arguments of `fit` that a pipeline has too."""
        return {"epochs": self.epochs, "patience": self.patience}


@dataclass(frozen=True)
class Data:
    """The corpus of a training.

    Args:
        dev_share: Share of the training sentences to use for development.
    """

    corpus: CorpusPath
    dev: Dev = None
    test: Test = None
    reading: Reading = Reading()
    dev_share: float | None = None

    def load(self, seed: int, entities: str | None = None, **wanted):
        """The corpus, whose development sentences are held out if that is asked for.

        Args:
            seed: of the share that is held out.
            entities: a corpus with those of its sentences.
            wanted: as in `Reading.corpus`.
        """
        data = self.reading.corpus(self.corpus, dev=self.dev, test=self.test, **wanted)
        if entities is not None:
            add_entities(data, entities)
        if self.dev_share is not None:
            hold_out(data, self.dev_share, seed)
        return data

    def unseen(self, data) -> str | None:
        """The corpus that a model has not seen, for `evaluate --corpus`."""
        if self.test or data.test:
            return self.test or self.corpus
        if data.dev and self.dev_share is None:
            return self.dev or f"{self.corpus} --split dev"
        return None


def told(words, known: Iterable[str], trains: str | None = None) -> str:
    """The line that says which installed words are taken.

    Args:
        words: the `LanguageWords`.
        known, trains: as in `LanguageWords.told`.
    """
    line = words.told(known, "--set language= turns them off", trains)
    return line[0].upper() + line[1:]
