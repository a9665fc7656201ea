import io
import itertools

import pytest

from keras_tagging.ccg.auto import escaped
from keras_tagging.data import CorpusError, read
from keras_tagging.data.annotation import ConlluWriter


def sentence(*words):
    """Rows of `form head deprel`."""
    rows = (
        f"{number}\t{form}\tl{number}\tU{number}\tX{number}\tF=1\t{head}\t{deprel}\t_\t_\n"
        for number, (form, head, deprel) in enumerate(map(str.split, words), 1)
    )
    return "".join(rows) + "\n"


GOOD = sentence("the 2 det", "cat 3 nsubj", "sat 0 root")  # lines 1 to 4
NINE = [f"w{i} {(i + 6) % 9 + 2} dep" for i in range(2, 11)]  # each one's head is next
# words, line in the sentence, what is wrong
NOT_TREES = {
    "no head": ("a 2 det; b _ root", 2, "word 2 'b' has no head or no relation"),
    "out of range": ("a 3 det; b 0 root", 1, "the head is '3' in a sentence of 2"),
    "no number": ("a 2 det; b 0 root; c b dep", 3, "the head is 'b' in a sentence"),
    "other digits": ("a \u0660 root", 1, "the head is '\u0660' in a sentence"),
    "its own head": ("a 0 root; b 2 dep", 2, "the words 2 form a cycle"),
    "no root": ("a 2 dep; b 1 dep", 1, "no word is the root"),
    "two roots": ("a 0 root; b 1 dep; c 0 root", 3, "the words 1 and 3 are roots"),
    "behind a tail": ("a 4 x; b 0 r; c 4 x; d 3 x", 3, "words 3 and 4 form a cycle"),
    "a long cycle": ("; ".join(["a 0 root", *NINE]), 2, "8, 7, 6, 5, 4 ... (9 words)"),
}


@pytest.mark.parametrize("case", NOT_TREES)
def test_not_a_tree(tmp_path, case):
    words, line, what = NOT_TREES[case]
    path = tmp_path / "train"
    words = words.split("; ")
    path.write_text(GOOD + sentence(*words) + GOOD, "utf-8")
    for format in ("conllu", "conllx"):
        skipped = []
        left = list(read(path, format, trees=True, errors="skip", skipped=skipped))
        assert left == 2 * list(read(io.StringIO(GOOD), format))
        [message] = skipped
        assert message.startswith(f"{path}:{line + 4}: ") and what in message
    if "the head is" in what:
        with pytest.raises(CorpusError, match=f":{line + 4}: .*, or 0"):
            list(read(path, "conllu"))
    else:
        assert [s.columns["head"] for s in read(path, "conllu")][1] == [
            word.split()[1] for word in words
        ]


@pytest.mark.parametrize("length", range(1, 5))
def test_every_choice_of_heads(length):
    """A tree: one word has the head 0, and from each word the way up ends there."""
    trees = 0
    for heads in itertools.product(range(length + 1), repeat=length):
        above = set(range(1, length + 1))
        for _ in range(length):
            above = {word for word in above if heads[word - 1] in above}
        is_tree = not above and heads.count(0) == 1
        text = sentence(*(f"w {head} r" for head in heads))
        skipped = []
        stream = io.StringIO(text)
        found = list(read(stream, "conllu", trees=True, errors="skip", skipped=skipped))
        assert (len(found), len(skipped)) == (is_tree, not is_tree), heads
        if is_tree:
            assert found == list(read(io.StringIO(text), "conllu"))
        trees += is_tree
    assert trees == length ** (length - 1)  # Cayley: rooted trees over n words


def test_long_sentences():
    length = 20_000
    words = [f"w {i + 1} r" for i in range(1, length)]
    chain = sentence(*words, "w 0 r")
    assert [len(s) for s in read(io.StringIO(chain), trees=True)] == [length]
    words[0] = "w 0 r"
    cycle = sentence(*words, "w 2 r")
    with pytest.raises(CorpusError, match=r"^<stream>:2: .* \(19999 words\)"):
        list(read(io.StringIO(cycle), "conllu", trees=True))


