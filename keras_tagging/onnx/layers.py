"""The layers whose call is not recorded operation by operation."""

import keras

from keras_tagging.layers import ContextWindow, ProjectedRNN
from keras_tagging.layers.loop import TimeLoop
from keras_tagging.onnx.recurrence import projected_rnn, time_loop


def dropout(tracer, layer, inputs, **_):
    """Nothing, outside of training."""
    return inputs


def reshape(tracer, layer, inputs):
    return tracer.xp.reshape(inputs, [0, *layer.target_shape])


def context_window(tracer, layer, inputs, mask=None, **_):
    """Eq. 20 of W17, with the gates of W16; see `layers.ContextWindow`."""
    xp = tracer.xp
    if mask is not None:
        inputs = xp.where(xp.expand_dims(mask, -1), inputs, 0.0)
    margin = layer.size // 2
    padded = xp.pad(inputs, ((0, 0), (margin, margin), (0, 0)))
    ends = [*range(-2 * margin, 0), None]
    neighbours = [padded[:, start:end] for start, end in enumerate(ends)]
    if layer.gated:
        window = xp.concatenate(neighbours, -1)
        gates = xp.matmul(window, layer.gate_kernel) + layer.gate_bias
        gates = xp.unary("Sigmoid", gates)
        neighbours = [x * gates[:, :, i : i + 1] for i, x in enumerate(neighbours)]
    return xp.concatenate(neighbours, -1)


def refuse_recurrent(tracer, layer, *_, **__):
    raise NotImplementedError(f"keras.layers.{type(layer).__name__}")


LAYERS = {
    keras.layers.Dropout: dropout,
    keras.layers.Reshape: reshape,
    ContextWindow: context_window,
    ProjectedRNN: projected_rnn,
    keras.layers.RNN: refuse_recurrent,
    TimeLoop: time_loop,
}
