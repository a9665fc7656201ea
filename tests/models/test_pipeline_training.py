"""What a pipeline is trained with."""

import pytest
from conftest import random_sentences
from models.columns import columned

from keras_tagging import Sentence
from keras_tagging.models.pipeline_training import PipelinePlan, columns_to_learn


def test_settings_of_parts():
    plan = PipelinePlan(settings={"parser": {"units": 30, "tags": None}})
    assert plan.keywords("parser")["encoder"] == "bilstm"
    assert plan.keywords("parser")["units"] == 30
    assert plan.build("parser", tags="pos").input_columns == ()  # the user's own
    # other architectures have their own
    chosen = {"parser": {"architecture": "lstm-parser"}}
    chosen["tagger"] = {"architecture": "bilstm-crf"}
    plan = PipelinePlan(settings=chosen)
    assert plan.keywords("parser")["encoder"] == "bilstm"
    assert plan.build("parser", tags="pos").architecture == "lstm-parser"
    assert plan.build("tagger", tags="upos").architecture == "bilstm-crf"
    plan = PipelinePlan()
    assert plan.build("tagger", tags="upos").column_names == ("upos",)


def test_parts_are_in_their_order():
    assert PipelinePlan(parts=("parser", "tagger")).parts == ("tagger", "parser")
    with pytest.raises(ValueError, match="give some of segmenter, tagger, parser"):
        PipelinePlan(parts=())


def test_columns_to_learn():
    sentences = columned(random_sentences(5, 1))
    assert columns_to_learn(sentences) == ("upos", "xpos", "feats")
    lemmas = [
        Sentence(s.tokens, None, {**s.columns, "lemma": [w[:1] for w in s.tokens]})
        for s in sentences
    ]
    assert columns_to_learn(lemmas) == ("upos", "xpos", "feats", "lemma")
    # a script for all words, a column that is not annotated
    same = [
        Sentence(s.tokens, None, {"pos": s.columns["pos"], "lemma": s.tokens})
        for s in [Sentence(["a", "b"], None, {"pos": ["X", "Y"]})]
    ]
    same[0].columns["xpos"] = ["_", "_"]
    assert columns_to_learn(same) == ("upos",)
    with pytest.raises(ValueError, match="has none of upos, xpos, feats, lemma"):
        columns_to_learn([Sentence(["a"], None, {"pos": ["X"]})])
