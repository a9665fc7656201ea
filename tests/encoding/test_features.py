import json
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from reference import features as reference

from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, count_vocabulary

TOKENS = "the The THE dog a É é ΣΟΦΟΣ ß ẞ Ǆ ǅ İstanbul I Ì 1984 12,345.6 3-D".split()
TOKENS += "²½Ⅷ U.S.A. x X 0 🙂 👩‍👩‍👧 漢字 ªº ʰa".split()
TOKENS += [r"wife\/mother", r"a\b\/c9", "\\", r"\/", "a\\", r"\\", "a\\b\\", "a\\\n"]
TOKENS += ["", "\n", "line\nbreak", "e\u0301", "\u0301", "\u200b", "\ufeff", "\u00a0"]
# digits of three scripts, and half of a surrogate pair, which JSON may have
TOKENS += ["a\u00a0b", "\u2028", "\x00", "\u0661\u0662", "x\u0967y\u09e8", "\ud800x"]
TOKENS += [
    "\ufb02o\ufb04",
    "\ufb05a\ufb06",
    "so\xadft",
    "end\u200d\u200b",
    "\xad\u200c",
]
TOKENS += ["flo", "soft", "end", "\u2060a\u200cb\ufeff", "\u200ea\u200f", "A1" * 50_000]
RAW = [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x99", b"\xc0\x80z", b"ok"]
ALL = {
    "vectors": True,
    "suffixes": (1, 2, 3),
    "prefixes": (1, 4),
    "shapes": True,
    "characters": 3,
}
VECTOR_WORDS = ["unseen", "The", "dog", "0"]


def adapted(tokens=TOKENS, vector_words=VECTOR_WORDS, lengths=None, **options):
    features = TokenFeatures(**ALL | options)
    features.adapt({"tokens": tokens}, vector_words, lengths)
    return features


def reference_ids(
    tokens,
    seen,
    names,
    normalise,
    vector_words=(),
    characters_of="raw",
    spellings=None,
):
    """Ids by plain Python: vocabularies counted on `seen`, then looked up."""
    counts = {}
    given = names, normalise, characters_of, spellings
    for token in seen:
        for name, text in reference.strings(token, *given).items():
            table = "character" if name.startswith(("first", "last")) else name
            counts.setdefault(table, Counter())[text] += 1
    vocabularies = {table: count_vocabulary(counts[table]) for table in counts}
    vocabularies["vector"] = vector_words
    ids = {
        table: {text: i for i, text in enumerate(words, FIRST_ID)}
        for table, words in vocabularies.items()
    }
    rows = []
    for token in tokens:
        row = []
        for name, text in reference.strings(token, *given).items():
            table = "character" if name.startswith(("first", "last")) else name
            is_capital = name == "capital"
            row.append(1 + text if is_capital else ids[table].get(text, UNKNOWN_ID))
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("characters_of", ["raw", "normalised"])
@pytest.mark.parametrize("normalise", ["kadari", "wu", "lower", None])
def test_ids_equal_a_plain_python_reference(normalise, characters_of):
    seen, unseen = TOKENS[::2], TOKENS[1::2]
    options = {"normalise": normalise, "characters_of": characters_of}
    features = adapted(seen, **options)
    for tokens in (seen, unseen):
        expected = reference_ids(
            tokens, seen, features.names, vector_words=VECTOR_WORDS, **options
        )
        for token, row, want in zip(
            tokens, features.encode({"tokens": tokens}), expected, strict=True
        ):
            found = dict(zip(features.names, row.tolist(), strict=True))
            assert found == dict(zip(features.names, want, strict=True)), token[:20]


def test_random_strings_equal_the_reference():
    rng = random.Random(0)
    letters = "aAzZéÉ09٣\\/.-\u0301 \u200b\u200dǅ字\n\ufb01"
    tokens = ["".join(rng.choices(letters, k=rng.randint(0, 6))) for _ in range(400)]
    features = adapted(tokens)
    expected = reference_ids(tokens, tokens, features.names, "kadari", VECTOR_WORDS)
    np.testing.assert_array_equal(features.encode({"tokens": tokens}), expected)


def random_sentences(seed, count):
    """Short words of few letters, so that they recur in upper and lower case."""
    rng = random.Random(seed)
    letters = ["a", "A", "b", "B", "É", "é", "Σ", "ǅ", "9", "٣", "-", ".", "\\/", "\0"]
    return [
        ["".join(rng.choices(letters, k=rng.randint(0, 3))) for _ in range(length)]
        for length in rng.choices(range(6), k=count)
    ]


@pytest.mark.parametrize("characters_of", ["raw", "normalised"])
def test_dinarelli_equals_the_reference(characters_of):
    """Empty sentences, unseen words, and a token for every outcome among them."""
    options = {"normalise": "dinarelli", "characters_of": characters_of}
    sentences, unseen = random_sentences(0, 300), random_sentences(1, 300)
    spellings = reference.Spellings(sentences)
    seen, unseen = sum(sentences, []), [*sum(unseen, []), *TOKENS]
    features = adapted(seen, lengths=[len(s) for s in sentences], **options)
    expected = reference_ids(
        [*seen, *unseen],
        seen,
        features.names,
        vector_words=VECTOR_WORDS,
        spellings=spellings,
        **options,
    )
    found = features.encode({"tokens": [*seen, *unseen]})
    np.testing.assert_array_equal(found, expected)
    new = set(unseen) - set(seen)
    capitals = set(filter(reference.is_capital, new))
    assert any(map(spellings.lowers, capitals))
    assert not all(map(spellings.lowers, capitals))
    assert any(map(reference.is_number, new))


NUMBERS = "7 1984 1,000.5 3/4 3\\/4 10:30 1989-90 -0.3 +5 .5 -.5".split()
NUMBERS += ["\u22125", "1\u00a0000", "1\u202f000", "\u0661\u0662", "192.168.0.1"]
NO_NUMBERS = ["10-year", "1990s", "1.", "$5", "5%", "1,,000", "1 000", "-", ".", ",5"]
NO_NUMBERS += ["", "--5", "1-", "3\\4", "²", "Ⅷ", "x5", "5\n", "\n5", "5\0"]


def test_dinarelli_numbers():
    for text in NUMBERS + NO_NUMBERS:
        features = TokenFeatures(normalise="dinarelli", suffixes=(), capitals=False)
        features.adapt({"tokens": [text]}, lengths=[1])
        expected = "NUM" if text in NUMBERS else text
        assert features.vocabularies["word"] == [expected]
        spellings = reference.Spellings([])
        assert reference.normal_form(text, "dinarelli", spellings) == expected


def test_dinarelli_is_the_same_in_a_graph_of_stored_vocabularies():
    """The spellings travel as one of them."""
    sentences = random_sentences(2, 100)
    tokens = sum(sentences, [])
    lengths = [len(s) for s in sentences]
    features = TokenFeatures(normalise="dinarelli")
    features.adapt({"tokens": tokens}, lengths=lengths)
    again = TokenFeatures(normalise="dinarelli")
    again.set_vocabularies(json.loads(json.dumps(features.vocabularies)))
    new = sum(random_sentences(3, 100), [])
    expected = features.encode({"tokens": new})
    np.testing.assert_array_equal(again.encode({"tokens": new}), expected)
    served = tf.function(again)({"tokens": tf.constant(new)}).numpy()
    np.testing.assert_array_equal(served, expected)


def test_invalid_utf8_in_the_graph():
    features = adapted([reference.clean(token) for token in RAW])
    found = features({"tokens": tf.constant(RAW)}).numpy()
    expected = reference_ids(RAW, RAW, features.names, "kadari", VECTOR_WORDS)
    np.testing.assert_array_equal(found, expected)


def test_eager_and_graph_and_any_shape_give_the_same_ids():
    features = adapted()
    flat = features.encode({"tokens": TOKENS[:48]})
    table = tf.reshape([t.encode("utf-8", "replace") for t in TOKENS[:48]], (4, 12))
    compiled = tf.function(features)({"tokens": table}).numpy()
    assert compiled.shape == (4, 12, len(features.names))
    np.testing.assert_array_equal(compiled.reshape(flat.shape), flat)
    np.testing.assert_array_equal(features({"tokens": table}).numpy(), compiled)


def test_vocabulary_is_by_frequency_then_code_point_whatever_the_order():
    tokens = ["b", "a", "c", "c", "B"]
    features = TokenFeatures(suffixes=())
    for order in (tokens, tokens[::-1]):
        features.adapt({"tokens": order})
        assert features.vocabularies["word"] == ["b", "c", "a"]
    assert count_vocabulary(tokens, min_count=2) == ["c"]


def test_each_distinct_token_is_looked_up_once(monkeypatch):
    features = TokenFeatures(columns=["pos"])
    features.adapt({"tokens": ["a", "b"], "pos": ["N", "V"]})
    seen, forms = [], TokenFeatures._forms

    def noted(self, strings):
        seen.append({name: len(values) for name, values in strings.items()})
        return forms(self, strings)

    monkeypatch.setattr(TokenFeatures, "_forms", noted)
    tokens, pos = ["a", "b", "a", "a"] * 9, ["N", "N", "V", "N"] * 9
    found = features.encode({"tokens": tokens, "pos": pos})
    assert seen == [{"tokens": 3, "pos": 3}]
    expected = features({"tokens": tf.constant(tokens), "pos": tf.constant(pos)})
    np.testing.assert_array_equal(found, expected)
    assert features.encode({"tokens": [], "pos": []}).shape == (0, len(features.names))


def vector_ids(tokens, words, **options):
    options = {"words": False, "suffixes": (), "capitals": False} | options
    features = TokenFeatures(vectors=True, **options)
    features.adapt({"tokens": ["x"]}, words)
    return features.encode({"tokens": tokens})[:, 0].tolist()


def test_lookup_cascade_is_exact_then_lower_case_then_normal_form():
    words = ["Paris", "paris", "rome", "0", "1984"]
    tokens = ["Paris", "PARIS", "Rome", "1984", "2024", "Oslo"]
    cascade = vector_ids(tokens, words, lookup="cascade")
    assert cascade == [2, 3, 4, 6, 5, UNKNOWN_ID]
    normalised = vector_ids(tokens, words, lookup="normalised")
    assert normalised == [3, 3, 4, 5, 5, UNKNOWN_ID]


def test_of_two_equal_vector_words_the_first_counts_and_rows_stay():
    assert vector_ids(["a", "b", "c"], ["a", "b", "b", "c"]) == [2, 3, 5]


def test_rare_words_have_no_id_of_their_own():
    features = TokenFeatures(suffixes=(1,), word_min_count=2)
    features.adapt({"tokens": ["a", "A", "b"]})
    assert features.vocabularies == {"word": ["a"], "suffix1": ["A", "a", "b"]}
    found = features.encode({"tokens": ["a", "b"]})
    assert found[:, 0].tolist() == [FIRST_ID, UNKNOWN_ID]
    assert (found[:, 1] >= FIRST_ID).all()


def test_a_vocabulary_may_be_empty():
    features = TokenFeatures(suffixes=(), word_min_count=9)
    features.adapt({"tokens": ["a", "b"]})
    assert features.sizes == {"word": 2, "capital": 3}
    ids = features({"tokens": tf.constant([b"a", b"\xff", b""])}).numpy()
    assert ids[:, 0].tolist() == [UNKNOWN_ID] * 3


def test_further_columns_have_vocabularies_of_their_own():
    features = TokenFeatures(words=False, suffixes=(), capitals=False, columns=["pos"])
    features.adapt({"tokens": ["a", "b", "c"], "pos": ["N", "V", "N"]})
    found = features.encode({"tokens": ["N", "x"], "pos": ["V", "Q"]})
    assert found.tolist() == [[FIRST_ID + 1], [UNKNOWN_ID]]


# A process that has TensorFlow and divides before ICU asks for the locale, each once.
LOWER = """
import json, os, sys
import tensorflow as tf
from keras_tagging.encoding.tokens_to_ids import lowered

text, *locales = sys.argv[1:]
for locale in locales:
    if not os.fork():
        os.environ["LC_ALL"] = locale
        found = [tf.strings.lower(text, encoding="utf-8"), lowered(tf.constant(text))]
        print(json.dumps([x.numpy().decode() for x in found]), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow  # a process that loads TensorFlow
def test_lower_case_does_not_depend_on_the_locale():
    """ICU, which TensorFlow asks, lowers I to a dotless i in a Turkish process."""
    text = "I İ Ì Í Ĩ J Į TITLE"
    command = [sys.executable, "-c", LOWER, text, "tr_TR.UTF-8", "lt_LT.UTF-8"]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    turkish, lithuanian = map(json.loads, done.stdout.splitlines())
    for plain, lower in (turkish, lithuanian):
        assert plain != text.lower()  # else the process had another locale
        assert lower == text.lower()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"normalise": "upper"}, "normalise='upper': known are 'kadari', 'wu'"),
        ({"columns": ["suffix2"]}, "two features share a name"),
        ({"words": False, "columns": ["word"]}, "one is reserved"),
        ({"columns": ["tags"]}, "one is reserved"),
        ({"words": False, "suffixes": (), "capitals": False}, "there is no feature"),
    ],
)
def test_wrong_options_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        TokenFeatures(**options)
