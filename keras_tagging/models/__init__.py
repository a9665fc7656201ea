"""The architectures: one a file, each ending in its paper's settings."""

from keras_tagging.architectures import bigru
from keras_tagging.architectures import bilstm
from keras_tagging.architectures import bilstm_crf
from keras_tagging.architectures import elman_parser
from keras_tagging.architectures import elman_rnn
from keras_tagging.architectures import ffn_parser
from keras_tagging.architectures import gru_parser
from keras_tagging.architectures import highway_bilstm
from keras_tagging.architectures import i_rnn
from keras_tagging.architectures import ie_rnn
from keras_tagging.architectures import jordan_rnn
from keras_tagging.architectures import lstm_parser
from keras_tagging.architectures import rhn
from keras_tagging.architectures import shortcut_bilstm
from keras_tagging.architectures import skip_bilstm

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
