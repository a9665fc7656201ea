# See `keras_tagging/__init__.pyi`.

from .ccg.ccg_parser import CCGParser as CCGParser
from .ccg.shift_reduce_parser import ShiftReduceParser as ShiftReduceParser
from .ensemble import Ensemble as Ensemble
from .factory import build as build
from .files.loading import load as load
from .parser.biaffine_parser import BiaffineParser as BiaffineParser
from .parser.parser import Parser as Parser
from .segmenter.segmenter import Segmenter as Segmenter
from .sentence_model import SentenceModel as SentenceModel
from .tagger.tagger import Tagger as Tagger
