"""Words of the ONNX files of a pipeline: held once, and looked up in Python."""

import json
import pickle
import shutil
from copy import deepcopy

import numpy as np
import pytest
from conftest import check_close, random_sentences, random_tagger

from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.runtime import words as runtime_words
from keras_tagging.runtime.folder import content_of, list_of
from keras_tagging.runtime.words import WordIndex, read_vocabularies, stored, words_of
from keras_tagging.utils.stored import sha256_of
from keras_tagging.vectors import WordVectors

TRAIN = [
    Sentence(s.tokens, s.tags, {"pos": s.columns["pos"], "xpos": s.tags})
    for s in random_sentences(12, 1)
]
# "dog" and "the" are of training; two words have one normal form
WORDS = ["dog", "Zebra", "zebra", "0", "été", "0", "the"]
MATRIX = np.random.default_rng(1).normal(size=(7, 4)).astype("float32")
CLASSES = {"dog": "0110", "zebra": "0111", "Été": "10", "gnu": "110"}
TEXT = [
    ["the", "Dog", "saw", "12", "zebra"],
    ["Zebra", "ZEBRA", "été", "ÉTÉ", "İ", "x\0y", "gnu", "\ud800"],
    [],
    ["0", "dog"],
]


def tagger(seed, **options):
    """Random weights."""
    vectors = WordVectors(WORDS, MATRIX)
    given = {"vectors": vectors, "word_classes": CLASSES, "seed": seed}
    return random_tagger(TRAIN, seed, **given | options)


@pytest.fixture(scope="module")
def models():
    """The last one reads characters, so that tokens are an input of its file."""
    ends = {"suffixes": (1, 3), "prefixes": (2,), "capitals": True, "shapes": True}
    return {
        "tagger": tagger(1, tags="pos"),
        "names": tagger(2, lookup="cascade", normalise="wu", **ends),
        "other": tagger(3, tags="xpos", characters=1),
    }


