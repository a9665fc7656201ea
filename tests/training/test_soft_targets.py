"""A student learns from a teacher's probabilities: against NumPy, token by token."""

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize
from keras import ops
from models.columns import columned
from models.parsers import equal, weights
from scipy.special import log_softmax, softmax
from training.test_resume import rewrite

import keras_tagging
from keras_tagging import Sentence, SoftTargets
from keras_tagging.encoding.label_columns import LabelColumn
from keras_tagging.models.distillation import Distillation, fingerprint_of
from keras_tagging.training import soft_cross_entropy

pytestmark = pytest.mark.usefixtures("eagerly")

SENTENCES = [*random_sentences(9, 1, longest=4), Sentence([], [], {"pos": []})]
WORDS = [s.tokens for s in SENTENCES]
PLAIN = {**TINY, **WORDS_ONLY, "dropout": 0.0, "unknown_rate": 0.0}
PLAIN |= {"learning_rate": 0.05, "label_smoothing": 0.0, "decay": None}
LABELS = ("M", "N", "x", "D", "P", "V", "R")  # of another order, and one more


class Teacher:
    """Random probabilities of labels."""

    def __init__(self, labels=LABELS, seed=0):
        self.rng, self.tags = np.random.default_rng(seed), labels

    def predict(self, sentences):
        def rows(labels, n):
            scores = self.rng.normal(0, 2, (n, len(labels)))
            return softmax(scores, -1).astype("float32")

        lengths = map(len, sentences)
        if not isinstance(self.tags, dict):
            return [rows(self.tags, n) for n in lengths]
        return [{k: rows(x, n) for k, x in self.tags.items()} for n in lengths]


def one_hot(sentences, labels):
    """Soft targets that are the gold tags."""
    ids = np.array([[labels.index(tag)] for s in sentences for tag in s.tags])
    offsets = np.cumsum([0, *map(len, sentences)])
    values = np.ones(ids.shape, "float32")
    found = fingerprint_of(sentences)
    return SoftTargets({None: labels}, {None: ids}, {None: values}, offsets, found)


def fitted(sentences=SENTENCES, name="bigru", epochs=2, settings=(), **options):
    model = keras_tagging.build(name, **PLAIN | dict(settings))
    model.fit(sentences, epochs=epochs, verbose=0, **options)
    return model


def close(one, other, tolerance):
    return all(map(lambda a, b: np.allclose(a, b, atol=tolerance), one, other))


# What is kept


@pytest.mark.parametrize("top_k", [1, 3, 99])
def test_the_most_probable_labels_are_kept(top_k):
    found = SoftTargets.of(Teacher(), SENTENCES, top_k=top_k)
    rows = np.concatenate(Teacher().predict(SENTENCES))
    k = min(top_k, len(LABELS))
    assert found.ids[None].shape == found.probabilities[None].shape == (len(rows), k)
    for row, ids, values in zip(
        rows, found.ids[None], found.probabilities[None], strict=True
    ):
        best = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        assert ids.tolist() == best and values.tolist() == row[best].tolist()
    assert np.diff(found.offsets).tolist() == [len(s) for s in SENTENCES]
    assert len(found) == len(SENTENCES) and f"{k} tags" in repr(found)


def test_saved_and_loaded(tmp_path):
    teacher = Teacher({"upos": LABELS, "feats": ("a", "b")})
    found = SoftTargets.of(teacher, SENTENCES, top_k=3)
    path = tmp_path / "new" / "targets.npz"
    found.save(path)
    again = SoftTargets.load(path)
    assert again.digest() == found.digest()
    assert again.labels == found.labels and again.fingerprint == found.fingerprint
    for name in teacher.tags:
        assert (again.ids[name] == found.ids[name]).all()
        assert (again.probabilities[name] == found.probabilities[name]).all()
    other = SoftTargets.of(Teacher(teacher.tags, seed=1), SENTENCES, top_k=3)
    assert other.digest() != found.digest()
    with pytest.raises(OSError):
        SoftTargets.load(tmp_path / "none.npz")


