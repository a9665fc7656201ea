"""The layers whose call is not recorded operation by operation."""

import keras

from keras_tagging.layers import ProjectedRNN
from keras_tagging.layers.loop import TimeLoop
from keras_tagging.onnx.recurrence import projected_rnn, time_loop


def dropout(tracer, layer, inputs, **_):
    """Nothing, outside of training."""
    return inputs


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
    keras.layers.Conv1D: convolution,
    ProjectedRNN: projected_rnn,
    keras.layers.RNN: refuse_recurrent,
    TimeLoop: time_loop,
}
