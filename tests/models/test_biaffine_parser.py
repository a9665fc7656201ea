"""The biaffine parser: what it learns, gives, stores and refuses."""

from dataclasses import replace

import keras
import numpy as np
import pytest
from cells.cases import randomize
from models.parsers import CROSSING, DEV, EMPTY, TRAIN, equal, gold, weights

import keras_tagging
from keras_tagging import Sentence, SoftTargets, Unlabelled, runtime
from keras_tagging.experiments.analysis import analyse

SHORT = pytest.mark.usefixtures("eager")  # nothing is traced for a few steps
NAMES = ("head", "deprel", "pos")
TINY = {"units": 24, "word_dim": 16, "affix_dim": 4, "feed_dim": 6, "head_units": 16}
TINY |= {"label_units": 8, "tags": ("pos",), "seed": 1, "embedding_dropout": 0.0}
PLAIN = {"dropout": 0.0, "layer_dropout": 0.0, "head_dropout": 0.0, "unknown_rate": 0.0}
PLAIN |= {"weight_average": 0.0, "decay": None, "learning_rate": 0.02}
PLAIN |= {"token_budget": 40}
FIELDS = ("labels", "ids", "probabilities")
FEW = [*CROSSING, *sorted(TRAIN, key=len)[:5]]


def build(**options):
    return keras_tagging.build("biaffine-parser", **TINY | options)


@pytest.fixture(scope="module")
def learnt():
    model = build(**PLAIN)
    model.fit(FEW, epochs=30, verbose=0)
    return model


@pytest.fixture(scope="module")
def random_parser():
    model = build(tags=("pos", "xpos"))
    model.adapt([with_xpos(s) for s in TRAIN])
    return randomize(model, 3, 0.7)


def with_xpos(sentence):
    tags = [
        tag + word[-1] for tag, word in zip(sentence.tags, sentence.tokens, strict=True)
    ]
    return replace(sentence, columns={**sentence.columns, "xpos": tags})


def bare(sentences):
    return [list(sentence.tokens) for sentence in sentences]


def trees(sentences):
    return [[s.columns[name] for name in ("head", "deprel")] for s in sentences]


def test_learns_trees_with_crossing_arcs_and_tags_by_heart(learnt):
    figures = learnt.evaluate(FEW, return_dict=True)
    for name in ("uas", "las", "label_accuracy", "ucm", "lcm", "pos_accuracy"):
        assert figures[name] == 1, name
    assert [*figures] == learnt.figures and np.isfinite(figures["loss"])
    parsed = learnt.annotate(bare(FEW))
    assert [tree for s in parsed for tree in gold([s])] == gold(FEW)
    assert [s.columns["pos"] for s in parsed] == [s.columns["pos"] for s in FEW]


@SHORT
def test_learns_without_tags():
    model = build(**PLAIN, tags=None)
    model.fit(FEW, sample_weight=[1] * len(FEW), epochs=2, verbose=0)
    assert model.column_names == () and model.gives == ("head", "deprel")
    assert [*model.evaluate(FEW, return_dict=True)] == ["uas", "las"] + model.figures[
        2:
    ]
    assert [*model.predict(bare(FEW[:1]))[0]] == ["head", "deprel"]


def test_probabilities_are_those_of_heads_and_labels(random_parser):
    [rows, *others] = random_parser.predict(bare(TRAIN[:5]))
    [sentence] = random_parser.annotate(bare(TRAIN[:1]), probabilities=True)
    heads = np.array(sentence.columns["head"], int)
    assert rows["head"].shape == (len(heads), len(heads) + 1)
    for row in rows.values():
        np.testing.assert_allclose(row.sum(-1), 1, atol=1e-5)
    words = np.arange(len(heads))
    assert (rows["head"][words, words + 1] == 0).all()  # no word is its own head
    labels = [random_parser.labels.index(x) for x in sentence.columns["deprel"]]
    assert (rows["deprel"].argmax(-1) == labels).all()
    for name, places in (("head", heads), ("deprel", labels)):
        values = sentence.probabilities[name]
        np.testing.assert_allclose(values, rows[name][words, places], atol=1e-6)
    assert len(others) == 4


