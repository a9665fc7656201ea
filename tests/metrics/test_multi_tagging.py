import math

import numpy as np
import pytest

from keras_tagging.metrics import BETAS, multi_tagging
from keras_tagging.metrics.multi_tagging import betas_of, entries_of


def random_sentences(seed=0, sentences=60, tags=7):
    """Peaked distributions, as a tagger gives, and gold ids with some unseen."""
    rng = np.random.default_rng(seed)
    gold, probabilities = [], []
    for length in rng.integers(0, 8, sentences):
        scores = np.exp(4 * rng.standard_normal((length, tags)))
        probabilities.append((scores / scores.sum(-1, keepdims=True)).astype("f4"))
        ids = probabilities[-1].argmax(-1) if length else np.zeros(0, int)
        noise = rng.integers(-1, tags, length)
        gold.append(np.where(rng.random(length) < 0.7, ids, noise))
    return gold, probabilities


@pytest.mark.parametrize("seed", range(3))
def test_equals_a_loop_over_words(seed):
    gold, probabilities = random_sentences(seed)
    table = multi_tagging(gold, probabilities, betas=[1, *BETAS])
    for row in table.itertuples():
        words, sentences, categories = [], [], []
        for ids, rows in zip(gold, probabilities, strict=True):
            right = []
            for tag, p in zip(ids, rows, strict=True):
                close = [
                    i for i in range(len(p)) if p[i] >= np.float32(row.beta) * max(p)
                ]
                categories.append(len(close))
                right.append(tag in close)
            words += right
            sentences += [all(right)] if right else []
        assert row.word == np.mean(words)
        assert row.sent == np.mean(sentences)
        assert row.categories_per_word == np.mean(categories)


def test_reads_one_sentence_at_a_time():
    gold, probabilities = random_sentences()
    live = most = 0

    def counted(arrays):
        nonlocal live, most
        for array in arrays:
            live += 1
            most = max(most, live)
            yield array
            live -= 1

    table = multi_tagging(iter(gold), counted(probabilities))
    assert most == 1
    assert table.equals(multi_tagging(gold, probabilities))


def test_entries_count_whole_distributions():
    assert entries_of([0, 0.1, None, 0], [3, 100, 100, 4]) == 7
    assert entries_of([0.1], [100]) == entries_of([], []) == 1


@pytest.mark.parametrize("empty", [[], [np.zeros(0, int)]])
def test_nothing_to_count(empty):
    table = multi_tagging(empty, [np.zeros((0, 3)) for _ in empty])
    assert len(table) == len(BETAS)
    assert all(math.isnan(value) for value in table["word"])
    assert all(math.isnan(value) for value in table["categories_per_word"])


def test_levels_of_columns():
    assert betas_of(0.1, [None]) == [0.1]
    assert betas_of(0.1, ["upos", "feats"]) == [0.1, 0.1]
    assert betas_of({"upos": 0.1}, ["upos"]) == [0.1]
    assert betas_of({"feats": 0}, ["upos", "feats"]) == [None, 0]
    assert betas_of(None, ["upos"]) == [None]
    with pytest.raises(ValueError, match="unknown column in beta= 'upos'"):
        betas_of({"upos": 0.1}, [None])
    with pytest.raises(ValueError, match="'xpo'"):
        betas_of({"xpo": 0.1}, ["upos", "xpos"])
    with pytest.raises(ValueError, match="2"):
        betas_of({"upos": 2}, ["upos"])
