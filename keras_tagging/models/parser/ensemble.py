"""Several parsers as one: the mean of the probabilities of each move."""

from keras import ops

from keras_tagging.architectures.output import run_network
from keras_tagging.encoding.batching import ids_of
from keras_tagging.kinds.parsing import Parsing
from keras_tagging.layers.transition_scorer import parse_jointly
from keras_tagging.models.ensemble import Ensemble
from keras_tagging.models.parser.parser import Parser
from keras_tagging.models.report import exported_report
from keras_tagging.transitions import JointScorer


class ParserEnsemble(Parsing, Ensemble):
    """An ensemble of parsers: see `Ensemble`.

    Each member reads its own features of the words, and the tags of its own tagger if
    it has one.
    """

    counting_options = report_options = Parser.counting_options

    def __init__(self, members, **kwargs):
        super().__init__(members, **kwargs)
        scorers = [model.scorer for model in self.members]
        labels = [model.labels for model in self.members]
        self.joint_scorer = JointScorer(scorers, labels)

    @property
    def labels(self) -> list[str]:
        """The dependency labels; the first has id 1."""
        return self.members[0].labels

    @property
    def beam_width(self) -> int:
        """Hypotheses kept in parsing; 1 is greedy. You may set it, for all members."""
        return self.members[0].beam_width

    @beam_width.setter
    def beam_width(self, width):
        for model in self.members:
            model.beam_width = width
        self.predict_function = None  # it was compiled with the old width

    output_arrays, evaluator = Parser.output_arrays, Parser.evaluator
    move_labels, predict_moves = Parser.move_labels, Parser.predict_moves
    counts = Parser.counts

    def call(self, inputs, training=False):
        """The trees for the tokens that each network reads: see `Parser.call`."""
        pairs = zip(self.members, inputs, strict=True)
        vectors = [run_network(model.network, tokens) for model, tokens in pairs]
        lengths = ops.sum(ops.cast(ids_of(inputs[0])[:, :, 0] > 0, "int32"), 1)
        heads, labels = parse_jointly(self.joint_scorer, vectors, lengths)
        return {"heads": heads, "labels": labels}

    def report(self, sentences, **options):
        """The figures of `evaluate`."""
        return exported_report(self, sentences, **options)
