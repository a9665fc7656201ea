"""What the SavedModel gives in a process that has TensorFlow and no keras_tagging."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import TINY, random_sentences, randomize

import keras_tagging
from keras_tagging import Sentence

# Reads requests from a JSON file, answers each, and proves that only TensorFlow is
# there: an error of the model is an answer too.
SERVE = """
import json
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "keras_tagging":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocker())
import numpy as np
import tensorflow as tf
try:
    import keras_tagging
except ModuleNotFoundError:
    pass
else:
    sys.exit("keras_tagging can be imported here")

requests = json.load(open(sys.argv[1]))
models, answers = {}, []
for folder, strings, lengths in requests:
    if folder not in models:
        models[folder] = tf.saved_model.load(folder)
    serve = models[folder].signatures["serving_default"]
    width = max(map(len, next(iter(strings.values()))), default=0)
    tensors = {
        name: tf.reshape(
            tf.constant([v.encode("utf-8", "surrogateescape") for r in rows for v in r],
                        tf.string), (len(rows), width))
        for name, rows in strings.items()
    }
    try:
        out = serve(lengths=tf.constant(lengths, tf.int32), **tensors)
    except tf.errors.InvalidArgumentError as error:
        answers.append({"error": str(error)})
        continue
    answers.append({"shape": out["top_tags"].shape.as_list()})
    for name, values in out.items():
        values = values.numpy()
        if values.dtype == object:
            values = np.vectorize(bytes.decode, otypes=[object])(values)
        answers[-1][name] = values.tolist()
