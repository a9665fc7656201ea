import random

import pytest
from corpora.test_describe import tagged

from keras_tagging import Sentence
from keras_tagging.corpora.word_classes import WordClasses


def classes_of(train, words):
    classes = WordClasses.learn([tagged(train)])
    [sentence] = classes.annotate([words.split()])
    return sentence.columns["word_class"]


def reference(sentences, word):
    """The rule, word by word, by counting through all tokens again."""
    if all(part.isdecimal() for part in word.replace("-", ".").split(".")):
        return "number"
    tags = []
    for sentence in sentences:
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True):
            if token.lower() == word.lower():
                tags.append(tag)
    slots = [tag[2:].split(".")[-1] for tag in tags if tag != "O"]
    best = "O"
    for name in sorted(set(slots)):
        if slots.count(name) / len(tags) >= 0.5 and slots.count(name) > slots.count(
            best
        ):
            best = name
    return best


@pytest.mark.parametrize("seed", range(30))
def test_classes_equal_a_reference(seed):
    rng = random.Random(seed)
    words = ["a", "A", "b", "c", "d", "e", "é", "É", "1", "1.2", "3-", "x1"]
    tags = ["O", "O", "B-from.city", "I-to.city", "B-city", "B-state", "I-b.c.time"]
    sentences = []
    for _ in range(rng.randint(1, 12)):
        length = rng.randint(0, 4)
        chosen = rng.choices(words, k=length), rng.choices(tags, k=length)
        sentences.append(Sentence(*chosen))
    words.append("unseen")
    [found] = WordClasses.learn(sentences).annotate([words])
    expected = [reference(sentences, word) for word in words]
    assert found.columns["word_class"] == expected


def test_numbers_have_a_class_whatever_training_says():
    numbers = "5 05 1,000.5 10:30 3/4 1989-90 \u0661\u0662"
    train = "5/B-flight_number 05/O 747/B-aircraft_code"
    assert classes_of(train, numbers) == ["number"] * 7
    assert classes_of(train, "5pm 5. .5 -5 1--2 dc10 ²") == ["O"] * 7
    assert WordClasses.learn([tagged(train)]).lexicon == {}


def test_tags_and_other_columns_stay_and_sentences_are_new():
    classes = WordClasses({"rome": "city_name"})
    given = Sentence(
        ["to", "Rome"], ["O", "B-to"], {"word_class": ["x", "y"], "pos": ["TO", "NN"]}
    )
    [found] = classes.annotate([given])
    assert (found.tokens, found.tags) == (["to", "Rome"], ["O", "B-to"])
    assert found.columns == {"word_class": ["O", "city_name"], "pos": ["TO", "NN"]}
    assert given.columns["word_class"] == ["x", "y"]
    assert classes.annotate([Sentence([])])[0].columns == {"word_class": []}


@pytest.mark.parametrize("tag", ["NN", "B-", "B-toloc.", "X-city_name", "o", "B"])
def test_tags_that_are_no_slots_are_told(tag):
    with pytest.raises(ValueError, match=f"the tag '{tag}' is neither a slot label"):
        WordClasses.learn([Sentence(["rome"], [tag])])
    with pytest.raises(ValueError, match="sentence 1 has no tags"):
        WordClasses.learn([Sentence(["rome"])])
