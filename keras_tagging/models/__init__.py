"""The architectures: one a file, each ending in its paper's settings."""

from keras_tagging.models import (
    bigru,
    bilstm,
    bilstm_crf,
    elman_parser,
    elman_rnn,
    ffn_parser,
    gru_parser,
    highway_bilstm,
    i_rnn,
    ie_rnn,
    jordan_rnn,
    lstm_parser,
    rhn,
    shortcut_bilstm,
    skip_bilstm,
)

#: name -> module with `CELL`, `build_network`, `PAPER` and `FAST`
PARSERS = {
    "ffn-parser": ffn_parser,
    "lstm-parser": lstm_parser,
    "elman-parser": elman_parser,
    "gru-parser": gru_parser,
}
TAGGERS = {
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
ARCHITECTURES = {**TAGGERS, **PARSERS}

__all__ = ["ARCHITECTURES", "PARSERS", "TAGGERS"]
