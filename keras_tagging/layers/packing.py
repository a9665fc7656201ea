"""Recurrent layers over the real tokens of a batch alone, in prediction (TensorFlow).

Keras' loop computes the padding too, and then masks it. Here a step computes only the
sentences that have not ended, out of arrays without padding: the same numbers in four
fifths of the time, or less where lengths differ. XLA cannot compile it, as the size of
a step varies, and training has its own loop, so that it must be asked for.
"""

from contextlib import contextmanager
from contextvars import ContextVar

import keras

_wanted = ContextVar("packed", default=False)


@contextmanager
def packed(wanted=True):
    """Inside, layers that are called or traced leave out the padding.

    Args:
        wanted: whether they do; False for XLA.
    """
    token = _wanted.set(wanted and keras.backend.backend() == "tensorflow")
    try:
        yield
    finally:
        _wanted.reset(token)


def packing(mask, training=False):
    """The `Packing` of a batch; None if its padding is to be computed.

    Args:
        mask: `(batch, time)`, or None.
        training: whether a gradient is wanted.
    """
    if mask is None or training or not _wanted.get():
        return None
    return Packing(mask)


class Packing:
    """The places of the real tokens of a batch.

    Packed arrays have a row for each real token, `(tokens, features)`, sentence by
    sentence.

    Args:
        mask: `(batch, time)` bool, with the real tokens of a sentence anywhere.
    """

    def __init__(self, mask):
        import tensorflow as tf

        self._shape = tf.shape(mask, out_type=tf.int64)
        self._places = tf.where(mask)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), 1)
        starts = tf.cumsum(lengths, exclusive=True)
        # the longest first: those that have not ended are the first rows of a step
        longest = tf.argsort(lengths, direction="DESCENDING", stable=True)
        lengths, starts = tf.gather(lengths, longest), tf.gather(starts, longest)
        self._rows = tf.shape(lengths)[0]
        # one step at least: the outputs of none cannot be joined
        self._steps = tf.maximum(tf.reduce_max(lengths), 1)
        going_on = lengths > tf.range(self._steps)[:, None]
        self._counts = tf.reduce_sum(tf.cast(going_on, tf.int32), 1)
        self._begins = tf.cumsum(self._counts, exclusive=True)
        step, row = tf.unstack(tf.cast(tf.where(going_on), tf.int32), axis=1)
        # step by step, the rows of the packed tokens
        forward = tf.gather(starts, row) + step
        backward = tf.gather(starts + lengths - 1, row) - step
        self._orders = [(o, tf.math.invert_permutation(o)) for o in (forward, backward)]

    def pack(self, x):
        """The rows `(tokens, features)` of `(batch, time, features)`."""
        import tensorflow as tf

        return tf.ensure_shape(tf.gather_nd(x, self._places), (None, x.shape[-1]))

    def unpack(self, x):
        """`(batch, time, features)` of packed rows, 0 at padding."""
        import tensorflow as tf

        shape = tf.concat([self._shape, [x.shape[-1]]], 0)
        batch = tf.scatter_nd(self._places, x, shape)
        return tf.ensure_shape(batch, (None, None, x.shape[-1]))

    def run(self, rnn, x):
        """The outputs of a recurrent layer for packed tokens, in their order.

        Args:
            rnn: a built `ProjectedRNN` that returns sequences, with 0 where masked.
            x: `(tokens, features)`.
        """
        import tensorflow as tf

        step, projected = rnn.prediction_step(x)
        order, back = self._orders[int(rnn.go_backwards)]
        states = rnn.get_initial_state(self._rows)
        states = [tf.cast(state, projected.dtype) for state in states]
        width = rnn.compute_output_shape((None, None, x.shape[-1]))[-1]
        outputs = tf.TensorArray(
            projected.dtype, self._steps, element_shape=(None, width), infer_shape=False
        )

        def move(time, outputs, *states):
            begin, count = self._begins[time], self._counts[time]
            rows = tf.gather(projected, order[begin : begin + count])
            output, states = step(rows, [state[:count] for state in states])
            return time + 1, outputs.write(time, output), *states

        shapes = [tf.TensorShape((None, state.shape[-1])) for state in states]
        _, outputs, *_ = tf.while_loop(
            lambda time, *_: time < self._steps,
            move,
            (tf.constant(0), outputs, *states),
            shape_invariants=(tf.TensorShape(()), tf.TensorShape(None), *shapes),
        )
        return tf.ensure_shape(tf.gather(outputs.concat(), back), (None, width))
