"""The demo corpus: well formed, ambiguous, derivable and decidable."""

from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from math import sqrt
from random import Random

import pytest
from demo.generator import RULES, Rule
from demo.generator import demo_corpus as draw_corpus
from demo.lexicon import LEXICON
from reference.ccg_parser import is_sentence

from keras_tagging.corpora.loading import demo_corpus


@cache
def corpus():
    return demo_corpus()


def all_sentences():
    return [sentence for _, split in corpus().splits() for sentence in split]


def test_the_file_holds_what_the_grammar_draws():
    assert corpus().fingerprint() == (
        "814c2f45bc165afe90eb2384f4b83c06738b783fd85bcf792ccac1173b7c63a6"
    )
    assert draw_corpus(0).fingerprint() == corpus().fingerprint()
    assert draw_corpus(1).fingerprint() != corpus().fingerprint()


def test_the_grammar_uses_every_symbol_and_no_other():
    used = {
        part for rules in RULES.values() for rule in rules for _, part in rule.parts
    }
    assert not RULES.keys() & LEXICON.keys()
    assert used - {"_"} <= RULES.keys() | LEXICON.keys()
    assert RULES.keys() - used == {"ROOT"}


def test_splits_have_their_sizes_and_share_no_sentence():
    sizes = {name: len(split) for name, split in corpus().splits()}
    assert sizes == {"train": 2000, "dev": 400, "test": 400}
    assert len({tuple(s.tokens) for s in all_sentences()}) == 2800
    assert 10 <= sum(map(len, all_sentences())) / 2800 <= 14
    assert (corpus().name, corpus().format) == ("demo", "demo")


def test_sentences_begin_with_a_capital_and_end_in_punctuation():
    for sentence in all_sentences():
        assert sentence.tokens[0][0] == sentence.tokens[0][0].upper()
        assert sentence.tokens[-1] in (".", "?") and sentence.tags[-1] == "."


def heads(sentence):
    return [int(head) for head in sentence.columns["head"]]


def test_every_tree_has_one_root_and_no_cycle():
    for sentence in all_sentences():
        head = heads(sentence)
        assert head.count(0) == 1
        assert sentence.columns["deprel"][head.index(0)] == "root"
        assert sentence.columns["deprel"].count("root") == 1
        for node in range(1, len(head) + 1):
            path = []
            while node:
                assert node not in path, sentence
                path.append(node)
                node = head[node - 1]


def crossing_arcs(sentence):
    """Pairs of arcs (left end, right end, dependent) that cross."""
    arcs = [(min(i, h), max(i, h), i) for i, h in enumerate(heads(sentence), 1) if h]
    return [(a, b) for a in arcs for b in arcs if a[0] < b[0] < a[1] < b[1]]


def test_only_the_arc_of_an_extracted_object_crosses_others():
    crossed = 0
    for sentence in all_sentences():
        pairs = crossing_arcs(sentence)
        crossed += bool(pairs)
        for pair in pairs:
            extracted = [
                left == dependent
                and sentence.columns["deprel"][dependent - 1] in ("obj", "obl")
                for left, _, dependent in pair
            ]
            assert any(extracted), sentence
    assert 0.005 < crossed / 2800 < 0.04


def test_every_sentence_can_be_derived():
    for sentence in all_sentences():
        assert is_sentence(sentence.tags), sentence


def test_tags_with_one_error_can_seldom_be_derived():
    """The parser rejects: one category replaced, or two neighbours exchanged."""
    rng = Random(0)
    categories = sorted({tag for s in all_sentences() for tag in s.tags})
    replaced = exchanged = 0
    for sentence in corpus().test:
        tags = sentence.tags
        i = int(rng.random() * (len(tags) - 1))
        while tags[i] == tags[i + 1]:
            i = int(rng.random() * (len(tags) - 1))
        others = [category for category in categories if category != tags[i]]
        other = others[int(rng.random() * len(others))]
        replaced += is_sentence([*tags[:i], other, *tags[i + 1 :]])
        exchanged += is_sentence([*tags[:i], tags[i + 1], tags[i], *tags[i + 2 :]])
    assert replaced / 400 < 0.06
    assert exchanged / 400 < 0.25


def test_words_are_ambiguous_and_some_are_new():
    counts = defaultdict(Counter)
    for sentence in corpus().train:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            counts[word][tag] += 1
            counts[None][tag] += 1
    best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    pairs = [
        (word, tag)
        for sentence in corpus().test
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True)
    ]
    right = sum(best.get(word, best[None]) == tag for word, tag in pairs)
    assert 0.75 < right / len(pairs) < 0.85
    unseen = sum(word not in best for word, _ in pairs)
    assert 0.02 < unseen / len(pairs) < 0.05
    assert {tag for _, tag in pairs} <= set(best.values()) | set(counts[None])


