"""Ensembles as one ONNX file: the answers of all members together."""

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, exported, random_sentences, randomize

import keras_tagging
from keras_tagging import Ensemble, Sentence

pytestmark = pytest.mark.usefixtures("eagerly")

SENTENCES = [*random_sentences(9, 1), Sentence([], [], {"pos": []})]


def test_taggers(tmp_path):
    tiny, members = {**TINY, **WORDS_ONLY}, []
    more = [*SENTENCES, Sentence(["Dog"] * 9, ["R"] * 9, {"pos": ["x"] * 9})]
    for seed, name in enumerate(("bigru", "bilstm-crf")):
        model = keras_tagging.build(name, **tiny | {"units": 4 + seed})
        model.adapt([SENTENCES, more][seed])  # labels in another order
        members.append(randomize(model, seed))
    assert members[0].tags != members[1].tags
    ensemble = Ensemble(members)
    found = exported(ensemble, tmp_path)
    assert found.tag(SENTENCES) == ensemble.tag(SENTENCES)
    rows = (np.concatenate(x.predict(SENTENCES)) for x in (found, ensemble))
    np.testing.assert_allclose(*rows, atol=1e-6)
