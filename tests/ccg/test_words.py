import pytest

from keras_tagging.ccg import Derivation, Leaf, Node
from keras_tagging.ccg.auto import escaped, unescaped
from keras_tagging.data import read


@pytest.mark.parametrize(
    "word, field",
    [
        ("(", "-LRB-"),
        ("f(x)[1]{}", "f-LRB-x-RRB--LSB-1-RSB--LCB--RCB-"),
        ("10 000", "10\u00a0000"),
        ("a_b-c/d", "a_b-c/d"),
    ],
)
def test_words_become_fields_and_words_again(word, field, tmp_path):
    assert escaped(word) == field and unescaped(field) == word
    leaves = tuple(Leaf("NP", "X", "X", escaped(w), "NP") for w in (word, "b"))
    derivation = Derivation(Node("NP", 1, leaves))
    path = tmp_path / "a.auto"
    path.write_text(derivation.auto(), "utf-8")
    [again] = read(path)
    assert again.tokens == [field, "b"] and again.derivation == derivation
    assert derivation.draw().split("\n")[0].split("  ")[0].strip() == word


def test_other_white_space_is_a_blank_and_nothing_is_an_underscore():
    assert unescaped(escaped("a\tb\nc\u2028d\x0be")) == "a b c d e"
    assert escaped("") == "_"
