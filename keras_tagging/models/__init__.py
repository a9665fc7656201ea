"""The architectures: one a file, each ending in its paper's settings."""

from keras_tagging.models import (
    bigru,
    bilstm,
    bilstm_crf,
    elman_rnn,
    highway_bilstm,
    i_rnn,
    ie_rnn,
    jordan_rnn,
    rhn,
    shortcut_bilstm,
    skip_bilstm,
)

#: name -> module with `CELL`, `build_network`, `PAPER` and `FAST`
ARCHITECTURES = {
    "bigru": bigru,
    "skip-bilstm": skip_bilstm,
    "shortcut-bilstm": shortcut_bilstm,
    "highway-bilstm": highway_bilstm,
    "rhn": rhn,
    "elman-rnn": elman_rnn,
    "jordan-rnn": jordan_rnn,
    "i-rnn": i_rnn,
    "ie-rnn": ie_rnn,
    "bilstm": bilstm,
    "bilstm-crf": bilstm_crf,
}

__all__ = ["ARCHITECTURES"]