def test_damaged_files(tmp_path):
    path = tmp_path / "targets.npz"
    SoftTargets.of(Teacher(), SENTENCES[:2]).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    found = {}
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.choice([len(data), rng.integers(len(data))])])
        try:
            SoftTargets.load(path)
        except ValueError as error:
            assert f"{path}: is no file of soft targets" in (told := str(error))
            assert "\n" not in told
            found["refused"] = found.get("refused", 0) + 1
    assert found["refused"] > 200
    no_text = np.frombuffer(b"\xff" * 4, ">U1").reshape(())
    of_nothing = json.dumps({"format": 1, "columns": [[]]})
    no_number = np.array([{}], object)
    for header in ("[]", "{}", "[" * 10**5, of_nothing, no_text, no_number):
        np.savez(path, header=header, offsets=np.zeros(1, int))
        with pytest.raises(ValueError, match="is no file of soft targets"):
            SoftTargets.load(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": np.array([0, 2, 1])},
        {"offsets": np.array([1, 2])},
        {"offsets": np.array([0.0, 2.0])},
        {"offsets": np.array([0, 3])},
        {"ids": {None: np.array([[0], [2]])}},
        {"ids": {None: np.array([[0], [-1]])}},
        {"ids": {None: np.array([[0.0], [1.0]])}},
        {"ids": {None: np.array([0, 1])}},
        {"ids": {"upos": np.array([[0], [1]])}},
        {"probabilities": {None: np.array([[0.5], [1.5]])}},
        {"probabilities": {None: np.array([[0.5], [-0.1]])}},
        {"probabilities": {None: np.array([[0.5], [np.nan]])}},
    ],
)
def test_arrays_that_are_no_soft_targets(changes):
    ids, values = np.array([[0], [1]]), np.array([[0.5], [1.0]])
    offsets = np.array([0, 2])
    whole = SoftTargets({None: "ab"}, {None: ids}, {None: values}, offsets, "")
    with pytest.raises(ValueError, match="do not fit"):
        replace(whole, **changes)


# The loss


@pytest.mark.parametrize("temperature", [0.7, 1.0, 3.0])
def test_cross_entropy_with_soft_targets(temperature):
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (2, 4, 6)).astype("float32")
    ids = np.argsort(rng.random((2, 4, 6)), -1)[..., :3].astype("int32")
    values = rng.random((2, 4, 3)).astype("float32")
    values[0, 1] = 0
    found = soft_cross_entropy(
        *map(ops.convert_to_tensor, (ids, values, logits)), temperature
    )
    for place in np.ndindex(2, 4):
        logs = log_softmax(logits[place].astype("float64") / temperature)
        pairs = zip(ids[place], values[place], strict=True)
        expected = -sum(v * logs[i] for i, v in pairs)
        assert float(found[place]) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("weight, temperature", [(0.3, 1.0), (0.8, 2.5), (1.0, 0.5)])
@pytest.mark.parametrize("top_k", [2, 99])
def test_the_loss_of_a_batch(weight, temperature, top_k):
    """Of several columns with weights, in sentences of different lengths, some of which
    have no gold labels."""
    gold = columned(SENTENCES[:5])
    given = [*gold[:3], *(Sentence(s.tokens) for s in gold[3:])]
    labels = {"upos": LABELS, "feats": ("B-D", "I-D", "B-N", "new")}
    targets = SoftTargets.of(Teacher(labels), given, top_k=top_k)
    settings = {**PLAIN, "tags": ("upos", "feats"), "tag_weights": (1.0, 0.4)}
    model = keras_tagging.build("bigru", **settings)
    options = {"soft_weight": weight, "temperature": temperature}
    model.fit(given, soft_targets=targets, epochs=0, verbose=0, **options)
    randomize(model)
    distillation = Distillation(targets, weight, temperature)
    sentences = distillation.labelled(given, model.column_names)
    encoded = distillation.encoded(
        model.encode(sentences, targets=True), given, model.label_columns
    )
    ids, y, mask = encoded.batch(np.arange(5), multiple=8)
    assert mask.shape[1] > max(map(len, given)) and mask.sum() == sum(map(len, given))
    logits = model(ids)
    loss = model.compute_loss(
        None, *ops_of(y), {k: x for k, x in logits.items()}, ops.convert_to_tensor(mask)
    )

    expected = 0.0
    teacher = Teacher(labels).predict(given)
    for column, share in zip(model.label_columns, (1.0, 0.4), strict=True):
        outputs = column.part(logits)
        scores = outputs["logits"] if isinstance(outputs, dict) else outputs
        scores = np.array(scores, "float64")
        for row, sentence in enumerate(given):
            known = sentence.columns and column.gold([sentence])[0]
            for t in range(len(sentence)):
                logs = log_softmax(scores[row, t])
                if known and known[t] in column.labels:
                    own = (1 - weight) * logs[column.labels.index(known[t])]
                    expected -= share * own
                p = teacher[row][column.name][t].astype("float64")
                kept = sorted(range(len(p)), key=lambda i: -p[i])[:top_k]
                powers = {
                    labels[column.name][i]: p[i] ** (1 / temperature)
                    for i in kept
                    if labels[column.name][i] in column.labels
                }
                logs = log_softmax(scores[row, t] / temperature)
                for label, power in powers.items():
                    q = power / sum(powers.values())
                    own = q * logs[column.labels.index(label)]
                    expected -= share * weight * temperature**2 * own
    assert float(loss) == pytest.approx(expected / mask.sum(), rel=1e-4)


