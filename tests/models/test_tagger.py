import json
import math
import os
import subprocess
import sys
from itertools import count

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize, reloaded, short

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.encoding import batching
from keras_tagging.vectors import WordVectors

ODD_TOKENS = ["", *" \t\n\u00a0\u200b\ufeff\x00\\\u0301漢\ud800٣", "e\u0301", "👩‍👩‍👧"]
ODD_TOKENS += ["\\/", "wife\\/", "a" * 100_000, "<PAD>"]
# Gold tags unseen in training (X), empty sentences, unknown words; lengths from 0 to 9.
GOLD = [
    Sentence(["the", "dog", "barks"], ["D", "N", "X"]),
    Sentence([], []),
    Sentence(["zebra"], ["N"]),
    Sentence(["a", "Dog", "sees", "a", "unicorn", ",", "it", "barks", "."], ["D"] * 9),
    Sentence(["zebra", "1999"], ["X", "M"]),
    Sentence([], []),
]


# Prediction


def test_a_sentence_alone_equals_itself_among_longer_ones(tagger):
    sentences = [s.tokens for s in random_sentences(8, 5)]
    together = tagger.predict([*sentences, ["the"] * 40, []])
    assert [len(rows) for rows in together] == [*map(len, sentences), 40, 0]
    for sentence, rows in zip(sentences, together, strict=False):
        (alone,) = tagger.predict([sentence])
        np.testing.assert_allclose(rows, alone, atol=1e-6)
        assert rows.shape == (len(sentence), len(tagger.tags))
        np.testing.assert_allclose(rows.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("token", ODD_TOKENS, ids=lambda token: ascii(token[:9]))
def test_every_token_gets_a_tag(tagger, token):
    sentences = [[token], ["the", token, "dog"], [token] * 3]
    assert [len(tags) for tags in tagger.tag(sentences)] == [1, 3, 3]


def test_tags_are_the_best_of_predict(tagger):
    sentences = [s.tokens for s in random_sentences(9, 6)] + [[]]
    rows = tagger.predict(sentences)
    expected = [[tagger.tags[i] for i in row.argmax(-1)] for row in rows]
    assert tagger.tag(sentences) == expected
    with_p = tagger.tag(sentences, probabilities=True)
    assert [[tag for tag, _ in row] for row in with_p] == expected
    for row, found in zip(rows, with_p, strict=True):
        np.testing.assert_allclose([p for _, p in found], row.max(-1, initial=0))


@pytest.mark.parametrize("beta", [1.0, 0.3, 0.01, 1e-6, 0])
def test_beta_gives_every_tag_close_to_the_best(tagger, beta):
    sentences = [["the", "dog", "barks"], [], ["a"]]
    for row, found in zip(
        tagger.predict(sentences), tagger.tag(sentences, beta=beta), strict=True
    ):
        assert len(found) == len(row)
        for probabilities, ranked in zip(row, found, strict=True):
            expected = {
                tag: p
                for tag, p in zip(tagger.tags, probabilities, strict=True)
                if p >= beta * probabilities.max()
            }
            assert dict(ranked) == pytest.approx(expected)
            values = [p for _, p in ranked]
            assert values == sorted(values, reverse=True)


def test_all_tags_are_given_in_short_slices(tagger, monkeypatch):
    """Whatever the size of the inventory, which would fill the memory."""
    words = [["the"]] * 9
    expected = tagger.tag(words, beta=0)
    monkeypatch.setattr(batching, "PREDICTION_ENTRIES", 60 * len(tagger.tags))
    read = []
    stream = tagger.tag((read.append(s) or s for s in words), beta=0)
    found = [next(stream)]
    assert len(read) == 2  # 60 tokens are two sentences of 25
    for tags, others in zip([*found, *stream], expected, strict=True):
        ours, theirs = (dict(row) for row in (tags[0], others[0]))
        assert ours == pytest.approx(theirs)  # batches of other sizes round otherwise
    assert [len(part) for part in batching.slices(words, entries=10**9)] == [1] * 9


def test_a_long_sentence_is_neither_cut_nor_refused(tagger):
    long = ["the", "dog"] * 2500
    (tags,) = tagger.tag([long])
    assert len(tags) == 5000


def test_lists_give_lists_and_generators_give_generators(tagger, monkeypatch):
    monkeypatch.setattr("keras_tagging.encoding.batching.PREDICTION_SENTENCES", 3)
    words = [["the"], [], ["dog", "barks"], ["a"]]
    expected = tagger.tag(words)
    assert isinstance(expected, list) and tagger.tag([]) == []
    assert tagger.tag(tuple(words)) == expected
    assert tagger.tag([Sentence(w, ["X"] * len(w)) for w in words]) == expected
    read = []

    def endless():
        for number in count():
            read.append(number)
            yield words[number % 4]

    tagged = tagger.tag(endless())
    assert read == []
    assert [next(tagged) for _ in range(4)] == expected
    assert len(read) == 6


# Evaluation


def hand_count(model, sentences, known_words):
    """Sentence by sentence, token by token, from `predict` alone."""
    losses, hits, oov_hits, sentence_hits = [], [], [], []
    for sentence in sentences:
        if not sentence.tokens:
            continue
        (rows,) = model.predict([sentence])
        right = []
        for word, tag, row in zip(sentence.tokens, sentence.tags, rows, strict=True):
            right.append(model.tags[row.argmax()] == tag)
            if tag in model.tags:
                losses.append(-math.log(row[model.tags.index(tag)]))
            if word not in known_words:
                oov_hits.append(right[-1])
        hits += right
        sentence_hits.append(all(right))
    return {
        "loss": np.mean(losses),
        "accuracy": np.mean(hits),
        "oov_accuracy": np.mean(oov_hits),
        "sentence_accuracy": np.mean(sentence_hits),
    }


@pytest.mark.parametrize("budget", [1, 9, 4096])
def test_evaluate_equals_a_hand_count(tagger, train_sentences, monkeypatch, budget):
    monkeypatch.setattr("keras_tagging.models.tagger.tagger.PREDICTION_TOKENS", budget)
    known = {word for s in train_sentences for word in s.tokens} | {"1999"}
    sentences = GOLD + random_sentences(6, 9)
    best = tagger.tag([["the"], ["the", "dog"]])
    # and some that are right for sure
    sentences += [Sentence(["the"], best[0]), Sentence(["the", "dog"], best[1])]
    found = tagger.evaluate(sentences, return_dict=True)
    expected = hand_count(tagger, sentences, known)
    assert found == pytest.approx(expected, rel=1e-4)
    assert 0 < found["accuracy"] < 1 and 0 < found["sentence_accuracy"] < 1
    assert tagger.evaluate(sentences) == list(found.values())


def test_evaluate_of_nothing_is_nan(tagger):
    for sentences in ([], [Sentence([], [])]):
        found = tagger.evaluate(sentences, return_dict=True)
        assert all(math.isnan(value) for value in found.values())


def test_evaluate_gives_chunk_figures_where_tags_are_chunks():
    tags = ["B-a", "I-a", "O", "B-b"]
    train = [Sentence(["w", "x", "y", "z"], tags), Sentence(["y", "z"], ["O", "B-b"])]
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    model.adapt(train)
    randomize(model, 3).run_eagerly = True
    predicted = model.tag([s.tokens for s in train])
    found = model.evaluate(train, return_dict=True)
    assert {"precision", "recall", "f1"} < set(found)
    perfect = [Sentence(s.tokens, t) for s, t in zip(train, predicted, strict=True)]
    found = model.evaluate(perfect, return_dict=True)
    assert (found["accuracy"], found["f1"]) == (1, 1)
    # one chunk more in the gold than was found
    predicted[1] = ["B-c", "B-c"]
    gold = [Sentence(s.tokens, t) for s, t in zip(train, predicted, strict=True)]
    assert model.evaluate(gold, return_dict=True)["recall"] < 1


def test_multi_tagging_at_beta_1_is_accuracy(tagger):
    table = tagger.multi_tagging(GOLD, betas=(1.0, 1e-9))
    figures = tagger.evaluate(GOLD, return_dict=True)
    assert table["word"][0] == pytest.approx(figures["accuracy"])
    assert table["sent"][0] == pytest.approx(figures["sentence_accuracy"])
    # with all tags assigned only those unseen in training are wrong
    assert table["word"][1] == pytest.approx(13 / 15)


# Vocabularies and training


def test_unfitted_models_say_so():
    model = keras_tagging.build("bigru", **TINY)
    for call in (model.tag, model.predict, model.evaluate, model.export):
        with pytest.raises(ValueError, match="no vocabularies yet: fit or adapt it"):
            call([["a"]] if call != model.evaluate else GOLD)
    with pytest.raises(ValueError, match="no vocabularies yet"):
        _ = model.tags


def test_a_second_adapt_is_refused(train_sentences, tagger):
    with pytest.raises(ValueError, match="has vocabularies already"):
        tagger.adapt(train_sentences)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch_size": 0}, "batch_size=0: it is 1 or more"),
        ({"batch_size": 2, "token_budget": 9}, "give either"),
        ({"validation_data": [["a"]]}, "sentence 1 has no tags"),
        (
            {"validation_data": [Sentence(["a", "b"], ["X", "Y"])]},
            "none of the tags of the development sentences .'X', 'Y'.: its own are .*; "
            "read both in the same format, with the same columns",
        ),
        ({"monitor": "val_accuracy"}, "need validation_data"),
        (
            {"monitor": "val_acc", "validation_data": GOLD},
            "unknown monitor 'val_acc'; did you mean 'val_accuracy'",
        ),
    ],
)
def test_wrong_arguments_of_fit(tagger, train_sentences, options, message):
    with pytest.raises(ValueError, match=message):
        tagger.fit(train_sentences, verbose=0, **options)


