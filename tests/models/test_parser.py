"""Parsers on a small part of the demo corpus: training and trees."""

import keras
import numpy as np
import pytest
from layers.gradients import gradients
from models.parsers import (
    CROSSING,
    DEV,
    EMPTY,
    LEARNING,
    TRAIN,
    build,
    equal,
    fitted,
    gold,
    random_parser,
    weights,
)
from selection import slow_but

from keras_tagging import Sentence
from keras_tagging.architectures import PARSERS
from keras_tagging.data.trees import check_tree, is_projective
from keras_tagging.encoding import batching
from keras_tagging.models.parser import parser
from keras_tagging.training.settings import FitSettings

SHORT = [sentence for sentence in TRAIN if len(sentence) == 2]  # for few steps


@pytest.fixture(scope="module")
def model():
    """To be read, not changed."""
    return random_parser()


# Training


# of the others, tests/layers has all weights trained
@pytest.mark.parametrize("name", slow_but(("ffn-parser",), PARSERS))
def test_training_learns_the_training_trees(name):
    """By heart, and crossing arcs are restored where they were lifted."""
    options = {**LEARNING, "units": 32, "nonprojective": "lift", "token_budget": 60}
    model, some = build(name, **options), [*TRAIN[:3], *CROSSING]
    history = model.fit(some, validation_data=some, epochs=30, verbose=0)
    assert model.metadata["nonprojective"]["sentences"] == 2
    assert any("|" in label for label in model.labels)
    assert gold(model.parse(some)) == gold(some)
    assert max(history.history["val_las"]) > 0.9
    assert history.history["loss"][-1] < history.history["loss"][0] / 3
    figures = model.evaluate(some, return_dict=True)
    # the best epoch is restored
    assert figures["las"] == max(history.history["val_las"])
    assert figures["uas"] >= figures["las"]
    assert model.metadata["epochs"] == 30


class Interrupt(keras.callbacks.Callback):
    """Stops the process in the middle of the second epoch, if it is to."""

    def __init__(self, stop):
        super().__init__()
        self.stop = stop

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.stop and (self.epoch, batch) == (1, 1):
            raise KeyboardInterrupt


@pytest.mark.usefixtures("eager")
def test_interrupted_and_resumed_equals_uninterrupted(tmp_path):
    """With all that draws random numbers."""
    options = {"decay": "linear", "unknown_rate": 0.5, "token_budget": 16}
    fitting = {"validation_data": SHORT[:1], "patience": 9, "restore_best": False}

    def trained(**more):
        more = fitting | more
        return fitted("ffn-parser", TRAIN[:5], 2, fitting=more, **options)

    model = trained()
    with pytest.raises(KeyboardInterrupt):
        trained(resume=tmp_path, callbacks=[Interrupt(True)])
    resumed = trained(resume=tmp_path, callbacks=[Interrupt(False)])
    assert equal(weights(resumed), weights(model))


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "encoder, merge", [("bilstm", "top"), ("shortcut-bilstm", "layer")]
)
def test_an_encoder_is_trained_with_the_parser(encoder, merge):
    model = random_parser(encoder=encoder, encoder_units=3, encoder_merge=merge)
    fitting = FitSettings(batch_size=40)
    (*inputs, targets, mask), *_ = model.batches(TRAIN[:4], fitting)

    def loss():
        logits = model(inputs, training=True)
        return model.compute_loss(inputs, targets, logits, mask)

    found = gradients(model.trainable_variables, loss)
    names = [variable.path for variable in model.trainable_variables]
    assert sum("encoder" in name for name in names) >= 12
    for name, gradient in zip(names, found, strict=True):
        assert np.isfinite(gradient).all()
        assert abs(np.atleast_2d(gradient)).max(0).min() > 0, name
    assert len(model.parse(SHORT)) == 2


# Trees


def test_parse_gives_trees_and_keeps_the_rest(model):
    parsed = model.parse([*DEV, EMPTY])
    for sentence, given in zip(parsed, [*DEV, EMPTY], strict=True):
        assert (sentence.tokens, sentence.tags) == (given.tokens, given.tags)
        assert sentence.columns["pos"] == given.columns["pos"]
        check_tree(sentence.columns["head"])
        assert is_projective([*map(int, sentence.columns["head"])])
        assert set(sentence.columns["deprel"]) <= set(model.labels)
    assert gold(parsed) == model.predict([*DEV, EMPTY])
    assert len({tuple(heads) for heads, _ in gold(parsed)}) > 5
    # trees that are given are not read
    bare = [Sentence(s.tokens, None, {"pos": s.columns["pos"]}) for s in DEV]
    assert gold(model.parse(bare)) == gold(parsed)[:-1]


@pytest.mark.parametrize("subtypes", [False, True])
def test_evaluate_equals_a_hand_count(model, subtypes, monkeypatch):
    monkeypatch.setattr(parser.Parser, "batch_tokens", 30)
    monkeypatch.setattr(batching, "PREDICTION_SENTENCES", 5)
    calls = []
    call = model.predict_on_batch
    monkeypatch.setattr(
        model, "predict_on_batch", lambda ids: calls.append(ids.shape) or call(ids)
    )
    # some figures must be neither 0 nor 1
    parsed = gold(model.parse(DEV))
    given = [*DEV, EMPTY, *model.parse(DEV[:2]), CROSSING[0]]
    found = model.evaluate(given, return_dict=True, subtypes=subtypes)
    assert len({shape[1] for shape in calls}) > 2
    assert list(found.values()) == model.evaluate(given, subtypes=subtypes)

    parsed += [([], []), *parsed[:2], *model.predict(CROSSING[:1])]
    words, heads, arcs, labels, complete = 0, 0, 0, 0, np.zeros(2)
    for (some_heads, some_labels), (own_heads, own_labels) in zip(
        parsed, gold(given), strict=True
    ):
        right = []
        for a, b, c, d in zip(
            some_heads, own_heads, some_labels, own_labels, strict=True
        ):
            if not subtypes:
                c, d = c.split(":")[0], d.split(":")[0]
            right.append((a == b, a == b and c == d))
            labels += c == d
        words += len(right)
        heads += sum(head for head, _ in right)
        arcs += sum(arc for _, arc in right)
        if right:
            complete += np.array(right).all(0)
    sentences = len(given) - 1  # the empty one does not count
    expected = [heads / words, arcs / words, labels / words, *complete / sentences]
    assert list(found.values()) == pytest.approx(expected)
    assert list(found) == ["uas", "las", "label_accuracy", "ucm", "lcm"]
    assert 0 < found["lcm"] < 1 and found["las"] < found["uas"] < 1
    assert model.scores(given, subtypes=subtypes).las == found["las"]


# Non-projective trees


@pytest.mark.usefixtures("eager")
def test_trees_that_are_not_projective_are_left_out_and_counted():
    model = fitted("ffn-parser", [*TRAIN[:3], *CROSSING])
    treated = {"sentences": 2, "treatment": "left out"}
    assert model.metadata["nonprojective"] == treated
    plain = fitted("ffn-parser", TRAIN[:3])
    assert plain.metadata["nonprojective"] == {**treated, "sentences": 0}
    assert len(CROSSING) == 2
    with pytest.raises(ValueError, match="no tree to learn"):
        fitted("ffn-parser", CROSSING)
