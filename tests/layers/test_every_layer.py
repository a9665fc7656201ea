"""Every layer: its file of Keras, its dropout, half precision, what it refuses."""

from inspect import isfunction

import keras
import numpy as np
import pytest
from cells.cases import CASES, make, randomize
from keras import ops

from keras_tagging import layers as own
from keras_tagging.cells import ElmanCell, GRUCell, SkipLSTMCell, SkipStackCell

WORDS, TIME, SIZE, UNITS = 9, 5, 3, 4
LENGTHS = np.array([5, 2, 0, 4])
MASK = np.arange(TIME) < LENGTHS[:, None]
RNG = np.random.default_rng(1)
IDS = RNG.integers(1, WORDS, MASK.shape) * MASK
LETTERS = np.array([[2, 3, 4], [5, 0, 0], [0, 0, 0], [1, 6, 0]])
NODES, NODE_LABELS = (RNG.integers(0, 3, (len(IDS), 6, n)) for n in (8, 4))
CHUNKS = {"tags": ["B-X", "O", "I-X"], "scheme": "iob1"}
LABELS = {"num_labels": 3, "label_dim": 2, "label_context": 2}


def normal():
    return keras.initializers.RandomNormal(seed=3)


BIAFFINE = {"units": UNITS, "dropout": 0.2, "activation": "relu", "seed": 3}
BIAFFINE |= {"kernel_initializer": normal}
#: the arguments of a layer, none of which has its default value
ARGUMENTS = {
    own.ArcLabels: {"num_labels": 3, **BIAFFINE},
    own.BiaffineHeads: BIAFFINE,
    own.BidirectionalStack: {
        "cell": lambda: make(CASES["mixed-cell-shortcut"], dropout=0.5, seed=7),
        "num_layers": 3,
        "merge": "layer",
        "input_layer": "linear",
        "dropout": [0.25, 0.5, 0.0],
        "variational": True,
        "return_directions": True,
        "seed": 3,
    },
    own.CharacterEncoder: {
        "num_characters": 7,
        "units": UNITS,
        "kind": "coupled-lstm",
        "embedding_dim": 2,
        "dropout": 0.25,
        "embeddings_initializer": normal,
        "kernel_initializer": normal,
        "recurrent_initializer": normal,
        "seed": 5,
    },
    own.ChunkDecoder: {**CHUNKS, "from_logits": True},
    own.ContextWindow: {
        "size": 3,
        "gated": True,
        "dropout": 0.25,
        "kernel_initializer": normal,
        "bias_initializer": normal,
        "seed": 3,
    },
    own.CRF: {
        **CHUNKS,
        "num_tags": 3,
        "constrained": True,
        "initializer": normal,
        "kernel_initializer": normal,
        "return_dict": True,
    },
    own.LabelEmbeddingRNN: {
        **LABELS,
        "units": UNITS,
        "label_input": "one-hot",
        "hidden_context": 1,
        "combine": "concat",
        "activation": "tanh",
        "feedback": 0.25,
        "go_backwards": True,
        "beam_width": 2,
        "dropout": 0.1,
        "kernel_initializer": normal,
        "return_dict": True,
        "seed": 7,
    },
    own.ProjectedRNN: {
        "cell": lambda: SkipLSTMCell(UNITS, skip=None, gate=None),
        "return_cell": True,
        "return_sequences": True,
        "zero_output_for_mask": True,
    },
    own.TransitionScorer: {
        "cell": lambda: ElmanCell(UNITS, activation="tanh"),
        "num_labels": 2,
        "label_dim": 3,
        "system": "arc-standard",
        "truncation_limit": 2,
        "truncation": "chunked",
        "input_dropout": 0.1,
        "dropped": "tokens",
        "hidden_dropout": 0.2,
        "beam_width": 2,
        "arc_labels": ((1,), (1, 2)),
        "initializer": normal,
        "table_initializer": normal,
        "seed": 7,
    },
    own.WordClassEmbedding: {
        "rows": [[i % 3, 3] for i in range(WORDS)],
        "dim": 2,
        "embeddings_initializer": normal,
    },
}


def of(layer_class, **options):
    options = (ARGUMENTS[layer_class] | options).items()
    return layer_class(**{k: v() if isfunction(v) else v for k, v in options})


