"""What a pipeline is trained with."""

import pytest
from conftest import random_sentences
from models.columns import columned

from keras_tagging import Corpus, Sentence
from keras_tagging.pipelines import training as pipeline_training
from keras_tagging.pipelines.plan import (
    SETTINGS,
    PipelinePlan,
    columns_to_learn,
    columns_to_read,
)


def test_settings_of_parts():
    plan = PipelinePlan(settings={"parser": {"units": 30, "tags": None}})
    assert plan.keywords("parser")["encoder"] == "bilstm"
    assert plan.keywords("parser")["system"] == "arc-standard-core"
    assert plan.keywords("parser")["units"] == 30
    assert plan.build("parser", tags="pos").input_columns == ()  # the user's own
    # other architectures have their own
    plan = PipelinePlan(settings={"tagger": {"architecture": "bilstm-crf"}})
    assert plan.build("tagger", tags="upos").architecture == "bilstm-crf"
    plan = PipelinePlan()
    assert plan.build("tagger", tags="upos").column_names == ("upos",)
    assert PipelinePlan(recipe="paper").keywords("parser")["encoder"] is None
    with pytest.raises(ValueError, match="'bets'; did you mean 'best'"):
        PipelinePlan(recipe="bets")


def test_the_user_s_settings_go_before_those_of_the_pipeline(monkeypatch):
    own = {"ffn-parser": {"token_budget": 300, "epochs": 4}}
    monkeypatch.setitem(SETTINGS, "fast", own)
    assert PipelinePlan().keywords("parser")["token_budget"] == 300
    plan = PipelinePlan(settings={"parser": {"batch_size": 8}})
    for found in (plan.keywords("parser"), plan.build("parser", tags="pos").settings):
        sizes = found["batch_size"], found["token_budget"], found["epochs"]
        assert sizes == (8, None, 4)


@pytest.mark.parametrize(
    "own, given, read",
    [
        ({}, ("upos", "xpos", "feats", "lemma"), ("pos", ("xpos", "feats"))),
        ({}, ("xpos", "lemma"), ("xpos", ())),
        ({}, (None,), (None, ())),
        ({"tags": "xpos"}, ("upos", "xpos", "feats"), ("xpos", ())),
        ({"tags": None}, ("upos", "xpos"), (None, ())),
        ({"columns": ("feats",)}, ("upos", "feats"), ("pos", ("feats",))),
    ],
)
def test_columns_that_the_parser_reads(own, given, read):
    plan = PipelinePlan(settings={"parser": own})
    assert tuple(columns_to_read(plan, given).values()) == read
    assert columns_to_read(PipelinePlan()) == {"tags": None, "columns": ()}


def test_parts():
    """In their order; CCG parsers have their kind, and entities come last."""
    chosen = {"tagger": {"tags": "upos"}, "entities": {"units": 7}}
    plan = PipelinePlan(("entities", "ccg-shift-reduce", "tagger"), chosen)
    assert plan.parts == ("tagger", "ccg-shift-reduce", "entities")
    assert plan.build("ccg-shift-reduce").kind == "ccg-shift-reduce"
    wrong = {"ccg-parser": {"architecture": "ccg-shift-reduce"}}
    with pytest.raises(ValueError, match="is a ccg-shift-reduce, no ccg-parser"):
        PipelinePlan(("ccg-parser",), wrong).build("ccg-parser")
    model = plan.build("entities", tags="ner")
    assert model.settings["units"] == 7
    assert (model.architecture, model.column_names) == ("bilstm-crf", ("ner",))


def test_stages():
    corpus = Corpus(columned(random_sentences(5, 1)))
    plan = PipelinePlan(settings={"parser": {"folds": 3, "tagger_epochs": 2}})
    stages = plan.stages(corpus)
    assert list(stages) == ["segmenter", "tagger", "jackknife", "parser"]
    assert stages["jackknife"] == 6
    assert plan.jackknifed(corpus) == ("upos", "xpos", "feats")
    assert plan.stages(corpus, 1) == dict(zip(stages, (1, 1, 3, 1), strict=True))
    for own in ({"folds": 1}, {"tags": None}, {"tags": "predicted"}):
        plan = PipelinePlan(settings={"parser": own})
        assert plan.jackknifed(corpus) == ()
        assert list(plan.stages(corpus)) == ["segmenter", "tagger", "parser"]
    plan = PipelinePlan(settings={"tagger": {"tags": "xpos"}, "parser": {"folds": 2}})
    assert plan.columns(corpus) == plan.jackknifed(corpus) == ("xpos",)
    assert PipelinePlan(parts=("parser",)).jackknifed(corpus) == ()


@pytest.mark.parametrize(
    "part, expected",
    [("parser", [60, 60, 20, 10, 10]), ("tagger", [60, 46, 16, 16, 16])],
)
def test_parts_have_more_epochs_on_a_small_treebank(part, expected):
    def epochs(words, recipe="fast", **own):
        plan = PipelinePlan(settings={part: own}, recipe=recipe)
        columns = {"pos": ["A", "B"] * 50, "xpos": ["A", "B"] * 50}
        corpus = Corpus([Sentence(["a"] * 100, columns=columns)] * (words // 100))
        return plan.stages(corpus)[part]

    found = [epochs(words) for words in (100, 6_500, 20_000, 40_000, 200_000)]
    assert found == expected
    few = {"parser": 20, "tagger": 38}[part]
    assert epochs(4_000, token_budget=None, batch_size=1) == few
    assert epochs(6_500, epochs=3) == 3
    paper = PipelinePlan(recipe="paper").keywords(part)["epochs"]
    assert epochs(6_500, recipe="paper") == paper


@pytest.mark.parametrize("part", ["tagger", "parser"])
def test_a_part_is_trained_for_the_epochs_of_its_stage(part):
    corpus = Corpus(columned(random_sentences(5, 1)))
    plan = PipelinePlan((part,))
    model, _ = pipeline_training._built(part, corpus, plan, None, None)
    assert model.settings["epochs"] == plan.stages(corpus)[part] == 60


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
    with pytest.raises(ValueError, match="none of upos, xpos, feats, lemma has more"):
        columns_to_learn([Sentence(["a"], None, {"pos": ["X"]})])
