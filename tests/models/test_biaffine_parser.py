"""The biaffine parser: what it learns, gives, stores and refuses."""

import itertools
from contextlib import nullcontext
from dataclasses import replace

import keras
import numpy as np
import pytest
from cells.cases import randomize
from conftest import WORDS_ONLY, computing_once, exported, reloaded
from models.parsers import CROSSING, DEMO, DEV, EMPTY, TRAIN, equal, gold, weights
from scipy.special import softmax

import keras_tagging
from keras_tagging import SoftTargets
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.experiments.analysis import analyse
from keras_tagging.kinds import joint
from keras_tagging.models.tagger.tagger import PREDICTION_TOKENS

pytestmark = pytest.mark.usefixtures("eager")  # but for the training of `learnt`
NAMES = ("head", "deprel", "pos")
TINY = {"units": 24, "word_dim": 16, "feed_dim": 6, "head_units": 16, **WORDS_ONLY}
TINY |= {"label_units": 8, "tags": ("pos",), "seed": 1, "embedding_dropout": 0.0}
PLAIN = {"dropout": 0.0, "layer_dropout": 0.0, "head_dropout": 0.0, "unknown_rate": 0.0}
PLAIN |= {"weight_average": 0.0, "decay": None, "learning_rate": 0.02}
PLAIN |= {"token_budget": 40}
FIELDS = ("labels", "ids", "probabilities")
NOTHING = [replace(EMPTY, columns={**EMPTY.columns, "xpos": [], "ner": []})]
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
    model = build(tags=("pos", "xpos", "ner"))
    model.adapt([with_all(s) for s in TRAIN])
    return randomize(model, 3, 0.7)


def with_all(sentence):
    """With XPOS, and each two words as an entity."""
    tags = [
        tag + word[-1] for tag, word in zip(sentence.tags, sentence.tokens, strict=True)
    ]
    firsts = [sentence.tokens[i - i % 2] for i in range(len(sentence))]
    ner = [f"{'BI'[i % 2]}-{word[-1]}" for i, word in enumerate(firsts)]
    return replace(sentence, columns={**sentence.columns, "xpos": tags, "ner": ner})


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


def test_columns_that_are_not_searched_leave_batches_large(random_parser, monkeypatch):
    columns = (*random_parser.label_columns, LabelColumn("lemma", ["X"] * 9999))
    monkeypatch.setattr(random_parser, "label_columns", columns)
    assert random_parser.batch_tokens == PREDICTION_TOKENS


@pytest.mark.parametrize("relation", ["dobj", "obj"])
def test_only_trees_of_universal_dependencies_are_mended(relation, monkeypatch):
    labels = itertools.cycle(["nsubj", relation])  # Stanford's, or UD's
    model = build()
    model.adapt(
        [
            replace(s, columns={**s.columns, "deprel": [next(labels) for _ in s]})
            for s in FEW
        ]
    )
    for name in ("mended_heads", "mended_columns"):
        monkeypatch.setattr(joint, name, None)  # a call is an error
    with pytest.raises(TypeError) if relation == "obj" else nullcontext():
        assert len(model.annotate(bare(FEW))) == len(FEW)


def test_a_file_keeps_it(random_parser, tmp_path):
    loaded = reloaded(random_parser, tmp_path)
    assert equal(weights(random_parser), weights(loaded))
    assert loaded.annotate(bare(DEV)) == random_parser.annotate(bare(DEV))


def test_figures_equal_a_hand_count(random_parser, monkeypatch):
    monkeypatch.setattr(type(random_parser), "batch_tokens", 60)
    given = [*map(with_all, TRAIN[:20]), *NOTHING]
    with computing_once(random_parser):
        given += random_parser.annotate(given[:2])
        annotated = random_parser.annotate(given)
        found = random_parser.evaluate(given, return_dict=True, subtypes=True)
        report = random_parser.report(given, tables=True, subtypes=True)
        counts = random_parser.counts(given, [("las", None)], subtypes=True)[0]
        analysis = analyse(random_parser, given, subtypes=True)
    columns = "pos", "xpos", "ner"
    hits = {name: [] for name in ("uas", "las", *(f"{x}_accuracy" for x in columns))}
    for one, other in zip(annotated, given, strict=True):
        for i in range(len(other)):
            names = ("head", "deprel", *columns)
            row = [one.columns[n][i] == other.columns[n][i] for n in names]
            hits["uas"].append(row[0])
            hits["las"].append(row[0] and row[1])
            for name, hit in zip(columns, row[2:], strict=True):
                hits[f"{name}_accuracy"].append(hit)
    expected = {name: np.mean(x) for name, x in hits.items()}
    each = zip(*(hits[f"{name}_accuracy"] for name in columns), strict=True)
    expected["joint_accuracy"] = np.mean([*map(all, each)])
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert 0 < found["las"] < found["uas"] < 1 and [*found] == random_parser.figures
    assert report.figures["las"] == pytest.approx(found["las"])
    right = sum(hits["las"])
    assert report.tables["by_relation"]["correct"].sum() == right
    assert counts.sum(0).tolist() == [len(hits["las"]), right]
    values = analysis.overall.set_index("figure")["value"]
    assert values["las"] == pytest.approx(found["las"])


