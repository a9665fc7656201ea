"""Trees of sentences as arrays; projective trees, and pseudo-projective parsing.

Nivre & Nilsson (2005) lift the arcs of trees that are not projective. Words are counted
from 1 and ROOT stands at position 0, before the first word. A tree is given by the head
of every word.
"""

from bisect import insort
from collections import deque
from collections.abc import Sequence

import numpy as np

from keras_tagging.data.sentence import Sentence, beginning

Heads = Sequence[int] | np.ndarray  # of each word
SEPARATOR = "|"  # cannot occur in a deprel of Universal Dependencies


def is_projective(heads: Heads) -> bool:
    """Whether no two arcs cross, the arc from ROOT included.

    For a tree this is the definition of Nivre & Nilsson (2005), section 2: a head
    dominates every word between it and its dependent. An empty sentence is projective.

    Args:
        heads: for each word the number of its head, counted from 1; 0 for ROOT.
    """
    arcs = ((min(arc), max(arc)) for arc in enumerate(map(int, heads), 1))
    ends: list[int] = []  # ends of the arcs around the current word, the widest first
    for left, right in sorted(arcs, key=lambda arc: (arc[0], -arc[1])):
        while ends and ends[-1] <= left:
            ends.pop()
        if ends and ends[-1] < right:
            return False
        ends.append(right)
    return True


class NotATree(ValueError):
    """Heads do not form a tree; `word` is one of those that are wrong, from 1."""

    def __init__(self, word: int, message: str):
        super().__init__(message)
        self.word = word


def check_tree(heads: Heads) -> None:
    """Raise an error unless the heads form a tree with one root.

    An empty sentence is a tree too.

    Args:
        heads: for each word the number of its head, counted from 1; 0 for ROOT.

    Raises:
        NotATree: if a head is out of range, if no word or more than one has the head
            0, or if words form a cycle; the message names the words.
    """
    heads = [int(head) for head in heads]
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            where = f"in a sentence of {len(heads)} words: give a word's number or 0"
            raise NotATree(word, f"the head of word {word} is {head} {where}")
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if heads and not roots:
        raise NotATree(1, "no word is the root: one word must have the head 0")
    if len(roots) > 1:
        text = f"the words {_listed(roots)} are roots: only one may be"
        raise NotATree(roots[1], text)
    if cycle := find_cycle(heads):
        raise NotATree(cycle[0], f"the words {_listed(cycle)} form a cycle")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each followed by its head; none in a tree."""
    seen_from = [-1] + [0] * len(heads)  # the start of the walk that passed each word
    for start in range(1, len(heads) + 1):
        word = start
        while not seen_from[word]:
            seen_from[word] = start
            word = heads[word - 1]
        if seen_from[word] == start:  # the walk came back to itself
            cycle = [word]
            while (word := heads[word - 1]) != cycle[0]:
                cycle.append(word)
            first = cycle.index(min(cycle))
            return cycle[first:] + cycle[:first]
    return []


def lift(heads: Heads, deprels: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Make a tree projective by lifting arcs.

    While the tree is not projective, its smallest non-projective arc is lifted: its
    dependent is attached to the head of its head (Nivre & Nilsson 2005, section 2). The
    smallest arc is the shortest one; among arcs of equal length it is the leftmost. The
    root stays.

    A lifted word gets the deprel `d|h`, the paper's scheme *Head*: d is its own deprel
    and h that of its head in the original tree. A projective tree stays as it is.

    *Departures*: the separator is `|`; the paper has an upward arrow.

    Args:
        heads: for each word the number of its head, counted from 1; 0 for ROOT.
        deprels: for each word its deprel.

    Returns:
        Heads, an int32 array, and deprels of the projective tree.

    Raises:
        ValueError: if the heads do not form a tree (see `check_tree`), or a deprel
            contains a `|`.
    """
    check_tree(heads)
    if marked := [deprel for deprel in deprels if SEPARATOR in deprel]:
        raise ValueError(f"the deprel {marked[0]!r} has a {SEPARATOR}: it marks a lift")
    head_of = [0, *map(int, heads)]
    lifted = list(head_of)
    while not is_projective(lifted[1:]):
        word = _smallest_nonprojective(lifted)
        lifted[word] = lifted[lifted[word]]
    labels = [
        deprel
        if lifted[word] == head_of[word]
        else f"{deprel}{SEPARATOR}{deprels[head_of[word] - 1]}"
        for word, deprel in enumerate(deprels, 1)
    ]
    return np.array(lifted[1:], "int32"), labels


