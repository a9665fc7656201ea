import numpy as np
import pytest
from gensim.models import FastText

from keras_tagging.data.sentence import Sentence
from keras_tagging.vectors import train_vectors

TEXT = [["a", "b", "c", "a"], ["b", "d"], [], ["a", "d", "b"]] * 20


def test_rare_words_are_left_out():
    assert train_vectors(TEXT, size=8, min_count=30).index.keys() == {"a", "b", "d"}


@pytest.mark.parametrize("skip_gram", [False, True])
@pytest.mark.parametrize("method", ["word2vec", "fasttext"])
def test_training_repeats(method, skip_gram):
    def train(sentences=TEXT, **options):
        options = {"size": 8, "skip_gram": skip_gram, "buckets": 100} | options
        vectors = train_vectors(sentences, method, **options)
        return vectors.matrix[[vectors.index[word] for word in "abcd"]]

    first = train()
    np.testing.assert_array_equal(train(), first)
    np.testing.assert_array_equal(train(Sentence(list(s)) for s in TEXT), first)
    assert np.abs(train(seed=1) - first).max() > 1e-3
    assert np.abs(train(epochs=9) - first).max() > 1e-5


def test_training_reads_all_of_a_long_sentence():
    vectors = train_vectors([["a"] * 10_000 + ["b", "c"] * 3000], size=4, epochs=1)
    cut = train_vectors([["a"] * 10_000, ["b", "c"] * 3000], size=4, epochs=1)
    np.testing.assert_array_equal(vectors.matrix, cut.matrix)


def test_fasttext_has_vectors_of_words_it_has_not_seen():
    text = [["walking", "walked", "talking"], ["talked", "walks"]] * 9
    options = {"method": "fasttext", "size": 8, "buckets": 500}
    vectors = train_vectors(text, **options)
    assert sorted(vectors.words) == sorted({w for s in text for w in s})
    more = train_vectors(text, vocabulary=[["talks", "walks"], [""]], **options)
    assert more.words == [*vectors.words, "talks"]  # no piece of "" is 3 characters
    np.testing.assert_array_equal(more.matrix[:-1], vectors.matrix)

    model = FastText(
        vector_size=8, window=5, min_count=1, seed=0, workers=1, bucket=500
    )
    model.build_vocab(text)
    model.train(text, total_examples=len(text), epochs=5)
    np.testing.assert_array_equal(more.matrix[-1], model.wv["talks"])
    np.testing.assert_array_equal(vectors.lookup(["walks"])[0][0], model.wv["walks"])


def test_training_errors():
    with pytest.raises(ValueError, match="'glove': known are 'word2vec', 'fasttext'"):
        train_vectors(TEXT, "glove")
    with pytest.raises(ValueError, match="sentence 2 is a string"):
        train_vectors([["a"], "a b"])
