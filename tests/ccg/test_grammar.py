import json
import re

import pytest
from ccg.trees import leaf, tree

from keras_tagging.ccg import Derivation, Grammar
from keras_tagging.ccg.categories import CategoryError
from keras_tagging.ccg.grammar import Coverage

TV, VP = r"(S[dcl]\NP)/NP", r"S[dcl]\NP"


def clause(subject, verb, things):
    return Derivation(
        tree(
            "S[dcl]",
            f"{subject}|NP",
            tree(VP, f"{verb}|{TV}", tree("NP", f"{things}|N")),
        )
    )


def grammar():
    odd = Derivation(tree("NP", "a|NP", tree("NP", "and|conj", "b|NP")))
    slip = Derivation(tree("S", "a|(NP)", f"b|{VP}"))  # redundant brackets
    found = [clause("we", "like", "cakes"), clause("we", "eat", "tea"), odd, slip]
    return Grammar.from_derivations(found)


def test_rules_and_their_counts():
    found = grammar()
    assert found.rules == {
        ("N",): {"NP": 2},
        ("NP", VP): {"S[dcl]": 2, "S": 1},
        (TV, "NP"): {VP: 2},
        ("conj", "NP"): {"NP": 1},
        ("NP", "NP"): {"NP": 1},
    }
    assert found.roots == {"S[dcl]": 2, "NP": 1, "S": 1}
    assert repr(found) == "<Grammar of 4 pairs, 1 unary rule, 3 roots>"
    assert found.combine("NP", VP) == [("S[dcl]", 1, 2), ("S", 1, 1)]
    assert found.combine("NP", "NP") == [("NP", 0, 1)]


def test_combinators_speak_for_pairs_that_were_not_seen():
    found = grammar()
    assert found.combine("NP[nb]/N", "N") == [("NP[nb]", 1, 0)]
    assert found.combine("(NP[nb]_1/N_2)", "N") == [("NP[nb]", 1, 0)]
    assert found.combine("N", "N") == []
    with pytest.raises(CategoryError, match=r"'foo\(' .*; write it as"):
        found.combine("NP", "foo(")
    assert not found.has(tree("S", "a|NP", "b|foo("))


def test_coverage():
    known = clause("they", "see", "us")
    by_combinators = Derivation(tree("NP", "the|NP/N", "cake|N"))
    no_root = Derivation(leaf("a|PP"))
    unknown = Derivation(tree("N", "a|NP"))
    found = [known, by_combinators, no_root, unknown]
    assert grammar().coverage(found) == Coverage(4, 2, 5, 4)
    assert grammar().coverage(found, combinators=False) == Coverage(4, 1, 5, 3)


def test_saving(tmp_path):
    path = tmp_path / "grammar.json"
    grammar().save(path)
    found = Grammar.load(path)
    assert (found.rules, found.roots) == (grammar().rules, grammar().roots)


@pytest.mark.parametrize(
    "change",
    [
        {"roots": None},
        {"categories": ["", "NP"]},
        {"categories": [3]},
        {"rules": [[[0], 99, 1]]},
        {"rules": [[[0], -1, 1]]},
        {"rules": [[[True], 0, 1]]},
        {"rules": [[[0, 0, 0], 0, 1]]},
        {"rules": [[[0], 0, 0]]},
        {"rules": [[[0], 0]]},
        {"rules": [0] * 100_001},
    ],
)
def test_files_that_are_no_grammar(tmp_path, change):
    path = tmp_path / "grammar.json"
    path.write_text(json.dumps(grammar().to_dict() | change))
    with pytest.raises(
        ValueError, match=rf"^{re.escape(str(path))}: .*save the grammar"
    ):
        Grammar.load(path)


def test_what_is_no_derivation_of_a_sentence():
    with pytest.raises(ValueError, match="no derivation"):
        Grammar.from_derivations([])
    three = Derivation(tree("NP", "a|NP", "and|conj", "b|NP"))
    assert grammar().coverage([three]) == Coverage(1, 0, 1, 0)
    fragments = [
        Derivation(tree(category, "hello|NP", r"there|S\S"), "ID=wsj_0001.7")
        for category in ("FRAG", "frag")  # as "pmb" reads it
    ]
    for derivation in (None, three, *fragments):
        with pytest.raises(ValueError, match="no derivation of a whole sentence"):
            Grammar.from_derivations([clause("we", "eat", "tea"), derivation])