@pytest.fixture(scope="module")
def exported(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    assert Pipeline(**models).export(folder, format="onnx") == {}
    return folder


def probabilities(model):
    found = model.predict(TEXT)
    columns = [x.values() if isinstance(x, dict) else [x] for x in found]
    return np.concatenate([np.ravel(x) for own in columns for x in own])


def test_onnx_files_answer_as_those_that_are_alone(models, exported, tmp_path):
    found = runtime.load(exported)
    assert content_of(exported)["words"].keys() == {"words.npz", "words.onnx"}
    assert content_of(exported)["format"] == 5
    for name, model in models.items():
        model.export(tmp_path / f"{name}.onnx", format="onnx")
        alone = runtime.load(tmp_path / f"{name}.onnx")
        part = found.parts[name]
        assert not alone.words_read and bool(part.words_read) == (name != "other")
        np.testing.assert_array_equal(probabilities(part), probabilities(alone))
        np.testing.assert_allclose(probabilities(part), probabilities(model), atol=1e-5)
    tagger, names = found.tagger, found.parts["names"]
    assert tagger.words is names.words
    sentences = list(found.annotate(TEXT))
    assert [s.tags for s in sentences] == found.parts["names"].tag(TEXT)
    content = (exported / "tagger.onnx").read_bytes()
    assert "été".encode() not in content
    vocabularies = read_vocabularies(exported, content_of(exported)["words"])
    # equal ones are one
    names = ["cluster", "prefix2", "shape", "suffix1", "suffix3", "word"]
    assert [*vocabularies] == [
        *(f"names-{name}" for name in names),
        *(f"tagger-{name}" for name in ("cluster", "vector", "word")),
    ][1:]


def test_copies_are_read_from_the_folder_again(exported, tmp_path):
    shutil.copytree(exported, folder := tmp_path / "copied")
    kept = runtime.load(folder, threads=2)
    pickled = pickle.dumps(kept)
    for found in (pickle.loads(pickled), deepcopy(kept)):
        assert list(found.annotate(TEXT)) == list(kept.annotate(TEXT))
        assert found.tagger.words is found.parts["names"].words is not kept.tagger.words
        assert found.tagger._threads == 2 and found.metadata == kept.metadata
    shutil.copy(folder / "names.onnx", folder / "tagger.onnx")
    with pytest.raises(ValueError, match="tagger.onnx: is not the file that was saved"):
        pickle.loads(pickled)
    (folder / "tagger.onnx").unlink()
    with pytest.raises(TypeError, match="tagger.onnx: the model cannot be copied, as"):
        pickle.dumps(kept.tagger)


def test_a_file_finds_the_words_beside_it(exported, tmp_path):
    alone = runtime.load(exported / "tagger.onnx")
    whole = runtime.load(exported)
    np.testing.assert_array_equal(probabilities(alone), probabilities(whole.tagger))
    shutil.copy(exported / "tagger.onnx", tmp_path)
    with pytest.raises(ValueError, match="words.npz: is missing: copy the folder"):
        runtime.load(tmp_path / "tagger.onnx")


@pytest.mark.parametrize("limit", ["KEPT_TOKENS", "KEPT_CHARACTERS"])
def test_words_that_are_forgotten_are_looked_up_again(exported, monkeypatch, limit):
    monkeypatch.setattr(runtime_words, limit, 2)
    found = runtime.load(exported)
    expected = probabilities(found.tagger)
    np.testing.assert_array_equal(probabilities(found.tagger), expected)
    words = found.tagger.words
    assert len(words._seen) > 2 or words._characters > 2


def test_the_forms_of_a_text_are_made_once_for_all_parts(exported, monkeypatch):
    found, asked = runtime.load(exported), []
    forms = found.tagger.words._forms
    answers = forms.answers

    def counted(names, feeds):
        asked.append(feeds["tokens"].tolist())
        return answers(names, feeds)

    monkeypatch.setattr(forms, "answers", counted)
    for text in (["The", "bé"], ["The", "Aé", "zé"]):
        list(found.annotate([text]))
    # those of the others are made in Python
    assert asked == [["bé"], ["Aé", "zé"]]


def test_an_export_of_models_that_read_strings_has_no_files_of_words(
    models, exported, tmp_path
):
    folder = shutil.copytree(exported, tmp_path / "again")
    Pipeline(tagger=models["other"]).export(folder, format="onnx")
    assert {path.name for path in folder.iterdir()} == {"pipeline.json", "tagger.onnx"}
    content = content_of(folder)
    assert content["format"] == 2 and "words" not in content


def test_the_words_of_a_single_part_are_looked_up_beside_its_file(models, tmp_path):
    pipeline = Pipeline(tagger=models["names"])
    pipeline.export(tmp_path, format="onnx")
    file = runtime.load(tmp_path).tagger
    assert "tokens" not in {value.name for value in file.session.get_inputs()}
    check_close(file.predict(TEXT), models["names"].predict(TEXT), atol=1e-5)


def index_of(words):
    text = np.frombuffer("".join(words).encode(), np.uint8)
    lengths = np.array([len(word.encode()) for word in words], np.uint32)
    return WordIndex(
        text,
        lengths,
        np.arange(2, 2 + len(words), dtype=np.uint8 if len(words) < 250 else np.uint16),
    )


def test_the_index_of_words(monkeypatch):
    words = ["a", "bc", "é", "a", "", "abc"]
    index = index_of(words)
    asked = [*words, "b", "c", "abcd"]
    assert index.find(asked).tolist() == [2, 3, 4, 2, 6, 7, 1, 1, 1]
    assert index.find([]).tolist() == []
    # words with one hash
    monkeypatch.setattr(runtime_words, "hash", lambda word: 7, raising=False)
    assert index_of(words).find(asked).tolist() == [2, 3, 4, 2, 6, 7, 1, 1, 1]
    many = [str(i) for i in range(25_000)]
    monkeypatch.undo()
    assert index_of(many).find(many[::-1]).tolist() == [*range(25_001, 1, -1)]


def written(folder, **changes):
    """A file of words with other arrays, and its checksum."""
    arrays = stored({"word": {"dog": 2, "gnu": 3, "é": 3}})
    arrays |= {f"word.{name}": value for name, value in changes.items()}
    with (folder / "words.npz").open("wb") as stream:
        np.savez(stream, **{k: x for k, x in arrays.items() if x is not None})
    return {"words.npz": {"sha256": sha256_of(folder / "words.npz")}}


def test_what_a_file_of_words_has(tmp_path):
    index = read_vocabularies(tmp_path, written(tmp_path))["word"]
    assert index.find(["gnu", "emu", "dog", "é"]).tolist() == [3, 1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [
        {"lengths": np.array([3, 3, 2])},
        {"lengths": np.zeros(0, "uint32")},
        {"lengths": np.ones((1, 2), "uint32")},
        {"lengths": np.array([3, 3, 3], "uint32")},
        {"lengths": np.full(3, 2**32 - 1, "uint32")},
        {"words": np.zeros(8, "int8")},
        {"ids": np.zeros(3, "float32")},
        {"ids": np.zeros(2, "uint8")},
        {"ids": np.array([[None]], object)},
        {"ids": None},
    ],
)
def test_a_damaged_file_of_words(tmp_path, changes):
    with pytest.raises(ValueError, match="words.npz: is damaged .*: copy the folder"):
        read_vocabularies(tmp_path, written(tmp_path, **changes))


def resealed(folder, change=None):
    """Puts new checksums of its files of words into the list of a folder."""
    content = json.loads((folder / "pipeline.json").read_text())
    for name in content["words"]:
        content["words"][name] = {"sha256": sha256_of(folder / name)}
    if change:
        change(content)
    del content["sha256"]
    (folder / "pipeline.json").write_text(list_of(content))


def test_folders_with_other_words(exported, tmp_path):
    folder = shutil.copytree(exported, tmp_path / "other")
    written(folder)
    with pytest.raises(ValueError, match="words.npz: is not the file that was saved"):
        runtime.load(folder)
    resealed(folder)  # but the file of the tagger names the words of its export
    with pytest.raises(ValueError, match="words.npz: is not the file that was saved"):
        runtime.load(folder)
    (folder / "words.npz").write_bytes(b"PK")
    resealed(folder)
    with pytest.raises(ValueError, match="words.npz: is damaged .*: copy the folder"):
        runtime.load(folder)
    shutil.copy(exported / "words.npz", folder)
    shutil.copy(folder / "tagger.onnx", folder / "words.onnx")
    resealed(folder)
    with pytest.raises(ValueError, match="words.onnx does not make forms of tokens"):
        runtime.load(folder)
    resealed(folder, lambda content: content.pop("words"))
    with pytest.raises(ValueError, match="words.onnx: is not the file that was saved"):
        runtime.load(folder)
    listed = json.loads((folder / "pipeline.json").read_text())
    del listed["sha256"]
    outside = listed | {"words": {"../words.npz": {"sha256": ""}}}
    (folder / "pipeline.json").write_text(list_of(outside))
    with pytest.raises(ValueError, match="does not describe a pipeline"):
        runtime.load(folder)
    for gone in (3, 4):
        (folder / "pipeline.json").write_text(list_of(listed | {"format": gone}))
        with pytest.raises(ValueError, match="no longer read: make it anew by"):
            runtime.load(folder)


@pytest.mark.parametrize(
    "words",
    [
        [],
        {"files": {}},
        {"files": [], "columns": [["word", "raw"]]},
        *(
            {"files": {}, "columns": columns}
            for columns in (
                1,
                [],
                [1],
                [["word"]],
                [["word", 1]],
                [["word", *["raw"] * 4]],
                [["word", "raw"]] * 1001,
            )
        ),
    ],
)
def test_what_a_file_may_say_of_words(words):
    with pytest.raises(ValueError, match="does not say which words"):
        words_of({"words": words})


def test_words_that_are_not_there(exported):
    part = runtime.load(exported).parts["names"]
    columns = part.words_read["columns"]
    assert [column[1:] for column in columns] == [
        *[["raw", "lower", "wu"]] * 3,
        *([name] for name in ("suffix1", "suffix3", "prefix2", "capital", "shape")),
    ]
    for wrong in (
        columns[1:],
        [["nowhere", "raw"], *columns[1:]],
        [["names-word", "form_0"], *columns[1:]],
    ):
        with pytest.raises(ValueError, match="was exported with other words than the"):
            part.words.check(part.words_read | {"columns": wrong}, part.session)
