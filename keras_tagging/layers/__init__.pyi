# See `keras_tagging/__init__.pyi`.

from .biaffine import ArcLabels as ArcLabels
from .biaffine import BiaffineHeads as BiaffineHeads
from .bidirectional_stack import BidirectionalStack as BidirectionalStack
from .character_encoder import CharacterEncoder as CharacterEncoder
from .chunk_decoder import ChunkDecoder as ChunkDecoder
from .context_window import ContextWindow as ContextWindow
from .crf import CRF as CRF
from .crf import CRFAccuracy as CRFAccuracy
from .crf import CRFLoss as CRFLoss
from .label_embedding_rnn import LabelEmbeddingRNN as LabelEmbeddingRNN
from .projected_rnn import ProjectedRNN as ProjectedRNN
from .transition_scorer import TransitionScorer as TransitionScorer
from .word_class_embedding import WordClassEmbedding as WordClassEmbedding
