"""NumPy LSTM with skip connections, written from Wu et al. (2016), sections 4, 6.1.4.

A step is one time step of one sentence in float64: x (features,) is h^{l-1}, skip
(units,) is h^{l-2}. `weights` are arrays by name, `settings` constructor keywords.
The other references of Wu's cells share the first functions.
"""

import numpy as np

DEFAULTS = {
    "skip": "outputs",
    "gate": "joint",
    "mapping": "identity",
    "activation": "tanh",
    "recurrent_activation": "sigmoid",
}

FUNCTIONS = {
    "identity": lambda a: a,
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "relu": lambda a: np.maximum(a, 0),
    "hard_sigmoid": lambda a: np.clip(a / 6 + 0.5, 0, 1),
}


def functions(settings):
    """The two nonlinearities, tanh and sigm of the papers."""
    return FUNCTIONS[settings["activation"]], FUNCTIONS[
        settings["recurrent_activation"]
    ]


def preactivations(x, h_tm1, weights, gates):
    """W [h_t^{l-1}; h_{t-1}^l] + b by gate letter, columns in the order of `gates`."""
    matrix = np.concatenate([weights["kernel"], weights["recurrent_kernel"]])
    sums = np.concatenate([x, h_tm1]) @ matrix + weights.get("bias", 0)
    return dict(zip(gates, np.split(sums, len(gates)), strict=True))


def reads(settings):
    """What the cell reads besides h^{l-1}, in the order of its input."""
    return ("skip",) if (DEFAULTS | settings)["skip"] else ()


def num_states(settings):
    return 2


def for_layer(layer, settings):
    """Layer 1 has nothing to skip from, and no gate."""
    return settings | {"skip": None, "gate": None} if layer == 1 else settings


def step(x, states, weights, settings, skip=None):
    settings = DEFAULTS | settings
    tanh, sigma = functions(settings)
    h_tm1, c_tm1 = states
    where, gate = settings["skip"], settings["gate"]
    added = FUNCTIONS[settings["mapping"]](skip) if where else None

    a = preactivations(x, h_tm1, weights, "ifogs" if gate == "joint" else "ifos")
    if where == "gates":  # Eq. 10: I^l is the identity, once for each row of W^l
        a = {letter: value + added for letter, value in a.items()}
    i, f, o, s = sigma(a["i"]), sigma(a["f"]), sigma(a["o"]), tanh(a["s"])  # Eq. 9

    g = 1.0
    if gate == "joint":  # Eq. 15
        g = sigma(a["g"])
    elif gate == "exclusive":  # 6.1.4: g = sigma(W_g h_{t-1}^l + U_g h_t^{l-2})
        w_g, u_g = weights["gate_recurrent_kernel"], weights["gate_skip_kernel"]
        g = sigma(h_tm1 @ w_g + skip @ u_g + weights.get("gate_bias", 0))
    elif gate == "vertical":  # Eq. 6 of Wu et al. (2017)
        u, v = weights["gate_kernel"], weights["gate_skip_kernel"]
        g = sigma(x @ u + skip @ v + weights.get("gate_bias", 0))

    c = f * c_tm1 + i * s  # Eq. 13
    if where == "internals":
        c = c + g * added  # Eq. 11
    h = o * tanh(c)  # Eq. 12
    if where == "outputs":
        h = h + g * added  # Eq. 14; with g Eq. 15
    return [h, c]
