"""All characters of a token, as the character network reads them."""

import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from encoding.test_features import TOKENS
from reference import features as reference

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.encoding.batching import EncodedSentences, TrainingBatches
from keras_tagging.encoding.tokens_to_ids import TokenFeatures, without_middle
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, count_vocabulary

MOST = 9


def adapted(tokens=TOKENS, letters=MOST, **options):
    features = TokenFeatures(letters=letters, **options)
    features.adapt({"tokens": tokens})
    return features


def read(token, most=MOST):
    """The characters of a token that are read, in plain Python."""
    token = reference.clean(token)
    if len(token) <= most:
        return list(token)
    return [*token[: most - most // 2], *token[len(token) - most // 2 :]]


def spelled(features, found):
    """The characters of each token, "?" for unknown ones, from its ids."""
    column = features.names.index("letters")
    names = dict(enumerate(features.vocabularies["letters"], FIRST_ID))
    names[UNKNOWN_ID] = None
    rows = found["letters"][found["ids"][..., column].reshape(-1)]
    for row in rows:
        assert not row[(row > 0).sum() :].any()  # padding is behind the token
    return [[names[i] for i in row[row > 0].tolist()] for row in rows]


def test_ids_equal_plain_python():
    seen, unseen = TOKENS[::2], TOKENS[1::2]
    features = adapted(seen)
    counts = Counter(letter for token in seen for letter in read(token))
    vocabulary = features.vocabularies["letters"]
    assert vocabulary == count_vocabulary(counts)
    for tokens in (seen, unseen):
        found = features.encode({"tokens": tokens})
        expected = [
            [letter if letter in counts else None for letter in read(token)]
            for token in tokens
        ]
        assert spelled(features, found) == expected
    assert features.sizes["letters"] == FIRST_ID + len(vocabulary)


def test_every_code_point_is_one_character():
    """In NFC, between other characters, surrogates too."""
    points = [chr(i) for i in range(0, sys.maxunicode + 1, 241)]
    points += [chr(i) for i in range(0x3000)] + [chr(i) for i in range(0xDFF0, 0xE010)]
    points += [chr(i) for i in (0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x10FFFF, 0x1F468)]
    tokens = [to_nfc(f"{p}a{p}" if i % 2 else p) for i, p in enumerate(points)]
    assert any(len(unicodedata.normalize("NFD", token)) > 3 for token in tokens)
    features = adapted(tokens, words=False, suffixes=(), capitals=False)
    found = features.encode({"tokens": tokens})
    assert spelled(features, found) == [read(token) for token in tokens]


@pytest.mark.parametrize("most", [1, 2, 7, 8])
def test_long_tokens_lose_their_middle(most):
    tokens = ["", "a", "ab", "abcdefg", "abcdefgh", "éa👩‍👩‍👧xyz😀"]
    tokens.append("0123456789" * 10_000)
    found = without_middle(tf.constant(tokens), most).numpy().tolist()
    expected = ["".join(read(token, most)) for token in tokens]
    assert [token.decode() for token in found] == expected


def test_graph_and_any_shape_give_the_same():
    features = adapted()
    tokens = TOKENS[:48]
    whole = features.encode({"tokens": tokens})
    expected = spelled(features, whole)
    table = tf.reshape([t.encode("utf-8", "replace") for t in tokens], (4, 12))
    compiled = tf.function(features)({"tokens": table})
    found = {name: value.numpy() for name, value in compiled.items()}
    assert found["ids"].shape == (4, 12, len(features.names))
    assert spelled(features, found) == expected


def test_each_distinct_token_has_one_row():
    features = adapted(["ab", "c"])
    found = features.encode({"tokens": ["ab", "c", "ab", "", "ab", ""]})
    column = found["ids"][:, features.names.index("letters")]
    assert len(found["letters"]) == 4 and not found["letters"][0].any()
    assert len(set(column.tolist())) == 3 and (column > 0).all()
    assert column[0] == column[2] == column[4] and column[3] == column[5]
    nothing = features.encode({"tokens": []})
    assert nothing["ids"].shape == (0, len(features.names))
    assert nothing["letters"].shape == (1, 1)
    assert features.encode({"tokens": [""]})["letters"].tolist() == [[0], [0]]
    normal = adapted(["A1b"], normalise="wu", characters_of="normalised")
    assert spelled(normal, normal.encode({"tokens": ["AB77"]})) == [list("ab99")]


def test_the_other_features_stay_as_they_are():
    plain = TokenFeatures(characters=2, columns=["pos"])
    both = TokenFeatures(characters=2, columns=["pos"], letters=5)
    strings = {"tokens": TOKENS, "pos": TOKENS}
    for features in (plain, both):
        features.adapt(strings)
    assert both.names == (*plain.names[:-1], "letters", "pos")
    others = np.delete(both.encode(strings)["ids"], both.names.index("letters"), 1)
    np.testing.assert_array_equal(others, plain.encode(strings))
    assert both.table_names == plain.table_names | {"letters"}
    with pytest.raises(ValueError, match="two features share a name"):
        TokenFeatures(letters=5, columns=["letters"])


# Batches

#: three sentences; row 4 stands in none of them
SENTENCES = EncodedSentences(
    ids=np.array([[7, 1], [8, 2], [7, 1], [9, 3], [8, 2], [5, 5]], "int32"),
    offsets=np.array([0, 3, 5, 6]),
    letters=np.array(
        [[0, 0, 0], [2, 3, 0], [4, 0, 0], [2, 6, 2], [9, 9, 9], [5, 2, 0]], "int32"
    ),
    letter_column=1,
)


@pytest.mark.parametrize("multiple", [1, 4])
@pytest.mark.parametrize("chosen", [[0], [2], [0, 1], [2, 0, 1]])
def test_a_batch_has_its_own_tokens_once(chosen, multiple):
    sizes = {"batch_size": 4} if multiple > 1 else {}
    tokens, _, mask = SENTENCES.batch(np.array(chosen), multiple, **sizes)
    ids, letters = tokens["ids"], tokens["letters"]
    real = mask > 0
    ends = SENTENCES.offsets
    expected = np.concatenate([SENTENCES.ids[ends[i] : ends[i + 1]] for i in chosen])
    np.testing.assert_array_equal(ids[real][:, 0], expected[:, 0])
    assert not ids[~real].any() and not letters[0].any()
    found = letters[ids[real][:, 1]]
    width = max(found.shape[1], 3)
    whole = SENTENCES.letters[expected[:, 1]]
    np.testing.assert_array_equal(
        np.pad(found, ((0, 0), (0, width - found.shape[1]))),
        np.pad(whole, ((0, 0), (0, width - 3))),
    )
    distinct = len(set(expected[:, 1].tolist()))
    longest = int((whole > 0).sum(1).max())
    if multiple == 1:
        assert letters.shape == (1 + distinct, longest)
    else:
        assert letters.shape[1] == 4
        assert letters.shape[0] in (2, 4, 8) and letters.shape[0] > distinct
    assert SENTENCES.ids[:, 1].tolist() == [1, 2, 1, 3, 2, 5]  # not changed


def test_few_shapes():
    """XLA and JAX compile for each."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 30, 500)
    rows = rng.integers(1, 200, lengths.sum())
    letters = np.zeros((200, 21), "int32")
    for row in letters[1:]:
        row[: rng.integers(1, 21)] = 2
    sentences = EncodedSentences(
        rows[:, None].astype("int32"), np.cumsum([0, *lengths]), None, letters, 0
    )
    batches = TrainingBatches(sentences, token_budget=200, multiple=8, word_column=None)
    shapes = {tokens["letters"].shape for tokens, *_ in batches}
    assert len(batches) > 40 and len(shapes) < 9
    assert all(width % 8 == 0 for _, width in shapes)


def test_characters_that_occur_once_become_unknown():
    """Letters 3 and 4 stand in two tokens of training, 6 and 5 in one."""
    batches = TrainingBatches(
        SENTENCES, batch_size=3, unknown_rate=0.5, word_column=None, seed=1
    )
    seen = {letter: set() for letter in range(10)}
    for epoch in range(40):
        batches.epoch = epoch
        for tokens, _, _ in batches:
            for letter in tokens["letters"].ravel().tolist():
                seen[letter].add(epoch)
    assert 10 < len(seen[UNKNOWN_ID]) < 40
    for letter in (2, 3, 4):
        assert len(seen[letter]) == 40, letter
    for letter in (5, 6):
        assert 8 < len(seen[letter]) < 32, letter
    assert not seen[9] and (SENTENCES.letters[3] == [2, 6, 2]).all()
