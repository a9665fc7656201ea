"""NumPy bidirectional stack with skip connections, for one unpadded sentence.

W16 Eq. 9 and 16 (`merge="top"`: two stacks, joined after the last layer) and the
variant in which every layer reads both directions (`merge="layer"`). Layer 0 is the
input-to-hidden layer (W17, section 5). `cell` is one of the cell references.
"""

import numpy as np


def run(cell, xs, weights, settings, backwards=False, **others):
    """One layer in one direction. `others` by the names of `cell.reads`.

    Returns h (time, units), and c or None, both in reading order of the sentence.
    """
    units = weights["recurrent_kernel"].shape[0]
    states = [np.zeros(units)] * cell.num_states(settings)
    outputs = np.zeros((len(states), len(xs), units))
    positions = range(len(xs))
    for t in reversed(positions) if backwards else positions:
        here = {name: others[name][t] for name in cell.reads(settings)}
        states = cell.step(xs[t], states, weights, settings, **here)
        outputs[:, t] = states
    return outputs[0], outputs[1] if len(states) == 2 else None


def stack(cell, xs, layers, settings, merge, input_layer=None, drop=None):
    """The outputs (time, 2 * units), forward direction first.

    Args:
        layers: [(forward weights, backward weights), ...] by layer.
        input_layer: (kernel, bias, function) of layer 0; None: h^0 is xs.
        drop: drop(layer, h) is what layers above see of h^layer; c is never dropped.
    """
    if input_layer is not None:
        kernel, bias, function = input_layer
        xs = function(xs @ kernel + bias)
    drop = drop or (lambda layer, h: h)
    # By layer, from layer 0; c^0 does not exist.
    h = [(xs, xs)]
    c = [(None, None)]
    for layer, both_weights in enumerate(layers, start=1):
        layer_settings = cell.for_layer(layer, settings)
        outputs = []
        for direction, weights in enumerate(both_weights):
            inputs = h[-1][direction]
            if merge == "layer" and layer > 1:
                inputs = np.concatenate(h[-1], axis=1)
            outputs.append(
                run(
                    cell,
                    inputs,
                    weights,
                    layer_settings,
                    backwards=direction == 1,
                    skip=h[-2][direction] if layer > 1 else None,
                    below_cell=c[-1][direction],
                    skip_cell=c[-2][direction] if layer > 1 else None,
                )
            )
        h.append(tuple(drop(layer, output) for output, _ in outputs))
        c.append(tuple(cell_state for _, cell_state in outputs))
    return np.concatenate(h[-1], axis=1)
