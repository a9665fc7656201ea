import pytest

from keras_tagging.data import CorpusError
from preparing.archives import members
from preparing.media import (
    dialogues,
    full_and_relaxed,
    read_media,
    read_relaxed,
    read_test2,
    relaxed_of,
    words_of,
)

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


def member_of(path, text):
    path.write_bytes(text.encode("latin-1"))
    return next(members(path, ".xml"))


@pytest.fixture
def official(tmp_path):
    return member_of(tmp_path / "media_lot1.xml", OFFICIAL)


@pytest.fixture
def semantizer(tmp_path):
    return member_of(tmp_path / "70_HC.xml", SEMANTIZER)


WORDS = ["à", "Aix", "sur", "mer", "Nice", "et", "l'", "autre"]


def test_the_user_s_turns_are_read(official):
    first, second, third = read_media(official)
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
    assert list(dialogues(official)) == ["70r", "71l"]


def test_relaxed_concepts_have_no_specifier(official):
    first, *_ = read_media(official, relax=True)
    assert set(first.sentence.tags) == {"O", "B-ville", "I-ville"}
    pairs = full_and_relaxed([official, official])
    assert pairs == [("ville-x", "ville"), ("ville-hotel", "ville")]


def test_the_second_test_set_is_read(semantizer):
    turn, shared = read_test2(semantizer)
    assert (shared.is_shared, shared.sentence.tokens) == (True, [])
    assert turn.dialogue == "70" and not turn.is_shared
    assert turn.sentence.tokens == ["euh", "à", "Nice", "et", "Aix"]
    assert turn.sentence.tags == (
        ["O", "B-ville-hotel", "I-ville-hotel", "O", "B-ville-x"]
    )
    assert turn.concepts == ["null", "ville-hotel", "null", "ville-x"]
    assert turn.wordless == ["date"]
    turn, _ = read_test2(semantizer, relaxed=[("ville-hotel", "ville")])
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
    member = member_of(tmp_path / name, text.replace(old, new))
    with pytest.raises(CorpusError) as caught:
        list(read(member))
    assert str(caught.value).startswith(f"{member.name}:{line}: {message}")
    if "Sem" in message or "<sem>" in message:
        skipped = []
        found = read(member, skipped=skipped)
        assert [turn.sentence.tokens for turn in found] == left
        assert skipped == [str(caught.value)]
