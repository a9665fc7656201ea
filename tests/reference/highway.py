"""NumPy highway LSTM (Zhang et al. 2016) and recurrent highway network.

The equations are those of Zhang et al. (2016) and Zilly et al. (2016), the latter
with footnote 2 of Wu et al. (2016). Arguments as in `skip_lstm`; below_cell (units,)
is c^{l-1}.
"""

from types import SimpleNamespace

import numpy as np
from reference.skip_lstm import functions, preactivations

DEFAULTS = {"activation": "tanh", "recurrent_activation": "sigmoid"}
LSTM_DEFAULTS = DEFAULTS | {"depth_gate": True, "peepholes": False}
RHN_DEFAULTS = DEFAULTS | {"depth": 3, "coupled": False, "output_gate": True}


def lstm_reads(settings):
    return ("below_cell",) if (LSTM_DEFAULTS | settings)["depth_gate"] else ()


def lstm_for_layer(layer, settings):
    """The first layer is an LSTM: no cell lies below it."""
    return settings | {"depth_gate": False} if layer == 1 else settings


def lstm_step(x, states, weights, settings, below_cell=None):
    settings = LSTM_DEFAULTS | settings
    tanh, sigma = functions(settings)
    h_tm1, c_tm1 = states
    a = preactivations(x, h_tm1, weights, "ifos")
    if settings["peepholes"]:
        a["i"] = a["i"] + weights["peephole_i"] * c_tm1
        a["f"] = a["f"] + weights["peephole_f"] * c_tm1
    c = sigma(a["f"]) * c_tm1 + sigma(a["i"]) * tanh(a["s"])
    if settings["depth_gate"]:
        # d = sigma(W_d h_t^{l-1} + w_c * c_{t-1} + w_l * c_t^{l-1} + b_d)
        d = sigma(
            x @ weights["depth_kernel"]
            + weights["depth_recurrent"] * c_tm1
            + weights["depth_below"] * below_cell
            + weights.get("depth_bias", 0)
        )
        c = d * below_cell + c
    if settings["peepholes"]:
        a["o"] = a["o"] + weights["peephole_o"] * c
    return [sigma(a["o"]) * tanh(c), c]


def rhn_step(x, states, weights, settings):
    settings = RHN_DEFAULTS | settings
    tanh, sigma = functions(settings)
    (y_tm1,) = states
    micro_gates = "ht" if settings["coupled"] else "htc"
    gates = micro_gates + ("o" if settings["output_gate"] else "")
    first = preactivations(x, y_tm1, weights, gates)
    s = y_tm1  # s_0
    for layer in range(1, settings["depth"] + 1):
        if layer == 1:
            a = first
        else:  # the input enters at the first micro-step only
            sums = s @ weights[f"recurrent_kernel_{layer}"]
            sums = sums + weights.get(f"bias_{layer}", 0)
            parts = np.split(sums, len(micro_gates))
            a = dict(zip(micro_gates, parts, strict=True))
        candidate, t = tanh(a["h"]), sigma(a["t"])
        carry = 1 - t if settings["coupled"] else sigma(a["c"])
        s = candidate * t + s * carry
    if settings["output_gate"]:  # footnote 2: o * tanh(s_L) in place of s_L
        s = sigma(first["o"]) * tanh(s)
    return [s]


# The same names as in `skip_lstm` and `shortcut_block`.
lstm = SimpleNamespace(
    step=lstm_step,
    reads=lstm_reads,
    for_layer=lstm_for_layer,
    num_states=lambda settings: 2,
)
rhn = SimpleNamespace(
    step=rhn_step,
    reads=lambda settings: (),
    for_layer=lambda layer, settings: settings,
    num_states=lambda settings: 1,
)