def test_lines_are_those_of_the_file():
    text = "# one\n# two\n1-2\tab" + "\t_" * 8 + "\n" + sentence("a 0 root", "b 0 x")
    text = text.replace("2\tb", "1.1\tz" + "\t_" * 8 + "\n2\tb")
    with pytest.raises(CorpusError, match="<stream>:8: the words 1 and 2 are roots"):
        list(read(io.StringIO("\n\n" + text), "conllu", trees=True))


def test_conllx_fields():
    row = "1\t#\tl\tC\tP\tf|g\t0\tROOT\t7\tphead\n"
    [found] = read(io.StringIO(row), "conllx", trees=True)
    assert found.tokens == ["#"]
    assert found.tags == ["C"]
    columns = {"pos": "C", "xpos": "P", "head": "0", "deprel": "ROOT", "lemma": "l"}
    columns["feats"] = "f|g"
    assert found.columns == {name: [value] for name, value in columns.items()}
    tags = {"cpostag": "C", "postag": "P", "deprel": "ROOT", "lemma": "l"}
    for tag, value in {**tags, "feats": "f|g"}.items():
        [other] = read(io.StringIO(row), "conllx", tag=tag)
        assert other.tags == [value]
        assert other.columns == found.columns
    assert list(read(io.StringIO(row), "conllu")) == [found]
    assert list(read(io.StringIO(row), "conllx", tag=None))[0].tags is None
    with pytest.raises(ValueError, match="tag='upos': known are 'cpostag', 'postag'"):
        read(io.StringIO(row), "conllx", tag="upos")


def test_conllx_has_words_only():
    for text in (f"# text = x\n{GOOD}", f"{GOOD[:-1]}3.1\tz{chr(9).join('_' * 9)}\n"):
        with pytest.raises(CorpusError, match="CoNLL-X has no comments|columns where"):
            list(read(io.StringIO(text), "conllx"))


AUTO = "(<T NP 1 2> (<L NP/N DT DT the NP/N>) (<L N NN NN cat N>) )"


def derived(comment, *words, **options):
    text = comment + sentence(*words)
    return list(read(io.StringIO(text), "conllu", tag="auto", **options))


def test_derivations_in_comments():
    words = "the 2 det", "cat 0 root"
    [found] = derived(f"# sent_id = 7\n# auto = {AUTO}\n", *words)
    assert found.tokens == ["the", "cat"] and found.tags == ["NP/N", "N"]
    assert found.derivation.category == "NP" and found.sent_id == "7"
    assert found.columns["pos"] == ["U1", "U2"]  # those of the rows
    assert found.columns["deprel"] == ["det", "root"]
    # as `annotate` writes it
    written = ConlluWriter().write(found)
    [again] = read(io.StringIO(written), "conllu", tag="auto")
    assert again.derivation == found.derivation and again.tags == found.tags
    # brackets and white space have other names there, and the rows are in NFC
    others = "(x)", "e\u0301", "3\u00a01/2"
    nodes = "".join(f"(<L X P P {escaped(word)} X>) " for word in others)
    rows = sentence(*(f"{word.replace(chr(0xA0), '%')} 0 r" for word in others))
    text = f"# auto = (<T X 0 3> {nodes})\n" + rows.replace("%", "\u00a0")
    [found] = read(io.StringIO(text), "conllu", tag="auto")
    assert found.tokens == ["(x)", "\u00e9", "3\u00a01/2"]
    # others do not look at the comment
    [plain] = read(io.StringIO(f"# auto = (<\n{sentence(*words)}"), "conllu")
    assert plain.derivation is None and plain.tags == ["U1", "U2"]


@pytest.mark.parametrize(
    ("comment", "line", "error"),
    [
        ("", 1, "the sentence has no comments `# auto = .*; give it one, or read"),
        (f"# auto = {AUTO}\n" * 2, 1, "2 comments `# auto"),
        (f"# one\n# auto = {AUTO[:-1]}\n", 2, "derivation|node"),
        (f"# auto = {AUTO.replace('cat', 'dog')}\n", 1, "other words than the rows"),
    ],
)
def test_no_such_derivation(comment, line, error):
    with pytest.raises(CorpusError, match=f"<stream>:{line}: .*{error}"):
        derived(comment, "the 2 det", "cat 0 root")
