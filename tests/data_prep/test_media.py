import pytest
from data_prep.test_markup import member_of

from keras_tagging import load_corpus
from keras_tagging.data import CorpusError
from preparing.media import (
    dialogues,
    full_and_relaxed,
    read_media,
    read_relaxed,
    read_test2,
    relaxed_of,
    words_of,
)

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


# The reader

OFFICIAL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<MEDIA><set>
<dialogue id="70R" nameSpk="speaker#1">
 <turn speaker="wiz"><semAnnotation withContext="false">
   <sem concept="null" specif="null"><transcription>bonjour</transcription></sem>
 </semAnnotation></turn>
 <turn speaker="spk">
  <semAnnotation withContext="true">
   <sem concept="ville" specif="-x"><transcription>faux</transcription></sem>
  </semAnnotation>
  <semAnnotation withContext="false">
   <sem concept="null" specif="null"><transcription><Sync time="1"/> à </transcription>
   </sem>
   <sem concept="ville" specif="-hotel"><transcription>Aix<Sync time="2"/>
     sur mer</transcription></sem>
   <sem concept="ville" specif="-hotel"><transcription>Nice</transcription></sem>
   <sem concept="date" specif="null"><transcription> <Sync time="3"/> </transcription>
   </sem>
   <sem concept="null" specif="null"><transcription>et</transcription></sem>
   <sem concept="null" specif="null"><transcription>l'autre</transcription></sem>
  </semAnnotation>
 </turn>
 <turn speaker="spk"><semAnnotation withContext="false"/></turn>
</dialogue>
<dialogue id="71L"><turn speaker="spk"><semAnnotation withContext="false">
 <sem concept="reponse" specif="null"><transcription>oui</transcription></sem>
</semAnnotation></turn></dialogue>
</set></MEDIA>"""

SEMANTIZER = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE Trans SYSTEM "trans-14.dtd">
<Trans><Speakers><Speaker id="a" name="compere"/><Speaker id="b" name="spk"/></Speakers>
<Episode><Section>
<Turn speaker="a">bonjour</Turn>
<Turn speaker="b"><Sync time="1"/>euh
<SemDebut concept="ville-hotel"/>à<Sync time="2"/> Nice<SemFin/> et
<SemDebut concept="ville-x"/>Aix<SemFin/><SemDebut concept="date"/><SemFin/></Turn>
<Turn speaker="a b">ensemble</Turn>
</Section></Episode></Trans>"""


@pytest.fixture
def official_file(tmp_path):
    return member_of(tmp_path / "media_lot1.xml", OFFICIAL.encode("latin-1"))


@pytest.fixture
def semantizer_file(tmp_path):
    return member_of(tmp_path / "70_HC.xml", SEMANTIZER.encode("latin-1"))


WORDS = ["à", "Aix", "sur", "mer", "Nice", "et", "l'", "autre"]


def test_the_user_s_turns_are_read(official_file):
    first, second, third = read_media(official_file)
    v = "ville-hotel"
    assert first.sentence.tokens == WORDS
    assert first.sentence.tags == (
        ["O", f"B-{v}", f"I-{v}", f"I-{v}", f"B-{v}", "O", "O", "O"]
    )
    assert first.concepts == ["null", v, v, "null", "null"]
    assert first.wordless == ["date"]
    assert (second.sentence.tokens, second.concepts) == ([], [])
    assert third.sentence.tags == ["B-reponse"]
    assert [turn.dialogue for turn in (first, second, third)] == ["70R", "70R", "71L"]
    assert list(dialogues(official_file)) == ["70r", "71l"]


def test_relaxed_concepts_have_no_specifier(official_file):
    first, *_ = read_media(official_file, relax=True)
    assert set(first.sentence.tags) == {"O", "B-ville", "I-ville"}
    pairs = full_and_relaxed([official_file, official_file])
    assert pairs == [("ville-x", "ville"), ("ville-hotel", "ville")]