# How ambiguous is a tag, once the whole sentence is known? The grammar is a
# probabilistic context-free one, so this has an exact answer: the inside-outside
# algorithm gives P(tag of word i | sentence), summed over all ways in which the
# grammar can make the sentence. The best possible tagger, which knows grammar and
# lexicon, picks the likeliest tag and errs with the rest of the probability.


def label(parts):
    return parts[0] if len(parts) == 1 else parts


def binarised(rules_of):
    """Rules as {left: [(right, parent, probability)]}, and unary ones bottom up.

    A rule of more than two parts is split: its parts but the last are a symbol of
    their own, named by the tuple of them.
    """
    binary, unary = defaultdict(dict), defaultdict(list)
    for symbol, rules in rules_of.items():
        total = sum(rule.weight for rule in rules)
        for rule in rules:
            parts = tuple(part for _, part in rule.parts if part != "_")
            p = rule.weight / total
            if len(parts) == 1:
                unary[symbol].append((parts[0], p))
                continue
            for k in range(1, len(parts) - 1):
                binary[label(parts[:k])][parts[k], parts[: k + 1]] = 1.0
            last = binary[label(parts[:-1])]
            last[parts[-1], symbol] = last.get((parts[-1], symbol), 0) + p
    children = {
        symbol: [child for child, _ in pairs] for symbol, pairs in unary.items()
    }
    bottom_up = [s for s in TopologicalSorter(children).static_order() if s in unary]
    return binary, [(symbol, unary[symbol]) for symbol in bottom_up]


@cache
def word_classes():
    """{word: {class: P(word | class)}} within a sentence, and for its first word."""
    inner, first = defaultdict(Counter), defaultdict(Counter)
    for symbol, entries in LEXICON.items():
        n = len(entries)
        for i, entry in enumerate(entries):
            p = sqrt((i + 1) / n) - sqrt(i / n)
            inner[entry.word][symbol] += p
            first[entry.word[0].upper() + entry.word[1:]][symbol] += p
    return inner, first


def tag_probabilities(tokens, grammar):
    """P(tag | sentence) for every token, as a list of {tag: probability}."""
    n = len(tokens)
    binary, unary = grammar
    inner, first = word_classes()
    inside = defaultdict(Counter)
    edges = []

    def add(p, cell, parent, *children):
        for child_cell, child in children:
            p *= inside[child_cell][child]
        inside[cell][parent] += p
        edges.append((p, cell, parent, children))

    for width in range(1, n + 1):
        for i in range(n - width + 1):
            cell = i, i + width
            if width == 1:
                word = {"an": "a", "An": "A"}.get(tokens[i], tokens[i])
                inside[cell].update((inner if i else first)[word])
            for j in range(i + 1, i + width):
                left_cell, right_cell = (i, j), (j, i + width)
                for left in inside[left_cell]:
                    for (right, parent), p in binary.get(left, {}).items():
                        if right in inside[right_cell]:
                            children = (left_cell, left), (right_cell, right)
                            add(p, cell, parent, *children)
            for parent, alternatives in unary:
                for child, p in alternatives:
                    if child in inside[cell]:
                        add(p, cell, parent, (cell, child))

    outside = Counter({((0, n), "ROOT"): 1 / inside[0, n]["ROOT"]})
    for p, cell, parent, children in reversed(edges):
        for child_cell, child in children:
            share = p / inside[child_cell][child]
            outside[child_cell, child] += outside[cell, parent] * share
    by_token = []
    for cell in ((i, i + 1) for i in range(n)):
        by_token.append(Counter())
        for symbol, p in inside[cell].items():
            if symbol in LEXICON:
                tag = LEXICON[symbol][0].category
                by_token[-1][tag] += p * outside[cell, symbol]
    return by_token


def irreducible_error(sentences, rules_of):
    """The share of tokens that the best possible tagger gets wrong."""
    grammar = binarised(rules_of)
    error = 0
    for sentence in sentences:
        by_token = tag_probabilities(sentence.tokens, grammar)
        for gold, tags in zip(sentence.tags, by_token, strict=True):
            assert tags.total() == pytest.approx(1)
            assert tags[gold] > 0
            error += 1 - max(tags.values())
    return error / sum(map(len, sentences))


def test_a_word_class_has_one_category():
    for entries in LEXICON.values():
        assert len({entry.category for entry in entries}) <= 1


def test_tags_are_decided_by_the_sentence():
    assert irreducible_error(corpus().dev + corpus().test, RULES) < 0.001


def test_a_grammar_that_leaves_out_objects_is_not_decidable():
    """The measure sees it when "read ." may be either verb: about 0.6%."""
    rules_of = dict(RULES)
    for form in ("sg", "pl", "b", "pt", "ng"):
        dropped_object = Rule(20, (("*", f"trans.{form}"),))
        rules_of[f"SIMPLE.{form}"] = [*RULES[f"SIMPLE.{form}"], dropped_object]
    assert irreducible_error(corpus().test[:200], rules_of) > 0.003
