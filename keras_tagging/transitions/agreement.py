"""How well the moves of a derivation agree with a dependency tree of the sentence."""

from collections.abc import Iterable, Sequence

from keras_tagging.transitions.shift_reduce import FINISH, REDUCE, SHIFT, RuleTables


class DependencyTree:
    """A dependency tree, as far as derivations are compared with it.

    Args:
        heads: the number of each word's head, counted from 1; 0 for ROOT. They form a
            tree: see `data.trees.check_tree`.

    Attributes:
        heads: the same, counted from 0; -1 for ROOT.
        subtrees: the first word, from 0, and the one behind the last, of each word with
            all that depends on it, where no other word is between them.
    """

    def __init__(self, heads: Sequence[int]):
        self.heads = [head - 1 for head in heads]
        count = len(self.heads)
        first, last, size = [*range(count)], [*range(count)], [1] * count
        missing = [0] * count  # dependents whose own are not counted yet
        for head in self.heads:
            if head >= 0:
                missing[head] += 1
        waiting = [word for word, number in enumerate(missing) if not number]
        for word in waiting:  # which grows: dependents come before their heads
            if (head := self.heads[word]) < 0:
                continue
            first[head] = min(first[head], first[word])
            last[head] = max(last[head], last[word])
            size[head] += size[word]
            missing[head] -= 1
            if not missing[head]:
                waiting.append(head)
        spans = zip(first, last, size, strict=True)
        self.subtrees = {(a, b + 1) for a, b, n in spans if b + 1 - a == n}


def agreement(
    tree: DependencyTree,
    rules: RuleTables,
    actions: Iterable[int],
    labels: Iterable[int],
) -> int:
    """Count what a tree says for the pairs that moves join.

    A pair counts once if its words are a whole subtree, a word with all that depends on
    it, and once if an arc links the two head words, whichever it points to. The moves
    build a derivation, or fragments.

    Args:
        tree: of the same words.
        rules: that the labels belong to.
        actions, labels: of the moves, in their order. What comes after FINISH does not
            count.
    """
    stack: list[tuple[int, int, int]] = []  # the first word, the head word, a category
    count = end = 0
    for action, label in zip(actions, labels, strict=True):
        if action == FINISH:
            break
        category = rules.category[action, label]
        if action == SHIFT:
            stack.append((end, end, category))
            end += 1
            continue
        begin, head, last = stack.pop()
        if action == REDUCE:
            begin, left, before = stack.pop()
            arcs = (tree.heads[left], tree.heads[head])
            count += (begin, end) in tree.subtrees
            count += arcs[0] == head or arcs[1] == left
            if rules.heads[rules.pairs[before, last], label] != 2:
                head = left
        stack.append((begin, head, category))
    return count
