from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of, dropout_of
from keras_tagging.cells.initializers import reseed
from keras_tagging.cells.splitting import split
from keras_tagging.layers.projected_rnn import ProjectedRNN
from keras_tagging.utils.checks import check_choice

#: the noise of variational dropout: one draw for all tokens of a sentence
SENTENCE = (None, 1, None)


@keras.saving.register_keras_serializable("keras_tagging")
class BidirectionalStack(keras.layers.Layer):
    r"""Recurrent layers that read a sentence in both directions.

    With `merge="layer"` every layer reads both directions of the layer below,
    concatenated (Kadari et al. 2018, section 2.2, :cite:`kadari2018`). With
    `merge="top"` the two directions are separate stacks whose last outputs are
    concatenated (Wu et al. 2016, Eq. 9 and 16, :cite:`wu2016`).

    Layer l reads :math:`h^{l-1}`, and what its cell `reads` besides:
    :math:`h^{l-2}`, :math:`c^{l-1}`, :math:`c^{l-2}`, always of its own direction.
    :math:`h^0` is the input, after the input-to-hidden layer if there is one.
    `cell.for_layer` says how the lowest layers differ: layer 1 has no skip.

    Departures: section 5 of Wu et al. (2017), :cite:`wu2017`, counts an
    input-to-hidden layer without saying more; here it is one for both directions.
    Dropped outputs are what every consumer reads, skips included; cells are not
    dropped.

    Args:
        cell: the `RecurrentCell` of every layer and direction. It is copied: each copy
            has weights of its own, and initializers with a seed are given further
            seeds.
        num_layers: int. Recurrent layers in each direction.
        merge: `"top"` or `"layer"`.
        input_layer: "tanh" or "linear": activation of an input-to-hidden layer of
            `cell.units`; None for no such layer.
        dropout: fraction of the outputs dropped in training: one float for all
            layers, or one for each.
        variational: whether the same outputs of all tokens of a sentence are dropped
            (Gal & Ghahramani 2016, :cite:`gal2016`), not others of each token.
        seed: int. Seed of the dropout masks; by default Keras' global seed.
        return_directions: whether to return the directions too: the outputs of the
            highest layer that has seen one side of the sentence only, which is the last
            one with `merge="top"` and the first with `merge="layer"`.

    Call arguments:
        inputs: `(batch, time, features)`.
        mask: `(batch, time)`, False at padding.

    Returns:
        `(batch, time, 2 * output_size)`, forward direction first, 0 at padding. With
        `return_directions`, a pair: this output and the directions, of equal shape.

    Raises:
        ValueError: for an unknown `merge` or `input_layer`, if `dropout` has not
            `num_layers` entries, or if layer 2 skips from an input that has not
            `units` features.
    """

    def __init__(
        self,
        cell: Any,
        num_layers: int = 2,
        merge: str = "top",
        input_layer: Any = None,
        dropout: float = 0.0,
        seed: int | None = None,
        return_directions: bool = False,
        variational: bool = False,
        **kwargs: Any,
    ):
        check_choice("merge", merge, ("top", "layer"))
        check_choice("input_layer", input_layer, ("tanh", "linear", None))
        rates = dropout
        if not isinstance(rates, (list, tuple)):
            rates = [dropout] * num_layers
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_layers = num_layers
        self.merge = merge
        self.dropout = dropout
        self.seed = seed
        self.return_directions = return_directions
        self.variational = variational
        # Only its configuration is kept: the prototype itself is never built.
        self.cell_config = keras.saving.serialize_keras_object(cell)
        self.input_activation = input_layer
        self.input_layer = None
        if input_layer:
            self.input_layer = keras.layers.Dense(
                cell.units,
                activation=input_layer,
                kernel_initializer=cell.kernel_initializer,
                dtype=self.dtype_policy,
                name="input_layer",
            )
        cells = [
            [copy_cell(cell, layer, direction) for direction in range(2)]
            for layer in range(1, num_layers + 1)
        ]
        reads = {name for pair in cells for name in pair[0].reads}
        self.carries_cell = bool(reads & {"below_cell", "skip_cell"})
        self.forward_layers = []
        self.backward_layers = []
        self.dropout_layers = []
        for index, (pair, rate) in enumerate(zip(cells, rates, strict=True)):
            self.forward_layers.append(self._rnn(pair[0], f"forward_{index + 1}"))
            self.backward_layers.append(
                self._rnn(pair[1], f"backward_{index + 1}", go_backwards=True)
            )
            noise = SENTENCE if variational else None
            name = f"dropout_{index + 1}"
            self.dropout_layers.append(dropout_of(self, rate, name, index, noise))

    def _rnn(self, cell, name, go_backwards=False):
        return ProjectedRNN(
            cell,
            return_cell=self.carries_cell,
            return_sequences=True,
            go_backwards=go_backwards,
            zero_output_for_mask=True,
            name=name,
        )

    def build(self, input_shape):
        *leading, width = input_shape
        if self.input_layer:
            self.input_layer.build(input_shape)
            width = self.input_layer.units
        for layer, pair in enumerate(
            zip(self.forward_layers, self.backward_layers, strict=True), 1
        ):
            cell = pair[0].cell
            if layer == 2 and "skip" in cell.reads and self.input_width != cell.units:
                raise ValueError(
                    f"layer 2 skips from the input, which has {self.input_width} "
                    f'features, not units={cell.units}: give input_layer="tanh"'
                )
            if layer == 1:
                self.input_width = width
            for rnn in pair:
                rnn.build((*leading, width + len(cell.reads) * cell.units))
            width = cell.output_size * (2 if self.merge == "layer" else 1)

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
        if self.input_layer:
            inputs = self.input_layer(inputs)
        # by layer, from 0: [forward, backward]
        below, h, c = [inputs, inputs], [[inputs, inputs]], [[None, None]]
        for forward, backward, dropout in zip(
            self.forward_layers, self.backward_layers, self.dropout_layers, strict=True
        ):
            outputs, cells = [], []
            for direction, rnn in enumerate((forward, backward)):
                read = {}
                if len(h) > 1:
                    read["skip"] = h[-2][direction]
                if len(c) > 1 and self.carries_cell:
                    read["below_cell"] = c[-1][direction]
                    read["skip_cell"] = c[-2][direction]
                x = [below[direction], *(read[name] for name in rnn.cell.reads)]
                x = ops.concatenate(x, axis=-1) if len(x) > 1 else x[0]
                returned = rnn(x, mask=mask, training=training)
                if rnn.go_backwards:
                    # it starts at the padding, whose steps the mask skips
                    returned = ops.flip(returned, axis=1)
                if self.carries_cell:
                    returned, cell = split(returned, [rnn.cell.output_size])
                    cells.append(cell)
                outputs.append(returned)
            both = dropout(ops.concatenate(outputs, axis=-1), training=training)
            h.append(ops.split(both, 2, axis=-1))
            c.append(cells)
            below = [both, both] if self.merge == "layer" else h[-1]
        outputs = [both]
        if self.return_directions:
            one_sided = h[1 if self.merge == "layer" else -1]
            outputs.append(ops.concatenate(one_sided, axis=-1))
        return tuple(outputs) if self.return_directions else outputs[0]

    def compute_mask(self, inputs, mask=None):
        return [mask, mask] if self.return_directions else mask

    def compute_output_shape(self, input_shape):
        shape = (*input_shape[:-1], 2 * self.forward_layers[-1].cell.output_size)
        return (shape, shape) if self.return_directions else shape

    def get_config(self):
        names = ("num_layers", "merge", "dropout", "seed")
        names += ("return_directions", "variational")
        options = {"cell": self.cell_config, "input_layer": self.input_activation}
        return {**super().get_config(), **options, **config_of(self, *names)}

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})


def copy_cell(cell, layer, direction):
    """An unbuilt copy of a cell for one layer and direction, with seeds of its own.

    It is made without `deserialize_keras_object`, which inside `load_model` returns
    one shared cell for equal configurations.
    """
    # The weights of a cell and their gates take consecutive seeds, hence the stride.
    offset = 1000 * (2 * layer + direction)
    return type(cell).from_config(reseed(cell.for_layer(layer), offset))
