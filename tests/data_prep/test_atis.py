import pytest

import keras_tagging
from keras_tagging.corpora.word_classes import WordClasses

COLUMNS = {"word_class": 1}


def iob(*cities):
    """Sentences in ATIS's format, each with one of the cities."""
    return "".join(
        f"BOS flights to {city} at 5 EOS\tO O O B-toloc.city_name O B-depart_time.time "
        "atis_flight\n"
        for city in cities
    )


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "atis"
    path.mkdir()
    names = [f"town{i}" for i in range(10)]
    (path / "atis-2.train.iob").write_text(iob(*names[:8]), "utf-8")
    (path / "atis-2.dev.iob").write_text(iob(*names[8:]), "utf-8")
    (path / "atis.train.iob").write_text(iob(*names), "utf-8")
    (path / "atis.test.iob").write_text(iob("town0", "town9", "elsewhere"), "utf-8")
    return path


def cities(sentences):
    return [sentence.tokens[2] for sentence in sentences]


def test_files_are_read_back_as_they_were(run, folder, tmp_path):
    code, out, _ = run("atis", folder, tmp_path / "deep" / "out")
    assert code == 0
    assert "warning: train has 8 sentences, published has 4478\n" in out
    assert "warning: test has 3 sentences, published has 893" in out
    given = keras_tagging.load_corpus(folder)
    written = keras_tagging.load_corpus(tmp_path / "deep" / "out")
    assert written.format == "conll"
    assert written.fingerprint() == given.fingerprint()
    assert len(given.train) == 8


def test_classes_are_a_column_learned_from_training_alone(run, folder, tmp_path):
    run("atis", folder, tmp_path / "out", "--classes")
    written = keras_tagging.load_corpus(tmp_path / "out", columns=COLUMNS)
    to_town = ["O", "O", "city_name", "O", "number"]
    for sentence in written.train:
        assert sentence.columns["word_class"] == to_town
        assert sentence.tags[2] == "B-toloc.city_name"
    # town9 stands in development and test, town0 in training and test
    unseen = ["O", "O", "O", "O", "number"]
    found = [s.columns["word_class"] for s in written.dev + written.test]
    assert found == [unseen, unseen, to_town, unseen, unseen]
    classes = WordClasses.learn(written.train)
    assert classes.annotate(written.test) == written.test


def test_held_out_sentences_come_from_all_training_sentences(run, folder, tmp_path):
    run("atis", folder, tmp_path / "a", "--held-out", "0.3", "--seed", "1", "--classes")
    run("atis", folder, tmp_path / "b", "--held-out", "0.3", "--seed", "1", "--classes")
    run("atis", folder, tmp_path / "c", "--held-out", "0.3", "--seed", "2", "--classes")
    a, b, c = (
        keras_tagging.load_corpus(tmp_path / name, columns=COLUMNS) for name in "abc"
    )
    assert len(a.dev) == 3 and len(a.train) == 7
    assert sorted(cities(a.train + a.dev)) == [f"town{i}" for i in range(10)]
    assert a.fingerprint() == b.fingerprint()
    assert cities(a.dev) != cities(c.dev)
    assert cities(a.test) == ["town0", "town9", "elsewhere"]
    # the classes know nothing of what is held out
    assert {s.columns["word_class"][2] for s in a.train} == {"city_name"}
    assert {s.columns["word_class"][2] for s in a.dev} == {"O"}


@pytest.mark.parametrize(
    "name, text, options, message",
    [
        ("atis-2.dev.iob", None, [], "has no dev sentences; give --held-out"),
        ("atis.test.iob", "BOS a EOS\tO O\n", [], "iob:1: 3 words but 2 labels"),
        ("", "", ["--held-out", "nan"], "--held-out nan: leaves nothing for training"),
        ("", "", ["--held-out", "0.2", "--full"], "--full leaves nothing for --held-"),
    ],
)
def test_errors_are_one_line(failing, folder, name, text, options, message):
    if text:
        (folder / name).write_text(text, "utf-8")
    elif name:
        (folder / name).unlink()
    error = failing("atis", folder, *options)
    assert message in error and "=" not in error


def test_classes_of_a_lexicon(run, folder, tmp_path):
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("town9 :- NP : t:ci\nat 5 :- NP : 1700:ti\n", "utf-8")
    run("atis", folder, tmp_path / "out", "--lexicon", lexicon)
    written = keras_tagging.load_corpus(tmp_path / "out", columns=COLUMNS)
    found = [s.columns["word_class"] for s in written.dev]
    assert found == [["O", "O", kind, "B-ti", "I-ti"] for kind in ("O", "B-ci")]