def ops_of(y):
    return [{name: ops.convert_to_tensor(array) for name, array in y.items()}]


def test_what_the_student_does_not_know_is_shared_by_the_rest():
    targets = SoftTargets.of(Teacher(), SENTENCES[:3], top_k=3)
    column = LabelColumn(None, ["V", "D", "N"])
    for temperature in (1.0, 2.0):
        ids, values = Distillation(targets, 0.5, temperature).softened(column)
        for row in range(len(ids)):
            own = targets.ids[None][row], targets.probabilities[None][row]
            known = {
                LABELS[i]: p ** (1 / temperature)
                for i, p in zip(*own, strict=True)
                if LABELS[i] in column.labels
            }
            found = {
                column.labels[i]: v
                for i, v in zip(ids[row], values[row], strict=True)
                if v > 0
            }
            total = sum(known.values())
            expected = {label: p / total for label, p in known.items()}
            assert found == pytest.approx(expected, rel=1e-5)
            assert values[row].tolist() == sorted(values[row], reverse=True)
    with pytest.raises(
        ValueError, match="the student knows no tag of the soft targets"
    ):
        Distillation(targets, 0.5, 1.0).softened(LabelColumn(None, ["Z"]))


# Training


def test_one_hot_targets_alone_are_gold_tags():
    targets = one_hot(SENTENCES, LABELS)
    found = fitted(soft_targets=targets, soft_weight=1.0)
    assert close(weights(found), weights(fitted()), 1e-5)
    # and so are those of sentences without tags
    learnt = fitted(WORDS, soft_targets=targets, soft_weight=1.0)
    assert learnt.tags == found.tags
    assert close(weights(learnt), weights(found), 1e-5)


def test_resumed_is_uninterrupted(tmp_path):
    targets = SoftTargets.of(Teacher(), SENTENCES, top_k=3)
    options = {"soft_targets": targets, "soft_weight": 0.7, "temperature": 2.0}
    settings = {"settings": {"dropout": 0.3}}
    expected = fitted(**settings, **options)
    fitted(**settings, epochs=1, resume=tmp_path, **options)
    again = {**options, "soft_targets": SoftTargets.of(Teacher(), SENTENCES, top_k=3)}
    found = fitted(**settings, resume=tmp_path, **again)
    assert equal(weights(found), weights(expected))
    other = SoftTargets.of(Teacher(seed=1), SENTENCES, top_k=3)
    for change in ({"temperature": 1.0}, {"soft_targets": other}):
        with pytest.raises(ValueError, match="a run with other soft targets"):
            fitted(**settings, resume=tmp_path, **options | change)
    fitted(**settings, epochs=1, resume=tmp_path / "gold")
    # a state of 0.2.0 says nothing of soft targets
    rewrite(tmp_path / "gold" / "resume.npz", '"soft targets": null, ', "")
    with pytest.raises(ValueError, match="a run with other soft targets"):
        fitted(**settings, resume=tmp_path / "gold", **options)


def test_a_teacher_may_give_a_whole_sentence_no_lemma():
    words = [["#gtd"], ["#gtd", "dogs"]]
    ids, ones = np.array([[0], [0], [1]]), np.ones((3, 1), "float32")
    targets = SoftTargets(
        *({"lemma": value} for value in (["!_", ";|-"], ids, ones)),
        np.array([0, 1, 3]),
        fingerprint_of(map(Sentence, words)),
    )
    made = Distillation(targets, 1, 1).labelled(words, ["lemma"])
    assert [s.columns["lemma"] for s in made] == [["#gtd"], ["_", "dog"]]
