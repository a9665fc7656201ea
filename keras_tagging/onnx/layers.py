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


def convolution(tracer, layer, inputs):
    """A `Conv1D`: the product of a kernel and the neighbours of each position."""
    plain = (layer.strides, layer.dilation_rate, layer.padding, layer.groups)
    if plain != ((1,), (1,), "valid", 1) or layer.data_format != "channels_last":
        raise NotImplementedError(f"Conv1D with {plain}")
    xp = tracer.xp
    width, *sizes = layer.kernel.shape
    neighbours = [inputs[:, i : (i + 1 - width) or None] for i in range(width)]
    kernel = xp.reshape(layer.kernel, [width * sizes[0], sizes[1]])
    outputs = xp.matmul(xp.concatenate(neighbours, -1), kernel)
    if layer.use_bias:
        outputs = outputs + layer.bias
    outputs.shape = (None, None, sizes[1])
    return tracer.call(layer.activation, outputs)


def refuse_recurrent(tracer, layer, *_, **__):
    raise NotImplementedError(f"keras.layers.{type(layer).__name__}")


LAYERS = {
    keras.layers.Dropout: dropout,
    keras.layers.Reshape: reshape,
    keras.layers.Conv1D: convolution,
    ContextWindow: context_window,
    ProjectedRNN: projected_rnn,
    keras.layers.RNN: refuse_recurrent,
    TimeLoop: time_loop,
}
