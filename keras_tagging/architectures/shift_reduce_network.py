"""The network of a shift-reduce CCG parser: supertags, and the moves, of one stack."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from keras_tagging.architectures.parser_network import Encoder, stack_of
from keras_tagging.architectures.settings import TABLES, CCGMovesSettings
from keras_tagging.cells.options import GRU, LSTM, Elman, FeedForward
from keras_tagging.transitions import RuleTables
from keras_tagging.utils.checks import Checked, Parts, Share, Steps, Units
from keras_tagging.utils.seeds import seeds

#: the hidden layers over the moves: those of Elkaref & Bohnet (2017)
CELLS = {
    "ffn": FeedForward(),
    "elman": Elman(),
    "lstm": LSTM(forget_bias=1.0),
    "gru": GRU(update="keep"),
}
Cell = Literal[*CELLS]


@dataclass(frozen=True, kw_only=True)
class ShiftReduceNetwork(Checked):
    r"""A scorer of moves behind the stack of recurrent layers.

    The states of the stack give the logits of each word's categories, and are what the
    :class:`keras_tagging.layers.TransitionScorer` reads of words. Both are trained
    together.

    Args:
        encoder: the stacked tagger whose cell the layers have.
        units: size of the hidden state of each direction.
        num_layers: bidirectional layers.
        merge: "layer" or "top", as in `BidirectionalStack`.
        dropout: of the input of the recurrent layers.
        layer_dropout: of their output.
        cell: the hidden layer over the moves: feed-forward, or recurrent.
        move_units: its size.
        category_dim: size of the embeddings of the categories of constituents.
        move_dropout: of the hidden layer.
        truncation, truncation_limit: of a recurrent one, as in `TransitionScorer`.
    """

    kind: ClassVar[str] = "ccg-shift-reduce"
    needs: ClassVar = (CCGMovesSettings, *TABLES)

    encoder: Encoder = "bigru"
    units: Units = 200
    num_layers: Parts = 2
    merge: Literal["top", "layer"] = "layer"
    dropout: Share = 0.5
    layer_dropout: Share = 0.5
    cell: Cell = "ffn"
    move_units: Units = 128
    category_dim: Units = 50
    move_dropout: Share = 0.3
    truncation: Literal["sliding", "chunked"] = "chunked"
    truncation_limit: Steps | None = 5

    def build(self, settings, features, vocabularies, grammar, *, seed, vector_dim=0):
        """The functional network and the scorer.

        Args:
            settings: a `Settings`, for the options of the tables.
            features: an adapted `TokenFeatures`.
            vocabularies: whose "tags" are the categories of words.
            grammar: the `Grammar`, whose categories constituents have.
            seed: of the initial weights and of dropout.
            vector_dim: size of the pretrained vectors, 0 without.

        Returns:
            A functional model from what `run_network` gives it to a dict of `tags`,
            logits `(batch, time, tags)`, and `states`, `(batch, time, size)`; and a
            built `TransitionScorer`.
        """
        import keras

        from keras_tagging.architectures.embedding import (
            INITIALIZERS,
            token_inputs,
            uniform,
        )
        from keras_tagging.architectures.output import functional, linear
        from keras_tagging.layers import TransitionScorer

        draw, tags = seeds(seed), vocabularies["tags"]
        _, of_kernels = INITIALIZERS[settings.tables.initializer]
        inputs, mask, x = token_inputs(
            settings, features, draw, dropout=self.dropout, vector_dim=vector_dim
        )
        x = stack_of(self, draw, of_kernels, seed)(x, mask=mask)
        logits = linear(x, len(tags), of_kernels(next(draw)))
        network = functional(inputs, None, {"tags": logits, "states": x}, name="tokens")
        cell = CELLS[self.cell](
            self.move_units,
            kernel_initializer=of_kernels(next(draw)),
            recurrent_initializer=keras.initializers.Orthogonal(seed=next(draw)),
        )
        scorer = TransitionScorer(
            cell,
            len(RuleTables(grammar).categories),
            label_dim=self.category_dim,
            grammar=grammar,
            truncation=self.truncation,
            truncation_limit=self.truncation_limit,
            dropped="tokens",
            hidden_dropout=self.move_dropout,
            initializer=of_kernels(next(draw)),
            table_initializer=uniform(next(draw)),
            seed=next(draw),
            name="scorer",
        )
        scorer.build((None, None, x.shape[-1]))
        return network, scorer
