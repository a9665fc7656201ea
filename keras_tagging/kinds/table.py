"""The table of kinds: what there is of each in every room."""

from keras_tagging.kinds.kind import Kind, register

TAGGER = register(
    Kind(
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
        ensemble="keras_tagging.models.tagger.ensemble:TaggerEnsemble",
        learns="tags",
        command="tag",
        route="tag",
        stage=1,
        options=("tags", "embeddings", "init", "teacher", "top_k"),
        figures=("accuracy", "f1", "word", "sent"),
        analysis="keras_tagging.experiments.analysis:tagged_tokens",
    )
)
PARSER = register(
    Kind(
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
        ensemble="keras_tagging.models.parser.ensemble:ParserEnsemble",
        learns="trees",
        command="parse",
        route="parse",
        stage=2,
        options=("tags", "embeddings", "bootstrap", "teacher"),
        figures=("uas", "las"),
        analysis="keras_tagging.experiments.analysis:parsed_tokens",
    )
)
#: of CCG parsers, whatever their search
OF_DERIVATIONS = {
    "learns": "derivations",
    "command": "derive",
    "stage": 3,
    "options": ("embeddings",),
    "figures": (
        "labelled",
        "unlabelled",
        "dependencies",
        "unlabelled_dependencies",
        "exact",
        "coverage",
        "supertags",
    ),
    "analysis": "keras_tagging.experiments.analysis:derived_tokens",
}
CCG_PARSER = register(
    Kind(
        name="ccg-parser",
        model="keras_tagging.models.ccg.ccg_parser:CCGParser",
        architectures=("keras_tagging.architectures.yoshikawa2017:CCG_PARSER",),
        runtime="keras_tagging.runtime.ccg_parser:OnnxCCGParser",
        graph="keras_tagging.onnx.graphs:derivation_graph",
        **OF_DERIVATIONS,
    )
)
CCG_SHIFT_REDUCE = register(
    Kind(
        name="ccg-shift-reduce",
        model="keras_tagging.models.ccg.shift_reduce_parser:ShiftReduceParser",
        architectures=("keras_tagging.architectures.zhang2011:CCG_SHIFT_REDUCE",),
        runtime="keras_tagging.runtime.ccg_parser:OnnxShiftReduceParser",
        graph="keras_tagging.onnx.graphs:moves_graph",
        **OF_DERIVATIONS,
    )
)
SEGMENTER = register(
    Kind(
        name="segmenter",
        model="keras_tagging.models.segmenter.segmenter:Segmenter",
        architectures=("keras_tagging.architectures.straka2017:SEGMENTER",),
        runtime="keras_tagging.runtime.segmenter:OnnxSegmenter",
        graph="keras_tagging.onnx.graphs:segment_graph",
        reads="text",
        learns="surfaces",
        stage=0,
    )
)
PIPELINE = register(
    Kind(
        name="pipeline",
        model="keras_tagging.pipelines.pipeline:Pipeline",
        runtime="keras_tagging.runtime.pipeline:TextPipeline",
        reads="text",
        route="annotate",
        composed=True,
    )
)
