"""Several recurrent layers in one time loop, in training.

The two directions of a layer have equal cells and read sentences of equal length. A loop
for each takes most of its time to start many small operations; in one loop, with a
matrix product for all, there are half as many.
"""

from types import SimpleNamespace

from keras import ops

from keras_tagging.layers.hoisted_gradient import can_hoist, hoist_gradient
from keras_tagging.layers.loop import run_loop


def fits(rnns, dtype) -> bool:
    """Whether layers can share a loop: their cells `step` with `weights` alone.

    Args:
        rnns: `ProjectedRNN`s with equal cells and options, but for `go_backwards`.
        dtype: in which the layer around them computes.
    """
    cell = rnns[0].cell
    return cell.steps_with_weights_alone and cell.compute_dtype == dtype


def run_side_by_side(rnns, inputs, mask=None):
    """The outputs of recurrent layers in training, from one time loop.

    Args:
        rnns: built `ProjectedRNN`s that `fits`.
        inputs: what each reads, `(batch, time, features)`.
        mask: `(batch, time)`, False at padding; None for no mask.

    Returns:
        What each emits, `(batch, time, size)`, in the order of the sentence; the last
        output, `(batch, size)`, if they return no sequences.
    """
    first, count = rnns[0], len(rnns)
    cell, sequences = first.cell, first.return_sequences
    options = SimpleNamespace(
        go_backwards=False,
        unroll=False,
        stateful=False,
        return_sequences=sequences,
        zero_output_for_mask=first.zero_output_for_mask,
    )

    def in_order(parts):
        """What runs from the last step to the first is turned."""
        pairs = zip(rnns, parts, strict=True)
        return [ops.flip(x, 1) if rnn.go_backwards else x for rnn, x in pairs]

    projected = [
        rnn.cell.project(x, training=True) for rnn, x in zip(rnns, inputs, strict=True)
    ]
    # the layers one below the other, as a larger batch
    projected = ops.concatenate(in_order(projected), axis=0)
    if mask is not None:
        mask = ops.concatenate(in_order([mask] * count), axis=0)
    matrices = zip(*(rnn.cell.recurrent_weights() for rnn in rnns), strict=True)
    # (layers, units, columns); ops.stack takes no variables
    weights = [
        ops.concatenate([ops.expand_dims(x, 0) for x in each], axis=0)
        for each in matrices
    ]
    hoisted = sequences and can_hoist()
    if hoisted:
        projected, weights[0], receive = hoist_gradient(projected, weights[0])

    def apart(x):
        """`(layers, batch, size)` for products with the weights of each layer."""
        return ops.reshape(x, (count, -1, x.shape[-1]))

    def joined(x):
        return ops.reshape(x, (-1, x.shape[-1]))

    def step(projected, states):
        output, new = cell.step(apart(projected), [*map(apart, states)], weights)
        output, new = joined(output), [*map(joined, new)]
        emitted = [output]
        if first.return_cell:
            emitted.append(new[1])
        if hoisted:
            emitted.append(ops.stop_gradient(states[0]))
        if len(emitted) > 1:
            output = ops.concatenate(emitted, axis=-1)
        return output, new

    states = cell.get_initial_state(ops.shape(projected)[0])
    last_output, outputs, _ = run_loop(options, step, projected, states, mask)
    if not sequences:
        return ops.split(last_output, count, axis=0)
    if hoisted:
        width = outputs.shape[-1] - states[0].shape[-1]
        outputs, h_tm1 = ops.split(outputs, [width], axis=-1)
        receive(h_tm1)
    return in_order(ops.split(outputs, count, axis=0))
