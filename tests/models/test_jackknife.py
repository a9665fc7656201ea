"""Parsers that read the tags of taggers of their own."""

import itertools
import json
from dataclasses import replace
from functools import partial

import keras
import pytest
from conftest import TINY as TINY_TAGGER
from conftest import WORDS_ONLY, random_sentences
from models.parsers import DEV, TRAIN, build

import keras_tagging
from keras_tagging.models.tagger import jackknife as module

pytestmark = pytest.mark.usefixtures("eagerly", "small_taggers")

PREDICTED = {"tags": "predicted", "folds": 2, "tagger_epochs": 1}
SOME = [s for s in DEV if len(s) < 6]  # each step of a search takes time
WORDS = [sentence.tokens for sentence in SOME]


class Fake:
    """Tags everything with the number of taggers that were trained before it."""

    architecture, seed, column_names = "bigru", 0, (None,)
    made = None

    def adapt(self, sentences):
        pass

    def fit(self, sentences, epochs, **options):
        self.number = str(len(self.made))
        self.made.append(sentences)

    def tag(self, sentences):
        return [[self.number] * len(words) for words in sentences]


@pytest.fixture
def trainings(monkeypatch):
    """What fake taggers are trained on."""
    monkeypatch.setattr(Fake, "made", [])
    return Fake.made


def tagger(**changes):
    """A function that gives fake taggers with these attributes."""
    return lambda: vars(made := Fake()).update(changes) or made


@pytest.mark.parametrize("folds", [2, 3, 100])
def test_no_tagger_tags_what_it_has_seen(trainings, folds):
    sentences = [
        replace(s, tokens=[f"{i}:{token}" for token in s.tokens])  # all differ
        for i, s in enumerate(TRAIN[:7])
    ]
    found = module.jackknife(sentences, tagger(), folds=folds)
    assert len(trainings) == min(folds, 7)
    for sentence, tags in zip(sentences, found, strict=True):
        [number] = set(tags)
        seen = [s.tokens for s in trainings[int(number)]]
        assert len(tags) == len(sentence) and sentence.tokens not in seen
    for seen in trainings:
        assert len(seen) in {7 - 7 // len(trainings), 7 - -(-7 // len(trainings))}
    shares = [len(seen) for seen in trainings]
    assert sum(7 - share for share in shares) == 7


def test_folds_are_kept(trainings, tmp_path):
    sentences = [replace(s, tags=[str(i % 3)] * len(s)) for i, s in enumerate(TRAIN)]

    def tags(new=Fake, **options):
        del trainings[:]
        options = {"folds": 3, "keep": tmp_path / "run"} | options
        return module.jackknife(sentences, new, **options), len(trainings)

    expected, trained = tags()
    assert trained == 3
    assert tags() == (expected, 0)
    path = tmp_path / "run" / "jackknife.json"
    content = json.loads(path.read_text())
    del content["tags"]["2"]  # as if it had been interrupted
    path.write_text(json.dumps(content))
    assert tags()[1] == 1
    assert tags(epochs=9)[1] == 3
    for change in ({"seed": 1}, {"architecture": "bilstm"}):
        assert tags(tagger(**change))[1] == 3


def test_named_columns(trainings, tmp_path):
    """Each has its labels; the file keeps them for the same columns only."""

    class Named(Fake):
        column_names = ("upos", "lemma")

        def tag(self, sentences):
            rows = super().tag(sentences)
            return [{"upos": row, "lemma": ["new"] * len(row)} for row in rows]

    columns = [{"pos": ["0"] * len(s), "lemma": s.tokens} for s in TRAIN[:4]]
    columns[-1]["pos"] = ["1"] * len(TRAIN[3])
    pairs = zip(TRAIN, columns, strict=False)
    sentences = [replace(s, tags=None, columns=own) for s, own in pairs]
    options = {"folds": 2, "keep": tmp_path}
    found = module.jackknife(sentences, Named, **options)
    assert [list(row) for row in found] == [["upos", "lemma"]] * 4
    assert {x for row in found for x in row["upos"]} == {"0", "1"}
    assert module.jackknife(sentences, Named, **options) == found
    assert len(trainings) == 2
    module.jackknife([replace(s, tags=["0"] * len(s)) for s in sentences], Fake)


def test_a_killed_fold_goes_on(tmp_path, monkeypatch):
    """With the epoch after the last one, to the tags of a run that was not killed."""
    sentences = random_sentences(6, 1, longest=3)
    new = partial(keras_tagging.build, "bigru", **TINY_TAGGER, **WORDS_ONLY)
    options = {"folds": 2, "epochs": 2}
    expected = module.jackknife(sentences, new, **options)
    seen = []

    class Killed(keras.callbacks.Callback):
        def __init__(self, fold):
            super().__init__()
            self._fold = fold

        def on_epoch_begin(self, epoch, logs=None):
            if (self._fold, epoch) == at:
                raise KeyboardInterrupt
            seen.append((self._fold, epoch))

    options |= {"keep": tmp_path, "begin": lambda fold, tagger: [Killed(fold)]}
    at = 1, 1
    with pytest.raises(KeyboardInterrupt):
        module.jackknife(sentences, new, **options)
    at = None
    assert module.jackknife(sentences, new, **options) == expected
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [path.name for path in tmp_path.iterdir()] == ["jackknife.json"]


@pytest.fixture(scope="module")
def model():
    model = build("ffn-parser", **PREDICTED)
    model.fit(TRAIN[:8], epochs=0, verbose=0)
    return model


def test_the_parser_tags_what_it_parses(model, once):
    assert {"predicted_tag"} == set(model.features.columns)
    parsed = model.parse(WORDS)
    tags = model.tagger.tag(WORDS)
    assert [s.columns["predicted_tag"] for s in parsed] == tags
    assert len(set(itertools.chain(*tags))) > 1
    # gold tags are not looked at
    trees = [(s.columns["head"], s.columns["deprel"]) for s in parsed]
    assert trees == [
        (s.columns["head"], s.columns["deprel"]) for s in model.parse(SOME)
    ]
    # but the predicted ones are
    other = next(tag for tag in model.features.vocabularies["predicted_tag"])
    changed = [replace(s, columns={"predicted_tag": [other] * len(s)}) for s in parsed]
    ids, others = (model.encode(sentences).ids for sentences in (parsed, changed))
    column = model.features.names.index("predicted_tag")
    assert (ids[:, column] != others[:, column]).any()


@pytest.mark.parametrize("text", ["", '{"run": [', "[]", "null", "[" * 10**5, "\0"])
def test_damaged_folds_are_told(trainings, tmp_path, text):
    (tmp_path / "jackknife.json").write_text(text)
    with pytest.raises(ValueError, match=r"jackknife.json: is damaged .*: remove it"):
        module.jackknife(TRAIN, Fake, keep=tmp_path)
