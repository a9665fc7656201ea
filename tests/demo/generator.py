"""The generator of the demo corpus, which the package holds as a file.

English, in the way of a phrase book. Every token has its CCG category as tag (in the
notation of CCGbank) and the columns `pos` (Penn Treebank), `head` and `deprel`
(Universal Dependencies; a stranded preposition hangs on its verb). Trees are
projective, but for questions and relative clauses that reach into an embedded
clause: "What did she say he read ?".

`lexicon` has the words, `grammar` the rules; this file draws from them.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from demo.grammar import GRAMMAR, VARIABLES
from demo.lexicon import LEXICON, Entry

from keras_tagging.data.sentence import Corpus, Sentence

SIZES = {"train": 2000, "dev": 400, "test": 400}
MAX_TOKENS = 40


@dataclass(frozen=True)
class Rule:
    """One way to expand a symbol: `parts` are pairs (relation, symbol)."""

    weight: float
    parts: tuple[tuple[str, str], ...]


@dataclass(eq=False)
class Word:
    """A token under construction; a trace has no entry, the root no governor."""

    entry: Entry | None = None
    governor: "Word | None" = None
    relation: str = "root"


@dataclass
class Phrase:
    """Words in order, the one that is their head, and a trace still to be filled."""

    words: list[Word]
    head: Word
    trace: Word | None = None


def demo_corpus(seed: int = 0) -> Corpus:
    """The demo corpus: 2000 training, 400 development and 400 test sentences.

    No sentence occurs twice. Equal seeds give equal corpora, on every version of
    Python.

    Args:
        seed: int. Another seed draws other sentences from the same grammar.
    """
    rng = Random(seed)
    seen = set()
    splits = {}
    for name, size in SIZES.items():
        splits[name] = []
        while len(splits[name]) < size:
            sentence = draw_sentence(rng)
            text = " ".join(sentence.tokens)
            if text not in seen and len(sentence) <= MAX_TOKENS:
                seen.add(text)
                splits[name].append(sentence)
    return Corpus(**splits, name="demo", format="demo")


def draw_sentence(rng: Random) -> Sentence:
    """One sentence, drawn from the grammar."""
    words = draw_phrase("ROOT", rng).words
    position = {word: str(i) for i, word in enumerate(words, start=1)}
    position[None] = "0"
    return Sentence(
        tokens=_spelled([word.entry.word for word in words]),
        tags=[word.entry.category for word in words],
        columns={
            "pos": [word.entry.pos for word in words],
            "head": [position[word.governor] for word in words],
            "deprel": [word.relation for word in words],
        },
    )


def draw_phrase(symbol: str, rng: Random) -> Phrase:
    """A phrase of the given symbol, its words linked to their governors."""
    if symbol == "_":
        silent = Word()
        return Phrase([], silent, trace=silent)
    if symbol in LEXICON:
        word = Word(draw_entry(LEXICON[symbol], rng))
        return Phrase([word], word)
    rule = draw_rule(RULES[symbol], rng)
    parts = [(relation, draw_phrase(part, rng)) for relation, part in rule.parts]
    whole = Phrase([], next(part.head for relation, part in parts if relation == "*"))
    filler = None
    for relation, part in parts:
        whole.words += part.words
        if part.trace and not relation.startswith("acl"):
            whole.trace = part.trace
        if relation == "^":
            filler = part.head
        elif relation != "*":
            part.head.governor, part.head.relation = whole.head, relation
    if filler:
        filler.governor, filler.relation = whole.trace.governor, whole.trace.relation
        whole.trace = None
    return whole


def draw_entry(entries: list[Entry], rng: Random) -> Entry:
    """A word of a class, the first ones more often than the last, as in any text."""
    r = rng.random()
    return entries[int(len(entries) * r * r)]


def draw_rule(rules: list[Rule], rng: Random) -> Rule:
    """An alternative, in proportion to its weight."""
    # fsum, as the rounding of sum depends on the version of Python.
    left = rng.random() * math.fsum(rule.weight for rule in rules)
    for rule in rules:
        left -= rule.weight
        if left < 0:
            break
    return rule


def _spelled(words: list[str]) -> list[str]:
    """The words with `a` as `an` before a vowel and the first one capitalised."""
    following = [*words[1:], ""]
    words = [
        "an" if word == "a" and after[:1].lower() in set("aeiou") else word
        for word, after in zip(words, following, strict=True)
    ]
    return [words[0][:1].upper() + words[0][1:], *words[1:]]


def _read_rules(grammar: str) -> dict[str, list[Rule]]:
    """The rules by symbol, with every variable replaced by each of its values."""
    rules = {}
    grammar = re.sub(r"(?m)^#.*\n", "", grammar)
    for block in re.split(r"\n+(?! )", grammar.strip()):
        symbol, alternatives = block.split(" : ")
        for alternative in alternatives.split("|"):
            weight, parts = alternative.strip().split(maxsplit=1)
            for name, values in _bindings(symbol):
                instances = list(_bindings(_bound(parts, values)))
                for parts_bound, _ in instances:
                    rule = Rule(int(weight) / len(instances), _read_parts(parts_bound))
                    rules.setdefault(name, []).append(rule)
    return rules


def _bindings(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The text for every combination of values of its variables, and the values."""
    names = list(dict.fromkeys(re.findall(r"<(\w+)>", text)))
    for values in product(*(VARIABLES[name] for name in names)):
        binding = dict(zip(names, values, strict=True))
        yield _bound(text, binding), binding


def _bound(text: str, binding: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda m: binding.get(m[1], m[0]), text)


def _read_parts(text: str) -> tuple[tuple[str, str], ...]:
    """`cc=and *N.pl` as (("cc", "and"), ("*", "N.pl"))."""
    return tuple(
        ("*", part[1:]) if part.startswith("*") else tuple(part.split("="))
        for part in text.split()
    )


RULES = _read_rules(GRAMMAR)
