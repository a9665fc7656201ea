"""The road from sentences to what a model predicts for their tokens, and back.

Keras models and ONNX files share it, in three steps. Each engine predicts arrays, under
the names that the outputs of an ONNX file have (`predict_arrays`); the class of a kind
knows how to make something of them for a sentence (`decode`); and `annotate` gives the
sentences with it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, overload

import numpy as np

from keras_tagging.data.sentence import (
    Listed,
    Sentence,
    Sentences,
    as_sentence,
    as_sentences,
    check_several,
)
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds import Output, of
from keras_tagging.utils.checks import check_known

Chunks = Iterable[list[Sentence]]


class Predictor:
    """Base of models that predict something for each token of a sentence.

    The class for a kind defines `outputs`, `decoding`, `gives`, and perhaps
    `empty_output` and `decode_row`. A model of Keras or ONNX Runtime defines
    `predict_arrays`.

    Attributes:
        kind: the name of its `Kind`.
        inventory: the list of strings that its ONNX file has of it, and the attribute
            that it is; None without one.
    """

    kind = None
    inventory: str | None = None
    #: the columns of sentences that `annotate` fills
    gives: tuple[str, ...] = ()
    gives_spans = False
    #: whether `decoding` takes `probabilities=True`, and gives those of its columns
    gives_probabilities = False
    #: the remedy for a column that the input lacks
    missing_column = "name it by --option 'columns={{\"{name}\": 1}}'"
    #: that are read as straight ones: see `data.normalisation.straightened`
    marks = ""

    @classmethod
    def outputs(cls, about: Mapping) -> dict[str, Output]:
        """The outputs of an ONNX file by name.

        Args:
            about: what the file says of itself; its lists have been checked.
        """
        raise NotImplementedError

    def output_names(self) -> list[str]:
        """The outputs that it can predict."""
        raise NotImplementedError

    def predict_arrays(self, chunks: Chunks, names: list[str], *calls) -> Iterator:
        """Each slice of sentences with its outputs, of Keras or of ONNX Runtime.

        These are pairs of the number of a sentence that has tokens, and its arrays.
        """
        raise NotImplementedError

    def decoding(self) -> tuple[list[str], Callable[..., Sentence]]:
        """The outputs that `annotate` needs, and the function from them to a sentence.

        The function takes a sentence and a dict of its outputs.
        """
        raise NotImplementedError

    def empty_output(self, name: str) -> np.ndarray:
        """An output for a sentence without tokens."""
        return np.zeros(0, object)

    def row_outputs(self, names: list[str]) -> list[str]:
        """Further outputs that `decode_row` needs for these."""
        return []

    def decode_row(
        self, sentence: Sentence, names: list[str], outputs: dict[str, np.ndarray]
    ) -> dict[str, list]:
        """The outputs of these names for one sentence, as the service gives them."""
        return {name: outputs[name].tolist() for name in names}

    def _require_network(self) -> None:
        """Refuse to predict with a model that is not ready."""

    @property
    def command(self) -> str:
        """The command of `keras-tagging` that uses it."""
        return of(self).command

    @overload
    def annotate(
        self, sentences: Listed, *, probabilities: bool = ...
    ) -> list[Sentence]: ...
    @overload
    def annotate(
        self, sentences: Sentences, *, probabilities: bool = ...
    ) -> Iterator[Sentence]: ...
    def annotate(self, sentences: Sentences, *, probabilities: bool = False):
        """The sentences with what the model finds.

        Args:
            sentences: sentences, or lists of words; a list or tuple gives a list, any
                other iterable a generator.
            probabilities: whether they have `Sentence.probabilities` of its labels.

        Raises:
            ValueError: for a string, and for probabilities of a model that gives none.
        """
        if not probabilities:
            return self.decode(sentences, *self.decoding())
        if not self.gives_probabilities:
            raise ValueError(no_probabilities(f"a {self.kind} gives"))
        return self.decode(sentences, *self.decoding(probabilities=True))

    def predict_rows(self, sentences: Sentences, names) -> list[dict[str, list[Any]]]:
        """Outputs for sentences, as an exported file names them, for JSON.

        Args:
            sentences: sentences, or lists of words.
            names: of outputs.

        Returns:
            A dict a sentence: under each name a list with an item a token.

        Raises:
            ValueError: for an unknown name.
        """
        names, possible = list(dict.fromkeys(names)), self.output_names()
        for name in names:
            check_known("output", name, possible)
        needed = [*dict.fromkeys([*names, *self.row_outputs(names)])]

        def row(sentence, outputs):
            return self.decode_row(sentence, names, outputs)

        return self.decode(as_sentences(sentences), needed, row)

    def decode(
        self, sentences, names: list[str], item: Callable, entries: int = 1, *calls
    ):
        """The results of a function for each sentence, a slice at a time.

        Args:
            sentences: sentences, or lists of words.
            names: of the outputs that the function needs.
            item: function from a sentence and its outputs, a dict of arrays.
            entries: as in `encoding.batching.slices`.
            *calls: for a model with Keras its `NetworkCalls`.

        Returns:
            A list for a list or tuple; for any other iterable a generator, which reads
            at most `PREDICTION_SENTENCES` ahead.

        Raises:
            ValueError: at once, for a string, a mapping, or a model not
                ready.
        """
        self._require_network()
        check_several(sentences)  # at once, not in a generator
        whole = isinstance(sentences, (list, tuple))
        chunks = slices(map(as_sentence, sentences), entries, growing=not whole)

        def items():
            empty = {name: self.empty_output(name) for name in names}
            for chunk, predicted in self.predict_arrays(chunks, names, *calls):
                made = [None if len(s) else item(s, empty) for s in chunk]
                for i, arrays in predicted:
                    made[i] = item(chunk[i], dict(zip(names, arrays, strict=True)))
                yield from made

        return list(items()) if whole else items()


def no_probabilities(who: str) -> str:
    """The message that a model without probabilities of words is asked for them."""
    return (
        f"{who} no probabilities of words (the scores of a parser's moves are none of "
        "arcs): leave them out, or have a tagger or a biaffine-parser"
    )
