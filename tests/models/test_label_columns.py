"""Several columns of labels from one network: `tags=("upos", "xpos", "feats")`."""

from collections import Counter
from dataclasses import replace

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize, reloaded
from models.columns import NAMES, columned

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.models.files.checks import checked_config

pytestmark = pytest.mark.usefixtures("eagerly")

TRAIN = columned(random_sentences(16, 1, longest=4))
# empty and long sentences, unknown words, gold labels that training lacks
GOLD = [
    *columned(random_sentences(5, 5, longest=4)),
    Sentence([], None),
    Sentence(
        ["the", "zebra"],
        ["?", "?"],
        {"pos": ["D", "X"], "xpos": ["X", "gx"], "feats": ["B-D", "B-X"]},
    ),
    *columned([Sentence(["the", "dog"] * 3, ["D", "N"] * 3, {"pos": ["e", "g"] * 3})]),
]


def built(**options):
    own = {**TINY, **WORDS_ONLY, "tags": NAMES, "consistent": False}
    return keras_tagging.build("bigru", **{**own, **options})


@pytest.fixture(scope="module")
def model():
    """Random weights: every label is given somewhere."""
    model = built()
    model.adapt(TRAIN)
    return randomize(model)


def values(model):
    """All weights without the states of generators."""
    weights = [w for w in model.network.weights if "seed" not in w.name]
    return [keras.ops.convert_to_numpy(w) for w in weights]


def gold(sentence, name):
    return sentence.columns.get({"upos": "pos"}.get(name, name), [])


# What it gives


def test_each_column_has_its_inventory(model):
    for name in NAMES:
        counts = Counter(label for s in TRAIN for label in gold(s, name))
        assert set(model.tags[name]) == set(counts)
        dense = model.network.get_layer(f"logits_{name}")
        assert dense.kernel.shape == (10, len(counts))
    assert model.column_names == NAMES and "6 upos, " in model.size
    assert model.chunk_scheme == {"feats": "iob2"}


def test_a_sentence_has_the_labels_of_every_column(model, once):
    words = [s.tokens for s in GOLD]
    tagged, rows = model.tag(words), model.predict(words)
    for sentence, tags, probabilities in zip(GOLD, tagged, rows, strict=True):
        assert tuple(tags) == tuple(probabilities) == NAMES
        [alone] = model.tag([sentence.tokens])
        assert alone == tags
        for name in NAMES:
            assert len(tags[name]) == len(sentence)
            shape = (len(sentence), len(model.tags[name]))
            assert probabilities[name].shape == shape
            np.testing.assert_allclose(probabilities[name].sum(-1), 1, atol=1e-5)
            if name != "feats":  # those are the best consistent ones
                best = probabilities[name].argmax(-1)
                assert tags[name] == [model.tags[name][i] for i in best]
    assert list(model.tag(iter(words))) == tagged


def test_beta_by_column(model, once):
    words = [GOLD[0].tokens]
    [plain], [every] = model.tag(words), model.tag(words, beta=1e-9)
    [some] = model.tag(words, beta={"xpos": 1e-9})
    assert some == {**plain, "xpos": every["xpos"]}
    for name in NAMES:
        for entry, tag in zip(every[name], plain[name], strict=True):
            assert len(entry) == len(model.tags[name])
            assert entry == sorted(entry, key=lambda pair: -pair[1])
            assert name == "feats" or entry[0][0] == tag
    [pairs] = model.tag(words, probabilities=True)
    for name in NAMES:
        assert [tag for tag, _ in pairs[name]] == plain[name]
        for pair, entry in zip(pairs[name], every[name], strict=True):
            assert pair in entry
    with pytest.raises(ValueError, match="unknown column in beta= 'pos'"):
        model.tag(words, beta={"pos": 0.1})
    with pytest.raises(ValueError, match="beta is 2"):
        model.tag(words, beta={"upos": 2})


# Figures


