"""How much of CCG derivations is right: brackets, dependencies, whole derivations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from keras_tagging.ccg.auto import FRAGMENTS, Leaf, bottom_up, escaped, in_text, table
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import normal, of_fragments
from keras_tagging.data.normalisation import to_nfc


class DerivationScores(NamedTuple):
    """Shares of what is right.

    Args:
        coverage: of sentences, those that have a derivation of the whole: one of
            fragments, with the category `FRAG`, has none. Its root may be any category,
            where `ccg.Grammar.coverage` wants one that is a root in training.
        exact: of sentences, those whose derivation has the gold categories throughout.
        supertags: of words, those with the gold category; a sentence without a
            derivation has none.
        labelled, unlabelled: F1 of brackets, the words and the category of an inner
            node, as `evalb` counts them; a pair of words may have several brackets.
        dependencies, unlabelled_dependencies: F1 of dependencies, the argument, the
            head, its category and the slot; without labels the two words, whichever
            is the head.

    An F1 is 0 where neither the gold derivations nor the others have anything to count.
    """

    coverage: float
    exact: float
    supertags: float
    labelled: float
    unlabelled: float
    dependencies: float
    unlabelled_dependencies: float


#: the figures that are F1, of gold, predicted and right parts; others are shares
F1_FIGURES = ("labelled", "unlabelled", "dependencies", "unlabelled_dependencies")


def derivation_counts(
    gold: Sequence[Derivation], predicted: Sequence[Derivation | None]
) -> dict[str, np.ndarray]:
    """The counts behind each figure, sentence by sentence.

    Args:
        gold, predicted: as in `derivation_scores`.

    Returns:
        By the names of `DerivationScores`, int: of a share `(sentences, 2)`, what
        counts and what of it is right; of an F1 `(sentences, 3)`, gold parts, predicted
        ones, and those in both.

    Raises:
        ValueError: if there is none, or two do not have the same number of words.
    """
    rows = {name: [] for name in DerivationScores._fields}
    for number, (right, derivation) in enumerate(zip(gold, predicted, strict=True), 1):
        if derivation is not None and len(derivation) != len(right):
            sizes = f"{len(derivation)} words, the gold one {len(right)}"
            raise ValueError(f"derivation {number} has {sizes}")
        ours = _parts(derivation) if derivation is not None else {}
        for name, parts in _parts(right).items():
            other = ours.get(name, Counter())
            common = (parts & other).total()
            whole = (parts.total(), other.total(), common)
            rows[name].append(whole if name in F1_FIGURES else whole[::2])
        is_there = derivation is not None
        rows["exact"].append((1, is_there and _is_same(right, derivation)))
        rows["coverage"].append((1, is_there and not of_fragments(derivation)))
    return {name: np.array(counts, int) for name, counts in rows.items()}


def _check_words(number: int, gold: Derivation, predicted: Derivation) -> None:
    for one, other in zip(gold.leaves, predicted.leaves, strict=True):
        if one.word != other.word and _word(one) != _word(other):
            words = f"the word {other.word[:40]!r} where gold has {one.word[:40]!r}"
            raise ValueError(f"derivation {number} has {words}")


def _word(leaf: Leaf) -> str:
    """The word in one form, whichever of a treebank, a text or a parser wrote it."""
    return escaped(to_nfc(in_text(leaf.word)))


def derivation_scores(
    gold: Sequence[Derivation], predicted: Sequence[Derivation | None]
) -> DerivationScores:
    """Compare derivations with gold ones, with all categories in normal form.

    Args:
        gold: the gold derivations.
        predicted: for each one that of the parser; None for none, which has no bracket
            and no dependency.

    Raises:
        ValueError: if there is none, or the two do not have the same words, written as
            in a text or as in a treebank (`ccg.auto.in_text`).
    """
    counts = derivation_counts(gold, predicted)
    for number, pair in enumerate(zip(gold, predicted, strict=True), 1):
        if pair[1] is not None:
            _check_words(number, *pair)
    return scores_of(counts)


def scores_of(counts: Mapping[str, np.ndarray]) -> DerivationScores:
    """The figures of the counts that `derivation_counts` gives."""

    def figure(name: str) -> float:
        every, *others, right = counts[name].sum(0).tolist()
        if name not in F1_FIGURES:
            return right / every
        total = every + others[0]
        return 2 * right / total if total else 0.0

    return DerivationScores(*map(figure, DerivationScores._fields))


def brackets_of(derivation: Derivation) -> Iterator[tuple[tuple[int, int, str], str]]:
    """The brackets that count, each with the mark of the rule that makes it.

    A bracket is the first word, from 0, the one behind the last, and the category of an
    inner node, in normal form.
    """
    ends: dict[int, tuple[int, int]] = {}
    for i, node, below, word in bottom_up(derivation.root):
        if isinstance(node, Leaf):
            ends[i] = word, word + 1
        else:
            ends[i] = ends[below[0]][0], ends[below[-1]][1]
            category = normal(node.category)
            if category != FRAGMENTS:  # which is no constituent
                yield (*ends[i], category), node.rule


def _parts(derivation: Derivation) -> dict[str, Counter]:
    brackets = [bracket for bracket, _ in brackets_of(derivation)]
    supertags = [(i, normal(leaf.category)) for i, leaf in enumerate(derivation.leaves)]
    every = derivation.dependencies()
    arguments = [d._replace(category=normal(d.category)) for d in every]
    pairs = {tuple(sorted(dependency[:2])) for dependency in arguments}
    return {
        "labelled": Counter(brackets),
        "unlabelled": Counter(bracket[:2] for bracket in brackets),
        "supertags": Counter(supertags),
        "dependencies": Counter(arguments),
        "unlabelled_dependencies": Counter(pairs),
    }


def _is_same(one: Derivation, two: Derivation) -> bool:
    shapes = (
        [(normal(node.category), below) for node, below in table(derivation.root)]
        for derivation in (one, two)
    )
    return next(shapes) == next(shapes)
