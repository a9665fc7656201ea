"""What a pipeline is trained with."""

import pytest
from conftest import random_sentences
from models.columns import columned

from keras_tagging import Corpus, Sentence
from keras_tagging.pipelines import training as pipeline_training
from keras_tagging.pipelines.plan import SETTINGS, PipelinePlan, columns_to_learn


def test_settings_of_parts():
    plan = PipelinePlan(settings={"parser": {"units": 30, "tags": "xpos"}})
    assert plan.keywords("parser")["units"] == 30
    assert plan.keywords("parser")["character_network"] == "lstm"
    assert plan.columns("parser", Corpus([])) == ("xpos",)  # the user's own
    # other architectures have their own
    plan = PipelinePlan(("tagger",), {"tagger": {"architecture": "bilstm-crf"}})
    assert plan.build("tagger", tags="upos").architecture == "bilstm-crf"
    plan = PipelinePlan()
    assert plan.parts == ("segmenter", "parser")
    assert plan.build("parser", tags=("upos",)).column_names == ("upos",)
    assert PipelinePlan(recipe="paper").keywords("parser")["units"] == 400
    with pytest.raises(ValueError, match="'bets'; did you mean 'best'"):
        PipelinePlan(recipe="bets")


def test_the_user_s_settings_go_before_those_of_the_pipeline(monkeypatch):
    own = {"biaffine-parser": {"token_budget": 300, "epochs": 4}}
    monkeypatch.setitem(SETTINGS, "fast", own)
    assert PipelinePlan().keywords("parser")["token_budget"] == 300
    plan = PipelinePlan(settings={"parser": {"batch_size": 8}})
    for found in (plan.keywords("parser"), plan.build("parser", tags="pos").settings):
        sizes = found["batch_size"], found["token_budget"], found["epochs"]
        assert sizes == (8, None, 4)


def test_parts():
    """In their order; CCG parsers have their kind."""
    plan = PipelinePlan(("ccg-shift-reduce", "tagger"), {"tagger": {"units": 7}})
    assert plan.parts == ("tagger", "ccg-shift-reduce")
    assert plan.build("ccg-shift-reduce").kind == "ccg-shift-reduce"
    wrong = {"ccg-parser": {"architecture": "ccg-shift-reduce"}}
    with pytest.raises(ValueError, match="is a ccg-shift-reduce, no ccg-parser"):
        PipelinePlan(("ccg-parser",), wrong).build("ccg-parser")
    model = plan.build("tagger", tags="upos")
    assert model.settings["units"] == 7


def test_stages():
    corpus = Corpus(columned(random_sentences(5, 1)))
    plan = PipelinePlan()
    assert list(plan.stages(corpus)) == ["segmenter", "parser"]
    assert plan.stages(corpus, 1) == {"segmenter": 1, "parser": 1}
    assert plan.columns("parser", corpus) == ("upos", "xpos", "feats")
    with pytest.raises(ValueError, match="tagger and the parser both learn upos"):
        PipelinePlan(("tagger", "parser")).stages(corpus)
    own = {"parser": {"tags": None}}
    PipelinePlan(("tagger", "parser"), own).stages(corpus)


@pytest.mark.parametrize(
    "part, expected",
    [("parser", [120, 120, 75, 38, 12, 94]), ("tagger", [60, 46, 16, 16, 16, 38])],
)
def test_parts_have_more_epochs_on_a_small_treebank(part, expected):
    def epochs(words, recipe="fast", **own):
        plan = PipelinePlan((part,), {part: own}, recipe)
        columns = {"pos": ["A", "B"] * 50, "xpos": ["A", "B"] * 50}
        corpus = Corpus([Sentence(["a"] * 100, columns=columns)] * (words // 100))
        return plan.stages(corpus)[part]

    found = [epochs(words) for words in (100, 6_500, 20_000, 40_000, 200_000)]
    assert [*found, epochs(4_000, token_budget=None, batch_size=1)] == expected
    assert epochs(6_500, epochs=3) == 3
    paper = PipelinePlan((part,), recipe="paper").keywords(part)["epochs"]
    assert epochs(6_500, recipe="paper") == paper


@pytest.mark.parametrize("part, epochs", [("tagger", 60), ("parser", 120)])
def test_a_part_is_trained_for_the_epochs_of_its_stage(part, epochs):
    corpus = Corpus(columned(random_sentences(5, 1)))
    plan = PipelinePlan((part,))
    model = pipeline_training._built(part, corpus, plan)
    assert model.settings["epochs"] == plan.stages(corpus)[part] == epochs


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
    none = Corpus([Sentence(["a"], None, {"pos": ["X"]})])
    assert PipelinePlan().columns("parser", none) == ()
    with pytest.raises(ValueError, match="none of upos, xpos, feats, lemma, ner has"):
        PipelinePlan(("tagger",)).columns("tagger", none)