json.dump(answers, open(sys.argv[2], "w"))
"""

TRAIN = random_sentences(30, 1)
SENTENCES = [
    *[s.tokens for s in random_sentences(6, 11)],
    ["zebra", "WIFE\\/Mother", "\\", "", " ", "\u200b", "👩‍👩‍👧", "\x00", "É", "٣4"],
    [],
    ["x" * 5000],
    ["the"] * 12,
]


def padded(sentences, garbage=""):
    """(rows, lengths) with `garbage` beyond every sentence."""
    width = max(map(len, sentences), default=0)
    rows = [[*s, *[garbage] * (width - len(s))] for s in sentences]
    return rows, [len(s) for s in sentences]


def pos_of(words):
    """The column `pos` of a sentence."""
    return [word[-1:] for word in words]


@pytest.fixture(scope="module")
def model():
    """With every kind of feature; it predicts for few batches."""
    features = {"columns": ("pos",), "shapes": True, "prefixes": (1,), "characters": 1}
    features |= {"character_network": "gru", "character_units": 3}
    features |= {"character_embedding_dim": 4, "max_characters": 8}
    model = keras_tagging.build("bigru", recipe="paper", **features, **TINY)
    model.adapt(TRAIN)
    model.run_eagerly = True
    return randomize(model, 4)


@pytest.fixture(scope="module")
def served(tmp_path_factory, model):
    """The answers to all requests of this file, by name, and the SavedModel."""
    folder = tmp_path_factory.mktemp("served")
    path = folder / "deep" / "model"
    model.export(path, top_k=99)

    rows, lengths = padded(SENTENCES)
    only = rows[0][: lengths[0]]
    requests = {
        "all": (rows, lengths),
        "garbage": (padded(SENTENCES, "dog")[0], lengths),
        "alone": ([only], [len(only)]),
        "nothing": ([], []),
        "empty": ([[], []], [0, 0]),
        "invalid": ([["\udcff", "a\udcc3"]], [2]),
        "too long": ([["a", "b"]], [3]),
        "negative": ([["a", "b"], ["a", "b"]], [2, -1]),
        "one length": ([["a"], ["b"]], [1]),
    }
    given = [
        (str(path), {"tokens": rows, "pos": [*map(pos_of, rows)]}, lengths)
        for rows, lengths in requests.values()
    ]
    paths = [folder / "requests.json", folder / "answers.json"]
    paths[0].write_text(json.dumps(given))
    command = [sys.executable, "-I", "-c", SERVE, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    answers = json.loads(paths[1].read_text())
    return dict(zip(requests, answers, strict=True)), path


def check(answer, model, sentences):
    """Tags, probabilities and the k best against `tag` and `predict`."""
    given = [Sentence(words, None, {"pos": pos_of(words)}) for words in sentences]
    rows, tags = model.predict(given), model.tag(given)
    for i, words in enumerate(sentences):
        n = len(words)
        assert answer["tags"][i][:n] == tags[i]
        best = np.array(answer["probabilities"][i])
        np.testing.assert_allclose(best[:n], rows[i].max(-1, initial=0), atol=1e-5)
        assert not best[n:].any() and not any(answer["tags"][i][n:])
        for t in range(n):
            ranked = answer["top_probabilities"][i][t]
            k = len(ranked)
            expected = np.sort(rows[i][t])[::-1][:k]
            np.testing.assert_allclose(ranked, expected, atol=1e-5)
            for tag, p in zip(answer["top_tags"][i][t], ranked, strict=True):
                assert rows[i][t][model.tags.index(tag)] == pytest.approx(p, abs=1e-5)


def test_serving_equals_tag_and_predict(served, model, once):
    """Of more labels than there are all come back."""
    [answers, _], k = served, len(model.tags)
    assert answers["all"]["shape"] == [len(SENTENCES), 12, k] and k < 99
    check(answers["all"], model, SENTENCES)


def test_what_stands_in_the_padding_is_ignored(served):
    assert served[0]["garbage"] == served[0]["all"]


def test_a_sentence_alone_none_and_invalid_utf8(served, model):
    check(served[0]["alone"], model, SENTENCES[:1])
    check(served[0]["invalid"], model, [["\ufffd", "a\ufffd"]])
    assert served[0]["nothing"]["shape"][:2] == [0, 0]
    assert served[0]["empty"]["shape"][:2] == [2, 0]


def test_lengths_that_do_not_fit_are_an_error(served):
    for name, message in {
        "too long": "lengths must not exceed the width of tokens",
        "negative": "lengths must not be negative",
        "one length": "one length a row of tokens",
    }.items():
        assert message in served[0][name]["error"]


@pytest.mark.one_backend
def test_the_folder_is_loaded_and_evaluated(served, model, once, tmp_path):
    _, path = served
    with pytest.raises(ValueError, match="model holds a SavedModel, which is a progr"):
        keras_tagging.load(path)
    shutil.copytree(path, tmp_path / "pipeline" / "tagger")
    pipeline = keras_tagging.load(tmp_path / "pipeline", safe_mode=False)
    found = pipeline.tagger
    assert (found.kind, found.tags, found.columns) == ("tagger", model.tags, ("pos",))
    given = [Sentence(words, None, {"pos": pos_of(words)}) for words in SENTENCES]
    given.append(Sentence(["the\0", "\ud800dog"], None, {"pos": ["X", "X\0"]}))
    assert found.tag(given) == model.tag(given)
    figures = found.evaluate(TRAIN[:9], return_dict=True)
    expected = model.evaluate(TRAIN[:9], return_dict=True)
    assert figures.keys() == expected.keys() - {"loss", "oov_accuracy"}
    assert figures == {name: expected[name] for name in figures}
    with pytest.raises(ValueError, match="has no all_probabilities: an ONNX file has"):
        found.predict(given)
    assert [s.tags for s in pipeline.annotate(given)] == model.tag(given)
    about = tmp_path / "pipeline" / "tagger" / "metadata.json"
    about.write_text("{}")
    with pytest.raises(ValueError, match="segmenter of keras_tagging; export the"):
        keras_tagging.load(about.parent, safe_mode=False)


def test_metadata_is_in_the_folder_and_nothing_beside_it(served):
    _, folder = served
    names = {path.name for path in folder.iterdir()}
    assert {"saved_model.pb", "variables", "metadata.json"} <= names
    content = json.loads((folder / "metadata.json").read_text())
    assert content["settings"]["columns"] == ["pos"]
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_other_folders_and_files_are_left_alone(tmp_path, tagger):
    (tmp_path / "file.txt").write_text("mine")
    for path in (tmp_path, tmp_path / "file.txt"):
        with pytest.raises(ValueError, match="is not a SavedModel: choose another"):
            tagger.export(path)
    assert (tmp_path / "file.txt").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
