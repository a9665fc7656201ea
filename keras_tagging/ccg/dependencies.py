r"""Dependencies between words: which word fills which argument of a category.

As in CCGbank's `.parg` files and C&C's output, a dependency has the argument, the word
whose category it is (the head), the category, and the number of the argument in it:
`(S[dcl]\NP_1)/NP_2`, `((S\NP_1)\(S\NP)_2)/NP_3`.

Nobody has written which positions of a category have the same filler, so that tags of a
tagger are enough; these rules say it:

* In a modifier X|X the result has the head of the argument, in all its positions, and
  in NP[nb]/N the noun is the head; elsewhere the word itself is that of the result.
* An argument that lacks an NP, `S|NP` or `PP/NP`, takes it from the nearest NP or N
  outside of it: of `((S[dcl]\NP)/(S[to]\NP))/NP` the object (*force*), of
  `(S[dcl]\NP)/(S[b]\NP)` the subject (*will*), of `(NP\NP)/(S[dcl]\NP)` the noun
  (*who*). Where there is none, as in `S[wq]/(S[dcl]\NP)`, it is the word itself.
* Conjuncts share their arguments, and both are arguments together.
"""

from typing import NamedTuple

from keras_tagging.ccg.auto import Leaf, Node, bottom_up
from keras_tagging.ccg.categories import Atom, Category, Functor, category_of
from keras_tagging.ccg.combinators import (
    CONJ,
    begins_conjunct,
    head_is_argument,
    is_modifier,
    is_open,
    mark_of,
    plain,
)


class Dependency(NamedTuple):
    """An argument of a word.

    Args:
        argument: the word that fills it, counted from 1.
        head: the word whose category has it.
        category: that category, as the derivation writes it.
        slot: the number of the argument in the category, from 1.
    """

    argument: int
    head: int
    category: str
    slot: int


class Variable:
    """Who fills a position: words, and those of variables that are its parts."""

    __slots__ = ("_same", "parts", "words")

    def __init__(self, words=(), parts=()):
        self.words, self.parts, self._same = list(words), list(parts), None

    def representative(self) -> "Variable":
        """The variable that stands for all with which this has become one."""
        last = self
        while last._same is not None:
            last = last._same
        while self._same is not None and self is not last:
            self._same, self = last, self._same
        return last

    def unify(self, other: "Variable") -> None:
        one, two = self.representative(), other.representative()
        if one is not two:
            two._same = one
            one.words += two.words
            one.parts += two.parts

    def fillers(self) -> list[int]:
        """The words, each once."""
        seen, words, waiting = set(), set(), [self.representative()]
        while waiting:
            variable = waiting.pop()
            if id(variable) not in seen:
                seen.add(id(variable))
                words.update(variable.words)
                waiting += [part.representative() for part in variable.parts]
        return sorted(words)


class Filled(NamedTuple):
    """A category whose positions have variables: its own, and those of its parts."""

    head: Variable
    result: "Filled | None" = None
    argument: "Filled | None" = None


def dependencies(root: Node | Leaf) -> list[Dependency]:
    """The dependencies of a derivation, in the order of its words and slots.

    Args:
        root: its topmost node. A category that cannot be parsed has no arguments.
    """
    filled: dict[int, Filled] = {}
    begun: set[int] = set()  # open coordinations, `conj X`
    slots: list[tuple[int, str, int, Variable]] = []
    for i, node, below, word in bottom_up(root):
        if isinstance(node, Leaf):
            filled[i] = _lexical(word + 1, node.category, slots)
            continue
        parts = [filled[child] for child in below]
        category = category_of(node.category) or Atom(node.category)
        joins = len(below) == 2 and below[1] in begun
        made = _combined(node, category, parts, joins)
        if _begins(node, category):
            begun.add(i)
        # a step of no combinator may make anything
        filled[i] = made if _has_shape(made, category) else _fresh(category, made.head)
    return sorted(
        Dependency(filler, head, category, slot)
        for head, category, slot, variable in slots
        for filler in variable.fillers()
        if filler != head
    )


def _begins(node: Node, category: Category) -> bool:
    return len(node.children) == 2 and (
        node.children[0].category == CONJ or is_open(category)
    )


def _lexical(word: int, text: str, slots: list) -> Filled:
    """The category of a word; its slots are added to the others."""
    category = category_of(text) or Atom(text)
    filled = _fresh(category, Variable([word]))
    spine = []  # from the last argument to the first
    at, inside = filled, category
    while isinstance(inside, Functor):
        spine.append((inside, at.argument))
        at, inside = at.result, inside.result
    for place, (functor, argument) in enumerate(spine):
        if _lacks(functor.argument) and not head_is_argument(functor):
            _controller(spine, place, filled).unify(argument.argument.head)
    for place, (functor, argument) in enumerate(spine):
        slots.append((word, text, len(spine) - place, argument.head))
        if head_is_argument(functor):
            break  # the rest are arguments of what it modifies
    return filled


