"""Words that are installed for a language, which recipes and runs take."""

from types import SimpleNamespace

import numpy as np
import pytest
from hostile.programs import program

import keras_tagging
from keras_tagging import Corpus, Sentence, architectures
from keras_tagging.pipelines.plan import PipelinePlan
from keras_tagging.vectors import WordVectors, named, save_vectors
from keras_tagging.vectors.named import (
    CLASSES,
    VECTORS,
    LanguageWords,
    installed_for,
    words_for,
    words_of_run,
)

TINY = LanguageWords(
    "English (en)", "tiny", "brown-tiny", {"tiny": "1.5", "brown-tiny": "2"}
)

ROWS = [(1, "a", "DET"), (2, "b", "NOUN")]


def offer(version, language):
    return SimpleNamespace(version=version, entry=lambda key: language)


@pytest.fixture
def offers(monkeypatch):
    """What is installed, by group and name."""
    found = {
        VECTORS: {"tiny": offer("1.5", "English (en)"), "petit": offer("1", "fr")},
        CLASSES: {"brown-tiny": offer("2", "English (en)"), "old": offer("1", "-")},
    }
    monkeypatch.setattr(named, "installed_models", found.get)
    return found


def test_a_card_names_the_language(offers):
    assert installed_for("en") == TINY
    assert installed_for("fr") == LanguageWords("fr", "petit", None, {"petit": "1"})
    assert not installed_for("de") and not installed_for("")
    with pytest.raises(ValueError, match="language='de': no word vectors .* install"):
        installed_for("de", required=True)
    offers[VECTORS]["more"] = offer("1", "en")
    with pytest.raises(ValueError, match="more .*for 'en', all installed.*vectors='mo"):
        installed_for("en")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("bigru", {}, {"vectors": "tiny", "word_classes": "brown-tiny"}),
        ("bigru", {"vectors": None}, {"word_classes": "brown-tiny"}),
        ("bigru", {"embeddings": "x"}, {"word_classes": "brown-tiny"}),
        ("bigru", {"word_classes": "x", "vectors": "x"}, {}),
        ("ffn-parser", {}, {"vectors": "tiny", "word_classes": "brown-tiny"}),
        ("segmenter", {}, {}),
    ],
)
def test_what_an_architecture_takes(name, given, expected):
    keywords = architectures.architecture(name).keywords
    assert TINY.settings(keywords, given) == expected


def test_only_the_best_recipe_takes_those_of_a_corpus(offers):
    assert words_for("best", None, "en") == TINY
    assert not words_for("fast", None, "en") and not words_for("paper", None, "en")
    assert words_for("fast", "fr", "en").vectors == "petit"
    assert not words_for("best", "", "en")
    with pytest.raises(ValueError, match="recipe='paper' has its own"):
        words_for("paper", "en", "en")


@pytest.fixture
def files(offers, tmp_path):
    """Files in the place of the names."""
    matrix = np.float32([[1, 2], [3, 4]])
    save_vectors(WordVectors(["a", "b"], matrix), tmp_path / "tiny.npz")
    (tmp_path / "tiny.tsv").write_text("a\t01\nb\t11\n")
    given = [str(tmp_path / "tiny.npz"), str(tmp_path / "tiny.tsv")]
    offers[VECTORS] = {given[0]: offer("1.5", "English (en)")}
    offers[CLASSES] = {given[1]: offer("2", "English (en)")}
    return dict(zip(("vectors", "word_classes"), given, strict=True))


def test_build_takes_them_and_says_so(files, capsys, monkeypatch):
    corpus = Corpus([Sentence(["a", "b"], ["X", "Y"])], language="en")
    small = {"units": 4, "num_layers": 1, "character_network": None}
    model = keras_tagging.build("bigru", language="en", corpus=corpus, **small)
    assert model.settings["trainable_vectors"] is False
    assert "are (trainable_vectors=True trains them)" in capsys.readouterr().err
    assert not model.network.get_layer("vector_embedding").trainable
    # the others need no network
    monkeypatch.setattr(type(model), "adapt", lambda *_: None)
    model = keras_tagging.build("bigru", recipe="best", corpus=corpus, **small)
    assert {name: model.settings[name] for name in files} == files
    vectors, classes = f"{files['vectors']} 1.5", f"{files['word_classes']} 2"
    about = {"vectors": vectors, "word_classes": classes}
    assert model.metadata["words"] == {"language": "English (en)", **about}
    assert "for English; without them: vectors=None, word" in capsys.readouterr().err
    model = keras_tagging.build("bigru", language="en", vectors=None)
    assert model.settings["vectors"] is None
    assert model.settings["word_classes"] == files["word_classes"]
    assert "stay as they are" not in capsys.readouterr().err
    for given in (
        {"corpus": corpus},
        {"recipe": "best", "language": "", "corpus": corpus},
        {"recipe": "best"},
    ):
        model = keras_tagging.build("bigru", **small | given)
        assert model.settings["vectors"] is model.settings["word_classes"] is None
        assert "words" not in model.metadata and not capsys.readouterr().err


