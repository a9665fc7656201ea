"""The answers of parsers: the head of each word, and its relation to it."""

from collections.abc import Iterable
from dataclasses import replace

from keras_tagging.data.sentence import as_sentences
from keras_tagging.data.trees import SEPARATOR, trees_of, unlift
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds.answers import Answers
from keras_tagging.kinds.kind import Output

FIGURES = ("uas", "las", "label_accuracy", "ucm", "lcm")
PREDICTED = "predicted_tag"  # the column of a parser's own tags
OUTPUTS = {
    "heads": Output("int32", -1),
    "deprels": Output("string", ""),
    # of a parser that has a tagger of its own
    "predicted_tags": Output("string", "", optional=True),
}


class Parsing(Answers):
    """A parser, with Keras or without."""

    kind, inventory = "parser", "labels"
    gives = ("head", "deprel")
    #: the outputs that it has
    answers: Iterable[str] = ("heads", "deprels")

    @classmethod
    def outputs(cls, about):
        return OUTPUTS

    def parse(self, sentences):
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

    def annotation(self):
        def parsed(sentence, heads, deprels, *tags):
            heads, deprels = tree_of(heads, deprels)
            own = {"head": list(map(str, heads)), "deprel": deprels}
            if tags:
                own = {PREDICTED: tags[0].tolist(), **own}
            return replace(sentence, columns={**sentence.columns, **own})

        return list(self.answers), parsed

    def predictions(self, sentences, *calls) -> list[tuple[list, list]]:
        """Heads and labels: for each sentence a pair of lists."""

        def tree(sentence, heads, deprels):
            return tree_of(heads, deprels)

        names = ["heads", "deprels"]
        return self.items(slices(sentences), names, tree, *calls)

    def measured(self, sentences, **options) -> dict[str, float]:
        """The figures on gold trees: see `metrics.attachment_scores`."""
        from keras_tagging.metrics import attachment_scores  # half a second

        sentences = as_sentences(sentences)
        trees_of(sentences)
        trees = self.predictions(sentences)
        heads, deprels = ([tree[i] for tree in trees] for i in (0, 1))
        scores = attachment_scores(sentences, heads, deprels, **options)
        return {name: float(getattr(scores, name)) for name in FIGURES}

    def answer(self, sentences, names):
        """See `Answers.answer`: what was lifted for training is put back."""
        rows = super().answer(sentences, self.answers)
        return [{name: row[name] for name in names} for row in rows]

    def row(self, sentence, found, more):
        heads, deprels = tree_of(found.pop("heads"), found.pop("deprels"))
        others = super().row(sentence, found, more)
        return {"heads": heads, "deprels": deprels, **others}


def tree_of(heads, deprels) -> tuple[list[int], list[str]]:
    """A tree; what was lifted for training is put back."""
    heads, deprels = heads.tolist(), deprels.tolist()
    if any(SEPARATOR in deprel for deprel in deprels):
        heads, deprels = unlift(heads, deprels)
        heads = heads.tolist()
    return heads, deprels