@pytest.fixture(scope="module")
def words():
    rng, pool = np.random.default_rng(5), sum(bare(DEMO.train[:99]), [])
    return [rng.choice(pool, n).tolist() for n in [0, *rng.integers(1, 13, 199)]]


def test_a_file_of_onnx_gives_the_same(random_parser, words, tmp_path):
    expected = random_parser.annotate(words, probabilities=True)
    best = [rows["head"].argmax(-1) for rows in random_parser.predict(words)]
    heads = [np.array(s.columns["head"], int) for s in expected]
    searched = [(a != b).any() for a, b in zip(best, heads, strict=True)]
    assert 40 < sum(searched) < 200
    loaded = exported(random_parser, tmp_path)
    check_same(loaded.annotate(words, probabilities=True), expected)


@pytest.mark.slow
def test_a_saved_model_gives_the_same(random_parser, words, tmp_path, monkeypatch):
    random_parser.export(tmp_path / "saved")
    saved = keras_tagging.load(tmp_path / "saved", safe_mode=False)
    monkeypatch.setattr(random_parser, "rules", None)  # which it does not keep
    expected = random_parser.annotate(words, probabilities=True)
    check_same(saved.annotate(words, probabilities=True), expected)


def check_same(found, expected):
    assert [s.columns for s in found] == [s.columns for s in expected]
    for one, other in zip(found, expected, strict=True):
        for name, values in other.probabilities.items():
            np.testing.assert_allclose(one.probabilities[name], values, atol=1e-4)


def test_a_file_without_tags_is_parsed(tmp_path):
    model = build(tags=None)
    model.adapt(TRAIN)
    randomize(model, 4, 0.7)
    assert exported(model, tmp_path).annotate(bare(DEV)) == model.annotate(bare(DEV))


def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    options = {"decay": "warmup-stable-decay", "token_budget": 8, "epochs": 2}
    options |= {"embedding_dropout": 0.3, "weight_average": 0.9}

    def fitted(folder, last=2):
        def begin(epoch, logs):
            if epoch == last:
                raise KeyboardInterrupt

        def end(batch, logs):
            rates[folder.name].append(float(model.optimizer.learning_rate))

        model, call = build(**options), keras.callbacks.LambdaCallback
        kills = call(on_epoch_begin=begin, on_train_batch_end=end)
        fitting = {"validation_data": FEW[2:3], "callbacks": [kills], "verbose": 0}
        model.fit(FEW[2:], resume=folder, **fitting)
        return model

    rates = {"whole": [], "killed": []}
    whole = fitted(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "killed", last=1)
    assert equal(weights(whole), weights(fitted(tmp_path / "killed")))
    assert rates["killed"] == rates["whole"]
    most, count = whole.settings["learning_rate"], len(rates["whole"])
    falls = (min(1, (1 - i / count) / 0.6) for i in range(count))
    # a tenth of six batches rises
    shares = [fall * min(1, (i + 1) / 0.6) for i, fall in enumerate(falls)]
    assert rates["whole"] == pytest.approx([most * share for share in shares])
    assert count >= 6


def test_the_loss_is_that_of_all_parts(random_parser):
    given = [with_all(s) for s in TRAIN[:6]]
    ids, y, mask = random_parser.encode(given, targets=True).batch(np.arange(6))
    outputs = random_parser(ids)
    found = random_parser.compute_loss(None, y, outputs, mask)
    heads = [int(head) for s in given for head in s.columns["head"]]
    assert y[..., 3][mask > 0].tolist() == heads
    network = random_parser.settings.network
    labels = random_parser.label_scores(outputs, y[..., 3])
    parts = [(3, outputs["heads"], network.tree_weight)]
    parts += [(4, labels, network.tree_weight), (2, outputs["ner"]["logits"], 1.0)]
    for i, name in enumerate(("pos", "xpos")):
        parts += [(i, outputs[name], 1.0)]
        parts += [(i, outputs["first"][name], network.first_weight)]
    expected = 0.0
    for i, logits, weight in parts:
        shares = softmax(np.array(logits, "float64"), -1)[mask > 0]
        own = shares[np.arange(len(shares)), y[..., i][mask > 0]]
        expected -= weight * np.log(own).mean()
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_a_sentence_of_weight_0_is_not_learnt():
    other = replace(FEW[2], columns={**FEW[2].columns, "deprel": FEW[2].tokens})
    pair = [[FEW[3], FEW[2]], [FEW[3], other]]
    options = {"sample_weight": [1, 0], "epochs": 2, "verbose": 0}
    first, second = (build(**PLAIN) for _ in pair)
    for model, sentences in zip((first, second), pair, strict=True):
        model.adapt([*FEW, other])
        model.fit(sentences, **options)
    assert equal(weights(first), weights(second))


