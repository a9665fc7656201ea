import re
import time
from xml.etree import ElementTree

import pytest
from ccg.trees import tree

from keras_tagging.ccg import Derivation
from keras_tagging.data import Sentence
from keras_tagging.data.annotation import as_drawing

TV = r"(S[dcl]\NP)/NP"
GAP = tree("S[dcl]/NP", tree(r"S/(S\NP)", "she|NP"), f"read|{TV}")
ROOT = tree(
    "NP",
    tree("NP", "the|NP[nb]/N", "<book>|N"),
    tree(r"NP\NP", tree(r"NP\NP", r"that|(NP\NP)/(S[dcl]/NP)", GAP), ",|,"),
)


def test_the_drawing_in_letters():
    assert Derivation(ROOT).draw().split("\n") == [
        r"  the     <book>         that            she          read       ,",
        r"NP[nb]/N    N     (NP\NP)/(S[dcl]/NP)     NP     (S[dcl]\NP)/NP  ,",
        r"--------------->                       ------>T",
        r"       NP                              S/(S\NP)",
        r"                                       ---------------------->B",
        r"                                              S[dcl]/NP",
        r"                  -------------------------------------------->",
        r"                                      NP\NP",
        r"                  ----------------------------------------------rp",
        r"                                       NP\NP",
        r"-----------------------------------------------------------------<",
        r"                                NP",
    ]


def test_wide_letters_and_marks():
    """A Chinese letter takes two columns, a combining mark none."""
    drawn = Derivation(tree("S", "我们|NP", "e\u0301|S\\NP")).draw().split("\n")
    assert drawn == ["我们   e\u0301", " NP   S\\NP", "---------<", "    S"]


def test_html_and_svg_are_well_formed_and_hold_every_category():
    derivation = Derivation(ROOT)
    svg = ElementTree.fromstring(derivation.svg())
    texts = [element.text for element in svg.iter() if element.tag.endswith("text")]
    assert {"<book>", ">T", ">B", r"S/(S\NP)", "NP"} <= set(texts)
    assert len([e for e in svg.iter() if e.tag.endswith("path")]) == 6
    table = ElementTree.fromstring(
        re.sub("class=step", "", derivation.html(style=False))
    )
    rows = [
        [(int(cell.get("colspan", 1)), "".join(cell.itertext())) for cell in row]
        for row in table.iter("tr")
    ]
    assert [word for _, word in rows[0]] == "the <book> that she read ,".split()
    assert rows[2] == [(2, ">NP"), (1, ""), (1, r">TS/(S\NP)")]
    assert rows[-1] == [(6, "<NP")]
    styled = derivation.html()
    assert styled.startswith("<style>") and derivation.html(style=False) in styled
    assert derivation._repr_html_() == styled


def test_500_words_are_drawn_and_more_are_not():
    root = tree("NP", "a|NP/NP", "b|NP")
    for _ in range(498):
        root = tree("NP", "a|NP/NP", root)
    started = time.process_time()
    derivation = Derivation(root)
    assert derivation.draw().count("\n") == 2 * 499 + 1
    assert derivation.svg() and derivation.html()
    assert time.process_time() - started < 20
    longer = Derivation(tree("NP", "a|NP/NP", root))
    assert longer._repr_html_() is None
    with pytest.raises(ValueError, match="501 words are too many to draw"):
        longer.draw()
    line = "(<T N 0 1> " * 5000 + f"(<L N A A {'w' * 60_000} N>)" + " )" * 5000
    high = Derivation.from_auto(line)
    with pytest.raises(ValueError, match="10,002 lines of 60,000 letters are too many"):
        high.draw()
    assert as_drawing(Sentence(["w"], derivation=high)) == f"{line}\n\n\n"
