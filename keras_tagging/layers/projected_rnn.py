from functools import partial
from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Dtype
from keras_tagging.cells.splitting import split
from keras_tagging.layers.loop import (
    can_hoist,
    hoist_gradient,
    is_right_padded,
    run_loop,
    run_right_padded,
)


@keras.saving.register_keras_serializable("keras_tagging")
class ProjectedRNN(keras.layers.RNN):
    """A recurrent layer that computes all input products before its time loop.

    It gives what `keras.layers.RNN` gives with the same cell, faster: `cell.project`
    runs once over the whole sequence, and the loop holds only `cell.step`.

    Args:
        cell: a cell with `project(inputs, training)` and `step(projected, states)`.
            One that also has `recurrent_weights()` is asked for them once, before
            the loop, and `step` then receives them as `weights`; see
            `keras_tagging.cells.RecurrentCell` for what they must be. One that has
            `drop` has its dropout.
        return_cell: whether `states[1]`, the cell of an LSTM, follows the output of
            every step; needs `return_sequences` and `zero_output_for_mask`.
        dtype: the cell's by default.
        **kwargs: those of `keras.layers.RNN`: `return_sequences`, `return_state`,
            `go_backwards`, `stateful`, `unroll`, `zero_output_for_mask`.

    Call arguments:
        sequences: `(batch, time, features)`.
        initial_state: list of tensors `(batch, state_size)`; zeros by default.
        mask: `(batch, time)`, False where a step is skipped.

    Returns:
        `(batch, time, output_size)` with `return_sequences`, from the last step to
        the first with `go_backwards`; otherwise `(batch, output_size)`. With
        `return_cell` `(batch, time, output_size + units)`. With `return_state`, the
        states follow.

    Raises:
        ValueError: if there is no cell to return; for a mask with both `unroll` and
            `go_backwards`, which Keras' loop does not reverse.
    """

    def __init__(
        self, cell: Any, return_cell: bool = False, dtype: Dtype = None, **kwargs: Any
    ):
        super().__init__(cell, dtype=dtype or cell.dtype_policy, **kwargs)
        states = self.state_size if isinstance(self.state_size, list) else []
        # without zeros, Keras' loop on JAX takes states[0] for the output
        emits = self.return_sequences and self.zero_output_for_mask
        if return_cell and (len(states) < 2 or not emits):
            raise ValueError(
                "return_cell needs return_sequences=True, zero_output_for_mask=True "
                "and a cell with two states"
            )
        self.return_cell = return_cell

    def inner_loop(self, sequences, initial_state, mask, training=False):
        cell = self.cell
        if mask is not None and self.unroll and self.go_backwards:
            raise ValueError("a mask cannot be read with unroll and go_backwards")
        cell_step, weights = self._step()
        options = {}
        if hasattr(cell, "drop"):
            sequences, options = cell.drop(sequences, initial_state, training)
        projected = cell.project(sequences, training=training)
        hoisted = training and weights and self.return_sequences and can_hoist()
        emits = self.return_sequences and self.zero_output_for_mask
        emits &= not self.return_state
        is_padded = mask is not None and emits and is_right_padded()
        is_h = []  # whether the output is the first state
        if hoisted:
            projected, weights[0], receive = hoist_gradient(projected, weights[0])

        def step(projected, states):
            output, new_states = cell_step(projected, states, **options)
            emitted = [output]
            if self.return_cell:
                emitted.append(new_states[1])
            is_h.append(is_padded and output is new_states[0])
            if hoisted and not is_h[-1]:
                emitted.append(ops.stop_gradient(states[0]))
            if len(emitted) > 1:
                output = ops.concatenate(emitted, axis=-1)
            return output, new_states

        if is_padded:
            outputs, h_tm1 = run_right_padded(
                self, step, projected, initial_state, mask
            )
            last_output, states = outputs[:, -1], initial_state
        else:
            last_output, outputs, states = run_loop(
                self, step, projected, initial_state, mask
            )
        if hoisted:
            if not is_h[-1]:
                width = outputs.shape[-1] - states[0].shape[-1]
                outputs, h_tm1 = split(outputs, [width])
            if "mask" in options:
                h_tm1 = h_tm1 * ops.expand_dims(options["mask"], 1)
            receive(ops.flip(h_tm1, axis=1) if self.go_backwards else h_tm1)
        return last_output, outputs, states

    def _step(self):
        """The step of the cell, with the list of its recurrent weights if it has any.

        The function reads the list when it is called.
        """
        if not hasattr(self.cell, "recurrent_weights"):
            return self.cell.step, None
        weights = list(self.cell.recurrent_weights())
        return partial(self.cell.step, weights=weights), weights

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        shapes = super().compute_output_shape(sequences_shape)
        if not self.return_cell:
            return shapes
        outputs, *states = shapes if self.return_state else [shapes]
        outputs = (*outputs[:-1], self.cell.output_size + self.state_size[1])
        return (outputs, *states) if self.return_state else outputs

    def get_config(self):
        return {**super().get_config(), "return_cell": self.return_cell}