def independent(sentences, rows, tagged, inventories, unknown):
    """The figures, token by token."""
    losses, hits, oov, whole = {}, {}, {}, {}
    for name in NAMES:
        losses[name], hits[name], oov[name], whole[name] = [], [], [], []
        for s, probabilities, tags in zip(sentences, rows, tagged, strict=True):
            right = []
            for i, label in enumerate(gold(s, name)):
                if label in inventories[name]:
                    p = probabilities[name][i][inventories[name].index(label)]
                    losses[name].append(-np.log(p))
                right.append(label == tags[name][i])
                if s.tokens[i] in unknown:
                    oov[name].append(right[-1])
            hits[name] += right
            whole[name] += [all(right)] if right else []
    found = {}
    for name in NAMES:
        figures = (losses, hits, oov, whole)
        names = ("loss", "accuracy", "oov_accuracy", "sentence_accuracy")
        found |= {
            f"{name}_{n}": np.mean(f[name]) for n, f in zip(names, figures, strict=True)
        }
    for figure in ("loss", "accuracy"):
        found[figure] = np.mean([found[f"{name}_{figure}"] for name in NAMES])
    together = zip(*hits.values(), strict=True)
    found["joint_accuracy"] = np.mean([all(token) for token in together])
    return found


def test_figures_equal_an_independent_count(model, once, monkeypatch):
    monkeypatch.setattr(type(model), "batch_tokens", 30)  # several batches
    # some of them right in all columns
    given = [*GOLD, *model.annotate(GOLD[:4])]
    found = model.evaluate(given, return_dict=True)
    rows, tagged = model.predict(given), model.tag(given)
    expected = independent(given, rows, tagged, model.tags, {"zebra"})
    chunks = {f"feats_{name}" for name in ("precision", "recall", "f1")}
    assert set(found) == {*expected, *chunks} == set(model.figures)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-4), name
    assert 0 < found["joint_accuracy"] < found["upos_accuracy"]
    assert model.default_monitor == "val_accuracy"


def test_one_column_of_it_is_a_tagger(model, once):
    one = model.column("upos")
    tagged = [replace(s, tags=gold(s, "upos")) for s in GOLD]
    assert one.tag(GOLD) == [tags["upos"] for tags in model.tag(GOLD)]
    [tokens] = one.counts(GOLD, [("accuracy", None)])
    accuracy = model.evaluate(GOLD, return_dict=True)["upos_accuracy"]
    assert tokens[:, 1].mean() == pytest.approx(accuracy)
    assert [s.tags for s in one.annotated(GOLD)] == [s.tags for s in tagged]
    report = model.report(GOLD, per_tag=True, multi_tagging=True, betas=[1.0])
    table = report.tables["per_tag"].query("column == 'upos'").set_index("label")
    words = [label for s in GOLD for label in gold(s, "upos")]
    assert table["gold"].to_dict() == {
        **dict.fromkeys(table.index, 0),
        **Counter(words),
    }
    assert list(report.tables["multi_tagging"]["column"]) == list(NAMES)
    assert "'feats'" not in report.warning if report.warning else True
    options = {"figure": "upos_accuracy", "resamples": 9}
    result = keras_tagging.compare(model, model, GOLD, **options)
    assert result.first == pytest.approx(100 * accuracy) and result.p == 1
    assert "upos_accuracy" in str(result)
    message = "learn upos, xpos, feats: give the figure of one, such as upos_accuracy$"
    with pytest.raises(ValueError, match=message):
        keras_tagging.compare(model, model, GOLD)
    for use in (model.multi_tagging, lambda s: model.counts(s, [("accuracy", None)])):
        with pytest.raises(ValueError, match="unknown column 'tags'. Known: upos"):
            use(GOLD)


# Training


