"""The time loops that the recurrent layers share, and a gradient outside of them."""

from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace

import keras
from keras import ops


def run_loop(layer, step, sequences, initial_state, mask=None):
    """Run `step` over the time axis with the options of a recurrent layer.

    Keras keeps its backend-neutral loop inside `keras.layers.RNN.inner_loop`, which
    calls `self.cell` once a time step. It is called here on a stand-in whose cell is
    `step`: a plain function, which may read a sequence prepared beforehand.

    Args:
        layer: a `keras.layers.RNN`; its `go_backwards`, `unroll`, `stateful`,
            `return_sequences` and `zero_output_for_mask` hold.
        step: function of `(batch, features)` and the list of states, returning the
            output `(batch, output_size)` and the list of new states.
        sequences: `(batch, time, features)`.
        initial_state: list of tensors `(batch, state_size)`.
        mask: `(batch, time)`, False where a step is skipped; None for no mask.

    Returns:
        `(last_output, outputs, states)`: `(batch, output_size)`,
        `(batch, time, output_size)` and the list of last states. With
        `go_backwards` the outputs run from the last step to the first.
    """
    names = ("go_backwards", "unroll", "stateful")
    names += ("return_sequences", "zero_output_for_mask")
    options = {name: getattr(layer, name) for name in names}
    stand_in = SimpleNamespace(cell=step, **options)
    return keras.layers.RNN.inner_loop(stand_in, sequences, initial_state, mask)


def over_time(step, sequences, states, mask, backwards=False):
    """`run_loop` over a whole sentence, its outputs in the order of the sentence.

    Args:
        step, sequences, mask: as in `run_loop`.
        states: the initial ones.
        backwards: whether to start at the end.

    Returns:
        `(batch, time, output_size)`, 0 where masked.
    """
    if isinstance(sequences, keras.KerasTensor):
        return TimeLoop(step, backwards)(sequences, states, mask)
    options = {"go_backwards": backwards, "unroll": False, "stateful": False}
    options |= {"return_sequences": True, "zero_output_for_mask": True}
    layer = SimpleNamespace(**options)
    _, outputs, _ = run_loop(layer, step, sequences, states, mask)
    return ops.flip(outputs, 1) if backwards else outputs


class TimeLoop(keras.Operation):
    """`over_time` as one node of a functional graph.

    With symbolic tensors Keras' own loop cannot be run; who walks through the graph
    finds the loop whole, as `keras_tagging.onnx` needs it.

    Args:
        step, backwards: as in `over_time`.
    """

    def __init__(self, step, backwards=False):
        super().__init__()
        self.step = step
        self.backwards = backwards

    def call(self, sequences, states, mask):
        return over_time(self.step, sequences, states, mask, self.backwards)

    def compute_output_spec(self, sequences, states, mask):
        output, _ = self.step(sequences[:, 0], states)
        batch, *rest = output.shape
        return keras.KerasTensor((batch, sequences.shape[1], *rest), output.dtype)


def reverse(x):
    """Turns the time axis of everything in a structure; None stays."""
    if isinstance(x, dict):
        return {name: reverse(value) for name, value in x.items()}
    return None if x is None else ops.flip(x, 1)


def as_mask(mask, like):
    """A mask `(batch, time)` as bool; without one, all that `like` has is real."""
    if mask is None:
        mask = ops.ones_like(like if len(like.shape) == 2 else like[:, :, 0])
    return ops.cast(mask, "bool")


def can_hoist() -> bool:
    """Whether the backend lets a gradient read a tensor computed later: TensorFlow."""
    return keras.backend.backend() == "tensorflow"


def hoist_gradient(projected, kernel):
    """Takes the gradient of `kernel` out of the time loop, as one matrix product.

    The gradient of U in z_t = p_t + h_{t-1} U is the sum over t of h_{t-1}^T dz_t. A
    loop adds up one small product a step; but dz_t is also the gradient of p_t, so that
    after the backward loop one large product gives the same sum. A training step of
    five layers of 512 takes a quarter less time with XLA, a tenth less without.

    Args:
        projected: `(batch, time, features)`; `h_tm1 @ kernel` is to be added to its
            leading columns.
        kernel: `(units, gates * units)`.

    Returns:
        `projected` and `kernel` for the loop, equal in value, and a function that must
        be called after the loop with the `h_tm1` of all steps, `(batch, time, units)`,
        in the order of `projected`. A second derivative raises a LookupError.
    """
    import tensorflow as tf

    later = {}

    @tf.custom_gradient
    def attach(projected, kernel):
        def gradient(d_projected):
            d_z = d_projected[..., : kernel.shape[1]]
            h_tm1 = tf.reshape(later["h_tm1"], (-1, kernel.shape[0]))
            d_kernel = tf.matmul(
                h_tm1, tf.reshape(d_z, (-1, kernel.shape[1])), transpose_a=True
            )
            return [
                tf.raw_ops.PreventGradient(
                    input=part, message="ProjectedRNN has no second derivative"
                )
                for part in (d_projected, d_kernel)
            ]

        return tf.identity(projected), gradient

    kernel = tf.convert_to_tensor(kernel)
    attached = attach(projected, kernel)

    def receive(h_tm1):
        later["h_tm1"] = tf.stop_gradient(h_tm1)

    return attached, tf.stop_gradient(kernel), receive


# Padding behind the tokens needs no mask in the loop, which takes a tenth less time so
# (TensorFlow). A layer cannot know of a mask that it is such a one: it must be told.

_right_padded = ContextVar("right_padded", default=False)


@contextmanager
def right_padded():
    """Inside, all masks of layers that are called or traced are those of padding that
    follows the tokens."""
    token = _right_padded.set(keras.backend.backend() == "tensorflow")
    try:
        yield
    finally:
        _right_padded.reset(token)


def is_right_padded() -> bool:
    """Whether this is inside of `right_padded`, and on TensorFlow."""
    return _right_padded.get()


def run_right_padded(layer, step, sequences, initial_state, mask):
    """The outputs of `run_loop` where padding follows the tokens.

    Backwards, each sentence is turned in its place, so that padding comes last there,
    too: no step before it needs the mask, and no gradient comes from those behind.

    Returns:
        The outputs, and the first state before each step if it is the output.
    """
    import tensorflow as tf

    lengths = tf.reduce_sum(tf.cast(mask, tf.int32), 1)
    if layer.go_backwards:
        sequences = tf.reverse_sequence(sequences, lengths, 1)
    outputs = over_time(step, sequences, initial_state, None)
    first = tf.cast(initial_state[0], outputs.dtype)[:, None]
    before = outputs[:, :-1, : first.shape[-1]]
    before = tf.stop_gradient(tf.concat([first, before], 1))
    outputs = tf.where(mask[:, :, None], outputs, tf.zeros((), outputs.dtype))
    if layer.go_backwards:
        outputs, before = (
            tf.reverse(tf.reverse_sequence(x, lengths, 1), [1])
            for x in (outputs, before)
        )
    return outputs, before
