import io
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_tagging.ccg import Derivation, Leaf, Node
from keras_tagging.data import CorpusError, read

HAS = r"(<L (S[dcl]\NP)/NP VBZ VB has (S[dcl]\NP_1)/NP_2>)"
TEXT = rf"""# a comment
ID=wsj_0001.1 PARSER=GOLD NUMPARSE=1
(<T S[dcl] 1 2> (<T NP 0 1> (<L N PRP NN She N>) ) (<T S[dcl]\NP 0 2> {HAS} """
TEXT += "(<T NP 1 2> (<L NP[nb]/N DT DT a NP[nb]_9/N_9>) (<L N NN NN cat N>) ) ) ) \n"


def parse(text, **options):
    return [s.derivation for s in read(io.StringIO(text), "auto", **options)]


def test_a_derivation_in_full():
    [derivation] = parse(TEXT)
    assert derivation.name == "wsj_0001.1"
    she = Leaf("N", "PRP", "NN", "She", "N")
    has = Leaf(r"(S[dcl]\NP)/NP", "VBZ", "VB", "has", r"(S[dcl]\NP_1)/NP_2")
    a = Leaf("NP[nb]/N", "DT", "DT", "a", "NP[nb]_9/N_9")
    cat = Leaf("N", "NN", "NN", "cat", "N")
    phrase = Node(r"S[dcl]\NP", 0, (has, Node("NP", 1, (a, cat))))
    assert derivation.root == Node("S[dcl]", 1, (Node("NP", 0, (she,)), phrase))
    assert derivation.leaves == [she, has, a, cat]
    found = [node.category for node in derivation.nodes()]
    assert found == ["S[dcl]", "NP", r"S[dcl]\NP", "NP"]
    assert derivation.heads() == [2, 0, 4, 2]


def test_normal_forms():
    text = TEXT.replace("<L NP[nb]/N", "<L (np:nb/n)")
    [sentence] = read(io.StringIO(text), "auto", categories="ccgbank")
    assert sentence.tags == ["N", r"(S[dcl]\NP)/NP", "NP[nb]/N", "N"]
    [sentence] = read(io.StringIO(text), "auto", categories="pmb")
    assert sentence.tags == ["n", r"(s:dcl\np)/np", "np:nb/n", "n"]
    assert next(read(io.StringIO(text), "auto")).tags[2] == "(np:nb/n)"


def test_words_as_raw_text_has_them():
    words = ["-LRB-", r"1\/2", r"\*\*", "f-LRB-x-RRB-", "a\\b", "10\u00a0000"]
    nodes = " ".join(f"(<L N NN NN {word} N>)" for word in words)
    text = f"(<T N 0 6> {nodes} )\n"
    [as_it_is] = read(io.StringIO(text), "auto")
    [sentence] = read(io.StringIO(text), "auto", unescape=True)
    assert as_it_is.tokens == words
    assert sentence.tokens == ["(", "1/2", "**", "f(x)", "a\\b", "10 000"]
    assert sentence.derivation == as_it_is.derivation
    assert sentence.derivation.auto() == text


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("<T NP 1 2>", "<T NP 1 1>", "a node 'NP' has 2 children but says 1, the head"),
        ("(<L NP[nb]/N DT DT a NP[nb]_9/N_9>) ", "", "has 1 children but says 2"),
        (" DT DT a", " DT a", "do not balance at '(<L NP[nb]/N DT a NP[nb]_9/N_9>)'"),
        (") ) ) \n", ") ) \n", "its brackets do not balance"),
        (") ) ) \n", ") ) ) ) \n", "its brackets do not balance at ')'"),
        ("(<T NP 1", "stray (<T NP 1", "do not balance at 'stray'"),
        ("<L NP[nb]/N", "<L NP[nb/N", "the category 'NP[nb/N' has '['"),
        (r"<T S[dcl]\NP", r"<T S[dcl]\\NP", "the category 'S[dcl]"),
    ],
)
def test_malformed_derivations(tmp_path, old, new, what):
    assert TEXT.count(old) == 1
    path = tmp_path / "wsj_0001.auto"
    path.write_text(TEXT + TEXT.replace(old, new), "utf-8")
    with pytest.raises(CorpusError, match=re.escape(what)) as caught:
        list(read(path, "auto", categories="ccgbank"))
    assert re.fullmatch(rf"{path}:6: [^;]+; [^;]+", str(caught.value))
    skipped = []
    read_in = read(path, "auto", categories="ccgbank", errors="skip", skipped=skipped)
    assert len(list(read_in)) == 1
    assert skipped == [str(caught.value)]


fields = st.text("aZ9.,-/\\|*=_\u00e9\u0301\u4e2d\u05d0", min_size=1, max_size=4)
leaves = st.builds(Leaf, *[fields] * 5, st.just(""))


@st.composite
def inner(draw, part):
    children = draw(st.lists(part, min_size=1, max_size=2))
    head = draw(st.integers(0, len(children) - 1))
    return Node(draw(fields), head, tuple(children))


nodes = st.recursive(leaves, inner, max_leaves=12)


def render(node):
    if isinstance(node, Leaf):
        return f"(<L {' '.join(node[:-1])}>)"
    children = " ".join(map(render, node.children))
    return f"(<T {node.category} {node.head} {len(node.children)}> {children} )"


def in_order(node):
    if isinstance(node, Leaf):
        return [node]
    return [leaf for child in node.children for leaf in in_order(child)]


@given(st.lists(nodes, max_size=3))
def test_rendered_trees_are_read_back(roots):
    text = "\n".join(f"ID=x.{i}\n{render(root)} " for i, root in enumerate(roots))
    found = parse(text)
    assert [derivation.root for derivation in found] == roots
    assert [derivation.leaves for derivation in found] == list(map(in_order, roots))
    assert [derivation.name for derivation in found] == [
        f"x.{i}" for i in range(len(roots))
    ]


def heads_by_definition(node, numbers, heads):
    """The head word of the node; fills in the heads of the others below it."""
    if isinstance(node, Leaf):
        return next(numbers)
    found = [heads_by_definition(child, numbers, heads) for child in node.children]
    for word in found:
        heads[word] = found[node.head]
    return found[node.head]


@given(nodes)
def test_heads_against_the_definition(root):
    heads = {}
    heads[heads_by_definition(root, itertools.count(1), heads)] = 0
    assert Derivation(root).heads() == [heads[word] for word in sorted(heads)]


def test_depth_is_no_limit():
    depth = 20_000
    text = "(<T N 0 1> " * depth + "(<L N A B w N>)" + " )" * depth
    [derivation] = parse(text)
    assert derivation.heads() == [0]
    assert sum(1 for _ in derivation.nodes()) == depth
