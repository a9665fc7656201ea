from data.test_formats import read_text as sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_tagging.data import Sentence
from keras_tagging.data.normalisation import to_nfc

MRG = r"""
( (S
    (NP-SBJ (-NONE- *-1) (DT The) (NN cat) )
    (PRN (-LRB- -LRB-) (CD 1\/2) (-RRB- -RRB-) )
    (VP (VBG|NN sitting) (ADVP|PRT (-NONE- *T*-2) (RP down) ))
    (. .) ))
( (X (SYM \*) (SYM \*\*) (CD 1\/2\/3) (: --) (NN a\b) ))
"""
POS = r"""*x*1 about the file *x*

[ The/DT cat/NN ]
(/( 1\/2/CD )/)
sitting/VBG|NN

[ ``/`` Mr./NNP Cat/NNP ]
sat/VBD ./. ''/''
[ It/PRP ] sat/VBD ?/. ''/'' asked/VBD he/PRP ./.
======================================

[ \*/SYM ]
"""


def test_words_of_trees():
    first, second = sentences(MRG, "mrg")
    assert first.tokens == ["The", "cat", "(", "1/2", ")", "sitting", "down", "."]
    assert first.tags == ["DT", "NN", "-LRB-", "CD", "-RRB-", "VBG", "RP", "."]
    assert second.tokens == ["*", "**", "1/2/3", "--", r"a\b"]
    assert second.tags == ["SYM", "SYM", "CD", ":", "NN"]
    first, second = sentences(MRG, "mrg", unescape=False, all_tags=True)
    assert first.tokens[2:5] == ["-LRB-", r"1\/2", "-RRB-"]
    assert first.tags[5] == "VBG|NN"
    assert second.tokens[0] == r"\*"


def test_tagged_text():
    found = sentences(POS, "pos")
    assert [" ".join(sentence.tokens) for sentence in found] == [
        "The cat ( 1/2 ) sitting `` Mr. Cat sat . ''",
        "It sat ? '' asked he .",
        "*",
    ]
    assert found[0].tags == "DT NN ( CD ) VBG `` NNP NNP VBD . ''".split()
    [first, *_, last] = sentences(POS, "pos", unescape=False, all_tags=True)
    assert first.tokens[3] == r"1\/2"
    assert first.tags[5] == "VBG|NN"
    assert last.tokens == [r"\*"]


def test_a_full_stop_inside_of_brackets_ends_nothing():
    [sentence] = sentences("[ 30/CD days/NNS ./. 9.8/CD %/NN ] ,/, and/CC ./.\n", "pos")
    assert len(sentence) == 8


def test_other_roots_and_trees_of_one_line():
    text = "(ROOT (S (NN a)))\n((S (NN b)))\n(S (NN c))\n(NN d)\n"
    assert [s.tokens for s in sentences(text, "mrg")] == [["a"], ["b"], ["c"], ["d"]]


def test_a_sentence_of_traces_is_empty():
    assert sentences("( (S (-NONE- *)))\n", "mrg") == [Sentence([], [])]


checked = settings(max_examples=30, deadline=None, database=None)
LETTERS = "aZ9.,-/\\|*=[]{}<>'\u00e9\u0301\u4e2d\u05d0\U0001f600"
words = st.text(LETTERS, min_size=1, max_size=4)
# a word with its tag, or a label and what is below it
leaves = st.tuples(words, words)


def constituent(part):
    return st.tuples(words, st.lists(part, min_size=1, max_size=3))


def words_of(tree):
    label, below = tree
    if isinstance(below, str):
        return [(below, label)]
    return [leaf for child in below for leaf in words_of(child)]


@st.composite
def layout(draw, tree):
    """The tree as text, with any white space between its parts."""
    blank = st.sampled_from(["", " ", "\n  ", "\t", "\n\n "])
    label, below = tree
    if isinstance(below, str):
        return f"({draw(blank)}{label} {below}{draw(blank)})"
    parts = [draw(layout(child)) for child in below]
    return f"({label}{draw(blank)}{draw(blank).join(parts)}{draw(blank)})"


@checked
@given(st.data(), st.lists(st.recursive(leaves, constituent, max_leaves=8)))
def test_rendered_trees_are_read_back(data, trees):
    text = "\n".join(f"( {data.draw(layout(tree))} )" for tree in trees)
    found = sentences(text, "mrg", unescape=False, all_tags=True)
    pairs = [[*zip(s.tokens, s.tags, strict=True)] for s in found]
    assert pairs == [[(to_nfc(w), t) for w, t in words_of(tree)] for tree in trees]


# a line that begins with *x* describes the file
pos_words = st.text("aZ9.,-*'()<>\u00e9\u4e2d\u05d0", min_size=1, max_size=4)
pos_words = pos_words.filter(lambda text: not text.startswith("*x*"))


@checked
@given(st.lists(st.lists(st.tuples(pos_words, pos_words), min_size=1), min_size=1))
def test_rendered_tagged_text_is_read_back(given_sentences):
    text = ""
    for sentence in given_sentences:
        items = [f"{word}/T{tag}" for word, tag in sentence]
        text += f"[ {items[0]} ]\n{' '.join(items[1:])}\n\n=====\n"
    found = sentences(text.replace("\r", ""), "pos")
    assert [len(sentence) for sentence in found] == list(map(len, given_sentences))
    tags = [[f"T{tag}" for _, tag in sentence] for sentence in given_sentences]
    assert [sentence.tags for sentence in found] == tags


def test_depth_is_no_limit():
    depth = 20_000
    text = "(X " * depth + "(NN a)" + ")" * depth
    assert sentences(text, "mrg") == [Sentence(["a"], ["NN"])]
