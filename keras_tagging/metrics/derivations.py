"""How much of CCG derivations is right: brackets, dependencies, whole derivations."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from keras_tagging.ccg.auto import FRAGMENTS, Leaf, table
from keras_tagging.ccg.derivation import Derivation


class DerivationScores(NamedTuple):
    """Shares of what is right.

    Args:
        coverage: of sentences, those that have a derivation of the whole: one of
            fragments, with the category `FRAG`, has none.
        exact: of sentences, those whose derivation has the gold categories throughout.
        supertags: of words, those with the gold category; a sentence without a
            derivation has none.
        labelled, unlabelled: F1 of brackets, the words and the category of an inner
            node, as `evalb` counts them; a pair of words may have several brackets.
        dependencies, unlabelled_dependencies: F1 of dependencies, the argument, the
            head, its category and the slot; without labels the two words, whichever
            is the head.
    """

    coverage: float
    exact: float
    supertags: float
    labelled: float
    unlabelled: float
    dependencies: float
    unlabelled_dependencies: float


def derivation_scores(
    gold: Sequence[Derivation], predicted: Sequence[Derivation | None]
) -> DerivationScores:
    """Compare derivations with gold ones.

    Args:
        gold: the gold derivations.
        predicted: for each one that of the parser; None for none, which has no bracket
            and no dependency.

    Raises:
        ValueError: if there is none, or the two do not have the same words.
    """
    if not gold or len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold and {len(predicted)} predicted derivations")
    counts = Counter(words=sum(map(len, gold)))
    common, wanted, given = Counter(), Counter(), Counter()
    for number, (right, found) in enumerate(zip(gold, predicted, strict=True), 1):
        if found is not None and len(found) != len(right):
            raise ValueError(
                f"derivation {number} has {len(found)} words, the gold one {len(right)}"
            )
        ours = _parts(found) if found is not None else {}
        for name, parts in _parts(right).items():
            other = ours.get(name, Counter())
            common[name] += (parts & other).total()
            wanted[name] += parts.total()
            given[name] += other.total()
        same = found is not None and _is_same(right, found)
        whole = found is not None and found.category != FRAGMENTS
        counts.update(found=whole, exact=same)

    def f1(name: str) -> float:
        total = wanted[name] + given[name]
        return 2 * common[name] / total if total else 1.0

    return DerivationScores(
        counts["found"] / len(gold),
        counts["exact"] / len(gold),
        common["supertags"] / counts["words"],
        *map(f1, ("labelled", "unlabelled", "dependencies", "pairs")),
    )


def _parts(derivation: Derivation) -> dict[str, Counter]:
    nodes = table(derivation.root)
    brackets, supertags = [], []
    ends: dict[int, tuple[int, int]] = {}
    word = len(derivation)
    for i in reversed(range(len(nodes))):
        node, below = nodes[i]
        if isinstance(node, Leaf):
            word -= 1
            ends[i] = word, word + 1
            supertags.append((word, node.category))
        else:
            ends[i] = ends[below[0]][0], ends[below[-1]][1]
            if node.category != FRAGMENTS:  # which is no constituent
                brackets.append((*ends[i], node.category))
    found = derivation.dependencies()
    return {
        "labelled": Counter(brackets),
        "unlabelled": Counter(bracket[:2] for bracket in brackets),
        "supertags": Counter(supertags),
        "dependencies": Counter(found),
        "pairs": Counter({tuple(sorted(dependency[:2])) for dependency in found}),
    }


def _is_same(one: Derivation, two: Derivation) -> bool:
    shapes = (
        [(node.category, below) for node, below in table(derivation.root)]
        for derivation in (one, two)
    )
    return next(shapes) == next(shapes)
