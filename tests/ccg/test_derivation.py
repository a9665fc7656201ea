import json
import pickle
import re
from pathlib import Path

import pytest
from ccg.trees import leaf, tree
from conftest import DATA, needs_data

from keras_tagging.ccg import Derivation
from keras_tagging.ccg.categories import NotCCG
from keras_tagging.data import Sentence, read

HEADER = "ID=wsj_9999.1 PARSER=GOLD NUMPARSE=1"
LINE = (
    r"(<T S[dcl] 1 2 {eat.01:x}> (<L NP PRP NN She NP>) (<T S[dcl]\NP 0 2> "
    r"(<L (S[dcl]\NP)/NP VBZ VB eats (S[dcl]\NP_1)/NP_2 {eat.01:rel} [ARG0]>) "
    r"(<L NP NN NN <cakes&tea NP>) ) )"
)


def test_lines_are_written_as_they_were_read(tmp_path):
    """Blanks at odd places too, and what PropBank adds."""
    odd = LINE.replace("VBZ VB", "VBZ  VB") + " "
    text = f"{HEADER}\n{odd}\n{LINE}\n"
    path = tmp_path / "a.auto"
    path.write_text(text, encoding="utf-8")
    first, second = (sentence.derivation for sentence in read(path))
    assert first.auto() + second.auto() == text
    assert (first.name, second.name) == ("wsj_9999.1", "")
    made = Derivation(first.root, first.header)
    assert made.auto() == f"{HEADER}\n{LINE}\n"
    assert first == made and hash(first) == hash(made) and second != first
    assert Derivation.from_auto(text.removesuffix(f"{LINE}\n")) == made
    [in_normal_form, _] = read(path, categories="pmb")
    assert r"<L (s:dcl\np)/np VBZ" in in_normal_form.derivation.auto()


@pytest.mark.parametrize(
    "children, rule",
    [
        (["a|NP", "b|NP"], ""),  # an apposition
        (["a|NP", tree("NP", "and|conj", "b|NP", head=1)], "&"),
        (["a|NP", tree("NP", ",|,", "b|NP", head=1)], "&"),
        ([tree("NP", "a|NP", "and|conj"), "b|NP"], "&"),
        (["a|NP", tree("NP[conj]", "and|conj", "b|NP", head=1)], "&"),
        ([tree("NP", "a|NP/N", "b|N"), tree("NP", "c|NP/N", "d|N")], ""),
        (["and|conj", "or|conj"], "&"),
    ],
)
def test_two_alike_are_coordinated_by_a_conjunction_alone(children, rule):
    whole = "conj" if children[-1] == "or|conj" else "NP"
    made = tree(whole, *children)
    assert made.rule == rule
    drawn = Derivation(made).draw().split("\n")
    assert drawn[-2].endswith("&") == (rule == "&")


def test_json():
    derivation = Derivation.from_auto(f"{HEADER}\n{LINE}")
    found = json.loads(json.dumps(derivation.to_dict()))
    assert found["header"] == HEADER
    assert found["nodes"][0] == {
        **{"category": "S[dcl]", "head": 1, "rule": "<", "children": [1, 2]},
        "extras": " {eat.01:x}",
    }
    assert Derivation.from_dict(found) == derivation


@pytest.mark.parametrize(
    "nodes",
    [
        None,
        [],
        [{"category": "N"}],
        [{"category": "N", "head": 0, "children": [0]}],
        [{"category": "N", "head": 0, "children": [1, 1]}, leaf("w|N")._asdict()],
        [{"category": "N", "head": 1, "children": [1]}, leaf("w|N")._asdict()],
        [{"category": "N", "head": "0", "children": [1]}, leaf("w|N")._asdict()],
        [leaf("w|N")._asdict(), leaf("w|N")._asdict()],
        [leaf("a b|N")._asdict()],
        [leaf("w|N")._asdict() | {"colour": "red"}],
        [leaf("w|N")._asdict() | {"pos": None}],
    ],
)
def test_objects_that_are_none(nodes):
    with pytest.raises(NotCCG, match="[^;]+; [^;]+"):
        Derivation.from_dict({"header": "", "nodes": nodes})


def test_a_sentence_has_its_derivation(tmp_path):
    path = tmp_path / "a.auto"
    path.write_text(f"{LINE}\n", encoding="utf-8")
    [sentence] = read(path)
    assert sentence.derivation.category == "S[dcl]"
    assert sentence == Sentence(sentence.tokens, sentence.tags, sentence.columns)
    again = pickle.loads(pickle.dumps(sentence))
    assert again.derivation.auto() == sentence.derivation.auto()
    shown = sentence._repr_html_()
    assert 'class="ccg"' in shown and shown.count("cakes&amp;tea") == 1
    heads = {"head": ["2", "0", "2"], **sentence.columns}
    more = Sentence(
        sentence.tokens, sentence.tags, heads, derivation=sentence.derivation
    )
    assert "<th>head</th>" in more._repr_html_() and "<th>tag" not in shown


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "ccgbank-format/AUTO/00/wsj_0001.auto",
        "ccgbank-format/AUTO/05/wsj_0595Corrected.auto",
        "ewt-ccg/en_ewt-ud-test.auto",
    ],
)
def test_treebanks_are_written_byte_for_byte(name):
    """From their text, and, but for blanks at the ends of lines, from their nodes."""
    with Path(DATA, name).open(encoding="utf-8", newline="") as stream:
        text = "".join(line for line, _ in zip(stream, range(200), strict=False))
    found = [Derivation.from_auto(part) for part in re.findall(r"ID=.*\n.*\n", text)]
    assert "".join(d.auto() for d in found) == text
    of_nodes = "".join(Derivation(d.root, d.header).auto() for d in found)
    assert of_nodes == text.replace(" \n", "\n")
