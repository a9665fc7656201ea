"""Reading CoNLL-U and CoNLL-X, with and without trees."""

import io
import itertools
import os
from pathlib import Path

import pytest

from keras_tagging.ccg.words import escaped
from keras_tagging.corpora import load_corpus
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
# words, line in the sentence, the message
NOT_TREES = {
    "no head": (
        ["a 2 det", "b _ root"],
        2,
        "word 2 'b' has no head; give its head's number, or 0 for the root",
    ),
    "no relation": (
        ["a 2 _", "b 0 root"],
        1,
        "word 1 'a' has no relation to its head; name it in column 8",
    ),
    "no relation to ROOT": (
        ["a 2 det", "b 0 _"],
        2,
        "word 2 'b' has no relation to its head; name it in column 8",
    ),
    "out of range": (
        ["a 3 det", "b 0 root"],
        1,
        "the head is '3' in a sentence of 2 words; give a word's number or 0",
    ),
    "not a number": (
        ["a 2 det", "b 0 root", "c b dep"],
        3,
        "the head is 'b' in a sentence of 3 words; give a word's number or 0",
    ),
    "negative": (
        ["a -1 root"],
        1,
        "the head is '-1' in a sentence of 1 words; give a word's number or 0",
    ),
    "thousands of digits": (
        ["a " + "9" * 5000 + " root"],
        1,
        f"the head is {'9' * 40!r} in a sentence of 1 words; give a word's number or 0",
    ),
    "other digits": (
        ["a \u0660 root"],
        1,
        "the head is '\u0660' in a sentence of 1 words; give a word's number or 0",
    ),
    "its own head": (
        ["a 0 root", "b 2 dep"],
        2,
        "word 2 'b' is its own head; give another word's number, or 0",
    ),
    "no root": (
        ["a 2 dep", "b 1 dep"],
        1,
        "no word has the head 0, so the sentence has no root; "
        "give the head 0 to its root",
    ),
    "two roots": (
        ["a 0 root", "b 1 dep", "c 0 root"],
        3,
        "2 words have the head 0: 1 'a' in line 5, 3 'c' in line 7; "
        "keep one root, or leave such sentences out with errors='skip'",
    ),
    "a cycle": (
        ["a 3 dep", "b 0 root", "c 4 dep", "d 1 dep", "e 3 dep"],
        1,
        "the heads form a cycle: 1 'a' -> 3 'c' -> 4 'd' -> 1 'a'; "
        "give one of these words a head outside the cycle",
    ),
    "a cycle behind a tail": (
        ["a 4 dep", "b 0 root", "c 4 dep", "d 3 dep"],
        3,
        "the heads form a cycle: 3 'c' -> 4 'd' -> 3 'c'; "
        "give one of these words a head outside the cycle",
    ),
    "a long cycle": (
        ["a 0 root", *NINE],
        2,
        "the heads form a cycle: "
        + " -> ".join(f"{i} 'w{i}'" for i in [2, 10, 9, 8, 7, 6, 5, 4])
        + " -> ... (9 words) -> 2 'w2'; "
        "give one of these words a head outside the cycle",
    ),
}


@pytest.mark.parametrize("format", ["conllu", "conllx"])
@pytest.mark.parametrize("case", NOT_TREES)
def test_not_a_tree(tmp_path, case, format):
    words, line, message = NOT_TREES[case]
    path = tmp_path / "train"
    path.write_text(GOOD + sentence(*words) + GOOD, "utf-8")
    message = f"{path}:{line + 4}: {message}"
    with pytest.raises(CorpusError) as caught:
        list(read(path, format, trees=True))
    assert str(caught.value) == message
    skipped = []
    left = list(read(path, format, trees=True, errors="skip", skipped=skipped))
    assert left == 2 * list(read(io.StringIO(GOOD), format))
    assert skipped == [message]
    with pytest.raises(CorpusError) as caught:
        load_corpus(path, format, trees=True)
    assert str(caught.value) == message


