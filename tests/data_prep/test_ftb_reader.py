import pytest

from keras_tagging.data import CorpusError, Sentence
from preparing.archives import members
from preparing.ftb import (
    crabbe_candito,
    read_ftb,
    with_common_nouns_lowered,
)

SENTENCE = """<text>
<SENT nb="1">
  <NP fct="SUJ">
    <w cat="D" ee="D-def-ms" mph="ms" lemma="le" subcat="def">Le</w>
    <w cat="N" ee="N-C-ms" mph="ms" lemma="chat" subcat="C">Chat</w>
  </NP>
  <VN><w cat="V" ee="V--P3s" lemma="dormir" mph="P3s"> dort
  </w></VN>
  <w cat="ADV" ee="ADV" lemma="tout de suite" compound="yes">
    <w catint="ADV" lemma="tout">tout</w> <w catint="P" lemma="de">de</w>
    <NP><w catint="N">suite</w></NP>
  </w>
  <w cat="D" ee="D-card-mp" subcat="card">3 000</w>
  <w cat="PONCT" ee="PONCT-S" lemma="." subcat="S">.</w>
</SENT>
<SENT nb="2"/>
<SENT nb="3"><w cat="P" lemma="\u00e0" compound="yes"><w catint="">\u00e0</w><w
catint="">cause</w></w><w catint="N">vent</w></SENT>
</text>"""


def sentences(path, text=SENTENCE, **options):
    path.write_text(text, "utf-8")
    [member] = members(path, ".xml")
    return list(read_ftb(member, **options))


def test_compounds_are_joined(tmp_path):
    first, empty, third = sentences(tmp_path / "a.xml")
    tokens = ["Le", "Chat", "dort", "tout_de_suite", "3_000", "."]
    assert first == Sentence(
        tokens,
        ["DET", "NC", "V", "ADV", "DET", "PONCT"],
        {
            "pos": ["D", "N", "V", "ADV", "D", "PONCT"],
            "lemma": ["le", "chat", "dormir", "tout_de_suite", "_", "."],
        },
    )
    assert empty.tokens == [] == empty.tags
    assert (third.tokens, third.tags) == (["\u00e0_cause", "vent"], ["P", "NC"])


def test_compounds_are_split(tmp_path):
    first, _, third = sentences(tmp_path / "a.xml", compounds="split")
    assert first.tokens[3:6] == ["tout", "de", "suite"]
    assert first.tags[3:6] == ["ADV", "P", "NC"]
    assert first.columns["lemma"][3:6] == ["tout", "de", "_"]
    # without categories of their own, parts have the compound's
    assert (third.tokens, third.tags) == (
        ["\u00e0", "cause", "vent"],
        ["P", "P", "NC"],
    )


@pytest.mark.parametrize(
    "tagset, tags",
    [
        ("cat", ["D", "N", "V", "ADV", "D", "PONCT"]),
        ("ee", ["D-def-ms", "N-C-ms", "V--P3s", "ADV", "D-card-mp", "PONCT-S"]),
    ],
)
def test_tag_sets(tmp_path, tagset, tags):
    assert sentences(tmp_path / "a.xml", tagset=tagset)[0].tags == tags


@pytest.mark.parametrize(
    "word, tag",
    [
        *((("V", "", f"{mood}3s"), "V") for mood in "PIJFC"),
        (("V", "", "W"), "VINF"),
        (("V", "", "G"), "VPR"),
        (("V", "", "Kms"), "VPP"),
        (("V", "", "Y2p"), "VIMP"),
        (("V", "", "S3s"), "VS"),
        (("V", "", "T3s"), "VS"),
        (("N", "P", "ms"), "NPP"),
        (("N", "C", "P"), "NC"),
        (("N", "card", ""), "NC"),
        (("A", "qual", "fs"), "ADJ"),
        (("A", "int", "fs"), "ADJWH"),
        (("ADV", "neg", ""), "ADV"),
        (("ADV", "int", ""), "ADVWH"),
        (("C", "S", ""), "CS"),
        (("C", "C", ""), "CC"),
        (("CL", "suj", "3ms"), "CLS"),
        (("CL", "obj", "3ms"), "CLO"),
        (("CL", "refl", "3ms"), "CLR"),
        (("D", "def", ""), "DET"),
        (("D", "int", ""), "DETWH"),
        (("PRO", "rel", ""), "PROREL"),
        (("PRO", "int", ""), "PROWH"),
        (("PRO", "dem", ""), "PRO"),
        (("P+D", "def", ""), "P+D"),
        (("P+PRO", "rel", ""), "P+PRO"),
        *(((tag, "", ""), tag) for tag in ("P", "ET", "I", "PREF", "PONCT", "X")),
    ],
)
def test_the_tags_of_crabbe_and_candito(word, tag):
    assert crabbe_candito(*word) == tag


def test_common_nouns_lose_their_capital():
    given = Sentence(["Le", "Chat", "Paul"], ["DET", "NC", "NPP"], {"pos": list("DNN")})
    found = with_common_nouns_lowered(given)
    assert found.tokens == ["Le", "chat", "Paul"]
    assert (found.tags, found.columns) == (given.tags, given.columns)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('cat="V" ', "", "a.xml:7: <w> has no cat; add its category;"),
        (">Chat<", "> <", "a.xml:5: <w> has no text; add it, or remove <w>"),
        ("</SENT>\n</text>", "", "a.xml:18: is not well-formed XML: no element found"),
    ],
)
def test_malformed_words_are_told(tmp_path, old, new, message):
    text = SENTENCE.replace(old, new)
    with pytest.raises(CorpusError) as caught:
        sentences(tmp_path / "a.xml", text)
    told = str(caught.value)
    assert told.startswith(str(tmp_path)) and message in told and "\n" not in told
    if "w>" in message:
        skipped = []
        found = sentences(tmp_path / "a.xml", text, skipped=skipped)
        assert skipped == [told]
        assert [s.tokens for s in found] == [[], ["\u00e0_cause", "vent"]]
