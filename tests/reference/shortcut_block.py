"""NumPy shortcut and mixed block, written from Wu et al. (2017), section 3.

Arguments as in `skip_lstm`; skip_cell (units,) is c^{l-2}. Bernoulli gates are those
of inference: the shortcut is multiplied by p (section 3.2).
"""

import numpy as np
from reference.skip_lstm import FUNCTIONS, functions, preactivations

DEFAULTS = {
    "self_connection": False,
    "internal": "gated",
    "output": "gated",
    "gate": "vertical",
    "mapping": "identity",
    "cell_shortcut": False,
    "bernoulli_p": 0.5,
    "activation": "tanh",
    "recurrent_activation": "sigmoid",
}
NO_SHORTCUT = {"internal": None, "output": None, "gate": None, "cell_shortcut": False}


def reads(settings):
    settings = DEFAULTS | settings
    if settings["cell_shortcut"]:
        return ("skip", "skip_cell")
    return ("skip",) if settings["internal"] or settings["output"] else ()


def num_states(settings):
    return 2 if (DEFAULTS | settings)["self_connection"] else 1


def for_layer(layer, settings):
    """Layer 1 has no shortcut; layer 0 has no cell for layer 2 to take."""
    if layer == 1:
        return settings | NO_SHORTCUT
    if layer == 2 and settings.get("cell_shortcut"):
        return settings | {"cell_shortcut": False, "internal": None}
    return settings


def gate_value(x, h_tm1, skip, weights, settings):
    """g of section 3.2 and Table 3: a factor of h^{l-2}, or a matrix."""
    _, sigma = functions(settings)
    gate = settings["gate"]
    bias = weights.get("gate_bias", 0)
    if gate == "vertical":  # Eq. 6
        u, v = weights["gate_kernel"], weights["gate_skip_kernel"]
        return sigma(x @ u + skip @ v + bias)
    if gate == "below":  # Eq. 16
        return sigma(x @ weights["gate_kernel"] + bias)
    if gate == "recurrent":  # Table 3: sigma(U h_{t-1}^l)
        return sigma(h_tm1 @ weights["gate_recurrent_kernel"] + bias)
    if gate == "skip":  # Table 3: sigma(V h_t^{l-2})
        return sigma(skip @ weights["gate_skip_kernel"] + bias)
    if gate == "linear":  # Eq. 15
        return weights["gate_skip_kernel"]
    if gate == "scale":  # Table 3: w * h_t^{l-2}
        return weights["gate_scale"]
    if gate == "bernoulli":  # Eq. 17 at test time
        return settings["bernoulli_p"]
    if gate == "learned-bernoulli":  # Eq. 18 at test time
        return sigma(x @ weights["gate_kernel"] + bias)
    return None


def combine(own, shortcut, how, g):
    """Table 2: a shortcut added to c~ or h~, `own`."""
    if how is None:
        return own
    if how == "plain":
        return own + shortcut
    if how == "highway":
        return (1 - g) * own + g * shortcut
    if np.ndim(g) == 2:  # Eq. 15: the product g * h becomes W h
        return own + shortcut @ g
    return own + g * shortcut


def step(x, states, weights, settings, skip=None, skip_cell=None):
    settings = DEFAULTS | settings
    tanh, sigma = functions(settings)
    h_tm1 = states[0]
    gates = "ifos" if settings["self_connection"] else "ios"
    a = preactivations(x, h_tm1, weights, gates)

    g = shortcut = None
    if reads(settings):
        shortcut = FUNCTIONS[settings["mapping"]](skip)
        g = gate_value(x, h_tm1, skip, weights, settings)

    m = sigma(a["i"]) * tanh(a["s"])  # Eq. 10 without its shortcut
    if settings["self_connection"]:
        m = sigma(a["f"]) * states[1] + m  # c~, below Table 2
    if settings["cell_shortcut"]:  # Table 2, "shortcuts for both": g_c, c^{l-2}
        u, v = weights["cell_gate_kernel"], weights["cell_gate_skip_kernel"]
        g_c = sigma(x @ u + skip @ v + weights.get("cell_gate_bias", 0))
        m = combine(m, skip_cell, settings["internal"], g_c)
    else:  # Eq. 10; with the self-connection Eq. 7
        m = combine(m, shortcut, settings["internal"], g)
    h = sigma(a["o"]) * tanh(m)  # h~
    h = combine(h, shortcut, settings["output"], g)  # Eq. 8, 10
    return [h, m] if settings["self_connection"] else [h]