@pytest.mark.parametrize("case", NOT_TREES)
def test_without_trees_only_a_head_that_is_no_word_is_malformed(case):
    words, line, message = NOT_TREES[case]
    stream = io.StringIO(sentence(*words))
    if "the head is" in message:
        remedy = message.replace("number or 0", "number, 0 or `_`")
        with pytest.raises(CorpusError) as caught:
            list(read(stream, "conllu"))
        assert str(caught.value) == f"<stream>:{line}: {remedy}"
    else:
        [found] = read(stream, "conllu")
        assert found.columns["head"] == [word.split()[1] for word in words]


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
    with pytest.raises(
        CorpusError, match="<stream>:8: .*'a' in line 6, 2 'b' in line 8;"
    ):
        list(read(io.StringIO("\n\n" + text), "conllu", trees=True, errors="raise"))


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
    with pytest.raises(CorpusError, match="no field 'upos'; tag= is one of lemma, cpo"):
        list(read(io.StringIO(row), "conllx", tag="upos"))


CONLLX_ONLY = {
    "comment": ("# text = x\n", 1),
    "range": ("1-2\tab" + "\t_" * 8 + "\n", 1),
    "empty node": (GOOD[:-1] + "3.1\tz" + "\t_" * 8 + "\n", 4),
}


@pytest.mark.parametrize("case", CONLLX_ONLY)
def test_conllx_is_words_only(case):
    before, line = CONLLX_ONLY[case]
    message = (
        f"<stream>:{line}: CoNLL-X has no comments, multiword tokens or empty nodes; "
        "leave them out, or pass format='conllu'"
    )
    with pytest.raises(CorpusError) as caught:
        list(read(io.StringIO(before + GOOD), "conllx"))
    assert str(caught.value) == message
    assert list(read(io.StringIO(before + "\n" + GOOD), "conllu"))


CONLLX_MALFORMED = {
    "1\ta\t_\n": "1: 3 tab-separated columns where CoNLL-X has 10; "
    "put `_` where a field is empty",
    GOOD.replace("2\tcat", "3\tcat"): "2: the word's number is '3', not 2; "
    "number the words 1, 2, 3, ...",
    GOOD.replace("\tU2", "\t"): "2: column 4 is empty; put `_` where a field is empty",
    GOOD.replace("3\tnsubj", "\tnsubj"): "2: column 7 is empty; "
    "put `_` where a field is empty",
}


@pytest.mark.parametrize("text", CONLLX_MALFORMED)
def test_malformed_conllx(text):
    with pytest.raises(CorpusError) as caught:
        list(read(io.StringIO(text), "conllx"))
    assert str(caught.value) == f"<stream>:{CONLLX_MALFORMED[text]}"


def test_trees_is_true_or_false():
    for value in ("false", 1, None):
        with pytest.raises(ValueError, match=f"trees={value!r}: give True or False"):
            read(io.StringIO(GOOD), "conllu", trees=value)


DATA = os.environ.get("KERAS_TAGGING_DATA")
FILES = {
    f"{folder}/{name}-ud-{split}.conllu": count
    for folder, name, counts in (
        ("ud-english-ewt", "en_ewt", {"train": 12544, "dev": 2001, "test": 2077}),
        ("ud-french-sequoia", "fr_sequoia", {"train": 2231, "dev": 412, "test": 456}),
    )
    for split, count in counts.items()
}


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="KERAS_TAGGING_DATA is not set")
@pytest.mark.parametrize("file", FILES)
def test_treebanks_have_trees(file):
    path = Path(DATA) / file
    sentences = list(read(path, "conllu", trees=True))
    assert len(sentences) == FILES[file]
    assert sentences == list(read(path))


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
        ("# auto = none\n", 1, "no comments `# auto"),
        (f"# auto = {AUTO}\n" * 2, 1, "2 comments `# auto"),
        (f"# one\n# auto = {AUTO[:-1]}\n", 2, "derivation|node"),
        (f"# auto = {AUTO.replace('cat', 'dog')}\n", 1, "other words than the rows"),
        ("# auto = (<L NP NN NN cat NP>)\n", 1, "other words than the rows: 'cat'"),
    ],
)
def test_no_such_derivation(comment, line, error):
    with pytest.raises(CorpusError, match=f"<stream>:{line}: .*{error}"):
        derived(comment, "the 2 det", "cat 0 root")
