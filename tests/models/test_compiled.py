"""XLA, on TensorFlow: each architecture computes the same, and few shapes are compiled.

JAX compiles in all its tests.
"""

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, check_close, random_sentences
from models import biaffine
from models.parsers import PLAIN, TRAIN
from models.parsers import TINY as PARSER
from selection import slow_but
from treebanks import TINY as SEGMENTER
from treebanks import sentences_of

import keras_tagging
from keras_tagging import training

pytestmark = pytest.mark.one_backend

DRY = {"dropout": 0.0, "layer_dropout": 0.0}  # XLA draws other random numbers
TAGGER = {**TINY, **DRY, "units": 3}
PLAINER = {**TAGGER, **WORDS_ONLY}  # the tables are compiled with the first
LABELS = {"units": 3, "word_dim": 4, "label_dim": 3, "seed": 3, "pretrain": None, **DRY}
# architecture -> settings; None where another one stands for its recurrence: what the
# cells compute is compiled in tests/cells
CASES = {
    "bigru": {**TAGGER, "character_network": "cnn", "character_units": 3},
    "bilstm": None,  # that of bilstm-crf
    "bilstm-crf": PLAINER,
    "skip-bilstm": {**PLAINER, "num_layers": 2},
    **dict.fromkeys(("shortcut-bilstm", "highway-bilstm", "rhn")),  # skip-bilstm
    **dict.fromkeys(("elman-rnn", "jordan-rnn", "i-rnn")),  # ie-rnn
    "ie-rnn": LABELS,
    "segmenter": SEGMENTER | DRY,
    "ffn-parser": PARSER | PLAIN,
    "lstm-parser": PARSER | PLAIN,
    **dict.fromkeys(("elman-parser", "gru-parser")),  # lstm-parser
    "biaffine-parser": biaffine.TINY | biaffine.DRY | {"tags": "upos"},
}


def test_every_architecture_is_there():
    # these have the loops of a tagger, and of lstm-parser
    others = {"ccg-parser", "ccg-shift-reduce"}
    assert set(CASES) == set(keras_tagging.available()) - others


def sentences_for(name):
    if name == "segmenter":
        return sentences_of("english")[:2]
    if name.endswith("parser"):
        return sorted(TRAIN, key=len)[:3]
    return random_sentences(3, 1, longest=4)


# These have all the loops that XLA compiles. The others have the same ones.
LOOPS = ("bilstm-crf", "ie-rnn", "lstm-parser")


@pytest.mark.parametrize("name", slow_but(LOOPS, filter(CASES.get, CASES)))
def test_a_step_and_predictions_are_the_same(name):
    sentences, settings = sentences_for(name), CASES[name]
    settings = {key: x for key, x in settings.items() if x is not None or key[0] == "p"}
    found, batch = [], None
    for jit in (True, False):
        model = keras_tagging.build(name, **settings | {"unknown_rate": 0.0})
        model.adapt(sentences)
        before = model.get_weights()
        model.compile(
            keras.optimizers.SGD(1.0),
            training.TagLoss(),
            jit_compile=jit,
            run_eagerly=not jit,
        )
        if batch is None:  # of a shape that is compiled
            batches = model.batches(sentences, model.settings.fitting)
            batch = next(iter(model.dataset(batches)))
        x, y, weights = batch
        tokens = x[0] if isinstance(x, tuple) else x
        predicted = keras.tree.flatten(model.predict_on_batch(tokens))
        loss = model.train_on_batch(x, y, weights)
        found.append([loss, *predicted, *model.get_weights()])
        changes = zip(model.get_weights(), before, strict=True)
        assert max(np.abs(new - old).max() for new, old in changes) > 1e-3
    check_close(*found, rtol=1e-5, atol=1e-5)