def _lacks(category: Category) -> bool:
    """Whether it is a clause or phrase that lacks an NP, `S|NP` or `PP/NP`."""
    return (
        isinstance(category, Functor)
        and isinstance(category.result, Atom)
        and _is_atom(category.argument, "NP")
        and not is_modifier(category)
    )


def _is_atom(category: Category, *names: str) -> bool:
    return isinstance(category, Atom) and category.name in names


def _controller(spine: list, place: int, filled: Filled) -> Variable:
    """The nearest NP or N outside of the argument: an object, subject or noun."""
    for functor, argument in [*reversed(spine[:place]), *spine[place + 1 :]]:
        if _is_atom(functor.argument, "NP", "N"):
            return argument.head
    return filled.head


def _fresh(category: Category, head: Variable) -> Filled:
    """A category with variables of its own but for the first."""
    if isinstance(category, Atom):
        return Filled(head)
    argument = _fresh(category.argument, Variable())
    if not head_is_argument(category):
        return Filled(head, _fresh(category.result, head), argument)
    if isinstance(category.result, Atom) and isinstance(category.argument, Atom):
        return Filled(head, Filled(argument.head), argument)
    same = is_modifier(category)
    return Filled(head, argument if same else argument.result, argument)


def _has_shape(filled: Filled | None, category: Category) -> bool:
    if filled is None or isinstance(category, Atom):
        return filled is not None and filled.result is None
    return _has_shape(filled.result, category.result) and _has_shape(
        filled.argument, category.argument
    )


def _combined(node: Node, parent: Category, below: list[Filled], begun: bool) -> Filled:
    """The category of a node, filled by its children.

    Args:
        node: with children.
        parent: its category.
        below: its children, filled.
        begun: whether the second one is the half of a coordination, `conj X`.
    """
    children = [category_of(c.category) or Atom(c.category) for c in node.children]
    mark = mark_of(parent, tuple(children))
    if mark[-1:] == "T":
        target = _fresh(parent.result, Variable())
        return Filled(below[0].head, target, Filled(target.head, target, below[0]))
    # functors apply to a conjunct as to others, and punctuation is no conjunct
    joins = begun and mark not in ("<", ">") and not begins_conjunct(children[0])
    if mark in ("lp", "rp") or (_begins(node, parent) and not joins):
        return below[0 if mark == "rp" else 1]
    if mark == "&" or joins:
        return _joined(*below, {})
    if mark[:1] in ("<", ">"):
        first = mark[0] == "<"
        functor, category = below[first], children[first]
        order = int(mark[-1]) if mark[-1].isdigit() else int("B" in mark)
        return _applied(functor, below[not first], order, head_is_argument(category))
    for child, filled in zip(children, below, strict=True):
        if plain(child) == plain(parent):
            return filled
    filled = _fresh(parent, below[node.head].head)
    if len(children) == 1 and is_modifier(parent) and _lacks(children[0]):
        at = filled.argument  # the noun, or the subject of the verb, that is modified
        (at.argument or at).head.unify(below[0].argument.head)
    return filled


def _applied(functor: Filled, other: Filled, order: int, passes: bool) -> Filled:
    """Application, or composition that takes along so many arguments."""
    inner, taken = other, []
    for _ in range(order):
        taken.append(inner.argument)
        inner = inner.result
    _unify(functor.argument, inner)
    result, head = functor.result, other.head if passes else functor.head
    for argument in reversed(taken):
        result = Filled(head, result, argument)
    return result


def _unify(one: Filled | None, two: Filled | None) -> None:
    if one is None or two is None or one is two:
        return
    one.head.unify(two.head)
    _unify(one.result, two.result)
    _unify(one.argument, two.argument)


def _joined(one: Filled | None, two: Filled | None, seen: dict) -> Filled | None:
    """Two conjuncts together: they share their arguments, and both are one."""
    if one is None or two is None:
        return None
    pair = (one.head.representative(), two.head.representative())
    if pair not in seen:
        if pair[0].fillers() or pair[1].fillers():
            seen[pair] = Variable(parts=pair)
        else:
            pair[0].unify(pair[1])
            seen[pair] = pair[0]
    result = _joined(one.result, two.result, seen)
    return Filled(seen[pair], result, _joined(one.argument, two.argument, seen))
