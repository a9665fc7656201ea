"""Parsers as ONNX files: the trees of `parse`."""

import numpy as np
import pytest
from conftest import exported
from models.parsers import CROSSING, DEV, EMPTY, TRAIN, build, random_parser
from onnx_files.odd import request, sentences
from selection import slow_but

from keras_tagging.architectures import PARSERS
from keras_tagging.data.trees import SEPARATOR

GIVEN = [*DEV, *TRAIN, EMPTY, *DEV[:3]]
CASES = {
    **{name: (name, {}) for name in PARSERS},
    "words": ("elman-parser", {"tags": None}),
    "letters": ("gru-parser", {"tags": None, "character_network": "cnn"}),
    "beam": ("gru-parser", {"beam_width": 3}),
    "beam, lstm": ("lstm-parser", {"beam_width": 8}),
    "encoder": ("lstm-parser", {"encoder": "bilstm", "encoder_units": 5}),
    "encoder, beam": (
        "ffn-parser",
        {"encoder": "bigru", "encoder_units": 5, "beam_width": 2},
    ),
    "skips": (
        "gru-parser",
        {"encoder": "skip-bilstm", "encoder_units": 5, "encoder_layers": 3},
    ),
}
# Of each kind of network, of words and tags, of system and of search one.
IN_CI = ("gru-parser", "letters", "beam, lstm", "encoder, beam", "skips")


@pytest.mark.parametrize("case", slow_but(IN_CI, CASES))
def test_every_parser(case, tmp_path):
    name, options = CASES[case]
    model = random_parser(name, **options)
    found = exported(model, tmp_path)
    assert found.labels == model.labels
    expected = model.parse(GIVEN)
    assert found.parse(GIVEN) == expected
    trees = [[*map(int, s.columns["head"])] for s in expected]
    assert [a["heads"] for a in found.predict_rows(GIVEN, ["heads"])] == trees
    if not found.columns:
        odd = [s.tokens for s in sentences(60)]
        assert found.parse(odd) == model.parse(odd)
    if case == "gru-parser":
        check_batches_with_junk_in_the_padding(found, expected)


def check_batches_with_junk_in_the_padding(found, expected):
    for size in (1, 7, 64):
        batch = GIVEN[:size]
        feeds = request(batch, found.columns, junk="NN")
        heads, deprels = found.session.run(["heads", "deprels"], feeds)
        for i, sentence in enumerate(batch):
            n = len(sentence)
            columns = expected[i].columns
            assert heads[i, :n].tolist() == list(map(int, columns["head"]))
            assert deprels[i, :n].tolist() == columns["deprel"]
            assert (heads[i, n:] == -1).all() and not any(deprels[i, n:])


@pytest.mark.usefixtures("eager", "small_taggers")
def test_a_parser_with_a_tagger_of_its_own(tmp_path):
    own = {"tags": "predicted", "tagger_epochs": 1, "folds": 2}
    model = build("gru-parser", **own)
    model.fit(TRAIN[:4], epochs=1, verbose=0)
    found = exported(model, tmp_path)
    words = [s.tokens for s in [*TRAIN[:6], EMPTY]]
    assert found.columns == ()
    assert found.parse(words) == model.parse(words)


def test_lifted_arcs_are_put_back(tmp_path):
    model = build("gru-parser", nonprojective="lift", tags=None)
    model.adapt([*TRAIN, *CROSSING])
    lifted = [i for i, label in enumerate(model.labels, 1) if SEPARATOR in label]
    assert lifted
    # right arcs with a label that says "lifted"
    kernel = np.array(model.scorer.output_kernel)
    kernel[:, len(model.labels) + lifted[0]] += 3
    model.scorer.output_kernel.assign(kernel)
    words = [s.tokens for s in GIVEN]
    expected = model.parse(words)
    assert exported(model, tmp_path).parse(words) == expected
