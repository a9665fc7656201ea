import pytest

import keras_tagging

SECTIONS = [f"{number:02}" for number in (0, *range(2, 22), 23)]


def derivation(name, word, category="N/N"):
    leaves = f"(<L {category} JJ JJ {word} {category}>) (<L N NN NN cat N>)"
    return f"ID={name} PARSER=GOLD NUMPARSE=1\n(<T N 1 2> {leaves} ) \n"


@pytest.fixture
def disc(tmp_path):
    """A tree of folders as the disc has it: one sentence a section, section 21 two."""
    auto = tmp_path / "ccgbank_1_1" / "data" / "AUTO"
    for section in [*SECTIONS, "01", "24"]:
        (auto / section).mkdir(parents=True)
        name = f"wsj_{section}01"
        word = "Big\\/Red" if section == "00" else f"A{section}"
        text = derivation(f"{name}.1", word)
        (auto / section / f"{name}.auto").write_text(text, "utf-8")
    (auto / "21" / "wsj_2103.auto").write_text(
        derivation("wsj_2103.1", "x", r"((S[b]\NP)/NP)/"), "utf-8"
    )
    return tmp_path / "ccgbank_1_1"


def first_words(out):
    corpus = keras_tagging.load_corpus(out, columns={"pos": 1})
    return {split: [s.tokens[0] for s in part] for split, part in corpus.splits()}


TRAIN = [f"A{section}" for section in SECTIONS[1:-1]] + ["x"]
WHOLE = {"train": TRAIN, "dev": ["Big\\/Red"], "test": ["A23"]}


@pytest.mark.parametrize("folder", ["", "data/AUTO"])
def test_sections_of_the_disc(disc, tmp_path, run, folder):
    code, told, _ = run("ccgbank", disc / folder, tmp_path / "out")
    assert code == 0
    assert first_words(tmp_path / "out") == WHOLE
    assert "warning: train has 21 sentences, W16, K18 has 39604" in told
    corpus = keras_tagging.load_corpus(tmp_path / "out", columns={"pos": 1})
    assert corpus.dev[0].columns == {"pos": ["JJ", "NN"]}
    assert corpus.train[-1].tags == [r"(S[b]\NP)/NP", "N"]  # the slip is mended


def sentences_with_ids(disc):
    """The derivations of the disc, section 24 and 01 included, by their names."""
    files = sorted(disc.rglob("*.auto"))
    return [path.read_text("utf-8") for path in files]


@pytest.mark.parametrize("layout", ["mine", "wsj_00-24", "several"])
def test_sections_that_the_sentences_name(disc, tmp_path, run, layout):
    texts = sentences_with_ids(disc)
    source = tmp_path / f"{layout}.auto"
    if layout == "several":
        source.mkdir()
        (source / "first.auto").write_text("".join(texts[:9]), "utf-8")
        (source / "second.auto").write_text("".join(texts[9:]), "utf-8")
    else:
        source.write_text("# a comment\n" + "\n".join(texts), "utf-8")
    code, told, error = run("ccgbank", source, tmp_path / "out")
    assert (code, error) == (0, "")
    assert first_words(tmp_path / "out") == WHOLE


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: [], ("--partial",), "no file holds section 02, 03, 04"),
        (lambda t: [*t, t[3]], (), "wsj_0301.1 is here and in"),
        (lambda t: [*t, "(<L N A A x N>)\n"], (), "mine.auto:51: this derivation has"),
    ],
)
def test_errors_in_sentences_that_name_sections(
    disc, tmp_path, failing, change, options, message
):
    source = tmp_path / "mine.auto"
    source.write_text("".join(change(sentences_with_ids(disc))), "utf-8")
    assert message in failing("ccgbank", source, *options)


def test_the_inventory(disc, tmp_path, run):
    run("ccgbank", disc, tmp_path / "all")
    every = (tmp_path / "all" / "categories.tsv").read_text("utf-8")
    assert every == "N\t21\nN/N\t20\n(S[b]\\NP)/NP\t1\n"
    code, told, _ = run("ccgbank", disc, tmp_path / "ten", "--min-count", 10)
    frequent = (tmp_path / "ten" / "categories.tsv").read_text("utf-8")
    assert frequent == "N\t21\nN/N\t20\n"
    rows = [line.split() for line in told.splitlines()]
    assert ["categories", "in", "inventory", "2", "425"] in rows
    outside = [row[-2] for row in rows if row[:1] == ["tokens"] and "outside" in row]
    assert outside == ["1", "0", "0"]
    assert first_words(tmp_path / "ten") == WHOLE  # nothing is left out of the files


def test_errors_are_one_line_and_leave_no_files(disc, failing):
    path = disc / "data" / "AUTO" / "13" / "wsj_1301.auto"
    path.write_text(path.read_text("utf-8").replace("N/N", "N/{N}"), "utf-8")
    message = "wsj_1301.auto:2: the category 'N/{N}' has '{'"
    assert message in failing("ccgbank", disc)
    path.unlink()
    assert "no file holds section 13 (train)" in failing("ccgbank", disc)


def test_the_real_sample(tmp_path, run, samples):
    source = samples / "ccgbank-format"
    code, told, _ = run("ccgbank", source, tmp_path / "out", "--partial")
    assert code == 0
    sizes = {
        split: (
            len(part),
            sum(map(len, part)),
            len({tag for sentence in part for tag in sentence.tags}),
        )
        for split, part in keras_tagging.load_corpus(tmp_path / "out").splits()
    }
    assert sizes == {"train": (35, 913, 94), "dev": (54, 1114, 96)}
    texts = [path.read_text("utf-8") for path in sorted(source.rglob("*/wsj_*.auto"))]
    (tmp_path / "one.auto").write_text("".join(texts), "utf-8")
    code, again, _ = run("ccgbank", tmp_path / "one.auto", tmp_path / "b", "--partial")
    assert (code, again) == (0, told)
    assert "warning" not in told and "test" not in told
