from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Dtype, Stepped, Tensor
from keras_tagging.cells.recurrent_cell import DropoutRNNCell


@keras.saving.register_keras_serializable("keras_tagging")
class SkipStackCell(DropoutRNNCell, keras.layers.Layer):
    r"""Cells on top of each other, each with the skips that it reads.

    What `keras.layers.StackedRNNCells`, and so `keras.layers.RNN([...])`, is for other
    cells: one cell for `keras.layers.RNN` that holds several. Those hand a cell only
    the output of the cell before it; here layer l also gets what its cell `reads`:
    :math:`h^{l-2}`, :math:`c^{l-1}`, :math:`c^{l-2}`. :math:`h^0` is the input.

    `BidirectionalStack` is faster and has dropout between the layers. Use this cell
    where a loop of your own, or a layer of Keras, needs one cell.

    Args:
        cells: list of `RecurrentCell`, the lowest first. They are copied; each copy is
            the cell of its layer (`cell.for_layer`), so the lowest has no skip.
        **kwargs: `name`, `dtype`, `trainable`. By default `dtype` is that of the
            lowest cell.

    Call arguments:
        inputs: `(batch, features)`, where `features` is `units` if layer 2 skips.
        states: list of the states of all cells, those of the highest first.

    Returns:
        The output of the highest cell, and the list of all new states.

    Raises:
        ValueError: when built, if layer 2 skips from an input that has not `units`
            features.
    """

    def __init__(self, cells: Sequence[Any], dtype: Dtype = None, **kwargs: Any):
        super().__init__(dtype=dtype or cells[0].dtype_policy, **kwargs)
        # Only the configurations are kept: the given cells themselves are never built.
        self.cell_configs = [keras.saving.serialize_keras_object(c) for c in cells]
        self.cells = [
            type(cell).from_config(cell.for_layer(layer))
            for layer, cell in enumerate(cells, 1)
        ]
        # the highest first: on JAX a masked step of Keras repeats states[0]
        self.state_size = [
            size for cell in reversed(self.cells) for size in cell.state_sizes
        ]
        self.output_size = self.cells[-1].output_size

    def build(self, input_shape):
        batch, width = input_shape[0], input_shape[-1]
        self.widths = []  # of the inputs of each cell
        for layer, cell in enumerate(self.cells, 1):
            if layer == 2 and "skip" in cell.reads and input_shape[-1] != cell.units:
                raise ValueError(
                    f"layer 2 skips from the input, which has {input_shape[-1]} "
                    f"features, not units={cell.units}: put a Dense({cell.units}) "
                    "before the layer"
                )
            self.widths.append(width + len(cell.reads) * cell.units)
            cell.build((batch, self.widths[-1]))
            cell.built = True
            width = cell.output_size

    def call(self, inputs: Tensor, states: Tensor, training: bool = False) -> Stepped:
        h, c, new_states = [inputs], [None], []  # by layer, from 0
        states = list(states)
        for cell in self.cells:
            first = len(states) - len(cell.state_sizes)
            states, of_cell = states[:first], states[first:]
            read = {"below_cell": c[-1]}
            if len(h) > 1:
                read |= {"skip": h[-2], "skip_cell": c[-2]}
            x = [h[-1], *(read[name] for name in cell.reads)]
            x = ops.concatenate(x, axis=-1) if len(x) > 1 else x[0]
            output, of_cell = cell(x, of_cell, training=training)
            h.append(output)
            c.append(of_cell[-1])
            new_states = of_cell + new_states
        return h[-1], new_states

    # Keras calls these before and after its loop: each cell has masks of its own

    def get_dropout_mask(self, step_input):
        for cell, width in zip(self.cells, self.widths, strict=True):
            cell.get_dropout_mask(self._ones(step_input, width))

    def get_recurrent_dropout_mask(self, step_input):
        for cell in self.cells:
            cell.get_recurrent_dropout_mask(self._ones(step_input, cell.units))

    def reset_dropout_mask(self):
        for cell in self.cells:
            cell.reset_dropout_mask()

    def reset_recurrent_dropout_mask(self):
        for cell in self.cells:
            cell.reset_recurrent_dropout_mask()

    def _ones(self, like, width):
        return ops.ones((ops.shape(like)[0], width), dtype=self.compute_dtype)

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        return [
            state
            for cell in reversed(self.cells)
            for state in cell.get_initial_state(batch_size=batch_size)
        ]

    def get_config(self):
        return {**super().get_config(), "cells": self.cell_configs}

    @classmethod
    def from_config(cls, config):
        cells = [keras.saving.deserialize_keras_object(c) for c in config["cells"]]
        return cls(**{**config, "cells": cells})
