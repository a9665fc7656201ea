"""The demo corpus: well formed, ambiguous and derivable."""

from collections import Counter, defaultdict
from functools import cache

from reference.ccg_parser import is_sentence

from keras_tagging.corpora.loading import demo_corpus


@cache
def corpus():
    return demo_corpus()


def all_sentences():
    return [sentence for _, split in corpus().splits() for sentence in split]


def test_the_file_is_the_one_that_figures_are_of():
    assert corpus().fingerprint() == (
        "814c2f45bc165afe90eb2384f4b83c06738b783fd85bcf792ccac1173b7c63a6"
    )


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
