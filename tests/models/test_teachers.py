"""The teacher of a training run: what it says is kept in the folder of the run."""

import json
from dataclasses import replace

import pytest
from conftest import TINY, WORDS_ONLY, random_sentences
from models.columns import columned
from models.parsers import equal, weights

import keras_tagging
from keras_tagging import Ensemble, Sentence, SoftTargets
from keras_tagging.data import Corpus
from keras_tagging.models.distillation import Teacher
from keras_tagging.models.files import run_folder
from keras_tagging.models.files.run_folder import train_run

pytestmark = pytest.mark.usefixtures("eagerly")

CORPUS = Corpus(random_sentences(7, 17, 3), random_sentences(3, 2, 3))
PLAIN = {**TINY, **WORDS_ONLY, "batch_size": 4, "dropout": 0.3, "decay": None}


def student(corpus=CORPUS, **settings):
    model = keras_tagging.build("bigru", **PLAIN | settings)
    model.adapt(corpus.train)
    return model


@pytest.fixture(scope="module")
def teacher():
    """Two members with random weights, of the labels of the corpus."""
    members = [student(Corpus(CORPUS.train[::-1]), seed=seed) for seed in (5, 6)]
    return Teacher(Ensemble(members), "runs/ensemble", "0" * 64)


def run(out, corpus=CORPUS, teacher=None, resume=False, epochs=2, **settings):
    model = student(corpus, **settings)
    if teacher is not None:
        teacher.check(model)
    options = {"tensorboard": False, "verbose": 0, "epochs": epochs}
    train_run(model, corpus, out, resume=resume, teacher=teacher, **options)
    return model


def same(one, other):
    return equal(weights(one), weights(other))


def test_a_weight_of_0_is_a_run_without_a_teacher_to_the_last_bit(tmp_path):
    corpus = Corpus(columned(CORPUS.train), columned(CORPUS.dev))
    settings = {"tags": ("upos", "feats"), "tag_weights": (1.0, 0.4)}
    other = Teacher(student(corpus, seed=7, **settings), "runs/x", "1" * 64, 0.0, 2.0)
    settings["epochs"] = 1
    found = run(tmp_path / "one", corpus, other, **settings)
    assert same(found, run(tmp_path / "two", corpus, **settings))
    heavy = Teacher(other.model, "runs/x", "1" * 64, 0.5)
    assert not same(found, run(tmp_path / "three", corpus, heavy, **settings))


TEXT = random_sentences(9, 3, 3)


def with_text(teacher, text=TEXT):
    return Teacher(teacher.model, "runs/ensemble", "0" * 64, 0.5, 2.0, iter, text)


def test_a_run_that_was_killed_asks_the_teacher_once(tmp_path, teacher, monkeypatch):
    distilling = with_text(teacher)
    expected = run(tmp_path / "whole", teacher=distilling)
    asked = []
    of = SoftTargets.of

    def counted(model, sentences, *args, **options):
        asked.append(sentences)
        return of(model, sentences, *args, **options)

    monkeypatch.setattr(SoftTargets, "of", counted)
    out = tmp_path / "killed"

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "save_run", killed)
        with pytest.raises(KeyboardInterrupt):
            run(out, teacher=distilling, epochs=1)
    [kept] = out.glob("teacher-*.npz")
    assert len(kept.stem) == len("teacher-") + 16
    assert len(SoftTargets.load(kept)) == len(CORPUS.train) + len(TEXT)
    heavier, fewer = replace(distilling, weight=0.6), with_text(teacher, TEXT[1:])
    for other in (heavier, fewer, None):
        with pytest.raises(ValueError, match="saved by a run with other soft targets"):
            run(out, teacher=other, resume=True)
    found = run(out, teacher=distilling, resume=True)
    assert same(found, expected)
    assert sum(len(x) == len(CORPUS.train) + len(TEXT) for x in asked) == 1
    # what the end of a run needs no longer
    assert not list(out.glob("teacher-*")) and not (out / "resume.npz").exists()
    about = json.loads((out / "metadata.json").read_text())["teacher"]
    assert about == found.metadata["teacher"] == distilling.about
    assert about["model"] == "ensemble of bigru, bigru"
    assert about["unlabelled sentences"] == len(TEXT)


def test_the_file_is_of_one_teacher_and_of_these_sentences(tmp_path, teacher):
    teacher.fit_arguments(student(), CORPUS.train, tmp_path)
    [kept] = tmp_path.glob("teacher-*.npz")
    kept.write_bytes(b"PK")
    with pytest.raises(ValueError, match="damaged.*remove it") as error:
        teacher.fit_arguments(student(), CORPUS.train, tmp_path)
    assert str(kept) in str(error.value) and "\n" not in str(error.value)
    # also where a column alone differs, which a teacher may read
    first, *others = CORPUS.train
    changed = replace(first, columns={"pos": ["x"] * len(first)})
    teacher.fit_arguments(student(), [changed, *others], tmp_path)
    other = Teacher(teacher.model, teacher.path, "1" * 64)
    other.fit_arguments(student(), CORPUS.train, tmp_path)
    assert len([*tmp_path.glob("teacher-*.npz")]) == 3


def test_labels_that_one_of_them_lacks(teacher):
    assert teacher.check(student()) == []
    fewer = Corpus([Sentence(["the", "dog"], ["D", "N"]), Sentence(["a"], ["new"])])
    [line] = teacher.check(student(fewer))
    assert line.startswith("Labels in 'tags' that the teacher lacks: 'new'; those ")
    assert line.count("'") == 2 + 2 + 2 * 4


def test_pupils_that_are_refused_before_anything_is_computed(teacher):
    def refused(message, model, of=teacher):
        with pytest.raises(ValueError, match=message) as error:
            of.check(model)
        assert "\n" not in str(error.value)

    refused("a student needs decoder='softmax'", student(decoder="crf"))
    refused("a student needs decoder='softmax'", student(decoder="i-rnn"))
    columns = Corpus(columned(CORPUS.train))
    refused(
        "unknown column of the teacher, runs/ensemble, 'upos'. Known: tags",
        student(columns, tags=("upos", "feats")),
    )
    for name in ("segmenter", "ffn-parser"):
        refused("a .* learns from no soft targets", keras_tagging.build(name))
    parser = Teacher(keras_tagging.build("ffn-parser"), "runs/parser", "0" * 64)
    refused("a teacher is a tagger, a biaffine parser, or an", student(), parser)


# Text without annotation


def test_text_is_learnt_as_sentences_of_a_list_are(tmp_path):
    """What it says of the labels is not read."""
    train, text = columned(CORPUS.train), columned(random_sentences(6, 3))
    corpus, settings = Corpus(train), {"tags": ("upos", "feats")}
    of = student(corpus, seed=7, **settings)
    lessons = Teacher(of, "runs/x", "1" * 64, 1.0, 1.0, iter, text)
    found = run(tmp_path, corpus, lessons, **settings)
    expected, both = student(corpus, **settings), [*train, *(s.tokens for s in text)]
    targets = SoftTargets.of(of, both)
    expected.fit(both, soft_targets=targets, soft_weight=1.0, epochs=2, verbose=0)
    assert same(found, expected)
