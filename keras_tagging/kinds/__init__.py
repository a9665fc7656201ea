"""The kinds of models: what everybody but the models themselves must know of each.

The rest of the room tells how what a network answers becomes a sentence. No Keras here:
the service, ONNX Runtime and the command line know kinds too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Literal


@dataclass(frozen=True)
class Output:
    """An output of an exported model: a value for each token, or several.

    Args:
        type: of ONNX: "string", "float" or "int32".
        padding: its value beyond the end of a sentence.
        ranked: whether it has an axis more than `(batch, time)`.
        served: whether the service gives it.
        optional: whether a file may lack it.
    """

    type: Literal["string", "float", "int32"]
    padding: str | float | int
    ranked: bool = False
    served: bool = True
    optional: bool = False

    @property
    def rank(self) -> int:
        """The number of its axes."""
        return 2 + self.ranked


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of models: tagger, parser, segmenter, pipeline, or one that you add.

    A model file, an ONNX file, a part of a pipeline and a service name a kind, and
    whoever reads the name asks `find`. A place in code is written "module:NAME", and
    imported when it is needed.

    Args:
        name: one word, as in "runs/x holds a tagger". Models have it as `kind`.
        model: place of the class of its models, a `SentenceModel`.
        architectures: places of each `Architecture` that `build` finds.
        runtime: place of the class that runs its ONNX files, an `OnnxModel`; None if
            there are none.
        graph: place of the function that computes its ONNX file: see `onnx.graphs`.
        ensemble: place of the class of its ensembles, an `Ensemble`; None if there are
            none.
        reads: "tokens", or "text" if its models find the tokens themselves.
        learns: the annotation of its corpora: "tags", "trees", "derivations",
            "surfaces" (the text that sentences come from), or None for columns alone.
        command: of `keras-tagging`, which uses its models.
        route: of the service, without the slash; None if it is not served alone.
        stage: its place in a pipeline, the lowest number first; None if it has none.
        part: the name that it has there; by default its own.
        composed: whether its models are made of models of other kinds.
        options: those of `train` and `export` that not every kind has.
        figures: those that have counts for tests of significance.
        analysis: place of the function that gives predicted labels to
            `experiments.analysis`, or None.

    Example:
        >>> from keras_tagging import kinds
        >>> kinds.find("parser").learns
        'trees'
        >>> kinds.find("parsr")
        Traceback (most recent call last):
        ...
        ValueError: there is no kind 'parsr': there are tagger, parser, ...
    """

    name: str
    model: str
    architectures: tuple[str, ...] = ()
    runtime: str | None = None
    graph: str | None = None
    ensemble: str | None = None
    reads: Literal["tokens", "text"] = "tokens"
    learns: Literal["tags", "trees", "derivations", "surfaces"] | None = None
    command: str = "annotate"
    route: str | None = None
    stage: int | None = None
    part: str | None = None
    composed: bool = False
    options: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    analysis: str | None = None

    def __str__(self):
        return self.name

    @property
    def part_name(self) -> str:
        """The name of a part of a pipeline that is of this kind."""
        return self.part or self.name

    def at(self, field: str):
        """The object at the place that a field names; a list for several places."""
        places = getattr(self, field)
        if isinstance(places, str):
            return resolve_name(places)
        return [resolve_name(place) for place in places]

    @property
    def reading(self) -> dict[str, bool]:
        """Keywords of readers of corpora: whether trees and the like are needed."""
        names = ("trees", "surfaces", "derivations")
        return {name: self.learns == name for name in names}


# Every kind, and where each room has its part of it