def test_rare_tags_are_left_out():
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY, min_count=2)
    model.adapt([Sentence(["a", "b", "c"], ["X", "Y", "X"])])
    assert model.tags == ["X"]
    encoded = model.encode([Sentence(["a", "b"], ["X", "Y"])], targets=True)
    assert encoded.targets.tolist() == [0, -1]


def test_what_a_fitted_model_cannot_learn_is_told(tmp_path):
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY, min_count=2)
    model.run_eagerly = True
    # Y is rare: no warning, which would be an error here
    model.fit([Sentence(["a", "b", "c"], ["X", "Y", "X"])], epochs=1, verbose=0)
    loaded = reloaded(model, tmp_path)
    others = [Sentence(list("abcdefg"), list("ABCDEFG"))]
    message = (
        r"knows none of the tags of the training sentences \('A', 'B', 'C', 'D', 'E' "
        r"and 2 more\): its own are 'X'; build a new model"
    )
    with pytest.raises(ValueError, match=message):
        loaded.fit(others, epochs=1, verbose=0)
    some = [Sentence(["a"] * 6, ["X", "Z", "Z", "Y", "V", "V"])]
    with pytest.warns(UserWarning, match="^4 of 6 .* know .'Z', 'V'.") as found:
        loaded.fit(some, epochs=2, verbose=0)
    [told] = [warning for warning in found if "know" in str(warning.message)]
    assert told.filename == __file__