@pytest.mark.parametrize("decoder", ["softmax", "crf"])
def test_the_loss_is_that_of_all_columns(decoder):
    """And its gradient reaches every output, and what they share."""
    weights = (1.0, 0.5, 2.0)
    plain = {"dropout": 0.0, "layer_dropout": 0.0, "constrained": False}
    options = {**plain, "decoder": decoder, "label_smoothing": 0.0}
    model = built(tag_weights=weights, **options)
    model.adapt(TRAIN)
    randomize(model)
    batch = model.encode(GOLD, targets=True).batch(np.array([0, 3, 7]))
    ids, targets, mask = batch
    assert targets.shape == (*mask.shape, 3)
    found = model.compute_loss(None, targets, model(ids, training=True), mask)
    expected = 0
    for i, (name, weight) in enumerate(zip(NAMES, weights, strict=True)):
        one = built(tags=name, **options)
        one.adapt(TRAIN)
        # the shared layers, and the output of this column
        for layer in one.network.layers:
            layer.set_weights(model.network.get_layer(layer.name).get_weights())
        outputs = one(ids, training=True)
        loss = one.compute_loss(None, targets[..., i : i + 1], outputs, mask)
        expected += weight * float(loss)
        if decoder == "softmax":
            logits = keras.ops.convert_to_numpy(outputs[name])
            p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
            known = (targets[..., i] >= 0) & (mask > 0)
            picked = np.take_along_axis(
                p, np.maximum(targets[..., i], 0)[..., None], -1
            )
            mean = -np.log(picked[..., 0][known]).sum() / mask.sum()
            assert float(loss) == pytest.approx(mean, rel=1e-5)
    assert float(found) == pytest.approx(expected, rel=1e-5)
    before = values(model)
    model.compile("sgd", loss=model.loss)
    model.optimizer.learning_rate = 1.0
    model.fit(TRAIN[:8], epochs=1, batch_size=8, verbose=0)
    trained = zip(before, values(model), strict=True)
    for (one, other), weight in zip(trained, model.network.weights, strict=False):
        if weight.trainable:
            assert np.abs(one - other).max() > 0, weight.path


# Files


def test_a_saved_model_is_the_same(model, tmp_path):
    again = reloaded(model, tmp_path)
    assert again.tags == model.tags and again.chunk_scheme == model.chunk_scheme
    assert again.tag(GOLD) == model.tag(GOLD)
    assert again.get_config() == model.get_config()


CONFIGS = {
    "no such scheme": (lambda c: c | {"chunk_scheme": {"feats": "x"}}, "chunk_scheme"),
    "no inventory": (
        lambda c: c | {"vocabularies": {**c["vocabularies"], "tags:upos": []}},
        "vocabulary tags:upos is",
    ),
    "another inventory": (
        lambda c: c | {"vocabularies": {**c["vocabularies"], "tags:pos": ["x"]}},
        "the settings need",
    ),
    "a column less": (
        lambda c: c | {"settings": {**c["settings"], "tags": ("upos", "xpos")}},
        "the settings need",
    ),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_configurations_that_are_refused(model, case):
    change, message = CONFIGS[case]
    config = change(model.get_config())
    with pytest.raises(ValueError, match=message):
        keras_tagging.models.Tagger(**checked_config(type(model), config))


# Fine-tuning


@pytest.mark.parametrize(
    "keep_labels, decoder", [(True, "softmax"), (False, "crf"), (None, "crf")]
)
def test_fine_tuning_keeps_the_rows_of_known_labels(keep_labels, decoder):
    old = built(decoder=decoder)
    old.adapt(TRAIN)
    randomize(old)
    columns = {"pos": ["N", "Y"], "xpos": ["u", "v"], "feats": ["B-N", "B-Z"]}
    new = old.retarget(
        [Sentence(["dog", "zebra"], None, columns)], keep_labels=keep_labels
    )
    for name in NAMES:
        own = set(gold(Sentence(["dog", "zebra"], None, columns), name))
        kept = set(old.tags[name])
        # by default if they have one in common
        joined = keep_labels or (keep_labels is None and kept & own)
        assert set(new.tags[name]) == own | (kept if joined else set())
        layers = [m.network.get_layer(f"logits_{name}").kernel for m in (old, new)]
        before, after = map(keras.ops.convert_to_numpy, layers)
        for label in kept & set(new.tags[name]):
            np.testing.assert_array_equal(
                before[:, old.tags[name].index(label)],
                after[:, new.tags[name].index(label)],
            )
