import pytest

from keras_tagging import load_corpus

TURN = (
    '<turn speaker="spk"><semAnnotation withContext="false">{}</semAnnotation></turn>'
)
SEM = '<sem concept="{}" specif="{}"><transcription>{}</transcription></sem>'
FILES = {
    **{f"media_lot{i}": f"{i}" for i in range(1, 5)},
    "media_testHC_a_blanc": "5",
    "media_testHC": "6",
}


def official(name):
    """One turn with a city, and one without a word."""
    first = SEM.format("null", "null", "Voici")
    first += SEM.format("ville", "-a", f"Aix {name}")
    turns = TURN.format(first) + TURN.format("")
    return f'<?xml version="1.0"?><M><dialogue id="{name}">{turns}</dialogue></M>'


def semantizer(word):
    return (
        '<?xml version="1.0"?><!DOCTYPE Trans SYSTEM "trans-14.dtd"><Trans>'
        '<Speaker id="u" name="speaker"/><Turn speaker="u">é '
        f'<SemDebut concept="ville-a"/>{word}<SemFin/></Turn>'
        '<Turn speaker="u v">ensemble</Turn></Trans>'
    )


@pytest.fixture
def disc(tmp_path):
    folder = tmp_path / "E0024" / "MEDIA1FR" / "DATA"
    (folder / "semantizer_files").mkdir(parents=True)
    for file, name in FILES.items():
        (folder / f"{file}.xml").write_text(official(name), "latin-1")
    for name in ("3", "6", "7"):
        path = folder / "semantizer_files" / f"{name}_HC.xml"
        path.write_text(semantizer(f"Nice{name}"), "latin-1")
    return tmp_path / "E0024"


def words(sentences):
    return [" ".join(sentence.tokens) for sentence in sentences]


def test_the_splits_are_those_of_the_disc(run, disc, tmp_path):
    out = tmp_path / "out"
    code, told, _ = run("media", disc, out)
    assert code == 0
    corpus = load_corpus(out)
    assert words(corpus.train) == [f"Voici Aix {i}" for i in range(1, 5)]
    assert words(corpus.dev) == ["Voici Aix 5"]
    assert words(corpus.test) == ["Voici Aix 6"]
    assert corpus.train[0].tags == ["O", "B-ville-a", "I-ville-a"]
    rows = [line.split() for line in told.splitlines()]
    assert ["train", "sentences", "4", "12908"] in rows
    assert ["concepts", "8", "43078"] in rows
    assert ["concept", "types", "2", "99"] in rows
    assert ["turns", "without", "words", "4", "-"] in rows
    assert "warning: train has 12 tokens, D16 Table 1 has 94466" in told


@pytest.mark.parametrize("table", [None, "ville-*,lieu\n"])
def test_relaxed_and_the_second_test_set(run, disc, tmp_path, table):
    out, options = tmp_path / "out", ["--relax", "--test2", "--lower"]
    if table:
        (tmp_path / "table.csv").write_text(table)
        options += ["--relax-table", tmp_path / "table.csv"]
    code, told, err = run("media", disc, out, *options)
    assert (code, err) == (0, "")
    rows = [line.split() for line in told.splitlines()]
    assert ["turns", "of", "several", "speakers", "1", "-"] in rows
    found = load_corpus(out / "train.conll", test=out / "test2.conll")
    assert found.train[0].tokens == ["voici", "aix", "1"]
    assert found.train[0].tags == ["O", "B-ville", "I-ville"]
    # of the dialogues with such files, 3 and 6 are in the official ones
    assert words(found.test) == ["é nice7"]
    assert found.test[0].tags == ["O", "B-lieu" if table else "B-ville"]


def test_what_is_missing_is_told(run, failing, disc, tmp_path):
    folder = disc / "MEDIA1FR" / "DATA"
    (folder / "media_lot2.xml").unlink()
    (folder / "media_testHC.xml").unlink()
    error = failing("media", disc)
    assert "has no file media_lot2.xml; name the folder that has" in error
    code, out, _ = run("media", disc, tmp_path / "out", "--partial")
    assert code == 0 and "warning" not in out and "test" not in out
    assert len(load_corpus(tmp_path / "out").train) == 3
    for path in (folder / "semantizer_files").iterdir():
        path.unlink()
    error = failing("media", disc, "--partial", "--test2")
    assert "has no semantizer_files/*_HC.xml; leave out --test2" in error
