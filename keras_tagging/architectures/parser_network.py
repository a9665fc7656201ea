"""The network that the parsers share: each brings its hidden layer."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from keras_tagging.architectures.settings import TABLES, ParserSettings
from keras_tagging.cells.options import (
    GRU,
    LSTM,
    HighwayLSTM,
    RecurrentHighway,
    ShortcutBlock,
    SkipLSTM,
)
from keras_tagging.utils.checks import Checked, Parts, Share, Steps, Units
from keras_tagging.utils.seeds import seeds

#: the stacked taggers whose cell an encoder may have
ENCODERS = {
    "bilstm": LSTM(),
    "bigru": GRU(),
    "skip-bilstm": SkipLSTM(),
    "shortcut-bilstm": ShortcutBlock(),
    "highway-bilstm": HighwayLSTM(),
    "rhn": RecurrentHighway(),
}
Encoder = Literal[*ENCODERS]


def recurrent_stack(
    encoder, units, num_layers, draw, of_kernels, *, dropout, seed=None, **options
):
    """The bidirectional layers of an encoder.

    Args:
        encoder: a name among `ENCODERS`.
        units, num_layers: of the layers, as in `BidirectionalStack`.
        draw: seeds; it takes those of the kernels, of the recurrent kernels and of
            dropout.
        of_kernels: from a seed to the initializer of the kernels.
        dropout: of the output of each layer.
        seed: of the cell.
        **options: further ones of the `BidirectionalStack`, such as `merge`.
    """
    import keras

    from keras_tagging.layers import BidirectionalStack
    from keras_tagging.layers.bidirectional_stack import copy_cell

    cell = ENCODERS[encoder](
        units,
        seed=seed,
        kernel_initializer=of_kernels(next(draw)),
        recurrent_initializer=keras.initializers.Orthogonal(seed=next(draw)),
    )
    return BidirectionalStack(
        cell,
        num_layers=num_layers,
        # a cell with skips skips from a layer of its own size
        input_layer="tanh" if "skip" in copy_cell(cell, 2, 0).reads else None,
        dropout=[dropout] * num_layers,
        seed=next(draw),
        **options,
    )


def stack_of(network, draw, of_kernels, seed):
    """The stack of a network whose fields are named as the arguments of a stack."""
    return recurrent_stack(
        network.encoder,
        network.units,
        network.num_layers,
        draw,
        of_kernels,
        merge=network.merge,
        dropout=network.layer_dropout,
        name="stack",
        seed=seed,
    )


#: keywords that are those of `TransitionScorer`
_OF_SCORER = ("label_dim", "input_dropout", "dropped", "hidden_dropout")
_OF_SCORER += ("truncation", "truncation_limit", "beam_width")


@dataclass(frozen=True, kw_only=True)
class ParserNetwork(Checked):
    r"""A vector for each token, and the layer that scores the parser's moves.

    Section 3 of Elkaref & Bohnet (2017), :cite:`elkaref2017`. With an encoder it is
    what section 6 proposes: the vectors are those of a bidirectional recurrent stack
    over the sentence (Kiperwasser & Goldberg 2016b), :cite:`kiperwasser2016`.

    Args:
        label_dim: size of the embeddings of dependency labels.
        units: hidden units.
        input_dropout, dropped, hidden_dropout: as in `TransitionScorer`.
        truncation, truncation_limit, beam_width: as in `TransitionScorer`.
        constrained: whether an arc from ROOT gets only labels that such arcs have in
            training ("root"), and an arc from a word only labels of arcs from words.
        encoder: None, or the stacked tagger whose cell the encoder has.
        encoder_units: of each direction.
        encoder_layers: bidirectional layers.
        encoder_merge: "layer" or "top", as in `BidirectionalStack`.
        encoder_dropout: of the encoder's input and of its layers.
    """

    kind: ClassVar[str] = "parser"
    needs: ClassVar = (ParserSettings, *TABLES)

    label_dim: Units = 100
    units: Units = 256
    input_dropout: Share = 0.3
    dropped: Literal["configurations", "tokens"] = "configurations"
    hidden_dropout: Share = 0.3
    truncation: Literal["sliding", "chunked"] = "sliding"
    truncation_limit: Steps | None = 5
    beam_width: Steps = 1
    constrained: bool = True
    encoder: Encoder | None = None
    encoder_units: Units = 200
    encoder_layers: Parts = 2
    encoder_merge: Literal["top", "layer"] = "layer"
    encoder_dropout: Share = 0.3

    def build(
        self, settings, features, num_labels, *, seed, arc_labels=None, vector_dim=0
    ):
        """The functional network and the scorer.

        Args:
            settings: a `Settings`, for the options of the tables and the hidden layer.
            features: an adapted `TokenFeatures`.
            num_labels: int.
            seed: int. Seed of the initial weights and of dropout.
            arc_labels: as in `TransitionScorer`.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to vectors `(batch,
            time, size)`, and a built `TransitionScorer`.
        """
        import keras

        from keras_tagging.architectures.embedding import INITIALIZERS, token_inputs
        from keras_tagging.architectures.output import functional
        from keras_tagging.layers import TransitionScorer

        tables = settings.tables
        draw = seeds(seed)
        of_tables, of_kernels = INITIALIZERS[tables.initializer]
        dropout = self.encoder_dropout if self.encoder else 0.0
        inputs, mask, x = token_inputs(
            settings, features, draw, dropout=dropout, vector_dim=vector_dim
        )
        if self.encoder:
            x = recurrent_stack(
                self.encoder,
                self.encoder_units,
                self.encoder_layers,
                draw,
                keras.initializers.GlorotUniform,
                merge=self.encoder_merge,
                dropout=self.encoder_dropout,
                name="encoder",
            )(x, mask=mask)
        network = functional(inputs, None, x, name="tokens")
        recurrent = keras.initializers.Orthogonal(seed=next(draw))
        if tables.initializer == "uniform":  # the paper's, of all weights
            recurrent = of_kernels(next(draw))
        cell = settings.cell(
            self.units,
            kernel_initializer=of_kernels(next(draw)),
            recurrent_initializer=recurrent,
        )
        scorer = TransitionScorer(
            cell,
            num_labels,
            system=settings.task.system,
            **{name: getattr(self, name) for name in _OF_SCORER},
            arc_labels=arc_labels,
            initializer=of_kernels(next(draw)),
            table_initializer=of_tables(next(draw)),
            seed=next(draw),
            name="scorer",
        )
        scorer.build((None, None, x.shape[-1]))
        return network, scorer
