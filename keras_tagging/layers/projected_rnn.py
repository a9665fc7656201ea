from functools import partial

import keras

from keras_tagging.layers.loop import run_loop


@keras.saving.register_keras_serializable("keras_tagging")
class ProjectedRNN(keras.layers.RNN):
    """A recurrent layer that computes all input products before its time loop.

    It gives what `keras.layers.RNN` gives with the same cell, faster: `cell.project`
    runs once over the whole sequence, and the loop holds only `cell.step`.

    Args:
        cell: a cell with `project(inputs, training)` and `step(projected, states)`.
            One that also has `recurrent_weights()` is asked for them once, before
            the loop, and `step` then receives them as `weights`.
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
        `return_state`, the states follow.

    Raises:
        ValueError: if the cell has no `project` and `step`, or another dtype.
    """

    def __init__(self, cell, dtype=None, **kwargs):
        for method in ("project", "step"):
            if not hasattr(cell, method):
                raise ValueError(
                    f"{type(cell).__name__} has no {method} method: "
                    "use keras.layers.RNN for cells that do not project their input"
                )
        super().__init__(cell, dtype=dtype or cell.dtype_policy, **kwargs)
        if self.compute_dtype != cell.compute_dtype:
            raise ValueError(
                f"the cell computes in {cell.compute_dtype}, the layer in "
                f"{self.compute_dtype}: give both the same dtype"
            )

    def inner_loop(self, sequences, initial_state, mask, training=False):
        step = self.cell.step
        if hasattr(self.cell, "recurrent_weights"):
            step = partial(step, weights=self.cell.recurrent_weights())
        projected = self.cell.project(sequences, training=training)
        return run_loop(self, step, projected, initial_state, mask)
