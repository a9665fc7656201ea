from typing import Any

import keras
from keras import ops

from keras_tagging.cells import CoupledLSTMCell, GRUCell, SkipLSTMCell
from keras_tagging.cells.configuration import Named, Tensor, config_of, dropout_of
from keras_tagging.cells.initializers import reseeded
from keras_tagging.layers.projected_rnn import ProjectedRNN
from keras_tagging.utils.checks import check_choice

#: kind -> the cell of a recurrent network; None for a convolution
CELLS = {
    "gru": GRUCell,
    "lstm": lambda units, **options: SkipLSTMCell(
        units, skip=None, gate=None, **options
    ),
    "coupled-lstm": CoupledLSTMCell,
    "cnn": None,
}
#: characters that a filter of the convolution reads: Ma & Hovy (2016), Table 1
WIDTH = 3


@keras.saving.register_keras_serializable("keras_tagging")
class CharacterEncoder(keras.layers.Layer):
    r"""A vector for each token, made of all its characters.

    With a recurrent network it is the last state of each direction, Fig. 4 of Lample et
    al. (2016), :cite:`lample2016`, for the characters :math:`c_1 \dots c_n`:

    .. math::
        [\overrightarrow{h}_n; \overleftarrow{h}_1]

    With `"cnn"` it is the maximum of each filter over the token, section 2.1 of Ma &
    Hovy (2016), :cite:`ma2016`:

    .. math::
        \max_t \tanh(W [c_t; c_{t+1}; c_{t+2}] + b), \quad -1 \le t \le n

    where the characters before the token and behind it are zeros.

    Whatever follows a token as padding, and however many tokens there are, its vector
    is the same.

    Departures: Ma & Hovy do not say what a filter reads at the ends of a token, nor its
    activation. The recurrent network is "lstm" with separate gates, "coupled-lstm" for
    the one of Lample et al., or "gru", which neither paper has.

    Args:
        num_characters: int. Rows of the table: ids below it, padding included.
        units: int. Of each direction, or the number of filters.
        kind: "gru", "lstm", "coupled-lstm" or "cnn".
        embedding_dim: int. Size of the embedding of a character.
        dropout: fraction of the embedded characters' components dropped in training.
        embeddings_initializer: of the table.
        kernel_initializer, recurrent_initializer: as in
            :class:`keras_tagging.cells.RecurrentCell`; those of the second direction
            draw from other seeds.
        seed: int. Seed of the dropout masks; by default Keras' global seed.

    Call arguments:
        letters: `(tokens, characters)` ids, 0 behind the end of a token.

    Returns:
        `(tokens, 2 * units)`, forward direction first; of "cnn" `(tokens, units)`.

    Raises:
        ValueError: for an unknown kind.
    """

    def __init__(
        self,
        num_characters: int,
        units: int,
        kind: str = "lstm",
        embedding_dim: int = 25,
        dropout: float = 0.0,
        embeddings_initializer: Named = "uniform",
        kernel_initializer: Named = "glorot_uniform",
        recurrent_initializer: Named = "orthogonal",
        seed: int | None = None,
        **kwargs: Any,
    ):
        check_choice("kind", kind, CELLS)
        super().__init__(**kwargs)
        self.num_characters = num_characters
        self.units = units
        self.kind = kind
        self.embedding_dim = embedding_dim
        self.dropout = dropout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.seed = seed
        self.table = keras.layers.Embedding(
            num_characters,
            embedding_dim,
            embeddings_initializer=embeddings_initializer,
            dtype=self.dtype_policy,
            name="characters",
        )
        self.dropped = dropout_of(self, dropout, "character_dropout")
        if kind == "cnn":
            self.filters = keras.layers.Conv1D(
                units,
                WIDTH,
                activation="tanh",
                kernel_initializer=self.kernel_initializer,
                dtype=self.dtype_policy,
                name="filters",
            )
        else:
            self.directions = [self._direction(0), self._direction(1)]

    def _direction(self, number):
        cell = CELLS[self.kind](
            self.units,
            kernel_initializer=reseeded(self.kernel_initializer, 1000 * number),
            recurrent_initializer=reseeded(self.recurrent_initializer, 1000 * number),
            dtype=self.dtype_policy,
        )
        name = ("forward", "backward")[number]
        return ProjectedRNN(cell, go_backwards=number == 1, name=name)

    def build(self, input_shape):
        self.table.build(input_shape)
        embedded = (*input_shape, self.embedding_dim)
        if self.kind == "cnn":
            self.filters.build(embedded)
        else:
            for rnn in self.directions:
                rnn.build(embedded)

    def call(self, letters: Tensor, training: bool = False) -> Tensor:
        mask = ops.not_equal(letters, 0)
        x = self.dropped(self.table(letters), training=training)
        if self.kind != "cnn":
            ends = [rnn(x, mask=mask, training=training) for rnn in self.directions]
            return ops.concatenate(ends, axis=-1)
        x = x * ops.cast(mask, x.dtype)[:, :, None]
        around = WIDTH - 1  # so that every filter meets the ends of the token
        x = self.filters(ops.pad(x, [[0, 0], [around, around], [0, 0]]))
        # an output is inside the token if the first character that it reads is, or is
        # a zero before it
        first = ops.cast(mask, "int32")
        inside = ops.pad(first, [[0, 0], [around, 0]], constant_values=1) > 0
        # tanh is above -1: what is outside is never the maximum
        return ops.max(ops.where(inside[:, :, None], x, -1.0), axis=1)

    def compute_output_shape(self, input_shape):
        directions = 1 if self.kind == "cnn" else 2
        return (input_shape[0], directions * self.units)

    def get_config(self):
        names = ("num_characters", "units", "kind", "embedding_dim", "dropout", "seed")
        names += ("kernel_initializer", "recurrent_initializer")
        options = {
            **config_of(self, *names),
            **config_of(self.table, "embeddings_initializer"),
        }
        return {**super().get_config(), **options}
