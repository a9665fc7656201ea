import pytest

from keras_tagging import load_corpus


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
