import re
import zipfile

import pytest
from data.test_readers import RENDER

import keras_tagging
from keras_tagging.corpora.word_classes import WordClasses
from keras_tagging.data import CorpusError, Sentence, write
from preparing.atis import read_atis
from preparing.phrase_classes import PhraseClasses

COLUMNS = {"word_class": 1}


def flights(*cities):
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
    (path / "atis-2.train.iob").write_text(flights(*names[:8]), "utf-8")
    (path / "atis-2.dev.iob").write_text(flights(*names[8:]), "utf-8")
    (path / "atis.train.iob").write_text(flights(*names), "utf-8")
    (path / "atis.test.iob").write_text(flights("town0", "town9", "elsewhere"), "utf-8")
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


# The reader

CITY = "B-toloc.city_name"
SPLITS = {
    "train": [
        Sentence(["fly", "to", "rome"], ["O", "O", CITY]),
        Sentence(["hi"], ["O"]),
    ],
    "dev": [Sentence(["to", "oslo"], ["O", CITY])],
    "test": [Sentence(["rome", "please"], [CITY, "O"])],
}


def marked(sentences, last="O"):
    """With the words at the beginning and the end of each sentence."""
    return [
        Sentence(["BOS", *s.tokens, "EOS"], ["O", *s.tags, last]) for s in sentences
    ]


def iob(folder, splits=SPLITS, last="O", name="atis.{}.iob"):
    for split, sentences in splits.items():
        lines = [
            f"{' '.join(s.tokens)}\t{' '.join(s.tags)}\n"
            for s in marked(sentences, last)
        ]
        (folder / name.format(split)).write_text("".join(lines), "utf-8")


def with_intents(folder, splits=SPLITS):
    iob(folder, splits, "atis_flight", "atis.{}.w-intent.iob")


def with_and_without_intents(folder, splits=SPLITS):
    with_intents(folder, splits)
    iob(folder, splits)


def parallel(folder, splits=SPLITS):
    for split, sentences in splits.items():
        path = folder / "atis" / {"dev": "valid"}.get(split, split)
        path.mkdir(parents=True)
        rows = {"in": "tokens", "out": "tags"}
        for end, attribute in rows.items():
            lines = [" ".join(getattr(s, attribute)) + "\n" for s in sentences]
            (path / f"seq.{end}").write_text("".join(lines), "utf-8")
        (path / "label").write_text("atis_flight\n" * len(sentences), "utf-8")


def columns(folder, splits=SPLITS):
    for split, sentences in splits.items():
        write(sentences, folder / f"{split}.txt")


def columns_with_ends(folder, splits=SPLITS):
    columns(folder, {split: marked(s, "atis_flight") for split, s in splits.items()})


def ctf(folder, splits=SPLITS):
    for split, part in splits.items():
        text = RENDER["ctf"]([(s.tokens, s.tags) for s in marked(part)])
        text = text.replace(" |S2", " |S1 14:1 |# atis_flight |S2")
        (folder / f"atis.{split}.ctf").write_text(text, "utf-8")


def sparse(folder, splits=SPLITS):
    every = [s for part in splits.values() for s in marked(part)]
    words = sorted({token for s in every for token in s.tokens})
    labels = sorted({tag for s in every for tag in s.tags})
    (folder / "ATIS.vocab").write_text("\n".join(words) + "\n", "utf-8")
    (folder / "ATIS.labels").write_text("\n".join(labels) + "\n", "utf-8")
    for split, part in splits.items():
        lines = [
            f"{number} |PW 0:1 |CW {words.index(word)}:1 |NW 0:1 "
            f"|L {labels.index(tag)}:1\n"
            for number, s in enumerate(marked(part), 1)
            for word, tag in zip(s.tokens, s.tags, strict=True)
        ]
        (folder / f"ATIS.{split}.cntk.sparse").write_text("".join(lines), "utf-8")