def test_the_second_test_set_is_read(semantizer_file):
    turn, shared = read_test2(semantizer_file)
    assert (shared.is_shared, shared.sentence.tokens) == (True, [])
    assert turn.dialogue == "70" and not turn.is_shared
    assert turn.sentence.tokens == ["euh", "à", "Nice", "et", "Aix"]
    assert turn.sentence.tags == (
        ["O", "B-ville-hotel", "I-ville-hotel", "O", "B-ville-x"]
    )
    assert turn.concepts == ["null", "ville-hotel", "null", "ville-x"]
    assert turn.wordless == ["date"]
    turn, _ = read_test2(semantizer_file, relaxed=[("ville-hotel", "ville")])
    assert turn.sentence.tags == ["O", "B-ville", "I-ville", "O", "B-ville-x"]


def test_the_first_pair_that_fits_relaxes():
    pairs = [("a-b", "1"), ("a*", "2"), ("a-c", "3"), ("b", "4")]
    found = [relaxed_of(c, pairs) for c in ("a-b", "a-c", "a", "b", "b-a")]
    assert found == ["1", "2", "2", "4", "b-a"]


def test_a_table_of_relaxed_concepts(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("ville-hotel,ville\nnombre*,nombre\n")
    assert read_relaxed(path) == [("ville-hotel", "ville"), ("nombre*", "nombre")]
    path.write_text("a,b\nc\n")
    with pytest.raises(CorpusError, match="table.csv:2: 1 columns, or an empty one;"):
        read_relaxed(path)
    for content in (b"a,b\n" + b"x" * 200_000, b"a,b\n\xe9,\n"):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match="table.csv:.: cannot be read: .*; write"):
            read_relaxed(path)


@pytest.mark.parametrize(
    "text, words, spoken",
    [
        ("l'hôtel d 'Aix", "l' hôtel d' Aix", "l' hôtel d' Aix"),
        ("c'est\n aujourd'hui", "c' est aujourd' hui", "c'est aujourd' hui"),
        ("dix-huit (bruit) !", "dix-huit (bruit) !", "dix huit *"),
        ("quatre-vingt-dix-neuf", "quatre-vingt-dix-neuf", "quatre vingt dix neuf"),
        (" \t ", "", ""),
    ],
)
def test_words(text, words, spoken):
    assert words_of(text) == words.split()
    assert words_of(text, spoken=True) == spoken.split()


@pytest.mark.parametrize(
    "name, old, new, line, message",
    [
        ("a.xml", 'id="70R" ', "", 3, "<dialogue> has no id"),
        ("a.xml", '<turn speaker="spk">\n', "<turn>\n", 7, "<turn> has no speaker"),
        ("a.xml", 'concept="date" ', "", 17, "<sem> has no concept"),
        ("a.xml", "</set></MEDIA>", "", 28, "is not well-formed XML"),
        ("a_HC.xml", "<SemFin/> et", " et", 8, "SemDebut inside another; close each"),
        ("a_HC.xml", "<SemFin/></Turn>", "</Turn>", 8, "this SemDebut is not closed"),
        ("a_HC.xml", "euh", "euh<SemFin/>", 6, "SemFin closes nothing"),
        ("a_HC.xml", 'concept="date"', "", 8, "<SemDebut> has no concept"),
        ("a_HC.xml", 'name="spk"', 'name="x"', 1, "no Speaker has a name that begins"),
        ("a_HC.xml", 'name="spk"', "", 3, "<Speaker> has no name"),
    ],
)
def test_malformed_files_are_told(tmp_path, name, old, new, line, message):
    text, read, left = {
        "a.xml": (OFFICIAL, read_media, [[], ["oui"]]),
        "a_HC.xml": (SEMANTIZER, read_test2, [[]]),
    }[name]
    member = member_of(tmp_path / name, text.replace(old, new).encode("latin-1"))
    with pytest.raises(CorpusError) as caught:
        list(read(member))
    assert str(caught.value).startswith(f"{member.name}:{line}: {message}")
    if "Sem" in message or "<sem>" in message:
        skipped = []
        found = read(member, skipped=skipped)
        assert [turn.sentence.tokens for turn in found] == left
        assert skipped == [str(caught.value)]
