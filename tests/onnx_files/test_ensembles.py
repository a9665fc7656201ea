"""Ensembles as one ONNX file: the answers of all members together."""

import numpy as np
import pytest
from conftest import exported, random_sentences, random_tagger

from keras_tagging import Ensemble, Sentence

pytestmark = pytest.mark.usefixtures("eagerly")

SENTENCES = [*random_sentences(9, 1), Sentence([], [], {"pos": []})]


def test_taggers(tmp_path):
    members = []
    more = [*SENTENCES, Sentence(["Dog"] * 9, ["R"] * 9, {"pos": ["x"] * 9})]
    for seed, name in enumerate(("bigru", "bilstm-crf")):
        some = [SENTENCES, more][seed]  # labels in another order
        members.append(random_tagger(some, seed, name, units=4 + seed))
    assert members[0].tags != members[1].tags
    ensemble = Ensemble(members)
    found = exported(ensemble, tmp_path)
    assert found.tag(SENTENCES) == ensemble.tag(SENTENCES)
    rows = (np.concatenate(x.predict(SENTENCES)) for x in (found, ensemble))
    np.testing.assert_allclose(*rows, atol=1e-6)
