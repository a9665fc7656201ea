import random

import pytest
from ccg.trees import leaf, tree

from keras_tagging.ccg import Derivation, Leaf, Node
from keras_tagging.ccg.auto import escaped
from keras_tagging.metrics import derivation_scores
from keras_tagging.metrics.derivations import F1_FIGURES, derivation_counts
from keras_tagging.metrics.significance import figure_of


def drawn(rng, words):
    """A random derivation; each phrase may have further nodes with the same words."""
    name = rng.choice(["NP", "S"])
    if len(words) in (2, 3) and rng.random() < 0.8:
        root = leaf(f"{words[-1]}|NP")
        for word in reversed(words[:-1]):
            root = tree("NP", f"{word}|NP/NP", root)
    elif len(words) == 1:
        root = leaf(f"{words[0]}|{rng.choice(['NP', 'NP/NP'])}")
    else:
        cut = rng.randrange(1, len(words))
        root = tree(name, drawn(rng, words[:cut]), drawn(rng, words[cut:]))
    return tree(name, root) if rng.random() < 0.2 else root


def brackets(node, start=0):
    """All (start, end, category) by recursion, and the end."""
    if isinstance(node, Leaf):
        return [], start + 1
    found, end = [], start
    for child in node.children:
        below, end = brackets(child, end)
        found += below
    return [*found, (start, end, node.category)], end


def f1(gold, given):
    """For lists: each pair of like items is counted once."""
    rest, right = list(given), 0
    for item in gold:
        if item in rest:
            rest.remove(item)
            right += 1
    precision, recall = right / len(given), right / len(gold)
    return 2 * precision * recall / (precision + recall) if right else 0.0


def test_against_a_count_by_hand():
    rng = random.Random(1)
    roots = []
    for size in (5, 9, 7, 6, 4):
        words = [f"w{i}" for i in range(size)]
        one, other = drawn(rng, words), drawn(rng, words)
        roots.append((one, one if size == 7 else other))
    gold = [Derivation(one) for one, _ in roots]
    found = [Derivation(other) for _, other in roots]
    found[1] = None
    ours, theirs, deps, other_deps, pairs, other_pairs = [], [], [], [], [], []
    right = 0
    for number, (one, other) in enumerate(zip(gold, found, strict=True)):
        ours += [(number, *b) for b in brackets(one.root)[0]]
        deps += [(number, *d) for d in one.dependencies()]
        pairs += {(number, *sorted(d[:2])) for d in one.dependencies()}
        if other is None:
            continue
        theirs += [(number, *b) for b in brackets(other.root)[0]]
        other_deps += [(number, *d) for d in other.dependencies()]
        other_pairs += {(number, *sorted(d[:2])) for d in other.dependencies()}
        tags = zip(one.leaves, other.leaves, strict=True)
        right += sum(a.category == b.category for a, b in tags)
    scores = derivation_scores(gold, found)
    assert scores.coverage == 4 / 5 and scores.exact == 1 / 5
    assert scores.supertags == right / 31
    assert scores.labelled == pytest.approx(f1(ours, theirs))
    bare = ([b[:3] for b in all_of] for all_of in (ours, theirs))
    assert scores.unlabelled == pytest.approx(f1(*bare))
    assert scores.dependencies == pytest.approx(f1(deps, other_deps))
    assert scores.unlabelled_dependencies == pytest.approx(f1(pairs, other_pairs))
    assert 0 < scores.labelled < scores.unlabelled < 1
    for name, rows in derivation_counts(gold, found).items():
        assert len(rows) == 5
        for row, *pair in zip(rows.tolist(), gold, found, strict=True):
            alone = getattr(derivation_scores(*([x] for x in pair)), name)
            sizes = row[:-1]  # of both sides of an F1
            assert alone == pytest.approx(row[-1] / (sum(sizes) / len(sizes)))
    assert 0 < scores.dependencies < 1


def test_the_notation_of_categories_does_not_matter():
    line = (
        r"(<T S[dcl] 1 2> (<L NP X X she NP>) (<T S[dcl]\NP 0 2> "
        r"(<L ((S[dcl]\NP)/NP) X X sees ((S[dcl]\NP)/NP)>) (<L NP X X it NP>) ) )"
    )
    own, pmb = Derivation.from_auto(line), Derivation.from_auto(line, "pmb")
    assert pmb.leaves[1].category == r"(s:dcl\np)/np"
    assert set(derivation_scores([pmb], [own])) == {1.0}
    fragments = Derivation(Node("frag", 0, own.root.children))  # as "pmb" reads FRAG
    assert derivation_scores([own], [fragments]).coverage == 0


def test_nothing_to_count_is_nothing_right():
    alone = [Derivation(leaf("a|N"))]
    scores = derivation_scores(alone, alone)
    assert scores.supertags == scores.exact == 1
    for name in F1_FIGURES:
        sums = derivation_counts(alone, alone)[name].sum(0)
        assert getattr(scores, name) == figure_of(name)(sums) == 0


def test_words_and_derivations_must_be_the_same():
    one, two = Derivation(leaf("a|N")), Derivation(Node("N", 0, (leaf("a|N"),) * 2))
    with pytest.raises(ValueError, match="derivation 1 has 2 words, the gold one 1"):
        derivation_scores([one], [two])
    other = Derivation(leaf("b|N"))
    told = "derivation 2 has the word 'b' where gold has 'a'"
    with pytest.raises(ValueError, match=told):
        derivation_scores([one, one], [one, other])
    for written, read in [("-LRB-", "("), (r"1\/2", "1/2"), ("e\u0301", "\u00e9")]:
        pair = [[Derivation(leaf(f"{word}|N"))] for word in (written, escaped(read))]
        assert derivation_scores(*pair).supertags == 1