FORMS = [iob, with_intents, with_and_without_intents, parallel, columns]
FORMS += [columns_with_ends, ctf, sparse]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same_corpus(tmp_path, form, packed):
    source = tmp_path / "folder"
    source.mkdir()
    form(source)
    if packed:
        source = tmp_path / "atis.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path in (tmp_path / "folder").rglob("*.*"):
                archive.write(path, path.relative_to(tmp_path))
    corpus = read_atis(source)
    assert dict(corpus.splits()) == SPLITS
    assert (corpus.name, corpus.format) == (str(source), "atis")


def broken(name, text):
    def change(folder):
        path = next(folder.rglob(name))
        path.write_text(path.read_text("utf-8") + text, "utf-8")

    return change


def without(name):
    return lambda folder: [path.unlink() for path in folder.rglob(name)]


@pytest.mark.parametrize(
    "form, change, message",
    [
        (iob, broken("atis.train.iob", "BOS a EOS\tO\n"), "train.iob:3: 3 words but 1"),
        (iob, without("*train*"), "no file is named train"),
        (parallel, without("seq.out"), "seq.in: has no seq.out beside it; add it"),
        (ctf, broken("*dev.ctf", "a O\n"), "dev.ctf:5: no sentence number before the"),
        (
            sparse,
            without("*.vocab"),
            "sparse:1: '0:1' has no comment with its text, nor",
        ),
        (
            sparse,
            lambda folder: (folder / "query.wl").write_text("a\n"),
            "ATIS.vocab, query.wl could each be the list of words; name the folder",
        ),
    ],
)
def test_malformed_files_are_told(tmp_path, form, change, message):
    splits = SPLITS if form is not parallel else {"train": SPLITS["dev"]}
    form(tmp_path, splits)
    change(tmp_path)
    with pytest.raises(CorpusError, match=f"^{tmp_path}.*{re.escape(message)}.*$"):
        read_atis(tmp_path)


# Classes of phrases

LEXICON = """\
 New  York :- NP : newyork:ci
new york city :- NP : newyork:ci
york :- NP : york:st

boston  :- NP : boston:ci
boston :- NP : bos:ap
five p.m. :- NP :  1700:ti
"""


@pytest.fixture
def lexicon(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text(LEXICON, "utf-8")
    return PhraseClasses.read(path)


@pytest.mark.parametrize(
    "words, classes",
    [
        ("from new york city to NEW York", "O B-ci I-ci I-ci O B-ci I-ci"),
        ("boston york new", "B-ap+ci B-st O"),
        ("new york new york york", "B-ci I-ci B-ci I-ci B-st"),
        ("five", "O"),
        ("at five p.m.", "O B-ti I-ti"),
        ("", ""),
    ],
)
def test_the_longest_phrase_from_the_left(lexicon, words, classes):
    assert lexicon.classes_of(words.split()) == classes.split()


def test_annotate_adds_a_column_and_keeps_the_rest(lexicon):
    given = Sentence(["to", "boston"], ["O", "B-toloc"], {"pos": ["P", "N"]})
    [found] = lexicon.annotate([given])
    expected = {"pos": ["P", "N"], "word_class": ["O", "B-ap+ci"]}
    assert found == Sentence(given.tokens, given.tags, expected)
    assert given.columns == {"pos": ["P", "N"]}


@pytest.mark.parametrize(
    "line", ["boston", "boston :- NP", ":- NP : bos:ci", "a :- NP : b"]
)
def test_a_line_that_is_no_entry_is_named(tmp_path, line):
    path = tmp_path / "lexicon.txt"
    path.write_text("york :- NP : york:st\n" + line + "\n", "utf-8")
    with pytest.raises(CorpusError, match=r"lexicon\.txt:2: no entry of a lexicon"):
        PhraseClasses.read(path)


def test_damaged_and_empty_files(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_bytes(b"york :- NP : york:st\nm\xfcnchen :- NP : m:ci\n")
    with pytest.raises(CorpusError, match=r"lexicon\.txt:2"):
        PhraseClasses.read(path)
    path.write_text("\n\n", "utf-8")
    with pytest.raises(CorpusError, match="holds no entry"):
        PhraseClasses.read(path)
