"""Recurrence over a sequence whose gradient reaches back a limited number of steps."""

from functools import partial

from keras import ops

from keras_tagging.cells.splitting import split
from keras_tagging.layers.loop import over_time

TRUNCATIONS = ("sliding", "chunked")


def run_truncated(cell, projected, limit=None, truncation="sliding"):
    r"""The outputs of a recurrent cell; backpropagation through time is truncated.

    "Errors are propagated backwards to layers in previous time steps until a limit
    :math:`\tau` is reached": Elkaref & Bohnet (2017), section 5, :cite:`elkaref2017`.
    The outputs are those of the whole sequence, whatever the limit. A loop without
    gradient finds all states; then all windows of the limit are run at once, each from
    the state before it, so that no loop over time has a gradient.

    Args:
        cell: a `RecurrentCell`; its first state is zeros.
        projected: `(batch, time, size)`, what `cell.project` gave.
        limit: :math:`\tau`; None for no limit.
        truncation: "sliding": the error of every step reaches the `limit` steps before
            it. "chunked": the sequence is cut into chunks of `limit` steps and errors
            stay within; that is quicker by a factor of `limit` in the recurrence.

    Returns:
        `(batch, time, units)`.
    """
    weights = list(cell.recurrent_weights())
    if not weights:  # nothing recurs
        return cell.step(projected, None)[0]
    nothing = cell.get_initial_state(ops.shape(projected)[0])
    if limit is None:
        step = partial(cell.step, weights=weights)
        return over_time(step, projected, nothing, None)

    frozen = [ops.stop_gradient(weight) for weight in weights]

    def step(x, states):
        _, states = cell.step(x, states, weights=frozen)
        return ops.concatenate(states, -1), states

    states = over_time(step, ops.stop_gradient(projected), nothing, None)
    states = ops.stop_gradient(states)
    run = _sliding if truncation == "sliding" else _chunked
    return run(partial(cell.step, weights=weights), projected, states, limit, nothing)


def _split(states, like):
    """The states as a list, with the axes before the last one flattened."""
    sizes = [state.shape[-1] for state in like]
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    flat = ops.reshape(states, (-1, sum(sizes)))
    return split(flat, ends)


def _sliding(step, projected, states, limit, like):
    batch, time = ops.shape(projected)[:2]
    size = projected.shape[-1]
    # of step t: the state after step t - limit - 1, and then the steps up to t
    before = ops.pad(states, ((0, 0), (limit + 1, 0), (0, 0)))[:, :time]
    before = _split(before, like)
    inputs = ops.pad(projected, ((0, 0), (limit, 0), (0, 0)))
    number = ops.tile(ops.arange(time), [batch])
    for back in range(limit, -1, -1):
        x = inputs[:, limit - back : limit - back + time]
        output, before = step(ops.reshape(x, (-1, size)), before)
        # what would be before the first step leaves the state at zero
        exists = ops.expand_dims(number >= back, -1)
        before = [ops.where(exists, state, 0.0) for state in before]
    return ops.reshape(output, (batch, time, output.shape[-1]))


def _chunked(step, projected, states, limit, like):
    batch, time = ops.shape(projected)[:2]
    size = projected.shape[-1]
    chunks = -(-time // limit)
    padding = ((0, 0), (0, chunks * limit - time), (0, 0))
    inputs = ops.reshape(ops.pad(projected, padding), (batch * chunks, limit, size))
    # the state after the last step of the chunk before
    ends = ops.pad(states, ((0, 0), (limit, 0), (0, 0)))[:, limit - 1 :: limit]
    before = _split(ends[:, :chunks], like)
    outputs = []
    for i in range(limit):
        output, before = step(inputs[:, i], before)
        outputs.append(output)
    outputs = ops.stack(outputs, 1)
    outputs = ops.reshape(outputs, (batch, chunks * limit, outputs.shape[-1]))
    return outputs[:, :time]
