"""Parsers predict the head of each word, and its relation to it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from keras_tagging.data.sentence import Listed, Sentence, Sentences, as_sentences
from keras_tagging.data.trees import SEPARATOR, trees_of, unlift
from keras_tagging.kinds import Output
from keras_tagging.kinds.predictor import Predictor

if TYPE_CHECKING:  # takes half a second
    from keras_tagging.metrics import AttachmentScores

FIGURES = ("uas", "las", "label_accuracy", "ucm", "lcm")
PREDICTED = "predicted_tag"  # the column of a parser's own tags
OUTPUTS = {
    "heads": Output("int32", -1),
    "deprels": Output("string", ""),
    # of a parser that has a tagger of its own
    "predicted_tags": Output("string", "", optional=True),
}


class Parsing(Predictor):
    """A parser, with Keras or without."""

    kind, inventory = "parser", "labels"
    gives = ("head", "deprel")
    #: the outputs that it has
    served_outputs: Iterable[str] = ("heads", "deprels")

    @classmethod
    def outputs(cls, about: Mapping) -> dict[str, Output]:
        return OUTPUTS

    @overload
    def parse(self, sentences: Listed) -> list[Sentence]: ...
    @overload
    def parse(self, sentences: Sentences) -> Iterator[Sentence]: ...
    def parse(self, sentences: Sentences):
        """Parse sentences.

        Args:
            sentences: an iterable of sentences, or of lists of words if the parser
                reads no tags. A list or tuple gives a list; any other iterable gives
                a generator that reads a limited number of sentences ahead.

        Returns:
            The sentences with the columns `head` and `deprel`, and `predicted_tag` if
            the parser has a tagger of its own.
        """
        return self.annotate(sentences)

    def decoding(self):
        def parsed(sentence, outputs):
            heads, deprels = tree_of(outputs)
            columns = {"head": list(map(str, heads)), "deprel": deprels}
            if "predicted_tags" in outputs:
                columns = {PREDICTED: outputs["predicted_tags"].tolist(), **columns}
            return replace(sentence, columns={**sentence.columns, **columns})

        return list(self.served_outputs), parsed

    def predictions(self, sentences: Sentences, *calls: Any) -> list[Any]:
        """Heads and labels: for each sentence a pair of lists."""
        names = ["heads", "deprels"]
        return self.decode(sentences, names, lambda _, x: tree_of(x), 1, *calls)

    def scores(
        self, sentences: Sentences, *calls: Any, **options: Any
    ) -> "AttachmentScores":
        """The `metrics.attachment_scores` on gold trees, with their tables."""
        sentences = as_sentences(sentences)
        trees_of(sentences)
        return scores_of(sentences, self.predictions(sentences, *calls), **options)

    def measured(self, sentences, *calls, **options) -> dict[str, float]:
        """The figures on gold trees."""
        return figures_of_trees(self.scores(sentences, *calls, **options))

    def row_outputs(self, names):
        return ["heads", "deprels"]

    def decode_row(self, sentence, names, outputs):
        row = super().decode_row(sentence, names, outputs)
        tree = zip(("heads", "deprels"), tree_of(outputs), strict=True)
        return row | {name: values for name, values in tree if name in names}


def tree_of(outputs) -> tuple[list[int], list[str]]:
    """A tree; what was lifted for training is put back."""
    heads, deprels = outputs["heads"].tolist(), outputs["deprels"].tolist()
    if any(SEPARATOR in deprel for deprel in deprels):
        heads, deprels = unlift(heads, deprels)
        heads = heads.tolist()
    return heads, deprels


def scores_of(sentences, trees: list[tuple], **options) -> "AttachmentScores":
    """The `metrics.attachment_scores` of predicted trees: see `tree_of`."""
    from keras_tagging.metrics import attachment_scores  # half a second

    heads, deprels = ([tree[i] for tree in trees] for i in (0, 1))
    return attachment_scores(sentences, heads, deprels, **options)


def figures_of_trees(scores) -> dict[str, float]:
    """The figures among `metrics.attachment_scores`."""
    return {name: float(getattr(scores, name)) for name in FIGURES}


def counts_of(scores, figures) -> list:
    """The counts behind figures, each `(sentences, 2)`: `[words, right]`.

    Args:
        scores: the `metrics.attachment_scores`.
        figures: pairs of a name and None.
    """
    columns = {"uas": [0, 1], "las": [0, 2]}
    return [scores.by_sentence[:, columns[name]] for name, _ in figures]


def tables_of(scores) -> dict:
    """The tables of `metrics.attachment_scores`."""
    names = ("by_relation", "by_sentence_length", "by_distance")
    return {name: getattr(scores, name)() for name in names}