def test_an_answer_does_not_depend_on_the_batch(random_parser):
    together = random_parser.annotate(bare(TRAIN))
    alone = [random_parser.annotate([words])[0] for words in bare(TRAIN[:6])]
    assert trees(together[:6]) == trees(alone)


def test_a_file_keeps_it(random_parser, tmp_path):
    random_parser.save(tmp_path / "model.keras")
    loaded = keras_tagging.load(tmp_path)
    assert equal(weights(random_parser), weights(loaded))
    assert loaded.annotate(bare(DEV)) == random_parser.annotate(bare(DEV))


def test_exported_files_give_the_same(random_parser, tmp_path):
    words = [*bare(TRAIN), *bare(DEV), [], ["x"]]
    expected = random_parser.annotate(words, probabilities=True)
    random_parser.export(tmp_path / "parser.onnx", format="onnx")
    for given in (
        runtime.load(tmp_path / "parser.onnx").annotate(words, probabilities=True),
        runtime.load(tmp_path / "parser.onnx", threads=2).annotate(
            words, probabilities=True
        ),
    ):
        assert [s.columns for s in given] == [s.columns for s in expected]
        for one, other in zip(given, expected, strict=True):
            for name, values in other.probabilities.items():
                np.testing.assert_allclose(one.probabilities[name], values, atol=1e-3)


@pytest.mark.slow
def test_a_saved_model_gives_the_same(random_parser, tmp_path):
    random_parser.export(tmp_path / "saved")
    saved = keras_tagging.load(tmp_path / "saved", safe_mode=False)
    assert trees(saved.annotate(bare(DEV))) == trees(random_parser.annotate(bare(DEV)))


def test_a_file_without_tags_is_parsed(tmp_path):
    model = build(tags=None)
    model.adapt(TRAIN)
    randomize(model, 4, 0.7)
    model.export(tmp_path / "parser.onnx", format="onnx")
    answers = runtime.load(tmp_path / "parser.onnx").annotate(bare(DEV))
    assert answers == model.annotate(bare(DEV))


@SHORT
def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    options = {"decay": "warmup-stable-decay", "token_budget": 30, "epochs": 3}
    options |= {"embedding_dropout": 0.3, "weight_average": 0.9}

    def fitted(folder, last=3):
        def begin(epoch, logs):
            if epoch == last:
                raise KeyboardInterrupt

        model = build(**options)
        kills = keras.callbacks.LambdaCallback(on_epoch_begin=begin)
        fitting = {"validation_data": DEV[:3], "callbacks": [kills], "verbose": 0}
        model.fit(FEW, resume=folder, **fitting)
        return model

    whole = fitted(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "killed", last=2)
    assert equal(weights(whole), weights(fitted(tmp_path / "killed")))


@SHORT
def test_a_sentence_of_weight_0_is_not_learnt():
    other = replace(FEW[2], columns={**FEW[2].columns, "deprel": FEW[2].tokens})
    pair = [[FEW[3], FEW[2]], [FEW[3], other]]
    options = {"sample_weight": [1, 0], "epochs": 2, "verbose": 0}
    first, second = (build(**PLAIN) for _ in pair)
    for model, sentences in zip((first, second), pair, strict=True):
        model.adapt([*FEW, other])
        model.fit(sentences, **options)
    assert equal(weights(first), weights(second))


def test_a_pupil_learns_the_trees_of_its_teacher_alone(learnt):
    words = bare(FEW)
    targets = SoftTargets.of(learnt, words, top_k=20)
    assert {*targets.labels} == {*NAMES} and targets.ids["head"].shape[1] == 20
    pupil = build(**PLAIN)
    pupil.fit(words, soft_targets=targets, soft_weight=1.0, epochs=25, verbose=0)
    assert pupil.evaluate(FEW, return_dict=True)["las"] > 0.9
    # text, of which no tree is given
    text = Unlabelled(learnt, bare(DEV))
    pupil.fit(FEW, soft_targets=SoftTargets.of(learnt, FEW), unlabelled=text, epochs=1)


