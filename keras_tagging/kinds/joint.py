"""Biaffine parsers predict the tags of each word, its head, and its relation to it."""

from typing import Any

from keras_tagging.data.guidelines import mended_columns, mended_heads
from keras_tagging.data.sentence import Sentences
from keras_tagging.data.trees import trees_of
from keras_tagging.kinds import Output, parsing
from keras_tagging.kinds.tagging import Tagging
from keras_tagging.transitions.arc_labels import groups_of

TREE = ("heads", "deprels")
OUTPUTS = {
    "heads": Output("int32", -1),
    "deprels": Output("string", ""),
    "head_probabilities": Output("float", 0.0),
    "deprel_probabilities": Output("float", 0.0),
}


class Joint(Tagging):
    """A biaffine parser, with Keras or without."""

    kind = "biaffine-parser"
    #: the figure that selects the best epoch
    default_monitor = "val_las"

    @classmethod
    def outputs(cls, about):
        return (super().outputs(about) if about["tags"] else {}) | OUTPUTS

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns of sentences that it fills."""
        return *super().gives, "head", "deprel"

    parse = parsing.Parsing.parse

    def _decoding(self, probabilities):
        """The sentences have the tags and the trees; with `probabilities` these, too.

        Those of heads are of each arc alone, whether or not it is part of the tree.
        """
        names, tagged = super()._decoding(probabilities)
        names = [*dict.fromkeys([*names, *(OUTPUTS if probabilities else TREE)])]
        is_ud = self._is_ud()

        def found(sentence, outputs):
            fields, values, spans = tagged(sentence, outputs)
            heads, deprels = _tree_of(outputs, is_ud)
            if is_ud:
                mended_columns(fields, heads, deprels)
            tree = {"head": [*map(str, heads)], "deprel": deprels}
            if probabilities:
                values |= {k: outputs[f"{k}_probabilities"].tolist() for k in tree}
            return fields | tree, values, spans

        return names, found

    def _is_ud(self) -> bool:
        """Whether its relations are those of Universal Dependencies."""
        return bool(groups_of(self.labels).any())

    def scores(
        self, sentences: Sentences, *calls: Any, **options: Any
    ) -> "parsing.AttachmentScores":
        """The `metrics.attachment_scores` on gold trees, with their tables."""
        is_ud = self._is_ud()

        def tree(sentence, outputs):
            return _tree_of(outputs, is_ud)

        trees = self.decode(sentences, [*TREE], tree, 1, *calls)
        return parsing.scores_of(sentences, trees, **options)

    def measured(self, sentences, *calls, seen=None, **options) -> dict[str, float]:
        """The figures of trees, then those of tags: see `Tagging.measured`."""
        trees_of(sentences)
        names, item, figures = self.measuring(sentences, seen)
        is_ud = self._is_ud()

        def both(sentence, outputs):
            return _tree_of(outputs, is_ud), item(sentence, outputs)

        names = [*dict.fromkeys([*names, *TREE])]
        results = self.decode(sentences, names, both, 1, *calls)
        scores = parsing.scores_of(sentences, [tree for tree, _ in results], **options)
        return parsing.figures_of_trees(scores) | figures([part for _, part in results])

    @property
    def figures(self) -> list[str]:
        """The names of the figures: those of trees, then those of tags."""
        return [*parsing.FIGURES, *super().figures]


def _tree_of(outputs, is_ud: bool):
    """A tree; of Universal Dependencies, with the heads that these allow."""
    heads, deprels = parsing.tree_of(outputs)
    return mended_heads(heads, deprels) if is_ud else heads, deprels
