import pytest
from ccg.trees import chain, tree

from keras_tagging.ccg import Derivation, Leaf, Node

TV, VP, SUBJECT = r"(S[dcl]\NP)/NP", r"S[dcl]\NP", r"S/(S\NP)"


def named(root):
    """Dependencies as `argument < head slot`."""
    derivation = Derivation(root)
    words = [leaf.word for leaf in derivation.leaves]
    return {
        f"{words[d.argument - 1]} < {words[d.head - 1]} {d.slot}"
        for d in derivation.dependencies()
    }


def test_a_clause_with_modifiers():
    adverb = r"((S\NP)\(S\NP))/NP"
    verb = tree(VP, f"eats|{TV}", tree("NP", "the|NP[nb]/N", "cake|N"))
    place = tree(r"(S\NP)\(S\NP)", f"in|{adverb}", "bed|NP")
    root = tree("S[dcl]", "she|NP", tree(VP, verb, place))
    expected = {"she < eats 1", "cake < eats 2", "cake < the 1"}
    assert named(root) == expected | {"eats < in 2", "bed < in 3"}


def test_auxiliaries_and_control():
    force = r"((S[b]\NP)/(S[to]\NP))/NP"
    leave = tree(r"S[to]\NP", r"to|(S[to]\NP)/(S[b]\NP)", r"leave|S[b]\NP")
    inner = tree(
        r"S[b]\NP", tree(r"(S[b]\NP)/(S[to]\NP)", f"force|{force}", "me|NP"), leave
    )
    root = tree("S[dcl]", "they|NP", tree(VP, r"will|(S[dcl]\NP)/(S[b]\NP)", inner))
    assert named(root) == {
        *("they < will 1", "force < will 2", "they < force 1", "to < force 2"),
        *("me < force 3", "me < to 1", "leave < to 2", "me < leave 1"),
    }


@pytest.mark.parametrize("noun", ["NP", "N"])
def test_relative_clauses_lack_their_noun(noun):
    """CCGbank's pronouns modify an NP, those of the Parallel Meaning Bank an N."""
    gap = tree("S[dcl]/NP", tree(SUBJECT, "he|NP"), f"read|{TV}")
    pronoun = rf"({noun}\{noun})/(S[dcl]"
    relative = tree(rf"{noun}\{noun}", f"that|{pronoun}/NP)", gap)
    read = {"book < that 1", "read < that 2", "he < read 1", "book < read 2"}
    assert named(tree(noun, f"book|{noun}", relative)) == read
    whose = tree(rf"{pronoun}\NP)", rf"whose|({pronoun}\NP))/N", "dog|N")
    man = tree(noun, f"man|{noun}", tree(rf"{noun}\{noun}", whose, r"ran|S[dcl]\NP"))
    expected = {"man < whose 1", "ran < whose 2", "dog < whose 3", "dog < ran 1"}
    assert named(man) == expected


def test_type_changing_fills_the_missing_noun():
    clause = tree(r"NP\NP", tree("S[dcl]/NP", tree(SUBJECT, "he|NP"), f"read|{TV}"))
    assert named(tree("NP", "books|NP", clause)) == {"he < read 1", "books < read 2"}
    adverbial = tree(r"(S\NP)\(S\NP)", r"singing|S[ng]\NP")
    root = tree("S[dcl]", "she|NP", tree(VP, rf"left|{VP}", adverbial))
    assert named(root) == {"she < left 1", "she < singing 1"}


@pytest.mark.parametrize(
    ("verb", "noun"),
    [(f"({TV})[conj]", "NP[conj]"), (f"{TV}[conj]", "np:conj"), (TV, "NP")],
)
def test_coordination(verb, noun):
    """With CCGbank's feature, and as treebanks without it write coordination."""
    verbs = tree(TV, f"baked|{TV}", tree(verb, "and|conj", f"ate|{TV}"))
    nouns = tree("NP", "she|NP", tree(noun, "and|conj", "he|NP"))
    root = tree("S[dcl]", nouns, tree(VP, verbs, "cakes|NP"))
    assert named(root) == {
        *("she < baked 1", "he < baked 1", "she < ate 1", "he < ate 1"),
        *("cakes < baked 2", "cakes < ate 2"),
    }


@pytest.mark.parametrize("conjunct", ["NP[conj]", "NP"])
def test_punctuation_and_conjunctions_before_a_conjunct_fill_no_argument(conjunct):
    for outer in (",|,", "and|conj"):
        milk = tree(conjunct, outer, tree(conjunct, "and|conj", "milk|NP"))
        drinks = tree(VP, f"drinks|{TV}", tree("NP", "tea|NP", milk))
        assert named(tree("S[dcl]", "she|NP", drinks)) == {
            *("she < drinks 1", "tea < drinks 2", "milk < drinks 2"),
        }


def test_a_functor_applies_to_what_begins_with_a_conjunction():
    """CCGbank has `N/N N`, where the N is `conj N`; the verb keeps its subject."""
    fibers = tree("N", "and|conj", tree("N", "acetate|N/N", "fibers|N"))
    assert named(tree("N", "cotton|N/N", fibers)) == {
        *("fibers < cotton 1", "fibers < acetate 1"),
    }
    sleeps = tree(VP, "but|conj", f"sleeps|{VP}")
    assert named(tree("S[dcl]", "she|NP", sleeps)) == {"she < sleeps 1"}


def test_a_modifier_of_one_conjunct_is_not_one_of_the_other():
    red = tree("N", "red|N/N", "wine|N")
    nouns = tree("N", red, tree("N[conj]", "and|conj", "beer|N"))
    assert named(tree("NP", "the|NP[nb]/N", nouns)) == {
        *("wine < red 1", "wine < the 1", "beer < the 1"),
    }


def test_questions_and_crossed_composition():
    root = tree("S[wq]", r"who|S[wq]/(S[dcl]\NP)", rf"sleeps|{VP}")
    assert named(root) == {"sleeps < who 1", "who < sleeps 1"}
    shifted = tree(TV, f"read|{TV}", r"today|(S\NP)\(S\NP)")  # <Bx
    root = tree("S[dcl]", "he|NP", tree(VP, shifted, "books|NP"))
    assert named(root) == {"he < read 1", "books < read 2", "read < today 2"}


def test_heads_by_category_do_not_follow_the_marks():
    for mark in (0, 1):
        root = tree("NP", "red|NP/NP", "wine|NP", head=mark)
        assert Derivation(root).heads(by_category=True) == [2, 0]
        assert Derivation(root).heads() == [[0, 1], [2, 0]][mark]


def test_what_no_combinator_makes_has_no_error():
    """Unknown categories, categories that are none, and steps to anything."""
    odd = Leaf("((", "X", "X", "?", "((")
    root = Node(r"S\NP", 0, (Node("NP/NP", 1, (odd, odd)), Node(r"S\NP", 0, (odd,))))
    assert Derivation(Node(")", 0, (root, odd))).dependencies() == []
    three = tree("NP", "a|NP", "b|NP", tree("NP[conj]", "and|conj", "c|NP"))
    assert named(three) == set()
    deep = "/".join(["N"] * 31)
    nodes = tree("/".join(["N"] * 30), f"a|{deep}", "b|N")
    assert named(nodes) == {"b < a 30"}
    assert chain(20_000).dependencies() == []