def test_a_pupil_without_targets_of_heads_is_refused(learnt):
    targets = SoftTargets.of(learnt, FEW)
    tags = {x: {"pos": getattr(targets, x)["pos"]} for x in FIELDS}
    targets = replace(targets, **tags)
    with pytest.raises(ValueError, match="unknown column of the soft targets"):
        build().fit(bare(FEW), soft_targets=targets)


def test_an_ensemble_has_the_mean_probabilities(random_parser, tmp_path):
    other = build(tags=("pos", "xpos"), seed=2)
    other.adapt([with_xpos(s) for s in TRAIN[::-1]])  # labels in another order
    randomize(other, 5, 0.7)
    ensemble = keras_tagging.Ensemble([random_parser, other])
    words = bare(DEV[:4])
    rows, first, second = (m.predict(words) for m in (ensemble, random_parser, other))
    for joined, one, two in zip(rows, first, second, strict=True):
        mean = (one["head"] + two["head"]) / 2
        np.testing.assert_allclose(joined["head"], mean, atol=1e-5)
    ensemble.export(tmp_path / "joined.onnx")
    given = runtime.load(tmp_path / "joined.onnx").annotate(words)
    assert given == ensemble.annotate(words)


def test_a_retargeted_parser_keeps_what_it_knows(learnt):
    again = learnt.retarget(FEW, learning_rate=0.001)
    assert again.evaluate(FEW, return_dict=True)["las"] == 1
    new = replace(DEV[0], columns={**DEV[0].columns, "deprel": ["new"] * len(DEV[0])})
    wider = learnt.retarget([*FEW, new])
    assert wider.labels == [*learnt.labels, "new"]
    kept = learnt.predict(bare(FEW[:1]))[0]["head"]
    np.testing.assert_allclose(wider.predict(bare(FEW[:1]))[0]["head"], kept, atol=1e-4)


@SHORT
def test_gradients_reach_every_weight(random_parser):
    sentences = [with_xpos(s) for s in TRAIN[:6]]
    before = weights(random_parser)
    model = build(tags=("pos", "xpos"), learning_rate=0.1, **{"decay": None})
    model.adapt([with_xpos(s) for s in TRAIN])
    start = [np.array(v) for v in model.trainable_variables]
    model.fit(sentences, epochs=2, verbose=0)
    for variable, value in zip(model.trainable_variables, start, strict=True):
        assert not np.array_equal(np.array(variable), value), variable.path
    assert equal(before, weights(random_parser))


def test_an_empty_sentence_stays_empty(random_parser):
    [sentence] = random_parser.annotate([[]])
    assert sentence.columns == {"pos": [], "xpos": [], "head": [], "deprel": []}
    assert random_parser.predict([[]])[0]["head"].shape == (0, 1)


def test_report_has_tables_and_analysis_runs(learnt):
    report = learnt.report([*FEW, EMPTY], tables=True)
    assert report.figures["las"] == 1 and "by_relation" in report.tables
    analysis = analyse(learnt, FEW)
    assert len(analysis.tables)


@pytest.mark.parametrize(
    "sentences, options, message",
    [
        ([Sentence(["a"], ["X"], {"pos": ["X"]})], {}, "head"),
        (FEW, {"class_weight": {"N": 2.0}}, "class_weight is for a tagger"),
        (
            FEW,
            {
                "validation_data": [
                    replace(
                        FEW[0],
                        columns=dict.fromkeys(("head", "deprel", "pos"), ["0"]),
                        tokens=["x"],
                        tags=None,
                    )
                ]
            },
            "deprel|labels",
        ),
    ],
)
def test_errors_in_one_line(sentences, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        build().fit(sentences, verbose=0, **options)
    assert "\n" not in str(caught.value)
