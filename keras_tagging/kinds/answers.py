"""The road from sentences to what a model answers for their tokens, and back.

Keras models and ONNX files share it: each gives arrays under the names that the outputs
of its ONNX file have, and a class for each kind says what these are in a sentence.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from keras_tagging.data.sentence import (
    Sentence,
    as_sentence,
    as_sentences,
    check_several,
)
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds.kind import Output, of
from keras_tagging.utils.suggestions import check_known

Chunks = Iterable[list[Sentence]]
#: by which models of one kind or another find something
METHODS = ("tag", "parse", "derive", "segment")


def lacking(model, name: str) -> AttributeError:
    """The error for one of `METHODS` that a model does not have."""
    kind = of(model)
    own = kind.command
    if kind.reads == "text" and not kind.composed:
        own = "segment"
    elif own != "annotate":
        own += " or annotate"
    return AttributeError(f"a {model.kind} has no {name}: call {own}")


class Answers:
    """Base of models that answer for each token of a sentence.

    The class for a kind defines `outputs`, `annotation`, `gives`, and perhaps `nothing`
    and `row`. A model of Keras or ONNX Runtime defines `answered`.

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
    #: whether `annotation` takes `probabilities=True`, and gives those of its columns
    gives_probabilities = False
    #: that are read as straight ones: see `data.normalisation.straightened`
    marks = ""

    def __getattr__(self, name):
        if name in METHODS:
            raise lacking(self, name)
        # torch's modules have one, behind this class
        if hasattr(super(), "__getattr__"):
            return super().__getattr__(name)
        return super().__getattribute__(name)  # raises what it would have raised

    @classmethod
    def outputs(cls, about: Mapping) -> dict[str, Output]:
        """The outputs of an ONNX file by name.

        Args:
            about: what the file says of itself; its lists have been checked.
        """
        raise NotImplementedError

    def output_names(self) -> list[str]:
        """The outputs that it can answer."""
        raise NotImplementedError

    def answered(self, chunks: Chunks, names: list[str], *calls) -> Iterator:
        """Each slice of sentences with its answers, of Keras or of ONNX Runtime.

        An answer is the number of a sentence that has tokens, and its arrays.
        """
        raise NotImplementedError

    def annotation(self) -> tuple[list[str], Callable[..., Sentence]]:
        """The outputs that `annotate` needs, and the function from them to a sentence.

        The function takes the sentence first.
        """
        raise NotImplementedError

    def nothing(self, name: str) -> np.ndarray:
        """An output for a sentence without tokens."""
        return np.zeros(0, object)

    def more(self, names: list[str]) -> list[str]:
        """Further outputs that `row` needs for these."""
        return []

    def row(
        self,
        sentence: Sentence,
        found: dict[str, np.ndarray],
        more: dict[str, np.ndarray],
    ) -> dict[str, list]:
        """Outputs of one sentence, as the service gives them; not those of `more`."""
        return {name: array.tolist() for name, array in found.items()}

    def _require_network(self) -> None:
        """Refuse to predict with a model that is not ready."""

    @property
    def command(self) -> str:
        """The command of `keras-tagging` that uses it."""
        return of(self).command

    def annotate(self, sentences, *, probabilities: bool = False):
        """The sentences with what the model finds.

        Args:
            sentences: sentences, or lists of words; a list or tuple gives a list, any
                other iterable a generator.
            probabilities: whether they have `Sentence.probabilities` of its labels.

        Raises:
            ValueError: for running text, which a pipeline takes, and for probabilities
                of a model that gives none.
        """
        if isinstance(sentences, str):
            raise ValueError(
                f"{sentences[:40]!r} is running text, and a {self.kind} reads words: "
                "give [text.split()], or let a pipeline cut it, "
                f"Pipeline(segmenter, {self.kind.replace('-', '_')}=model)"
            )
        if not probabilities:
            return self.streamed(sentences, *self.annotation())
        if not self.gives_probabilities:
            raise ValueError(no_probabilities(f"a {self.kind} gives"))
        return self.streamed(sentences, *self.annotation(probabilities=True))

    def answer(self, sentences, names) -> list[dict[str, list]]:
        """Outputs for sentences, as an exported file names them.

        Args:
            sentences: sentences, or lists of words.
            names: of outputs.

        Returns:
            A dict a sentence: under each name a list with an item a token.

        Raises:
            ValueError: for an unknown name.
        """
        names, known = list(names), self.output_names()
        for name in names:
            check_known("output", name, known)
        names = list(dict.fromkeys(names))
        more = [name for name in self.more(names) if name not in names]

        def row(sentence, *arrays):
            rows = dict(zip([*names, *more], arrays, strict=True))
            return self.row(sentence, rows, {name: rows.pop(name) for name in more})

        return self.items(slices(as_sentences(sentences)), [*names, *more], row)

    def streamed(self, sentences, names: list[str], item: Callable, entries: int = 1):
        """The results of a function for each sentence, a slice at a time.

        Args:
            sentences: sentences, or lists of words.
            names: of the outputs that it needs.
            item: function from a sentence and its arrays.
            entries: as in `encoding.batching.slices`.

        Returns:
            A list for a list or tuple; for any other iterable a generator, which reads
            at most `PREDICTION_SENTENCES` ahead.

        Raises:
            ValueError: at once, for a string, a mapping, a whole corpus, or a model not
                ready.
        """
        self._require_network()
        check_several(sentences)  # at once, not in a generator
        whole = isinstance(sentences, (list, tuple))
        chunks = slices(map(as_sentence, sentences), entries, growing=not whole)
        rows = self._items(chunks, names, item)
        return list(rows) if whole else rows

    def items(self, chunks: Chunks, names, item: Callable, *calls) -> list:
        """The same for slices; Keras models take `NetworkCalls`."""
        return list(self._items(chunks, names, item, *calls))

    def _items(self, chunks, names, item, *calls):
        nothing = [self.nothing(name) for name in names]
        for chunk, answers in self.answered(chunks, names, *calls):
            found = [None if len(s) else item(s, *nothing) for s in chunk]
            for i, arrays in answers:
                found[i] = item(chunk[i], *arrays)
            yield from found


def no_probabilities(who: str) -> str:
    """The message that a model without probabilities of words is asked for them."""
    return (
        f"{who} no probabilities of words (the scores of a parser's moves are none of "
        "arcs): leave them out, or have a tagger"
    )
