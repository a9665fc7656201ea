"""Bootstrapping: sections 4, 7 and 8 of Elkaref & Bohnet (2017), Tables 3 to 5."""

import keras
import numpy as np
import pytest
from cells.cases import named_weights
from conftest import check_close
from models.parsers import DEV, LEARNING, TRAIN, build, gold, random_parser

import keras_tagging
from keras_tagging.transitions import ARC_STANDARD, system
from keras_tagging.vectors import WordVectors

# The paper's gates in the order of the cell's kernel.
GATES = {"lstm-parser": "ifoj", "gru-parser": "zrh", "elman-parser": "h"}
# a network, some of its gates, and whether it has vocabularies before
ROWS = [
    *(("elman-parser", "all", True), ("lstm-parser", "all", False)),
    *(("lstm-parser", "f", True), ("lstm-parser", ("i", "j"), False)),
    *(("lstm-parser", (), False), ("gru-parser", ("r", "h"), False)),
]


@pytest.fixture(scope="module")
def ffn():
    """Random weights: to be read, not changed."""
    return random_parser("ffn-parser")


def blocks(weights, gates):
    """Kernel and bias of each gate."""
    parts = (np.split(weights[name], len(gates), -1) for name in ("kernel", "bias"))
    return dict(zip(gates, zip(*parts, strict=True), strict=True))


def copied(parser):
    """By name: what is copied whatever the gates."""
    tables = {w.path: w for w in parser.network.weights}
    scorer = {w.name: w for w in parser.scorer.weights}
    names = ("boundary", "label_embeddings", "output_kernel")
    found = tables | {name: scorer[name] for name in names}
    return {name: keras.ops.convert_to_numpy(w) for name, w in found.items()}


@pytest.mark.parametrize("name, gates, adapted", ROWS)
def test_what_is_copied(ffn, name, gates, adapted):
    untouched = build(name)
    untouched.adapt(TRAIN)
    parser = build(name)
    if adapted:
        parser.adapt(TRAIN)
    parser.bootstrap(ffn, gates)

    found, expected = copied(parser), copied(ffn)
    assert len(found) == len(expected) == 5  # words, tags, and those of the scorer
    check_close(found.values(), expected.values())

    source = named_weights(ffn.scorer.cell)
    before, after = (named_weights(each.scorer.cell) for each in (untouched, parser))
    own, given = (blocks(w, GATES[name]) for w in (after, before))
    chosen = GATES[name] if gates == "all" else gates
    for gate, (kernel, bias) in own.items():
        if gate in chosen:
            np.testing.assert_array_equal(kernel, source["kernel"])
            # 1 is in the equation of the forget gate (section 3.3)
            np.testing.assert_allclose(bias, source["bias"] + (gate == "f"), rtol=1e-6)
        else:
            np.testing.assert_array_equal(kernel, given[gate][0])
            np.testing.assert_array_equal(bias, given[gate][1])
    # what reads h_{t-1} stays as it was
    key = "recurrent_kernel"
    np.testing.assert_array_equal(after[key], before[key])
    assert abs(after[key]).max() > 0.1
    assert parser.labels == ffn.labels
    assert parser.features.vocabularies == ffn.features.vocabularies


@pytest.mark.usefixtures("eager")
def test_an_lstm_with_peepholes(ffn):
    """That of Kuncoro et al. (2016): the gates are those of the plain one."""
    parser = build("lstm-parser", peepholes=True)
    parser.bootstrap(ffn, ("i", "f"))
    cell, source = parser.scorer.cell, named_weights(ffn.scorer.cell)
    found = named_weights(cell)
    assert {"peephole_i", "peephole_f", "peephole_o"} < set(found)
    for gate, (kernel, bias) in blocks(found, "ifoj").items():
        same = np.array_equal(kernel, source["kernel"])
        assert same == (gate in "if")
        if same:
            np.testing.assert_allclose(bias, source["bias"] + (gate == "f"), rtol=1e-6)
    before = [np.array(w) for w in cell.weights]
    parser.fit(TRAIN[:3], epochs=1, verbose=0)
    for weight, old in zip(cell.weights, before, strict=True):
        assert np.abs(np.array(weight) - old).max() > 0, weight.path


def test_elman_that_does_not_look_back_gives_the_trees_of_the_feed_forward_parser(ffn):
    parser = build("elman-parser")
    parser.bootstrap(ffn)
    expected = ffn.predict(DEV)
    assert parser.predict(DEV) != expected
    recurrent = parser.scorer.cell.recurrent_kernel
    recurrent.assign(np.zeros(recurrent.shape))
    assert parser.predict(DEV) == expected


@pytest.mark.usefixtures("eager")
def test_a_bootstrapped_parser_is_trained_and_saved(ffn, tmp_path):
    parser = build(**LEARNING)
    parser.bootstrap(ffn, "j")
    history = parser.fit(TRAIN[:3], epochs=2, verbose=0).history["loss"]
    assert history[-1] < history[0]
    parser.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    known = {"gates": ["j"], "seed": ffn.seed}
    known["training_sentences"] = ffn.metadata.get("training_sentences")
    assert again.metadata["bootstrap"] == known


def test_an_encoder_is_copied_and_keeps_its_own_dropout():
    options = {"encoder": "bilstm", "encoder_units": 3}
    ffn = random_parser("ffn-parser", **options)
    ffn.network(np.ones((1, 2, 2), "int32"), training=True)  # draws
    parser = build(**options)
    parser.adapt(TRAIN)

    def arrays(variables):
        return [keras.ops.convert_to_numpy(v) for v in variables]

    def states(model):
        return arrays(v for v in model.network.variables if "seed" in v.path)

    before = states(parser)
    parser.bootstrap(ffn)
    check_close(arrays(parser.network.weights), arrays(ffn.network.weights))
    assert any("encoder" in weight.path for weight in parser.network.weights)
    np.testing.assert_array_equal(states(parser), before)
    assert (np.array(states(ffn)) != before).any()


@pytest.mark.usefixtures("eager")
def test_vectors_tags_and_the_treatment_of_trees_are_taken_over(tmp_path):
    rng = np.random.default_rng(5)
    vectors = WordVectors(["unseen", "she"], rng.normal(size=(2, 5)).astype("float32"))
    options = {"embeddings": vectors, "tags": None, "nonprojective": "lift"}
    options |= {"trainable": False}
    ffn = build("ffn-parser", **options)
    ffn.adapt(TRAIN)
    parser = build(embeddings=vectors)  # vectors are not read again
    parser.bootstrap(ffn)
    for name in options:
        assert parser.settings[name] == ffn.settings[name]
    assert parser.features.names == ("word",)
    words = [["she", "unseen"], ["what"]]
    expected = gold(parser.parse(words))
    parser.save(tmp_path / "model.keras")
    assert gold(keras_tagging.load(tmp_path).parse(words)) == expected


@pytest.mark.parametrize(
    "options, gates, message",
    [
        ({}, "x", "unknown gate 'x'. Known: i, f, o, j"),
        ({"system": "toy"}, "all", "differ in their vocabularies, or in system="),
        ({"name": "gru-parser"}, "j", "unknown gate 'j'. Known: z, r, h"),
        ({"units": 9}, "all", "differ in size"),
    ],
)
def test_parsers_that_do_not_fit(ffn, options, gates, message, monkeypatch):
    monkeypatch.setitem(system._SYSTEMS, "toy", ARC_STANDARD)
    with pytest.raises(ValueError, match=message) as error:
        build(**options).bootstrap(ffn, gates)
    assert "\n" not in str(error.value)
