# See `keras_tagging/__init__.pyi`.

from . import conllu as conllu
from . import lemmas as lemmas
from .annotation import to_brat as to_brat
from .libraries import from_dataframe as from_dataframe
from .libraries import from_dataset as from_dataset
from .libraries import from_spacy as from_spacy
from .libraries import to_dataframe as to_dataframe
from .libraries import to_spacy as to_spacy
from .readers import FORMATS as FORMATS
from .readers import CorpusError as CorpusError
from .readers import detect_format as detect_format
from .readers import read as read
from .readers import write as write
from .sentence import Corpus as Corpus
from .sentence import Sentence as Sentence
from .surface import Entity as Entity
from .surface import Span as Span
from .surface import Token as Token
