"""The layers whose call is not recorded operation by operation.

Loops over the time axis are GRU and LSTM where ONNX has them, else Scan.
"""

from functools import partial

import keras
import numpy as np

from keras_tagging.cells import GRUCell, HighwayLSTMCell, SkipLSTMCell
from keras_tagging.layers import ChunkDecoder, ProjectedRNN
from keras_tagging.layers.loop import TimeLoop
from keras_tagging.onnx.arrays import Array
from keras_tagging.onnx.int8 import int8_lstm


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


def projected_rnn(tracer, layer, sequences, initial_state=None, mask=None, **_):
    """A `ProjectedRNN`: `(batch, time, size)`, from its last step with `go_backwards`.

    One that returns no sequence: `(batch, size)`, what the last real step gives.

    Args:
        mask: False at the end of each sentence, and nowhere else.
    """
    # the last output is then the first state, which is kept where masked
    fits = layer.return_sequences == layer.zero_output_for_mask
    if not fits or layer.return_state or layer.stateful or initial_state is not None:
        raise NotImplementedError(
            "a recurrent layer that returns states, or does not begin with zeros"
        )
    cell = layer.cell
    native = None if layer.return_cell else _native(cell)
    if native:
        outputs, last = _run(tracer.xp, *native, sequences, mask, layer.go_backwards)
    else:
        outputs, last = _by_steps(tracer, layer, sequences, mask)
    if not layer.return_sequences:
        return last
    if not layer.go_backwards:
        return outputs
    turned = tracer.xp.flip(outputs, 1)
    turned.reverse = outputs
    return turned


def time_loop(tracer, loop, sequences, states, mask=None):
    """A `layers.loop.TimeLoop`."""
    return scan(tracer, loop.step, sequences, states, mask, loop.backwards)[0]


def _by_steps(tracer, layer, sequences, mask):
    cell = layer.cell
    projected = tracer.call(cell.project, sequences)
    cell_step = partial(cell.step, weights=list(cell.recurrent_weights()))

    def step(x, states):
        output, states = cell_step(x, states)
        if layer.return_cell:
            output = keras.ops.concatenate([output, states[1]], -1)
        return output, states

    zeros = tracer.xp.zeros_like(projected[:, 0, :1])
    states = []
    for size in cell.state_sizes:
        state = tracer.xp.tile(zeros, [1, size])
        state.shape = (None, size)
        states.append(state)
    return scan(tracer, step, projected, states, mask, layer.go_backwards)


def scan(tracer, step, sequences, states, mask, backwards=False) -> list[Array]:
    """`layers.loop.over_time` as an ONNX Scan.

    Args:
        step: of symbolic tensors `(batch, features)` and the list of states.
        sequences: `(batch, time, features)`.
        states: the initial ones.
        mask: `(batch, time)`, or None.
        backwards: whether to start at the end.

    Returns:
        `(batch, time, output_size)` in the order of the sentence, 0 where masked; and
        the first of the states after the last step.
    """
    xp = tracer.xp
    builder = xp.builder
    inputs = [*states, sequences] + ([] if mask is None else [mask])
    shapes = [tuple(x.shape) for x in states]
    shapes += [(None, *x.shape[2:]) for x in inputs[len(states) :]]
    here = [
        Array(xp, builder.name("step"), x.dtype, shape)
        for x, shape in zip(inputs, shapes, strict=True)
    ]
    kept = []

    def make():
        before, x = here[: len(states)], here[len(states)]
        with tracer.inside():
            output, after = tracer.call(step, x, before)
        kept.append(output)
        if mask is not None:
            real = xp.expand_dims(here[-1], -1)
            after = [xp.where(real, a, b) for a, b in zip(after, before, strict=True)]
            output = xp.where(real, output, xp.asarray(0, output.dtype))
        sizes = [*shapes[: len(states)], kept[0].shape]
        return zip([*after, output], sizes, strict=True)

    body = builder.body(here, make, loops=True)
    count = len(inputs) - len(states)
    names = builder.node(
        "Scan",
        [x.name for x in inputs],
        len(states) + 1,
        body=body,
        num_scan_inputs=count,
        scan_input_axes=[1] * count,
        scan_input_directions=[int(backwards)] * count,
        scan_output_axes=[1],
        scan_output_directions=[int(backwards)],
    )
    batch, *rest = kept[0].shape
    outputs = Array(xp, names[-1], kept[0].dtype, (batch, None, *rest))
    return [outputs, Array(xp, names[0], states[0].dtype, shapes[0])]