TAGGER = Kind(
    name="tagger",
    model="keras_tagging.models.tagger.tagger:Tagger",
    architectures=(
        "keras_tagging.architectures.kadari2018:BIGRU",
        "keras_tagging.architectures.wu2016:SKIP_BILSTM",
        "keras_tagging.architectures.wu2017:SHORTCUT_BILSTM",
        "keras_tagging.architectures.wu2016:HIGHWAY_BILSTM",
        "keras_tagging.architectures.wu2016:RHN",
        "keras_tagging.architectures.dinarelli2016:ELMAN_RNN",
        "keras_tagging.architectures.dinarelli2016:JORDAN_RNN",
        "keras_tagging.architectures.dinarelli2016:I_RNN",
        "keras_tagging.architectures.dinarelli2016:IE_RNN",
        "keras_tagging.architectures.wu2016:BILSTM",
        "keras_tagging.architectures.lample2016:BILSTM_CRF",
    ),
    runtime="keras_tagging.runtime.models:OnnxTagger",
    graph="keras_tagging.onnx.graphs:tag_graph",
    ensemble="keras_tagging.models.ensemble:TaggerEnsemble",
    learns="tags",
    command="tag",
    route="tag",
    stage=1,
    options=("tags", "embeddings", "init", "teacher", "top_k"),
    figures=("accuracy", "f1", "word", "sent"),
    analysis="keras_tagging.experiments.analysis:tagged_tokens",
)
PARSER = Kind(
    name="parser",
    model="keras_tagging.models.parser.parser:Parser",
    architectures=(
        "keras_tagging.architectures.elkaref2017:FFN_PARSER",
        "keras_tagging.architectures.elkaref2017:LSTM_PARSER",
        "keras_tagging.architectures.elkaref2017:ELMAN_PARSER",
        "keras_tagging.architectures.elkaref2017:GRU_PARSER",
    ),
    runtime="keras_tagging.runtime.models:OnnxParser",
    graph="keras_tagging.onnx.graphs:tree_graph",
    learns="trees",
    command="parse",
    route="parse",
    stage=2,
    options=("tags", "embeddings", "bootstrap"),
    figures=("uas", "las"),
    analysis="keras_tagging.experiments.analysis:parsed_tokens",
)
BIAFFINE_PARSER = Kind(
    name="biaffine-parser",
    model="keras_tagging.models.parser.biaffine_parser:BiaffineParser",
    architectures=("keras_tagging.architectures.dozat2017:BIAFFINE_PARSER",),
    runtime="keras_tagging.runtime.models:OnnxBiaffineParser",
    graph="keras_tagging.onnx.graphs:biaffine_graph",
    ensemble="keras_tagging.models.ensemble:BiaffineEnsemble",
    learns="trees",
    command="parse",
    route="parse",
    stage=2,
    part="parser",
    options=("tags", "embeddings", "teacher", "top_k"),
    figures=("uas", "las"),
    analysis="keras_tagging.experiments.analysis:parsed_tokens",
)
_FIGURES = ("labelled", "unlabelled", "dependencies", "unlabelled_dependencies")
_FIGURES += ("exact", "coverage", "supertags")
#: of CCG parsers, whatever their search
OF_DERIVATIONS = {
    "learns": "derivations",
    "command": "derive",
    "stage": 3,
    "options": ("embeddings",),
    "figures": _FIGURES,
    "analysis": "keras_tagging.experiments.analysis:derived_tokens",
}
CCG_PARSER = Kind(
    name="ccg-parser",
    model="keras_tagging.models.ccg.ccg_parser:CCGParser",
    architectures=("keras_tagging.architectures.yoshikawa2017:CCG_PARSER",),
    runtime="keras_tagging.runtime.ccg_parser:OnnxCCGParser",
    graph="keras_tagging.onnx.graphs:derivation_graph",
    **OF_DERIVATIONS,
)
CCG_SHIFT_REDUCE = Kind(
    name="ccg-shift-reduce",
    model="keras_tagging.models.ccg.shift_reduce_parser:ShiftReduceParser",
    architectures=("keras_tagging.architectures.zhang2011:CCG_SHIFT_REDUCE",),
    runtime="keras_tagging.runtime.ccg_parser:OnnxShiftReduceParser",
    graph="keras_tagging.onnx.graphs:moves_graph",
    **OF_DERIVATIONS,
)
SEGMENTER = Kind(
    name="segmenter",
    model="keras_tagging.models.segmenter.segmenter:Segmenter",
    architectures=("keras_tagging.architectures.straka2017:SEGMENTER",),
    runtime="keras_tagging.runtime.segmenter:OnnxSegmenter",
    graph="keras_tagging.onnx.graphs:segment_graph",
    reads="text",
    learns="surfaces",
    stage=0,
)
PIPELINE = Kind(
    name="pipeline",
    model="keras_tagging.pipelines.pipeline:Pipeline",
    runtime="keras_tagging.runtime.pipeline:TextPipeline",
    reads="text",
    route="annotate",
    composed=True,
)
_OF_TOKENS = (TAGGER, PARSER, BIAFFINE_PARSER, CCG_PARSER, CCG_SHIFT_REDUCE)
_KINDS = {kind.name: kind for kind in (*_OF_TOKENS, SEGMENTER, PIPELINE)}


def register(kind: Kind) -> Kind:
    """Make a kind known in this process.

    Returns:
        The kind.

    Raises:
        ValueError: if there is another one of its name.
    """
    if _KINDS.setdefault(kind.name, kind) != kind:
        raise ValueError(f"there is another kind {kind.name!r}: choose another name")
    return kind


def registered() -> dict[str, Kind]:
    """All kinds by name: first ours, then those that were registered."""
    return dict(_KINDS)


def each(field: str) -> Iterator[tuple[Kind, object]]:
    """Every kind of single models, with what stands where a field of it says."""
    for kind in registered().values():
        if not kind.composed:
            yield kind, kind.at(field)


def find(name: str) -> Kind:
    """The kind of a name.

    Raises:
        ValueError: if there is none; the message names those that there are.
    """
    kind = _KINDS.get(name) if isinstance(name, str) else None  # from any file
    if kind is None:
        raise ValueError(
            f"there is no kind {name!r:.60}: there are {', '.join(_KINDS)}"
        )
    return kind


def of(model) -> Kind:
    """The kind of a model."""
    return find(model.kind)


def named() -> str:
    """The kinds of single models in words: "tagger, parser or segmenter"."""
    *most, last = [kind.name for kind in registered().values() if not kind.composed]
    return f"{', '.join(most)} or {last}"
