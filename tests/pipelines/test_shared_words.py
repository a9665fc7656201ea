"""Words that several parts of a pipeline read: held once in its folder."""

import io
import json
import shutil

import h5py
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize
from models.parsers import random_parser

import keras_tagging
from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.models.files.saving import archived, members_of
from keras_tagging.pipelines.word_sharing import shared_parts
from keras_tagging.runtime import shared_words
from keras_tagging.runtime.folder import content_of, list_of
from keras_tagging.runtime.shared_words import WordIndex, WordTables
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


def tagger(seed, matrix=MATRIX, changed=(), **options):
    """Random weights, and vectors of which training has changed some rows."""
    vectors = WordVectors(WORDS, matrix)
    given = {"vectors": vectors, "word_classes": CLASSES, "seed": seed}
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY | given | options)
    model.adapt(TRAIN)
    table = model.network.get_layer("vector_embedding").embeddings
    rows = np.array(table)
    rows[[*changed]] += 0.5
    randomize(model, seed)
    table.assign(rows)
    return model


@pytest.fixture(scope="module")
def models():
    """Of three taggers the last has vectors of its own, but the same classes.

    It reads characters, so that tokens are an input of its file.
    """
    ends = {"suffixes": (1, 3), "prefixes": (2,), "capitals": True, "shapes": True}
    return {
        "tagger": tagger(1, tags="pos"),
        "names": tagger(2, changed=(1, 4), lookup="cascade", normalise="wu", **ends),
        "other": tagger(3, MATRIX + 1, tags="xpos", characters=1),
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
    assert content_of(exported)["format"] == 4
    for name, model in models.items():
        model.export(tmp_path / f"{name}.onnx", format="onnx")
        alone = runtime.load(tmp_path / f"{name}.onnx")
        part = found.parts[name]
        assert not alone.shared
        assert [*part.shared] == {
            "tagger": ["files", "vector", "cluster", "token_ids"],
            "names": ["files", "vector", "cluster", "token_ids", "part"],
            "other": ["files", "cluster"],
        }[name]
        np.testing.assert_array_equal(probabilities(part), probabilities(alone))
        np.testing.assert_allclose(probabilities(part), probabilities(model), atol=1e-5)
    tagger, names = found.tagger, found.parts["names"]
    assert tagger.words is names.words
    sentences = list(found.annotate(TEXT))
    assert [s.tags for s in sentences] == found.parts["names"].tag(TEXT)
    content = (exported / "tagger.onnx").read_bytes()
    assert "été".encode() not in content


def test_a_parser_reads_the_classes_of_its_tagger(models, tmp_path):
    parser = random_parser("ffn-parser", word_classes=CLASSES, tags="pos")
    assert shared_parts({"tagger": models["tagger"], "parser": parser}) == {
        "cluster": ["tagger", "parser"]
    }
    pipeline = Pipeline(tagger=models["tagger"], parser=parser)
    pipeline.export(tmp_path, format="onnx")
    found = runtime.load(tmp_path)
    assert [*found.parser.shared] == ["files", "cluster", "token_ids"]
    tagged = [Sentence(words, None, {"pos": ["N"] * len(words)}) for words in TEXT]
    assert found.parser.parse(tagged) == parser.parse(tagged)
    assert list(found.annotate(TEXT)) == list(pipeline.annotate(TEXT))


def test_a_file_finds_the_words_beside_it(exported, tmp_path):
    alone = runtime.load(exported / "tagger.onnx")
    whole = runtime.load(exported)
    np.testing.assert_array_equal(probabilities(alone), probabilities(whole.tagger))
    shutil.copy(exported / "tagger.onnx", tmp_path)
    with pytest.raises(ValueError, match="words.npz: is missing: copy the folder"):
        runtime.load(tmp_path / "tagger.onnx")


@pytest.mark.parametrize("limit", ["KEPT_TOKENS", "KEPT_CHARACTERS"])
def test_words_that_are_forgotten_are_looked_up_again(exported, monkeypatch, limit):
    monkeypatch.setattr(shared_words, limit, 2)
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


def test_an_export_without_vectors_and_classes_has_no_files_of_them(exported, tmp_path):
    folder = shutil.copytree(exported, tmp_path / "again")
    bare = keras_tagging.build("bigru", **TINY | WORDS_ONLY | {"seed": 1})
    bare.adapt(TRAIN)
    Pipeline(tagger=bare).export(folder, format="onnx")
    assert {path.name for path in folder.iterdir()} == {"pipeline.json", "tagger.onnx"}
    content = content_of(folder)
    assert content["format"] == 2 and "words" not in content


def test_the_words_of_a_single_part_are_looked_up_beside_its_file(models, tmp_path):
    pipeline = Pipeline(tagger=models["names"])
    pipeline.export(tmp_path, format="onnx")
    file = runtime.load(tmp_path).tagger
    assert "tokens" not in {value.name for value in file.session.get_inputs()}
    for rows, others in zip(
        file.predict(TEXT), models["names"].predict(TEXT), strict=True
    ):
        np.testing.assert_allclose(rows, others, atol=1e-5)


def index_of(words):
    ends = np.cumsum([len(word.encode()) for word in words])
    text, ids = "".join(words).encode(), np.arange(2, 2 + len(words))
    return WordIndex(text, np.r_[0, ends[:-1]], ends, ids)


def test_the_index_of_words(monkeypatch):
    words = ["a", "bc", "é", "a", "", "abc"]
    index = index_of(words)
    asked = [*words, "b", "c", "abcd"]
    assert index.find(asked).tolist() == [2, 3, 4, 2, 6, 7, 1, 1, 1]
    assert index.find([]).tolist() == []
    # words with one hash
    monkeypatch.setattr(shared_words, "hash", lambda word: 7, raising=False)
    assert index_of(words).find(asked).tolist() == [2, 3, 4, 2, 6, 7, 1, 1, 1]
    many = [str(i) for i in range(25_000)]
    monkeypatch.undo()
    assert index_of(many).find(many[::-1]).tolist() == [*range(25_001, 1, -1)]


def stored(**changes):
    """The bytes of a file of words, with other arrays."""
    arrays = {
        "vector_words": np.frombuffer("doggnué".encode(), np.uint8),
        "vector_lengths": np.array([3, 3, 2], "uint32"),
        "vector_rows": np.ones((5, 2), "float16"),
        "cluster_words": np.frombuffer(b"01\tdog\tgnu10\temu", np.uint8),
        "cluster_lengths": np.array([10, 6], "uint32"),
    }
    arrays = {k: x for k, x in {**arrays, **changes}.items() if x is not None}
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_what_a_file_of_words_has():
    tables = WordTables(stored())
    assert tables.features == ("vector", "cluster")
    assert tables.entries("vector") == ["dog", "gnu", "é"]
    assert tables.entries("cluster") == ["01\tdog\tgnu", "10\temu"]
    assert tables.index("vector").find(["gnu", "emu"]).tolist() == [3, 1]
    found = tables.index("cluster").find(["gnu", "emu", "01", "dog"])
    assert found.tolist() == [2, 3, 1, 2]
    assert WordTables(stored(cluster_words=None)).features == ("vector",)
    words = {"table_x_words": np.frombuffer(b"gnudoggnu", np.uint8)}
    words["table_x_lengths"] = np.array([3, 3, 3], "uint32")
    assert WordTables(stored(**words)).index("table_x") == {b"gnu": 2, b"dog": 3}
    own = {"vector_rows_x": np.zeros((2, 2), "float16")}
    own["vector_changed_x"] = np.array([1, 4], "uint32")
    tables = WordTables(stored(**own))
    assert tables.rows_of("x").tolist() == [[1, 1], [0, 0], [1, 1], [1, 1], [0, 0]]
    assert tables.rows_of("y").tolist() == tables.rows.tolist() == [[1, 1]] * 5


NAN = np.ones((5, 2), "float32")
NAN[4, 1] = np.nan
TWO = np.zeros((2, 2), "float16")


def changed(ids, rows=TWO):
    return {"vector_changed_x": np.array(ids, "uint32"), "vector_rows_x": rows}


ONE = np.array([1], "uint32")
ROWS = np.ones((5, 2), "float32")
REFUSED = {
    "changed vectors of other words": [
        changed([1, 2], np.zeros((2, 3), "float16")),
        changed([1, 2], TWO.astype("float32")),
    ],
    "vectors": [
        changed([1, 5]),
        changed([4, 1]),
        changed([1, 1]),
        changed([], TWO[:0]),
        changed([1, 2]) | {"vector_changed_x": np.array([1.0, 2.0])},
    ],
    "vectors are not": [
        changed([1, 2, 3]),
        changed([1, 2], TWO + np.float16(np.inf)),
        *(
            {"vector_rows": rows}
            for rows in (ROWS[:4], ROWS[:, :0], ROWS[..., None], NAN, np.ones((5, 2)))
        ),
        {"vector_rows": np.ones((5, 10_001), "float16")},
    ],
    "vector_rows": [
        {"vector_rows": None},
        changed([1, 2], None),
        {"vector_rows": np.array([[None]], object)},
    ],
    "has no words": [{"vector_words": None, "cluster_words": None}],
    "table_x_lengths": [{"table_x_words": np.zeros(2, "uint8")}],
    "have other lengths": [
        {"vector_lengths": np.array([3, 3, 2])},
        {"vector_lengths": np.zeros(0, "uint32")},
        {"cluster_lengths": np.ones((1, 2), "uint32")},
        {"cluster_words": np.zeros(16, "int8")},
        {"table_x_words": np.zeros(2, "uint8"), "table_x_lengths": ONE},
        {"vector_lengths": np.array([3, 3, 3], "uint32")},
        {"vector_lengths": np.full(3, 2**32 - 1, "uint32")},
    ],
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_damaged_file_of_words(message):
    for changes in REFUSED[message]:
        with pytest.raises(ValueError, match=message):
            WordTables(stored(**changes))


def test_bytes_that_are_no_text_or_expand():
    text = np.frombuffer(b"dog\xc3\x28gnu", np.uint8)
    with pytest.raises(ValueError, match="the words of vector are no UTF-8"):
        WordTables(stored(vector_words=text)).entries("vector")
    packed = io.BytesIO()
    np.savez_compressed(packed, vector_words=np.zeros(9, "uint8"))
    with pytest.raises(ValueError, match="its arrays are compressed"):
        WordTables(packed.getvalue())


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
    (folder / "words.npz").write_bytes(stored())
    with pytest.raises(ValueError, match="words.npz: is not the file that was saved"):
        runtime.load(folder)
    resealed(folder)
    with pytest.raises(ValueError, match="tagger.onnx: was exported with other words"):
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
    parts = {f"x{i}": {} for i in range(33)}
    many = listed | {"words": {"words.npz": {}}, "parts": parts}
    (folder / "pipeline.json").write_text(list_of(many))
    with pytest.raises(ValueError, match="does not describe a pipeline"):
        runtime.load(folder)


@pytest.mark.parametrize(
    "shared",
    [
        [],
        {"files": {}},
        {"files": [], "vector": ["form_0"]},
        *({"files": {}, "vector": forms} for forms in ([], [1], ["form_0"] * 4)),
        {"files": {}, "word": ["form_0"]},
        {"files": {}, "part": 1, "vector": ["form_0"]},
        {"files": {}, "token_ids": [["", []]]},
        *(
            {"files": {}, "vector": ["form_0"], "token_ids": ids}
            for ids in ([["word"]], [["word", [1]]], [["", []]] * 1001)
        ),
    ],
)
def test_what_a_file_may_say_of_shared_words(shared):
    with pytest.raises(ValueError, match="does not say which words"):
        shared_words.shared_of({"shared": shared})


def test_ids_that_are_not_there(exported):
    part = runtime.load(exported).parts["names"]
    columns = part.shared["token_ids"]
    others = [["suffix1"], ["suffix3"], ["prefix2"], ["capital"], ["shape"]]
    assert [x for _, x in columns] == [["raw", "lower", "wu"], [], [], *others]
    for wrong in (
        columns[1:],
        [["nowhere", ["raw"]], *columns[1:]],
        [["names_word", ["form_0"]], *columns[1:]],
    ):
        with pytest.raises(ValueError, match="was exported with other words than the"):
            part.words.check(part.shared | {"token_ids": wrong}, part.session)


def test_tables_of_parts_that_are_equal_are_one(models, tmp_path):
    twin = tagger(4, tags="xpos")
    Pipeline(tagger=models["tagger"], twin=twin).export(tmp_path, format="onnx")
    part = runtime.load(tmp_path).parts["twin"]
    column = ["tagger_word", ["raw", "lower", "kadari"]]
    assert part.shared["token_ids"][0] == column
    np.testing.assert_allclose(probabilities(part), probabilities(twin), atol=1e-5)


# Files of Keras


@pytest.fixture(scope="module")
def saved(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    Pipeline(**models).save(folder)
    return folder


def test_saved_parts_are_what_they_were(models, saved, tmp_path):
    assert content_of(saved)["words"].keys() == {"words.npz"}
    found = keras_tagging.load(saved)
    for name, model in models.items():
        part = found.parts[name]
        assert part.vocabularies == model.vocabularies
        for a, b in zip(part.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(probabilities(part), probabilities(model))
        members = members_of((saved / f"{name}.keras").read_bytes())
        config = json.loads(members["config.json"])["config"]
        shared = json.loads(members["shared.json"])
        assert config["vocabularies"]["cluster"] is None
        assert (config["vocabularies"]["vector"] is None) == (name != "other")
        assert ("vector" in shared) == (name != "other")
    alone = keras_tagging.load(saved / "names.keras")
    np.testing.assert_array_equal(probabilities(alone), probabilities(models["names"]))
    # what is loaded can be saved again, the same, and alone
    found.save(tmp_path / "again")
    first, second = (x / "words.npz" for x in (saved, tmp_path / "again"))
    assert first.read_bytes() == second.read_bytes()
    found.tagger.save(tmp_path / "alone.keras")
    assert keras_tagging.load(tmp_path / "alone.keras").vocabularies


def test_half_precision(models, tmp_path):
    models = {name: models[name] for name in ("tagger", "names")}
    Pipeline(**models).save(tmp_path, half_precision=True)
    found = keras_tagging.load(tmp_path)
    for name, model in models.items():
        half = [w.astype("float16").astype("float32") for w in model.get_weights()]
        for a, b in zip(found.parts[name].get_weights(), half, strict=True):
            np.testing.assert_array_equal(a, b)
    with np.load(tmp_path / "words.npz") as stored_words:
        assert stored_words["vector_rows"].dtype == np.float16


def test_a_saved_part_without_its_words(models, saved, tmp_path):
    shutil.copy(saved / "tagger.keras", tmp_path)
    with pytest.raises(ValueError, match="words.npz: is missing: copy the folder"):
        keras_tagging.load(tmp_path / "tagger.keras")
    (tmp_path / "words.npz").write_bytes(stored())
    with pytest.raises(ValueError, match="words.npz: is not the file that was saved"):
        keras_tagging.load(tmp_path / "tagger.keras")
    # a pipeline that shares no words takes the place of one that does
    folder = shutil.copytree(saved, tmp_path / "one")
    Pipeline(tagger=models["tagger"]).save(folder)
    assert not (folder / "words.npz").exists() and content_of(folder)["format"] == 2
    again = keras_tagging.load(folder).tagger
    np.testing.assert_array_equal(*map(probabilities, (again, models["tagger"])))


def test_which_parts_share_vectors(models):
    one, names, other = models.values()
    both = {"vector": ["tagger", "names"], "cluster": ["tagger", "names"]}
    assert shared_parts({"tagger": one, "names": names}) == both
    # more than half of them
    shared = shared_parts({"tagger": one, "names": other})
    assert shared == {"cluster": ["tagger", "names"]}
    # the first of all parts is not what the others have
    parts = {"other": other, "tagger": one, "names": names}
    assert shared_parts(parts)["vector"] == ["tagger", "names"]
    assert shared_parts({"tagger": one}) == {}
    assert shared_parts({f"x{i}": one for i in range(33)}) == {}
    # models that have diverged
    nan = tagger(1, MATRIX, tags="pos")
    table = nan.network.get_layer("vector_embedding").embeddings
    table.assign(np.full(table.shape, np.nan))
    shared = shared_parts({"tagger": nan, "names": nan})
    assert shared == {"cluster": ["tagger", "names"]}


def with_member(path, name, change, more=()):
    """Changes a JSON member of a `.keras` file; others are put in the place of more."""
    members = members_of(path.read_bytes()) | dict(more)
    members[name] = json.dumps(change(json.loads(members[name]))).encode()
    path.write_bytes(archived(members))


def place(text):
    return lambda shared: shared | {"vector": {"place": text, "dtype": "float32"}}


HOSTILE = {
    "does not say which words": [
        lambda shared: [],
        lambda shared: {"files": shared["files"]},
        lambda shared: shared | {"word": {}},
        lambda shared: shared | {"part": 1},
        lambda shared: shared | {"vector": {}},
        lambda shared: shared | {"vector": {"place": "a/0", "dtype": "object"}},
        place("../vars/0"),
        place("/etc/passwd"),
    ],
    "has no place for the vectors": [
        place("nowhere/vars/0"),
        place("layers/functional/link/0"),
        place("layers/functional/outside/vars/0"),
    ],
    "TypeError|AttributeError|no place": [
        place("layers/functional/layers/embedding/vars/0/0")
    ],
    "has no vectors of a part 'mine'": [lambda shared: shared | {"part": "mine"}],
    "has vectors, and reads": [place("layers/functional/layers/embedding/vars/0")],
    "is not the file that": [lambda shared: shared | {"files": {}}],
    # Keras warns of it, and then misses the vectors
    "Skipping nested|could not be loaded": [place("optimizer/vars/own")],
}


def test_hostile_parts(saved, tmp_path):
    shutil.copy(saved / "words.npz", tmp_path)
    path, outside = tmp_path / "tagger.keras", tmp_path / "outside.h5"
    with h5py.File(outside, "w") as file:
        file.create_group("vars")
    before = outside.read_bytes()
    weights = io.BytesIO(
        members_of((saved / "tagger.keras").read_bytes())["model.weights.h5"]
    )
    with h5py.File(weights, "r+") as file:
        file["layers/functional/link"] = h5py.SoftLink("/layers/functional/layers")
        file["layers/functional/outside"] = h5py.ExternalLink(str(outside), "/")
    for message, changes in HOSTILE.items():
        for change in changes:
            shutil.copy(saved / "tagger.keras", path)
            links = {"model.weights.h5": weights.getvalue()}
            more = links if "no place" in message else {}
            with_member(path, "shared.json", change, more)
            with pytest.raises(ValueError, match=message) as caught:
                keras_tagging.load(path)
            assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)
    assert outside.read_bytes() == before
    shutil.copy(saved / "tagger.keras", path)

    def words_of_its_own(content):
        content["config"]["vocabularies"]["vector"] = ["dog"]
        return content

    with_member(path, "config.json", words_of_its_own)
    with pytest.raises(ValueError, match="has words of vector and reads those of"):
        keras_tagging.load(path)
