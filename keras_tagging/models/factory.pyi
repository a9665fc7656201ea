# What `build` gives, by the name of the architecture: see `factory.py`.

from collections.abc import Mapping
from typing import Literal, overload

from keras_tagging.data.sentence import Corpus, Sentences
from keras_tagging.models.ccg.ccg_parser import CCGParser
from keras_tagging.models.ccg.shift_reduce_parser import ShiftReduceParser
from keras_tagging.models.parser.biaffine_parser import BiaffineParser
from keras_tagging.models.parser.parser import Parser
from keras_tagging.models.segmenter.segmenter import Segmenter
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger.tagger import Tagger

_Tagger = Literal[
    "bigru",
    "skip-bilstm",
    "shortcut-bilstm",
    "highway-bilstm",
    "rhn",
    "elman-rnn",
    "jordan-rnn",
    "i-rnn",
    "ie-rnn",
    "bilstm",
    "bilstm-crf",
]
_Parser = Literal["ffn-parser", "lstm-parser", "elman-parser", "gru-parser"]

@overload
def build(
    name: _Tagger,
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> Tagger: ...
@overload
def build(
    name: _Parser,
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> Parser: ...
@overload
def build(
    name: Literal["biaffine-parser"],
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> BiaffineParser: ...
@overload
def build(
    name: Literal["ccg-parser"],
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> CCGParser: ...
@overload
def build(
    name: Literal["ccg-shift-reduce"],
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> ShiftReduceParser: ...
@overload
def build(
    name: Literal["segmenter"],
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> Segmenter: ...
@overload
def build(
    name: str,
    *,
    recipe: str = "fast",
    seed: int | None = None,
    corpus: Corpus | Sentences | None = None,
    language: str | None = None,
    defaults: Mapping[str, object] = ...,
    **overrides: object,
) -> SentenceModel: ...