def test_the_parts_of_a_pipeline_take_them(files):
    words = installed_for("en")
    settings = {"tagger": {"vectors": None}}
    plan = PipelinePlan(("tagger", "parser"), settings, "best", words=words)
    names = ["tagger.word_classes", "parser.vectors", "parser.word_classes"]
    assert plan.taken() == names
    tagger, parser = plan.build("tagger", tags=("upos",)), plan.build("parser")
    assert tagger.settings["vectors"] is None
    assert parser.settings["word_classes"] == files["word_classes"]
    assert parser.settings["vectors"] == files["vectors"]
    assert parser.metadata["words"]["language"] == "English (en)"


def test_a_fast_pipeline_with_words_is_smaller(files):
    def plan(words, **settings):
        return PipelinePlan(("tagger", "parser"), settings, "fast", words=words)

    words = installed_for("en")
    without, small = plan(LanguageWords()), plan(words)
    assert without.keywords("tagger")["character_network"] == "lstm"
    tagger, parser = small.keywords("tagger"), small.keywords("parser")
    assert tagger["character_network"] is None and tagger["trainable_vectors"] is False
    assert without.keywords("parser")["character_network"] == "lstm"
    assert parser["character_network"] is None and parser["trainable_vectors"] is False
    # the settings of the user count more
    assert plan(words, tagger={"units": 9}).keywords("tagger")["units"] == 9
    classes = plan(words, tagger={"vectors": None}).keywords("tagger")
    assert classes["character_network"] == "lstm" and classes["trainable_vectors"]
    assert small.frozen() == ["tagger", "parser"]
    trained = {"vectors": None}, {"trainable_vectors": True}
    assert plan(words, tagger=trained[0], parser=trained[1]).frozen() == []


def test_a_run_keeps_what_it_began_with(offers, tmp_path):
    def begun(going_on):
        return words_of_run(tmp_path, going_on, "best", None, "en")

    assert not words_of_run(tmp_path, False, "fast", None, "en")
    assert not begun(True)  # though there are some now
    assert not words_of_run(tmp_path, True, "best", "", "en")
    assert begun(False) == TINY
    assert words_of_run(tmp_path, True, "best", "en", "en") == TINY
    for other in ("", "fr"):
        with pytest.raises(ValueError, match="the run began with English"):
            words_of_run(tmp_path, True, "best", other, "en")
    offers[VECTORS]["more"] = offer("1", "en")
    assert begun(True) == TINY
    offers[VECTORS]["tiny"] = offer("1.6", "English (en)")
    with pytest.raises(ValueError, match="began with tiny 1.5, which is not installed"):
        begun(True)
    del offers[VECTORS]["tiny"]
    with pytest.raises(ValueError, match="which is not installed: install it"):
        begun(True)
    offers[VECTORS] = {}
    assert begun(False).vectors is None
    words_of_run(tmp_path, False, "fast", None, "en")
    assert not (tmp_path / named.WORDS).exists()


def test_train_says_what_it_takes_and_goes_on_with_it(
    offers, files, tmp_path, monkeypatch
):
    """Without training: the folder has the state of a killed run."""
    built = []
    run = "keras_tagging.models.files.run_folder.train_run"
    monkeypatch.setattr(run, lambda model, *_, **__: built.append(model) or {})
    text = "".join(f"{i}\t{w}\t_\t{t}" + "\t_" * 6 + "\n" for i, w, t in ROWS) + "\n"
    (tmp_path / "en_my-ud-train.conllu").write_text(text)

    def train(out, *options):
        small = ["--set", "units=4", "--set", "character_network=None"]
        given = ["--corpus", tmp_path / "en_my-ud-train.conllu", "--recipe", "best"]
        given += ["--out", out, "--format", "conllu", *small, *options]
        code, printed, told = program("train", "bigru", *given)
        return code, printed + told

    out = tmp_path / "out"
    code, told = train(out)
    assert code == 0 and "Vectors " in told and "--set language= turns them off" in told
    assert built[-1].settings["word_classes"] == files["word_classes"]
    offers[VECTORS]["more"] = offer("1", "en")
    (out / "resume.npz").write_bytes(b"")
    assert train(out)[0] == 0
    assert built[-1].metadata["words"] == built[0].metadata["words"]
    assert built[-1].settings == built[0].settings
    code, told = train(out, "--no-resume")
    assert code == 2 and "all installed: name one" in told


def test_a_network_without_words_has_no_language():
    with pytest.raises(ValueError, match="unknown segmenter keyword 'language'"):
        keras_tagging.build("segmenter", language="en")
