"""Keras' own keywords of `fit`: targets apart, weights, a held-out share."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import TINY, WORDS_ONLY, random_sentences, randomize
from models.parsers import CROSSING
from models.parsers import TRAIN as TREES
from models.parsers import build as build_parser
from reference import crf as reference

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.data.named_columns import with_targets
from keras_tagging.data.sentence import as_sentences, strings_of
from keras_tagging.models.fit import held_out, weights_of_tokens

pytestmark = [pytest.mark.one_backend, pytest.mark.usefixtures("eagerly")]
TRAIN, DEV = random_sentences(20, 1, longest=4), random_sentences(8, 2, longest=4)
WORDS, TAGS = [s.tokens for s in TRAIN], [s.tags for s in TRAIN]
SMALLEST = TINY | WORDS_ONLY | {"unknown_rate": 0.0}
RNG = np.random.default_rng(1)
HOLES = [RNG.uniform(0.5, 3, len(s)) * RNG.integers(0, 2, len(s)) for s in TRAIN]


def tagger(**settings):
    return keras_tagging.build("bigru", **SMALLEST | settings)


def fitted(*data, model=None, **options):
    """The weights and the history of a short fit."""
    model = model or tagger(decoder=options.pop("decoder", "softmax"))
    history = model.fit(*data, epochs=1, verbose=0, **options).history
    return [*model.get_weights(), *map(np.array, history.values())]


def equal(one, other):
    pairs = zip(one, other, strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def batch_of(model, sentences, **weights):
    """Ids, targets and weights of one batch, in the order of the sentences."""
    batches = model.batches(sentences, model.settings.fitting)
    parts = weights_of_tokens(sentences, column=model.label_columns[0], **weights)
    if parts is not None:
        batches.weigh(parts)
    model._set_in_loss("weighted", parts is not None)
    return batches.arrays(np.arange(len(sentences)))


def loss_of(model, sentences=TRAIN, **weights):
    ids, targets, each = batch_of(model, sentences, **weights)
    loss = model.compute_loss(ids, targets, model(ids), each)
    return np.float32(loss), each.sum()


@pytest.fixture(scope="module", params=["softmax", "crf"])
def model(request):
    """Random weights: to be read, not changed."""
    model = tagger(decoder=request.param)
    model.adapt(TRAIN)
    return randomize(model, 2)


def losses(model, sentences):
    """-log p of each gold tag, in a CRF after those before it; from other code."""
    for sentence in sentences:
        gold = np.array([model.tags.index(tag) for tag in sentence.tags])
        if model.settings["decoder"] == "softmax":
            rows = model.predict([sentence])[0]
            yield -np.log(rows[np.arange(len(gold)), gold])
        else:
            ids, _, _ = model.encode([sentence]).batch(np.array([0]))
            scores = np.asarray(model.predict_on_batch(ids)["emissions"][0], "float64")
            arrays = [w.astype("float64") for w in crf_weights(model)]
            yield -reference.chain_rule(scores, gold, arrays)


def crf_weights(model):
    return model.network.get_layer("crf").get_weights()


# Weights


def test_the_loss_is_the_weighted_mean(model):
    some = TRAIN[:5]
    each = [RNG.uniform(0.2, 3, len(s)) for s in some]
    found, _ = loss_of(model, some, sample_weight=each)
    terms = np.concatenate([*losses(model, some)])
    expected = np.average(terms, weights=np.concatenate(each))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_weights_of_classes_are_weights_of_their_tokens(model):
    classes = {"D": 0.25, "N": 3}
    by_token = [[classes.get(tag, 1) for tag in s.tags] for s in TRAIN]
    found = loss_of(model, class_weight=classes)
    assert found == loss_of(model, sample_weight=by_token)
    assert found != loss_of(model)
    both = loss_of(model, class_weight=classes, sample_weight=HOLES)
    product = [np.multiply(a, b) for a, b in zip(by_token, HOLES, strict=True)]
    np.testing.assert_allclose(both, loss_of(model, sample_weight=product), rtol=1e-6)


def test_a_weight_of_a_sentence_is_that_of_its_tokens(model):
    each = RNG.uniform(0, 2, len(TRAIN))
    by_token = [np.full(len(s), w) for s, w in zip(TRAIN, each, strict=True)]
    found = loss_of(model, sample_weight=each)
    assert found == loss_of(model, sample_weight=by_token) != loss_of(model)


def test_a_weight_of_0_is_an_unknown_tag(model):
    """Neither its gold tag nor another one counts, and padding is none."""
    unknown, others = [], []
    for sentence, each in zip(TRAIN, HOLES, strict=True):
        tags = ["?" if w == 0 else t for t, w in zip(sentence.tags, each, strict=True)]
        unknown.append(Sentence(sentence.tokens, tags))
        others.append(Sentence(sentence.tokens, [t.replace("?", "N") for t in tags]))
    ones = [(w > 0).astype(float) for w in HOLES]
    found, total = loss_of(model, sample_weight=ones)
    assert loss_of(model, others, sample_weight=ones) == (found, total)
    with pytest.warns(UserWarning, match="tags that this model does not know"):
        mean, every = loss_of(model, unknown)
    assert found * total == pytest.approx(mean * every, rel=1e-5)
    assert total < every == sum(map(len, TRAIN))


def test_weights_of_1_change_no_bit():
    ones = {"sample_weight": np.ones(len(TRAIN)), "class_weight": {"D": 1}}
    assert equal(fitted(TRAIN, decoder="crf"), fitted(TRAIN, decoder="crf", **ones))


def test_the_penalty_is_once_an_epoch_with_weights_too():
    model = tagger(l2=0.1, batch_size=7)
    model.adapt(TRAIN)
    model.fit(TRAIN, sample_weight=HOLES, epochs=1, verbose=0)
    batches = model.batches(TRAIN, model.settings.fitting)
    batches.weigh(weights_of_tokens(TRAIN, HOLES))
    total = sum(each.sum() for _, _, each in batches)
    assert model._penalty * total == pytest.approx(0.05, rel=1e-5)


def test_resumed_only_with_the_same_weights(tmp_path):
    model = tagger()
    whole = fitted(TRAIN, model=model, sample_weight=HOLES, resume=tmp_path)
    assert equal(whole, fitted(TRAIN, sample_weight=HOLES, resume=tmp_path))
    double = [2 * each for each in HOLES]
    for others in ({}, {"sample_weight": double}, {"class_weight": {"D": 2}}):
        with pytest.raises(ValueError, match="a run with other weights"):
            fitted(TRAIN, resume=tmp_path, **others)


def test_a_parser_takes_weights_of_sentences():
    """Those of the sentences that it learns from: one that is left out has none."""
    sentences = [CROSSING[0], *TREES[:3], CROSSING[1], TREES[3]]
    each = [5.0, 1, 2, 0, 7, 3]
    model = build_parser(nonprojective="skip")
    model.adapt(sentences)
    batches = model.batches(sentences, model.settings.fitting)
    plain = batches.num_targets
    *_, mask = batches.arrays(np.arange(4))
    batches.weigh(weights_of_tokens(sentences, each))
    *_, found = batches.arrays(np.arange(4))
    np.testing.assert_allclose(found, mask * np.array([[1], [2], [1e-30], [3]]))
    assert batches.num_targets == pytest.approx(found.sum()) and plain == mask.sum()
    targets = batches.arrays(np.arange(4))[-2]
    assert (targets[2] == -1)[mask[2] > 0].all() and (targets[[0, 1, 3]] >= 0).all()
    model.fit(sentences, sample_weight=each, epochs=1, verbose=0)
    for wrong in ({"class_weight": {"nsubj": 2}}, {"sample_weight": [[1.0]] * 6}):
        with pytest.raises(ValueError, match="one sample_weight a sentence"):
            model.fit(sentences, epochs=1, verbose=0, **wrong)


def test_weights_that_would_have_no_effect_are_refused():
    each = np.where(np.arange(len(TRAIN)) % 2, 1, 5)
    single = {"batch_size": 1, "token_budget": None}
    with pytest.raises(ValueError, match="no effect in batches of one sentence"):
        fitted(TRAIN, model=tagger(**single), sample_weight=each)
    zeros = np.array([5, 0])
    plain, some = (
        fitted(TRAIN[:2], model=tagger(**single), **options)
        for options in ({}, {"sample_weight": zeros})
    )
    assert not equal(plain, some)


# Targets apart, and a held-out share


def test_tokens_and_tags_as_two_lists():
    pair = [s.tokens for s in DEV], [s.tags for s in DEV]
    model = tagger()
    apart = fitted(WORDS, TAGS, model=model, validation_data=pair)
    assert equal(apart, fitted(TRAIN, validation_data=DEV))
    np.testing.assert_equal(model.evaluate(*pair), model.evaluate(DEV))


def test_ragged_tensors_arrays_and_pairs_are_sentences_and_tags():
    for ragged in map(tf.ragged.constant, (WORDS, TAGS)):
        padded = ragged.to_tensor()
        for rows in (ragged, padded, padded.numpy()):
            assert [strings_of(row) for row in rows] in (WORDS, TAGS)
    x, y = tf.ragged.constant(WORDS), tf.ragged.constant(TAGS).to_tensor()
    expected = [Sentence(*pair) for pair in zip(WORDS, TAGS, strict=True)]
    assert with_targets(x, y, (None,)) == expected
    assert as_sentences(zip(WORDS, TAGS, strict=True)) == expected
    assert as_sentences([("New", "York"), ()]) == [
        Sentence(["New", "York"]),
        Sentence([]),
    ]


def test_columns_are_a_dict():
    upos = {"upos": TAGS}
    [first, *_] = with_targets(WORDS, upos, ("upos",))
    assert first.columns == {"pos": TAGS[0]}
    heads = with_targets(WORDS, {"head": [range(len(s)) for s in WORDS]}, ())
    assert heads[0].columns["head"] == [*map(str, range(len(WORDS[0])))]
    with pytest.raises(ValueError, match="y is one list: the model learns y="):
        with_targets(WORDS, TAGS, ("upos",))


def test_the_last_sentences_are_held_out():
    weighted = fitted(TRAIN, validation_split=0.25, sample_weight=HOLES)
    alone = fitted(TRAIN[:15], validation_data=TRAIN[15:], sample_weight=HOLES[:15])
    assert equal(weighted, alone)
    assert held_out([1] * 7, 0.3) == ([1] * 4, [1] * 3)  # as Keras: int(7 * 0.7)


SEVERAL = {"tags": ("tags", "pos")}


@pytest.mark.parametrize(
    "options, message, settings",
    [
        ({"y": TAGS[:3]}, "argument 2 is shorter", {}),
        ({"y": [t[1:] for t in TAGS]}, "sentence 1: . tokens but . tags", {}),
        ({"y": [[1] * len(t) for t in TAGS]}, "tags are strings", {}),
        ({"validation_split": 1.0}, "=1.0: give a share, such as 0.1", {}),
        ({"class_weight": {"d": 2}}, "unknown label in class_weight 'd'", {}),
        ({"class_weight": {"D": 2}}, "a tagger of one column", SEVERAL),
        ({"sample_weight": [1.0]}, "a list, for each sentence", {}),
        ({"sample_weight": [[1.0] * 9] * 20}, "could not be broadcast", {}),
        ({"sample_weight": [np.nan] * 20}, "give numbers from 0 on", {}),
        ({"class_weight": {"D": -1}}, "give numbers from 0 on", {}),
    ],
)
def test_misuse(options, message, settings):
    sentences = WORDS if "y" in options else TRAIN
    with pytest.raises(ValueError, match=message) as error:
        tagger(**settings).fit(sentences, verbose=0, **options)
    assert "\n" not in str(error.value)


def test_a_plateau_beside_linear_decay_is_refused():
    plateau = keras.callbacks.ReduceLROnPlateau("loss")
    with pytest.raises(ValueError, match=r"needs build\(..., decay=None\)"):
        fitted(TRAIN, model=tagger(decay="linear"), callbacks=[plateau])