# Saving

# Keras comes first, then the package, and the runtime, with its extensions of ONNX
# Runtime, last: beside TensorFlow.
LOAD = """
import sys
import keras
import numpy as np
import keras_tagging
folder = sys.argv[1]
tokens = [["the", "new", "Dog", "barks"], ["caf\\u00e9"], []]
for name in ("plain", "columns"):
    model = keras.saving.load_model(f"{folder}/{name}.keras")
    model.run_eagerly = True
    pos = [["a"] * len(words) for words in tokens]
    sentences = [
        keras_tagging.Sentence(w, None, {"pos": p}) for w, p in zip(tokens, pos)
    ]
    np.savez(f"{folder}/{name}.npz", *model.predict(sentences))
assert "tensorflow" in sys.modules and "onnxruntime" not in sys.modules
from keras_tagging import runtime
model = runtime.load(f"{folder}/plain.onnx")
np.savez(f"{folder}/onnx.npz", *model.tag(tokens))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory, train_sentences):
    """Models of several kinds, saved, and what they predict in a new process."""
    folder = tmp_path_factory.mktemp("saved")
    vectors = WordVectors(["new", "dog"], np.eye(2, 3, dtype="float32"))
    models = {}
    columns = {"columns": ("pos",), "characters": 2, "vectors": vectors}
    for name, options in {
        "plain": {},
        "columns": {"recipe": "paper", **columns},
    }.items():
        model = models[name] = keras_tagging.build("bigru", **TINY, **options)
        model.adapt(train_sentences)
        model.run_eagerly = True  # for few batches
        randomize(model, 7).save(folder / f"{name}.keras")
    models["plain"].export(folder / "plain.onnx", format="onnx")
    command = [sys.executable, "-c", LOAD, str(folder)]
    subprocess.run(command, check=True, env=os.environ)
    return folder, models


@pytest.mark.parametrize("name", ["plain", "columns"])
def test_a_new_process_loads_and_predicts_the_same(saved, name):
    folder, models = saved
    tokens = [["the", "new", "Dog", "barks"], ["caf\u00e9"], []]
    sentences = [Sentence(w, None, {"pos": ["a"] * len(w)}) for w in tokens]
    expected = models[name].predict(sentences)
    with np.load(folder / f"{name}.npz") as found:
        for i, rows in enumerate(expected):
            np.testing.assert_array_equal(found[f"arr_{i}"], rows)


def test_what_is_loaded_is_the_same_model_and_trains_on(saved, train_sentences):
    folder, models = saved
    loaded = keras_tagging.load(folder / "columns.keras")
    model = models["columns"]
    assert loaded.tags == model.tags and loaded.seed == model.seed
    assert loaded.features.vocabularies == model.features.vocabularies
    assert loaded.features.names == model.features.names
    assert loaded.settings == model.settings
    assert isinstance(loaded.optimizer, type(model.optimizer))
    loaded.run_eagerly = True
    losses = [
        m.fit(short(train_sentences, 3), epochs=1, verbose=0).history["loss"]
        for m in (loaded, model)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_unfitted_models_with_vectors_in_memory_are_not_saved(tmp_path):
    vectors = WordVectors(["a"], np.ones((1, 2), "float32"))
    model = keras_tagging.build("bigru", **TINY, vectors=vectors)
    with pytest.raises(ValueError, match="call fit or adapt first"):
        model.save(tmp_path / "model.keras")
    assert list(tmp_path.iterdir()) == []


def test_metadata_stands_beside_the_model(tmp_path, tagger):
    tagger.save(tmp_path / "model.keras")
    tagger.save(str(tmp_path / "other.keras"))
    names = {path.name for path in tmp_path.iterdir()}
    expected = {"model.keras", "metadata.json", "other.keras", "other.metadata.json"}
    assert names == expected
    content = json.loads((tmp_path / "metadata.json").read_text())
    assert content["architecture"] == "bigru" and content["seed"] == TINY["seed"]
    assert content["settings"]["units"] == TINY["units"]
    assert content["parameters"] == tagger.count_params()
    assert content["backend"] == keras.backend.backend()
    assert content["versions"]["keras"] == keras.__version__
    assert content["versions"]["keras-tagging"] == keras_tagging.__version__


def test_save_and_load_tell_what_is_wrong(tmp_path, tagger):
    with pytest.raises(ValueError, match="end in .keras"):
        tagger.save(tmp_path / "model.h5")
    tagger.save(tmp_path / "model.keras")
    assert keras_tagging.load(tmp_path).tags == tagger.tags
    with pytest.raises(FileExistsError, match="overwrite=True"):
        tagger.save(tmp_path / "model.keras", overwrite=False)
    with pytest.raises(ValueError, match="no such model"):
        keras_tagging.load(tmp_path / "none.keras")
    other = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    other.save(tmp_path / "other.keras")
    with pytest.raises(ValueError, match="holds a Sequential, not a tagger"):
        keras_tagging.load(tmp_path / "other.keras")
    (tmp_path / "broken.keras").write_bytes(b"PK no zip")
    with pytest.raises(ValueError, match="broken.keras"):
        keras_tagging.load(tmp_path / "broken.keras")
