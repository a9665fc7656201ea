"""Vectors trained on sentences, by gensim."""

from collections.abc import Iterable, Sequence

from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.checks import check_choice
from keras_tagging.vectors.coverage import Words, count_words
from keras_tagging.vectors.word_vectors import WordVectors, composed

METHODS = ("word2vec", "fasttext")
# gensim ignores the tokens of a sentence beyond this many.
_MAX_SENTENCE = 10_000


def train_vectors(
    sentences: Iterable[Sequence[str] | Sentence],
    method: str = "word2vec",
    *,
    size: int = 100,
    window: int = 5,
    min_count: int = 1,
    epochs: int = 5,
    seed: int = 0,
    skip_gram: bool = False,
    vocabulary: Words = (),
    buckets: int = 100_000,
) -> WordVectors:
    """Train word vectors on sentences with gensim's `Word2Vec` or `FastText`.

    Training uses one worker thread, so the same sentences and seed give the same
    vectors.

    Args:
        sentences: token lists, or `Sentence` objects.
        method: "word2vec"; or "fasttext", in which a word is the sum of its pieces of 3
            to 6 characters, so that unseen words have vectors too.
        size: dimension of a vector.
        window: number of context words on each side.
        min_count: leave out words that occur less often.
        epochs: passes over the sentences.
        seed: seed of all random numbers.
        skip_gram: skip-gram instead of continuous bag of words.
        vocabulary: with "fasttext", further words that get a vector, such as those of
            the development and test sentences.
        buckets: with "fasttext", the number of rows that all pieces of words share,
            each as large as a vector. fastText's default of 2 million is for larger
            texts.

    Raises:
        ValueError: if the method is unknown, or a sentence is a string.
        RuntimeError: if no word occurs often enough.
    """
    check_choice("method", method, METHODS)
    text = []
    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, str):
            raise ValueError(f"sentence {number} is a string: split it into words")
        tokens = getattr(sentence, "tokens", sentence)
        for start in range(0, len(tokens), _MAX_SENTENCE):
            text.append(tokens[start : start + _MAX_SENTENCE])
    from gensim.models import FastText, Word2Vec

    options = {"bucket": buckets} if method == "fasttext" else {}
    model = (FastText if method == "fasttext" else Word2Vec)(
        vector_size=size,
        window=window,
        min_count=min_count,
        seed=seed,
        sg=int(skip_gram),
        workers=1,
        **options,
    )
    model.build_vocab(text)
    model.train(text, total_examples=len(text), epochs=epochs)
    return composed(model.wv, sorted(count_words(vocabulary)))