def unlift(heads: Heads, deprels: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Put lifted arcs back in their places, as far as their labels tell.

    A word with the deprel `d|h` is attached to the first word with the deprel h below
    its head, in a breadth-first search from the top down and left to right (Nivre &
    Nilsson 2005, section 2, scheme *Head*). Without such a word it stays where it is.
    Its deprel becomes d in both cases. The result is a tree with the same root.

    *Departures*, or readings: words are treated in the breadth-first order of the
    original tree, each in the tree as changed so far. Words without a new head are
    tried again while others still move, because their head may itself be a lifted word.
    The search skips the word and everything below it, which cannot be its head. For
    other lifted words it compares d.

    Args:
        heads: for each word the number of its head, counted from 1; 0 for ROOT.
        deprels: for each word its deprel, `d` or `d|h`.

    Returns:
        Heads, an int32 array, and deprels.

    Raises:
        ValueError: if the heads do not form a tree: see `check_tree`.
    """
    check_tree(heads)
    head_of = [0, *map(int, heads)]
    labels, _, wanted = zip(
        ("", "", ""), *(deprel.partition(SEPARATOR) for deprel in deprels), strict=True
    )
    children: list[list[int]] = [[] for _ in head_of]
    for word, head in enumerate(head_of[1:], 1):
        children[head].append(word)

    def restore(word):
        for head in _below(children, head_of[word], without=word):
            if labels[head] == wanted[word]:
                children[head_of[word]].remove(word)
                insort(children[head], word)
                head_of[word] = head
                return True
        return False

    left = [word for word in _below(children, 0) if wanted[word]]
    restored = True
    while restored:
        restored = [word for word in left if restore(word)]
        left = [word for word in left if word not in restored]
    return np.array(head_of[1:], "int32"), list(labels[1:])


def dominates(head_of: Sequence[int], head: int, word: int) -> bool:
    """Whether a word is another one, or below it; that of ROOT, at 0, is 0."""
    while word not in (head, 0):
        word = head_of[word]
    return word == head


def is_crossed(head_of: Sequence[int], word: int) -> bool:
    """Whether a word between this one and its head is not below the head."""
    head = head_of[word]
    between = range(min(word, head) + 1, max(word, head))
    return not all(dominates(head_of, head, other) for other in between)


def _listed(words: list[int]) -> str:
    if len(words) > 8:
        return f"{', '.join(map(str, words[:8]))} ... ({len(words)} words)"
    return " and ".join(", ".join(map(str, x)) for x in (words[:-1], words[-1:]) if x)


def _smallest_nonprojective(head_of: list[int]) -> int:
    """The dependent of the shortest non-projective arc, the leftmost if several tie."""

    def size(word):
        return abs(word - head_of[word]), min(word, head_of[word])

    words = sorted(range(1, len(head_of)), key=size)
    return next(word for word in words if is_crossed(head_of, word))


def _below(children: list[list[int]], top: int, without: int = 0):
    """The words below `top`, breadth first and left to right."""
    queue = deque(children[top])
    while queue:
        word = queue.popleft()
        if word != without:
            yield word
            queue.extend(children[word])


def trees_of(sentences: Sequence[Sentence]) -> list[tuple[np.ndarray, list[str]]]:
    """The trees of sentences: heads, counted from 1 with 0 for ROOT, and deprels.

    Raises:
        ValueError: if a column is missing, a head is not a number, or the heads do not
            form a tree with one root; the message names the sentence.
    """
    trees = []
    for number, sentence in enumerate(sentences, 1):
        where = f"sentence {number} (it begins {beginning(sentence)})"
        for name in ("head", "deprel"):
            if "_" in sentence.columns.get(name, "_"):
                raise ValueError(f"{where} has no tree: a word has no {name}")
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
    return _checked(sentence, f"the sentence that begins {beginning(sentence)}")


def _checked(sentence: Sentence, where: str) -> list[int]:
    column = sentence.columns["head"]
    try:
        heads = [*map(int, column)]
        check_tree(heads)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return heads


def trainable(trees, nonprojective="skip"):
    """The trees that an oracle can build.

    Args:
        trees: the output of `trees_of`.
        nonprojective: "skip" leaves non-projective trees out, "lift" makes them
            projective with `lift`.

    Returns:
        The indices of the trees, the trees, and the number of non-projective ones.
    """
    chosen, kept, crossing = [], [], 0
    for i, (heads, deprels) in enumerate(trees):
        if not is_projective(heads):
            crossing += 1
            if nonprojective == "skip":
                continue
            heads, deprels = lift(heads, deprels)
        chosen.append(i)
        kept.append((heads, deprels))
    return chosen, kept, crossing


def arc_labels(trees) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The deprels of arcs from ROOT, and those of arcs from words; None without either.

    Args:
        trees: the output of `trees_of`, or the trees of `trainable`.
    """
    kinds = set(), set()
    for heads, deprels in trees:
        for head, deprel in zip(heads, deprels, strict=True):
            kinds[int(head > 0)].add(deprel)
    return tuple(tuple(sorted(labels)) for labels in kinds) if all(kinds) else None
