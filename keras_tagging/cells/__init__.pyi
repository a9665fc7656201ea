# See `keras_tagging/__init__.pyi`.

from .coupled_lstm_cell import CoupledLSTMCell as CoupledLSTMCell
from .elman_cell import ElmanCell as ElmanCell
from .feed_forward_cell import FeedForwardCell as FeedForwardCell
from .gru_cell import GRUCell as GRUCell
from .highway_lstm_cell import HighwayLSTMCell as HighwayLSTMCell
from .label_embedding_cell import LabelEmbeddingCell as LabelEmbeddingCell
from .layered_cell import LayeredCell as LayeredCell
from .recurrent_cell import RecurrentCell as RecurrentCell
from .recurrent_highway_cell import RecurrentHighwayCell as RecurrentHighwayCell
from .regularized_layer import RegularizedLayer as RegularizedLayer
from .shortcut_block_cell import ShortcutBlockCell as ShortcutBlockCell
from .skip_lstm_cell import SkipLSTMCell as SkipLSTMCell
from .skip_stack_cell import SkipStackCell as SkipStackCell
