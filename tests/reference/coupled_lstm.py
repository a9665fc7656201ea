"""NumPy LSTM with coupled gates, from the equations of Lample et al. (2016), 2.1.

Arguments as in `skip_lstm`. `peephole_recurrent_kernel` is W_ci, then W_co.
"""

import numpy as np
from reference.skip_lstm import functions, preactivations

DEFAULTS = {"activation": "tanh", "recurrent_activation": "sigmoid"}


def reads(settings):
    return ()


def num_states(settings):
    return 2


def for_layer(layer, settings):
    return settings


def step(x, states, weights, settings):
    tanh, sigma = functions(DEFAULTS | settings)
    h_tm1, c_tm1 = states
    a = preactivations(x, h_tm1, weights, "ioc")
    w_ci, w_co = np.split(weights["peephole_recurrent_kernel"], 2, axis=1)
    i = sigma(a["i"] + c_tm1 @ w_ci)
    c = (1 - i) * c_tm1 + i * tanh(a["c"])
    o = sigma(a["o"] + c @ w_co)
    return [o * tanh(c), c]
