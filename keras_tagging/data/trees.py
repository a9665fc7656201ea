"""Trees of sentences, as arrays."""

import re
from collections.abc import Sequence

import numpy as np

from keras_tagging.data.projectivity import check_tree, is_projective, lift
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.limits import INTEGER_DIGITS

IS_NUMBER = re.compile(f"[0-9]{{1,{INTEGER_DIGITS}}}")


def trees_of(sentences: Sequence[Sentence]) -> list[tuple[np.ndarray, list[str]]]:
    """The trees of sentences: heads, counted from 1 with 0 for ROOT, and deprels.

    Raises:
        ValueError: if a column is missing, a head is not a number, or the heads do not
            form a tree with one root; the message names the sentence.
    """
    trees = []
    for number, sentence in enumerate(sentences, 1):
        where = f"sentence {number} (it begins {_beginning(sentence)})"
        for name in ("head", "deprel"):
            if name not in sentence.columns or "_" in sentence.columns[name]:
                raise ValueError(
                    f"{where} has no tree: a word has no {name}; give sentences of a "
                    "treebank, such as CoNLL-U"
                )
        heads = np.array(_checked(sentence, where), "int32")
        trees.append((heads, sentence.columns["deprel"]))
    return trees


def heads_of(sentence: Sentence) -> list[int] | None:
    """The heads of a sentence, counted from 1 with 0 for ROOT; None without any.

    Raises:
        ValueError: if they do not form a tree with one root; the message says how the
            sentence begins.
    """
    if not {*sentence.columns.get("head", ())} - {"_", ""}:  # as CoNLL-U has it
        return None
    return _checked(sentence, f"the sentence that begins {_beginning(sentence)}")


def _beginning(sentence: Sentence) -> str:
    return repr(" ".join(sentence.tokens[:4])[:40])


def _checked(sentence: Sentence, where: str) -> list[int]:
    column = sentence.columns["head"]
    if not all(IS_NUMBER.fullmatch(head) for head in column):
        raise ValueError(f"{where} has a head that is not a number: {column[:20]}")
    heads = [int(head) for head in column]
    try:
        check_tree(heads)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return heads


def trainable(trees, nonprojective="skip"):
    """The trees that an oracle can build.

    Args:
        trees: the output of `trees_of`.
        nonprojective: "skip" leaves non-projective trees out, "lift" makes them
            projective with `lift`, "keep" is for a system that builds them.

    Returns:
        The indices of the trees, the trees, and the number of non-projective ones.
    """
    chosen, kept, crossing = [], [], 0
    for i, (heads, deprels) in enumerate(trees):
        if not is_projective(heads):
            crossing += 1
            if nonprojective == "skip":
                continue
            if nonprojective == "lift":
                heads, deprels = lift(heads, deprels)
        chosen.append(i)
        kept.append((heads, deprels))
    return chosen, kept, crossing


def arc_labels(trees) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The deprels of arcs from ROOT, and those of arcs from words; None without either.

    Args:
        trees: the output of `trees_of`, or the trees of `trainable`.
    """
    found = set(), set()
    for heads, deprels in trees:
        for head, deprel in zip(heads, deprels, strict=True):
            found[int(head > 0)].add(deprel)
    return tuple(tuple(sorted(labels)) for labels in found) if all(found) else None