def outputs(x, ids, letters, nodes, labels):
    """What the layers give, and others of Keras with cells inside, by name."""
    states, directions = of(own.BidirectionalStack)(x)
    scores = keras.layers.Dense(3)(x)
    sequences = {"return_sequences": True, "zero_output_for_mask": True}
    skips = SkipStackCell([SkipLSTMCell(SIZE) for _ in range(3)])
    stack = keras.layers.RNN(skips, **sequences)
    rnn = own.LabelEmbeddingRNN(UNITS, **LABELS)
    return {
        "heads": of(own.BiaffineHeads)(x),
        "arcs": ops.concatenate(of(own.ArcLabels)(x), 1),
        "states": states,
        "characters": of(own.CharacterEncoder)(letters),
        "chunks": of(own.ChunkDecoder)(scores),
        "window": of(own.ContextWindow)(x),
        "crf": of(own.CRF)(scores),
        "labels": of(own.LabelEmbeddingRNN)(x, labels=ids % 3),
        "projected": of(own.ProjectedRNN)(x),
        "moves": of(own.TransitionScorer)(x, nodes, labels),
        "classes": of(own.WordClassEmbedding)(ids),
        "both ways": keras.layers.Bidirectional(stack)(x),
        "labels both ways": keras.layers.Bidirectional(rnn, merge_mode="ave")(x),
        "list": keras.layers.RNN([GRUCell(2), ElmanCell(3)], **sequences)(x),
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of all layers, and what is loaded of its file."""
    shapes = {"ids": (None,), "letters": (None,)}
    shapes |= {"nodes": (None, 8), "labels": (None, 4)}
    inputs = {k: keras.Input(x, dtype="int32", name=k) for k, x in shapes.items()}
    x = keras.layers.Embedding(WORDS, SIZE, mask_zero=True)(inputs["ids"])
    model = randomize(keras.Model(inputs, outputs(x, **inputs)), scale=0.5)
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    model.save(path)
    return model, keras.saving.load_model(path)


def test_outputs_of_the_saved_layers_are_the_same(models):
    given = dict(ids=IDS, letters=LETTERS, nodes=NODES, labels=NODE_LABELS)
    given = {name: ops.convert_to_tensor(x, "int32") for name, x in given.items()}
    found, expected = (
        keras.tree.map_structure(ops.convert_to_numpy, model(given)) for model in models
    )
    assert found["chunks"].dtype == found["crf"]["tags"].dtype == "int32"
    assert found["heads"].shape == (len(IDS), TIME, TIME + 1)
    for name in ("chunks", "projected", "both ways", "labels both ways", "list"):
        assert not found[name][~MASK].any() and found[name][MASK].any()
    keras.tree.map_structure(np.testing.assert_array_equal, found, expected)


@pytest.mark.one_backend
@pytest.mark.parametrize("layer_class", ARGUMENTS, ids=lambda x: x.__name__)
def test_every_argument_is_kept(layer_class, models):
    before, after = (
        next(x for x in model.layers if type(x) is layer_class) for model in models
    )
    config, again = before.get_config(), after.get_config()
    for each in (config, again):
        each.get("cell", {}).pop("build_config", None)  # of Keras
    assert again == config
    for name, value in ARGUMENTS[layer_class].items():
        if value is normal:
            assert config[name]["class_name"] == "RandomNormal", name
        elif name != "cell":
            saved = config[name]
            assert (type(value)(saved) if saved else saved) == value, name


X = RNG.normal(size=(*MASK.shape, SIZE)).astype("float32")
#: what is called with other inputs
INPUTS = {
    own.CharacterEncoder: (LETTERS,),
    own.TransitionScorer: (X, NODES, NODE_LABELS),
    own.WordClassEmbedding: (IDS,),
}


def run(layer, **options):
    """The first of what a layer gives."""
    given = map(ops.convert_to_tensor, INPUTS.get(type(layer), (X,)))
    first, *_ = keras.tree.flatten(layer(*given, **options))
    return first


RATES = {
    own.ArcLabels: {},
    own.BiaffineHeads: {},
    own.BidirectionalStack: {"cell": lambda: GRUCell(UNITS), "num_layers": 1},
    own.CharacterEncoder: {},
    own.ContextWindow: {},
    own.LabelEmbeddingRNN: {"feedback": "predicted", "beam_width": 1},
    own.TransitionScorer: {"hidden_dropout": 0.0, "rate": "input_dropout"},
}


@pytest.mark.parametrize("layer_class", RATES, ids=lambda x: x.__name__)
def test_dropout_is_of_training_alone_and_repeatable_by_seed(layer_class):
    options = dict(RATES[layer_class])
    rate, outputs = options.pop("rate", "dropout"), []
    for value, seed in ((0.5, 1), (0.5, 1), (0.5, 2), (0.0, 1)):
        layer = of(layer_class, **options | {rate: value, "seed": seed})
        run(layer)
        randomize(layer)
        both = (run(layer, training=training) for training in (False, True))
        outputs.append([*map(ops.convert_to_numpy, both)])
    (plain, first), (_, again), (_, other), (_, none) = outputs
    for inference, _ in outputs:
        np.testing.assert_array_equal(inference, plain)
    np.testing.assert_array_equal(first, again)
    assert abs(first - other).max() > 1e-3 and abs(first - none).max() > 1e-3


#: those that do not compute in half precision, which would round what they tell apart
FLOAT32 = {own.BiaffineHeads, own.CRF, own.LabelEmbeddingRNN}


@pytest.mark.one_backend
@pytest.mark.parametrize(
    "layer_class",
    [x for x in ARGUMENTS if x not in (own.ChunkDecoder, own.TransitionScorer)],
    ids=lambda x: x.__name__,
)
def test_half_precision(layer_class):
    options, outputs = ARGUMENTS[layer_class], []
    for dtype in ("float32", "mixed_bfloat16"):
        more = {"dtype": dtype}
        if "cell" in options:
            cell = options["cell"]().get_config() | {"dtype": dtype}
            more["cell"] = type(options["cell"]()).from_config(cell)
        layer = of(layer_class, **more)
        run(layer)
        randomize(layer, scale=0.5)
        outputs.append(run(layer))
    exact, half = outputs
    expected = "float32" if layer_class in FLOAT32 else "bfloat16"
    assert keras.backend.standardize_dtype(half.dtype) == expected
    assert {weight.dtype for weight in layer.trainable_weights} <= {"float32"}
    exact, half = (ops.convert_to_numpy(ops.cast(x, "float32")) for x in (exact, half))
    np.testing.assert_allclose(half, exact, atol=0.1)


#: by layer the arguments that are refused when it is made, or has read scores of 3 tags
REFUSED = [
    (own.BidirectionalStack, {"merge": "sum"}, "merge='sum': known are 'top', 'lay"),
    (own.CharacterEncoder, {"kind": "rnn"}, "kind='rnn': known are 'gru', 'lstm'"),
    (own.ContextWindow, {"size": -1}, "an odd number of positions, not -1"),
    (own.ContextWindow, {"size": 2}, "an odd number of positions, not 2"),
    (own.CRF, {"tags": None}, "give tags="),
    (own.CRF, {"tags": ["N", "V", "D"]}, "N, V, D"),
    (own.LabelEmbeddingRNN, {"label_input": "words"}, "label_input='words'"),
    (own.LabelEmbeddingRNN, {"feedback": "teacher"}, "feedback='teacher'"),
    (own.LabelEmbeddingRNN, {"feedback": 1.5}, "feedback=1.5"),
    (own.ProjectedRNN, {"cell": GRUCell(3)}, "return_cell needs"),
    (own.ProjectedRNN, {"zero_output_for_mask": False}, "return_cell needs"),
    (own.TransitionScorer, {"truncation": "slid"}, "truncation='slid': known are 'sl"),
    (own.TransitionScorer, {"system": "swop"}, "system='swop': known are 'arc-stand"),
    (own.TransitionScorer, {"cell": GRUCell(3, dropout=0.1)}, "no dropout of the cell"),
]


@pytest.mark.one_backend
@pytest.mark.parametrize("layer_class, options, message", REFUSED)
def test_what_is_refused(layer_class, options, message):
    with pytest.raises(ValueError, match=message):
        of(layer_class, **options).build((None, None, 3))


def test_word_classes_are_rows_of_one_table():
    rows = [[0, 0], [1, 1], [2, 3], [2, 4]]
    layer = own.WordClassEmbedding(rows, 3)
    ids = np.array([[2, 3, 1]], "int32")
    found = ops.convert_to_numpy(layer(ids))
    table = ops.convert_to_numpy(layer.table)
    assert table.shape == (5, 3)
    expected = [
        np.concatenate([table[a], table[b]]) for a, b in [(2, 3), (2, 4), (1, 1)]
    ]
    np.testing.assert_allclose(found[0], expected)
    again = own.WordClassEmbedding.from_config(layer.get_config())
    assert again(ids).shape == layer.compute_output_shape((1, 3)) == (1, 3, 6)