class Sure:
    """A teacher that is sure of the gold labels."""

    def __init__(self, model):
        self.tags, self.given = model.soft_labels, {tuple(s.tokens): s for s in FEW}

    def predict(self, sentences):
        for sentence in sentences:
            gold, rows = self.given[tuple(sentence.tokens)], {}
            numbers = {"head": [*map(str, range(len(sentence) + 1))]}
            for name, labels in (self.tags | numbers).items():
                places = [labels.index(label) for label in gold.columns[name]]
                rows[name] = np.eye(len(labels), dtype="float32")[places]
            yield rows


def taught(x, **options):
    """A parser after a step of SGD."""
    model = build(**PLAIN | {"optimizer": "sgd", "label_smoothing": 0.0})
    model.adapt(FEW)
    return again(model, x, **options)


def again(model, x, **options):
    sizes = {"batch_size": 50, "token_budget": None, "epochs": 1, "verbose": 0}
    model.fit(x, **sizes | options)
    return model


def close(one, other):
    pairs = zip(weights(one), weights(other), strict=True)
    return all(np.allclose(a, b, atol=1e-6) for a, b in pairs)


@pytest.mark.parametrize("top_k", [1, 99])
def test_soft_targets_that_are_sure_teach_as_gold_trees(learnt, top_k):
    """Alone, for words without trees; long sentences stand beside short ones."""
    targets = SoftTargets.of(Sure(learnt), FEW, top_k=top_k)
    assert {*targets.labels} == {*NAMES} and targets.ids["head"].shape[1] == top_k
    found = taught(bare(FEW), soft_targets=targets, soft_weight=1.0)
    assert close(found, taught(FEW)) and not close(found, taught(FEW, epochs=0))


def test_a_pupil_without_targets_of_heads_is_refused(learnt):
    targets = SoftTargets.of(learnt, FEW)
    tags = {x: {"pos": getattr(targets, x)["pos"]} for x in FIELDS}
    targets = replace(targets, **tags)
    with pytest.raises(ValueError, match="unknown column of the soft targets"):
        build().fit(bare(FEW), soft_targets=targets)


def test_an_ensemble_has_the_mean_probabilities(random_parser, tmp_path):
    other = build(tags=("pos", "xpos", "ner"), seed=2)
    other.adapt([with_all(s) for s in TRAIN[::-1]])  # labels in another order
    randomize(other, 5, 0.7)
    ensemble = keras_tagging.Ensemble([random_parser, other])
    words = bare(DEV[:4])
    rows, first, second = (m.predict(words) for m in (ensemble, random_parser, other))
    for joined, one, two in zip(rows, first, second, strict=True):
        mean = (one["head"] + two["head"]) / 2
        np.testing.assert_allclose(joined["head"], mean, atol=1e-5)
    given = exported(ensemble, tmp_path).annotate(words)
    pairs = zip(given, ensemble.annotate(words), strict=True)
    assert all(one.columns == other.columns for one, other in pairs)


def test_a_retargeted_parser_keeps_what_it_knows(learnt):
    again = learnt.retarget(FEW, learning_rate=0.001, head_dropout=0.1)
    assert again.settings["head_dropout"] == 0.1
    assert again.evaluate(FEW, return_dict=True)["las"] == 1
    new = replace(DEV[0], columns={**DEV[0].columns, "deprel": ["new"] * len(DEV[0])})
    wider = learnt.retarget([*FEW, new])
    assert wider.labels == [*learnt.labels, "new"]
    kept = learnt.predict(bare(FEW[:1]))[0]["head"]
    np.testing.assert_allclose(wider.predict(bare(FEW[:1]))[0]["head"], kept, atol=1e-4)


def test_an_empty_sentence_stays_empty(random_parser):
    [sentence] = random_parser.annotate([[]])
    assert sentence.columns == {name: [] for name in (*NAMES, "xpos", "ner")}
    assert random_parser.predict([[]])[0]["head"].shape == (0, 1)


OTHERS = [replace(s, columns={**s.columns, "deprel": s.tokens}) for s in FEW]
BARE = [replace(s, columns={"pos": s.columns["pos"]}) for s in FEW]


@pytest.mark.parametrize(
    "tags, sentences, options, message",
    [
        ("pos", BARE, {}, "head"),
        ("xpos", FEW, {}, "xpos"),
        (None, NOTHING, {}, "no tree to learn"),
        ("pos", FEW, {"class_weight": {"N": 2.0}}, "class_weight is for a tagger"),
        ("pos", FEW, {"validation_data": OTHERS}, "none of the dependency labels"),
        ("pos", FEW, {"validation_data": BARE}, "head"),
    ],
)
def test_errors_in_one_line(tags, sentences, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        build(tags=tags).fit(sentences, verbose=0, **options)
    assert "\n" not in str(caught.value)
