import pytest
from data_prep.test_markup import member_of

from keras_tagging import load_corpus
from keras_tagging.data import CorpusError, Sentence
from preparing.ftb import crabbe_candito, read_ftb, with_common_nouns_lowered


def sentence(number):
    return (
        f'<SENT nb="{number}"><w cat="N" subcat="C">Chat{number}</w>'
        '<w cat="P"><w catint="P">de</w><w catint="">par</w></w></SENT>'
    )


@pytest.fixture
def treebank(tmp_path):
    folder = tmp_path / "ftb"
    folder.mkdir()
    for name, numbers in {"a": range(12), "b": range(12, 20)}.items():
        text = "".join(map(sentence, numbers))
        (folder / f"{name}.xml").write_text(f"<text>{text}</text>", "utf-8")
    return folder


ROW = "{}\t{}\t_\tN\tNC\tg=m\t{}\tsuj\t_\t_\n"


def conll(*words):
    return "".join(ROW.format(1, word, 0) + "\n" for word in words)


def first_words(sentences):
    return [sentence.tokens[0] for sentence in sentences]


def test_xml_is_divided_in_the_order_of_its_files(run, treebank, tmp_path):
    code, told, err = run("ftb", treebank, tmp_path / "out")
    assert (code, err) == (0, "")
    corpus = load_corpus(tmp_path / "out")
    assert first_words(corpus.test) == ["Chat0", "Chat1"]
    assert first_words(corpus.dev) == ["Chat2", "Chat3"]
    assert first_words(corpus.train) == [f"Chat{i}" for i in range(4, 20)]
    assert corpus.test[0].tokens == ["Chat0", "de_par"]
    assert corpus.test[0].tags == ["NC", "P"]
    assert ["unknown", "2", "1790"] in [line.split() for line in told.splitlines()]
    assert "warning: train has 16 sentences, D16 Table 2 has 9881" in told


def test_options_for_xml(run, treebank, tmp_path):
    options = ["--compounds", "split", "--lower-common-nouns"]
    assert run("ftb", treebank, tmp_path / "out", *options)[0] == 0
    first = load_corpus(tmp_path / "out").test[0]
    assert (first.tokens, first.tags) == (["chat0", "de", "par"], ["NC", "P", "P"])
    assert run("ftb", treebank, tmp_path / "b", "--tagset", "cat")[0] == 0
    assert load_corpus(tmp_path / "b").test[0].tags == ["N", "P"]
    options = ["--tagset", "cat", "--lower-common-nouns"]
    code, _, told = run("ftb", treebank, tmp_path / "c", *options)
    assert code == 1 and "--lower-common-nouns: needs the tags of --tagset cc" in told


def test_conll_files_are_splits_if_they_say_so(run, treebank, tmp_path):
    for split, words in {"train": "abc", "dev": "de", "test": "f"}.items():
        path = treebank / f"{split}.French.gold.conll"
        path.write_text(conll(*words), "utf-8")
    assert run("ftb", treebank, tmp_path / "out")[0] == 0
    corpus = load_corpus(tmp_path / "out")
    found = [first_words(part) for _, part in corpus.splits()]
    assert found == [["a", "b", "c"], ["d", "e"], ["f"]]
    assert corpus.train[0].tags == ["NC"]
    code, _, told = run("ftb", treebank, tmp_path / "b", "--tagset", "ee")
    assert code == 1 and "--tagset ee: CoNLL files have no such tags" in told


def test_one_conll_file_is_divided(run, tmp_path):
    path = tmp_path / "ftb.conll"
    path.write_text(conll(*map(str, range(10))), "utf-8")
    options = ["--tagset", "cat"]
    assert run("ftb", path, tmp_path / "out", *options)[0] == 0
    corpus = load_corpus(tmp_path / "out")
    assert first_words(corpus.test + corpus.dev) == ["0", "1"]
    assert first_words(corpus.train) == [str(i) for i in range(2, 10)]
    assert corpus.train[0].tags == ["N"]


@pytest.mark.parametrize("kind", ["xml", "conll"])
def test_malformed_sentences_stop_or_are_left_out(
    run, failing, treebank, tmp_path, kind
):
    source, message = treebank, f"{treebank / 'b.xml'}:1: <w> has no cat"
    if kind == "xml":
        path = treebank / "b.xml"
        path.write_text(path.read_text().replace(' cat="N"', "", 1))
    else:
        source = tmp_path / "ftb.conll"
        source.write_text(conll(*"abcdefghij") + "1\tk\n\n")
        message = f"{source}:21: 2 tab-separated columns where CoNLL-X has 10"
    out = tmp_path / "out"
    error = failing("ftb", source)
    assert message in error
    assert error.endswith("; --skip-malformed leaves such sentences out\n")
    code, told, _ = run("ftb", source, out, "--skip-malformed")
    assert code == 0 and f"left out: {message}" in told
    kept = sum(len(part) for _, part in load_corpus(out).splits())
    assert kept == (19 if kind == "xml" else 10)


def test_the_real_format(run, samples, tmp_path):
    source = samples / "ftb-format"
    code, told, _ = run("ftb", source, tmp_path / "out", "--skip-malformed")
    assert code == 0 and told.count("left out: ") == 5
    parts = [part for _, part in load_corpus(tmp_path / "out").splits()]
    assert list(map(len, parts)) == [1763, 220, 220]
    assert len({tag for part in parts for s in part for tag in s.tags}) == 29


# The reader

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
    return list(read_ftb(member_of(path, text.encode()), **options))


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
