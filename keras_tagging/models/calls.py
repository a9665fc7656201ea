"""What `evaluate` and `predict` take of the arguments that Keras gives them."""

from collections.abc import Iterator, Mapping

import keras
import numpy as np

from keras_tagging.encoding.batching import plan_batches
from keras_tagging.utils.checks import Positive, checked


class NetworkCalls:
    """In which batches the network is called, and the progress that is shown.

    Args:
        count: number of sentences.
        batch_size: sentences in a call; by default as many as fit the token budget.
        verbose: 1 shows a progress bar, 2 a line at the end; 0 and "auto" nothing.
        **others: arguments that make no sense for sentences.

    Raises:
        ValueError: for one of `others` that is not None, or a size or `verbose` that
            is not possible.
    """

    def __init__(self, count=0, batch_size=None, verbose="auto", **others):
        for name, value in others.items():
            if value is not None:
                raise ValueError(
                    f"{name} is not taken: all sentences are read at once, and their "
                    "annotation is part of them"
                )
        if verbose not in (0, 1, 2, "auto"):
            raise ValueError(f"verbose={verbose!r}: give 0, 1, 2 or 'auto'")
        self.batch_size = None
        if batch_size is not None:
            self.batch_size = checked("batch_size", batch_size, Positive, None)
        self.count = count
        self.bar = None
        if verbose in (1, 2):
            self.bar = keras.utils.Progbar(count, verbose=verbose, unit_name="sentence")

    def sizes(self, token_budget: int) -> dict[str, int]:
        """The keyword of `plan_batches` that holds."""
        if self.batch_size is None:
            return {"token_budget": token_budget}
        return {"batch_size": self.batch_size}

    def plan(self, lengths: np.ndarray, token_budget: int) -> Iterator[np.ndarray]:
        """As `plan_batches`; each batch is counted when the next one is asked for."""
        for chosen in plan_batches(lengths, **self.sizes(token_budget)):
            yield chosen
            if self.bar:
                self.bar.add(len(chosen))

    def end(self, figures: Mapping[str, float] | None = None) -> None:
        """Complete the bar: sentences without a token are in no batch."""
        if self.bar:
            values = list((figures or {}).items())
            self.bar.update(self.count, values=values, finalize=True)


QUIET = NetworkCalls()