# Cells that ONNX has as one operation


def _native(cell):
    """ONNX's operation with the equations of a cell, and its weights; None without one.

    The weights are kernel, recurrent kernel and bias, `(gates, units, any)`.
    """
    activations = (cell.activation, cell.recurrent_activation)
    if [*map(keras.activations.serialize, activations)] != ["tanh", "sigmoid"]:
        return None
    if isinstance(cell, GRUCell):
        # K18 Eq. 3-6: ONNX has h = (1 - z) h~ + z h_tm1, which is `update="keep"`. Its
        # products with h_tm1 come after the reset gate, which is the default.
        weights = _weights(cell, 3)
        if cell.update == "new":  # 1 - sigmoid(x) = sigmoid(-x)
            for gates in weights:
                gates[0] *= -1
        return "GRU", weights
    is_lstm = isinstance(cell, SkipLSTMCell) and cell.skip is None
    if isinstance(cell, HighwayLSTMCell):
        is_lstm = not (cell.depth_gate or cell.peepholes)
    if not is_lstm:
        return None
    # W16 Eq. 9: gates i, f, o, s, in ONNX i, o, f, s
    return "LSTM", [gates[[0, 2, 1, 3]] for gates in _weights(cell, 4)]


def _weights(cell, gates):
    bias = np.zeros(gates * cell.units) if cell.bias is None else cell.bias
    weights = (cell.kernel, cell.recurrent_kernel, bias)
    arrays = (keras.ops.convert_to_numpy(w).astype("float32").T for w in weights)
    return [array.reshape(gates, cell.units, -1) for array in arrays]


def _run(xp, operation, weights, sequences, mask, backwards):
    units = weights[0].shape[1]
    lengths = None if mask is None else xp.sum(mask, 1)
    options = {"outputs": 2, "direction": "reverse" if backwards else "forward"}
    int8 = xp.int8 and operation == "LSTM"
    if int8 and sequences.most is not None:
        outputs, last = int8_lstm(xp, weights, sequences, lengths, **options)
    else:
        kernel, recurrent, bias = (w.reshape(1, len(w) * units, -1) for w in weights)
        bias = np.concatenate([bias, np.zeros_like(bias)], 1)[..., 0]
        inputs = xp.transpose(sequences, (1, 0, 2)), kernel, recurrent, bias, lengths
        outputs, last = xp.node(operation, *inputs, hidden_size=units, **options)
    outputs = xp.transpose(xp.squeeze(outputs, 1), (1, 0, 2))
    outputs.shape, outputs.most = (None, None, units), np.ones(units) if int8 else None
    last = xp.squeeze(last, 0)
    last.shape = (None, units)
    return outputs, last


def refuse_recurrent(tracer, layer, *_, **__):
    raise NotImplementedError(f"keras.layers.{type(layer).__name__}")


def chunks(tracer, layer, inputs, mask=None, **_):
    """The best tags of a `ChunkDecoder`: searched for if a single sentence needs it.

    Mostly the best tag of each token makes consistent chunks, and the search takes as
    long as a network. Masked tokens are at the end, as in a `Request`.
    """
    xp = tracer.xp
    start, transitions, end = layer._penalties
    best = xp.cast(xp.argmax(inputs, -1), "int32")
    real = xp.ones_like(best) if mask is None else xp.cast(mask, "int32")
    edge = xp.zeros_like(best[:, :1])
    # the row behind those of the tags is that of the beginning
    rows = xp.concatenate([edge + np.int32(len(start)), best[:, :-1]], 1)
    barred = np.concatenate([transitions, start[None]]) < 0
    places = rows * np.int32(len(start)) + best
    wrong = xp.take(barred.astype("int32").ravel(), places) * real
    last = real - xp.concatenate([real[:, 1:], edge], 1)
    wrong = wrong + xp.take((end < 0).astype("int32"), best) * last

    def search():
        with tracer.inside():
            return [tracer.trace(layer, inputs, mask=mask)]

    shapes = [(None, None)]
    return xp.branches(xp.any(wrong > 0), search, lambda: [best * real], shapes)[0]


LAYERS = {
    # nothing, outside of training
    keras.layers.Dropout: lambda tracer, layer, inputs, **_: inputs,
    keras.layers.Conv1D: convolution,
    ChunkDecoder: chunks,
    ProjectedRNN: projected_rnn,
    keras.layers.RNN: refuse_recurrent,
    TimeLoop: time_loop,
}
