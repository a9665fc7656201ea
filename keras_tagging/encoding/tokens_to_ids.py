"""Strings to ids, in a TensorFlow graph, the same in training and in serving.

For the character network a token is cut before anything else: of one that is longer
than `most` characters the first and the last half remain, so that no token makes a
batch long. Each distinct token then has one row of character ids, however often it
stands in a batch.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from keras_tagging.data.normalisation import HIDING, SHOWN
from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.encoding.vocabulary import (
    CLUSTER,
    FIRST_ID,
    UNKNOWN_ID,
    VECTOR,
    count_vocabulary,
    numbered,
)

# D16 does not define numbers. Here they are groups of decimal digits, separated by one
# of . , : / \/ - or a no-break space, with an optional sign and point before them:
# 7 1,000.5 3/4 -0.3 .5 10:30 1989-90; but 10-year, 1990s, 1., $5 are words.
NUMBER = r"^[-+\x{2212}]?\.?\p{Nd}+((\\/|[.,:/\-\x{A0}\x{202F}])\p{Nd}+)*$"
# (pattern, replacement) pairs in RE2 syntax, applied in order after lower-casing;
# "dinarelli" lower-cases only some words.
NORMALISATIONS = {
    # K18 section 3.1: digit runs to one 0; the substring after the backslash,
    # which CCGBank writes before a slash ("wife\/mother").
    "kadari": [(r"\p{Nd}+", "0"), (r"(?s)^.*\\/?(.+)$", r"\1")],
    # W16 section 6.1.1: every digit to 9.
    "wu": [(r"\p{Nd}", "9")],
    # D16 section 3.2, ATIS and MEDIA; FTB and PTB.
    "lower": [],
    "dinarelli": [(NUMBER, "NUM")],
}
# TensorFlow lowers these letters according to the locale of the process: the dotless i
# of Turkish, accents over a dotted letter in Lithuanian. They are lowered first, so the
# result is the same in every locale.
LOCALE_LETTERS = dict(zip("IJĮİÌÍĨ", ["i", "j", "į", "i̇", "ì", "í", "ĩ"], strict=True))
RESERVED = {"tokens", "tags", "lengths", "spelling"}
RESERVED |= {"word", VECTOR, "capital", "character", "letters", "cluster", "labels"}
SHAPES = [(r"\p{Lu}+", "X"), (r"[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+", "x"), (r"\p{Nd}+", "0")]


class TokenFeatures:
    """The function from tokens to a fixed number of integer ids each.

    It is a plain object, not a layer. It computes with `tf.strings` and static hash
    tables, with any backend of Keras: in training once over all tokens, in serving as
    part of the exported graph. In every column 0 is padding and 1 is unknown; a real
    token has no 0. The columns, in order, by the keyword that switches them on:

    ==============  =========================================================
    `words`         word id; a word unseen in training is unknown
    `vectors`       row of the pretrained vectors, also for unseen words
    `word_classes`  the class of the word, also for unseen words
    `suffixes`      the last n characters of the raw token, for every n given
    `prefixes`      the first n characters of the raw token
    `capitals`      1 or 2: no initial upper case, initial upper case (K18)
    `shapes`        word shape: `Xx`, `X.X.`, `0,0`, `x-0`
    `characters`    first n and last n characters, one column each; "" if the
                    word is shorter (W16: 5, "the same special symbol")
    `letters`       the row of the token in a second array, which holds all
                    characters of each distinct token
    `columns`       further columns of the sentences, such as `pos`
    ==============  =========================================================

    Suffix, prefix, capital and shape are those of the raw token. If a token is shorter
    than n, its suffix and prefix are the whole token.

    Args:
        vectors: whether there are pretrained vectors beside the words.
        letters: the number of characters of a token that the character network reads:
            the first and the last half of a longer one. 0 without such a network.
        **keywords: the arguments of `encoding.feature_settings.FeatureSettings`.

    Raises:
        ValueError: for an invalid value, two features with one name, or no feature at
            all.

    Source: K18 sections 2.2 and 3.1, W16 section 6.1.1, D16 section 3.2. Departures:
    K18 does not say how it treats a word shorter than the suffix, nor from which form
    of a word it takes the suffix. W16 and W17 first lower all words and map all digits,
    so their characters are those of the normal form. D16 lowers capitalised common
    nouns, for which it needs gold tags; "dinarelli" instead looks at the words of
    training, kept as the vocabulary "spelling", and so lowers words of any part of
    speech. D16 does not say what a number is: see `NUMBER`.
    """

    def __init__(self, *, vectors: bool = False, letters: int = 0, **keywords):
        settings = FeatureSettings(**keywords)
        self.settings = settings
        self.normalise = settings.normalise
        self.lookup = settings.lookup
        self.characters = characters = settings.characters
        self.characters_of = settings.characters_of
        self.letters = letters
        self.columns = settings.columns
        self.affixes = {f"suffix{n}": -n for n in settings.suffixes}
        self.affixes |= {f"prefix{n}": n for n in settings.prefixes}
        self.ends = [f"first{i}" for i in range(characters)]
        self.ends += [f"last{i}" for i in reversed(range(characters))]
        self.names = tuple(
            ["word"] * settings.words
            + [VECTOR] * vectors
            + [CLUSTER] * (settings.word_classes is not None)
            + list(self.affixes)
            + ["capital"] * settings.capitals
            + ["shape"] * settings.shapes
            + self.ends
            + ["letters"] * bool(letters)
            + list(self.columns)
        )
        if len(set(self.names)) < len(self.names) or RESERVED & set(self.columns):
            names = ", ".join(self.names)
            raise ValueError(f"two features share a name, or one is reserved: {names}")
        if not self.names:
            raise ValueError("there is no feature: switch on words or another one")
        self.vocabularies: dict[str, list[str]] = {}
        self.tables: dict[str, tf.lookup.StaticHashTable] = {}

    # Vocabularies

    def adapt(
        self,
        strings: dict[str, list[str]],
        vector_words: Iterable[str] = (),
        lengths: Sequence[int] | None = None,
        classes: Iterable[str] = (),
    ) -> None:
        """Count the vocabularies of all columns.

        Args:
            strings: training tokens under "tokens", end to end, and further columns
                under their names.
            vector_words: the words of the pretrained vectors, in their order.
            lengths: the number of tokens of each sentence, for "dinarelli" only.
            classes: the classes of words, as `encoding.vocabulary` groups them.
        """
        vocabularies = {}
        if self.normalise == "dinarelli":
            vocabularies["spelling"] = _spellings(strings["tokens"], lengths)
            self.set_vocabularies(vocabularies)  # the other counts depend on it
        distinct, places = _distinct(strings)
        repeats = np.bincount(places).tolist()
        counts: dict[str, Counter] = {}
        for name, forms in self._forms(_constants(distinct)).items():
            counter = counts.setdefault(self.table_of(name), Counter())
            for value, count in zip(forms[-1].numpy().tolist(), repeats, strict=True):
                counter[value] += count
        for name, counter in counts.items():
            words = Counter()
            for word, count in counter.items():
                word = word.decode()
                for form in word if name == "letters" else [word]:
                    words[form] += count
            least = self.settings.word_min_count if name == "word" else 1
            vocabularies[name] = count_vocabulary(words, least)
        if VECTOR in self.names:
            vocabularies[VECTOR] = list(vector_words)
        if CLUSTER in self.names:
            vocabularies[CLUSTER] = list(classes)
        self.set_vocabularies(vocabularies)

    def set_vocabularies(self, vocabularies: dict[str, list[str]]) -> None:
        """Set vocabularies that were counted earlier, such as a saved model's."""
        self.vocabularies = vocabularies
        for name, words in vocabularies.items():
            # vectors may have two words with the same NFC: the first one counts
            ids = {}
            for word, i in numbered(name, words):
                ids.setdefault(word.encode("utf-8", "replace"), i)
            # a table must not be empty; no token is this byte
            ids = ids or {b"\xff": UNKNOWN_ID}
            keys = tf.constant(list(ids), tf.string)
            values = tf.constant(list(ids.values()), tf.int64)
            self.tables[name] = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(keys, values), UNKNOWN_ID
            )

    @property
    def sizes(self) -> dict[str, int]:
        """The number of ids of each column, including padding and unknown."""
        return {
            name: 3
            if name == "capital"
            else FIRST_ID + len(self.vocabularies[self.table_of(name)])
            for name in self.names
        }

    @property
    def table_names(self) -> set[str]:
        """Names of the vocabularies that `adapt` counts."""
        tables = {self.table_of(name) for name in self.names if name != "capital"}
        return tables | ({"spelling"} if self.normalise == "dinarelli" else set())

    # Strings to ids

    def __call__(self, strings: dict[str, tf.Tensor]) -> tf.Tensor | dict:
        """Ids of tokens, in a graph or eagerly.

        Args:
            strings: UTF-8 string tensors of one shape, under "tokens" and the names
                of further columns. They should be in NFC, as readers return them.

        Returns:
            int32 tensor of that shape with one more axis, `(..., features)`. With
            `letters` a dict of it, "ids", and of "letters" `(rows + 1, characters)`
            int32: the characters of each distinct token, 0 behind its end. Row 0 is
            padding.
        """
        ids = {}
        forms_of = self._forms(strings)
        if self.letters:
            [text] = forms_of.pop("letters")
            ids["letters"], letters = letters_of_distinct(text, self.tables["letters"])
        for name, forms in forms_of.items():
            table = self.tables[self.table_of(name)]
            column = table.lookup(forms[0])
            for form in forms[1:]:
                column = tf.where(column == UNKNOWN_ID, table.lookup(form), column)
            ids[name] = column
        if "capital" in self.names:
            ids["capital"] = 1 + tf.cast(_is_capital(_raw(strings)), tf.int64)
        stacked = tf.stack([ids[name] for name in self.names], -1)
        stacked = tf.cast(stacked, tf.int32)
        return {"ids": stacked, "letters": letters} if self.letters else stacked

    def encode(self, strings: dict[str, list[str]]) -> np.ndarray | dict:
        """Ids of a flat list of tokens, as a call gives them, but in NumPy.

        Each distinct token, with its columns, is looked up once.
        """
        strings, places = _distinct(strings)
        ids = self(_constants(strings))
        if not self.letters:
            return ids.numpy()[places]
        ids, letters = np.array(ids["ids"]), ids["letters"].numpy()
        # in an order that does not depend on that of the tokens
        letters, rows = np.unique(letters[1:], axis=0, return_inverse=True)
        column = ids[:, self.names.index("letters")]
        column[:] = 1 + rows.reshape(-1)[column - 1]
        return {"ids": ids[places], "letters": np.pad(letters, [(1, 0), (0, 0)])}

    def normal_forms(self, words: list[str]) -> list[str]:
        """The forms of words that have word ids: see `normalise`."""
        return [forms[-1] for forms in self.lookup_forms(words)]

    def lookup_forms(self, words: list[str]) -> list[tuple[str, ...]]:
        """The forms by which words and their vectors are looked up, first choice first.

        With `lookup="cascade"` these are the word, its lower case and its normal form,
        otherwise the normal form alone.

        Raises:
            KeyError: without words and vectors among the features.
        """
        strings = dict.fromkeys(("tokens", *self.columns), words)  # columns are unused
        name = "word" if "word" in self.names else VECTOR
        forms = self._forms(_constants(strings))[name]
        rows = zip(*(each.numpy().tolist() for each in forms), strict=True)
        return [tuple(form.decode() for form in row) for row in rows]

    def table_of(self, name: str) -> str:
        """The vocabulary for the values of a column."""
        # characters at all positions share one table
        return "character" if name in self.ends else name

    def _forms(self, strings: dict[str, tf.Tensor]) -> dict[str, list[tf.Tensor]]:
        """The strings to look up for each column with a table, first choice first.

        Vocabularies count the last one.
        """
        raw = _raw(strings)
        length = tf.strings.length(raw, unit="UTF8_CHAR")
        forms = {}
        if {"word", VECTOR, CLUSTER, "letters", *self.ends} & set(self.names):
            lower = normalised = lowered(raw)
            if self.normalise == "dinarelli":
                normalised = tf.where(self._is_lowered(raw, lower), lower, raw)
            for pattern, replacement in NORMALISATIONS.get(self.normalise, []):
                normalised = tf.strings.regex_replace(normalised, pattern, replacement)
            every = [raw, lower, normalised]
            words = every if self.lookup == "cascade" else [normalised]
            forms_of = {"word": words, VECTOR: words, CLUSTER: every}
            forms = {name: forms_of[name] for name in forms_of if name in self.names}
        for name, n in self.affixes.items():
            start = tf.maximum(length + n, 0) if n < 0 else tf.zeros_like(length)
            forms[name] = [_substr(raw, start, abs(n))]
        if "shape" in self.names:
            shape = raw
            for pattern, replacement in SHAPES:
                shape = tf.strings.regex_replace(shape, pattern, replacement)
            forms["shape"] = [shape]
        if self.ends or self.letters:
            text = raw if self.characters_of == "raw" else normalised
            length = tf.strings.length(text, unit="UTF8_CHAR")
        if self.letters:
            forms["letters"] = [without_middle(text, self.letters)]
        for i in range(self.characters):
            forms[f"first{i}"] = [_substr(text, tf.minimum(i, length), 1)]
            # "" if the token is too short, at either end
            start = tf.where(length > i, length - 1 - i, length)
            forms[f"last{i}"] = [_substr(text, start, 1)]
        for name in self.columns:
            forms[name] = [strings[name]]
        return forms

    def _is_lowered(self, raw: tf.Tensor, lower: tf.Tensor) -> tf.Tensor:
        spellings = self.tables["spelling"]
        has_lower = spellings.lookup(lower) != UNKNOWN_ID
        return _is_capital(raw) & has_lower & (spellings.lookup(raw) == UNKNOWN_ID)


def _spellings(tokens: list[str], lengths: Sequence[int]) -> list[str]:
    """The different words, except those capitalised only at the start of a sentence."""
    begins = np.zeros(len(tokens) + 1, bool)
    begins[np.cumsum([0, *lengths])] = True  # the last one is behind all tokens
    raw = _raw(_constants({"tokens": tokens}))
    inside = ~(begins[:-1] & _is_capital(raw).numpy())
    return sorted(word.decode() for word in set(raw.numpy()[inside].tolist()))


def _is_capital(text: tf.Tensor) -> tf.Tensor:
    return tf.strings.regex_full_match(text, r"(?s)\p{Lu}.*")


def _raw(strings: dict[str, tf.Tensor]) -> tf.Tensor:
    # a served request may contain invalid UTF-8, for which tf.strings raises
    text = tf.strings.unicode_transcode(strings["tokens"], "UTF-8", "UTF-8")

    def shown():
        form = text
        for pattern, letters in SHOWN.items():
            form = tf.strings.regex_replace(form, pattern, letters)
        return tf.where(form == "", text, form)

    hiding = tf.strings.regex_full_match(text, f"(?s).*[{HIDING}].*")
    return tf.cond(tf.reduce_any(hiding), shown, lambda: text)


def lowered(text: tf.Tensor) -> tf.Tensor:
    for letter, lower in LOCALE_LETTERS.items():
        text = tf.strings.regex_replace(text, letter, lower)
    return tf.strings.lower(text, encoding="utf-8")


def _substr(text: tf.Tensor, start: tf.Tensor, n: int) -> tf.Tensor:
    return tf.strings.substr(text, start, tf.fill(tf.shape(start), n), "UTF8_CHAR")


def _constants(strings: dict[str, list[str]]) -> dict[str, tf.Tensor]:
    # lone surrogates, which Python's JSON reader accepts, have no UTF-8 form
    return {
        name: tf.constant([x.encode("utf-8", "replace") for x in values], tf.string)
        for name, values in strings.items()
    }


def _distinct(strings: dict[str, list[str]]) -> tuple[dict, np.ndarray]:
    """The distinct rows of columns, and for each row its place among them."""
    rows = list(zip(*strings.values(), strict=True))
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    columns = zip(*numbers, strict=True) if numbers else [()] * len(strings)
    places = np.fromiter(map(numbers.__getitem__, rows), int, len(rows))
    return dict(zip(strings, map(list, columns), strict=True)), places


def without_middle(text: tf.Tensor, most: int) -> tf.Tensor:
    """The tokens, those of more than `most` characters without their middle.

    Args:
        text: strings of any shape, in valid UTF-8.
        most: characters that remain, the first `(most + 1) // 2` and the last
            `most // 2`.
    """
    length = tf.strings.length(text, unit="UTF8_CHAR")
    first, last = most - most // 2, most // 2
    # only long tokens have a second piece, and one that begins behind the first
    start = tf.where(length > most, length - last, length)
    whole = tf.where(length > most, first, length)
    head = tf.strings.substr(text, tf.zeros_like(length), whole, "UTF8_CHAR")
    tail = tf.strings.substr(text, start, length - start, "UTF8_CHAR")
    return tf.strings.join([head, tail])


def letters_of_distinct(text: tf.Tensor, table) -> tuple[tf.Tensor, tf.Tensor]:
    """The rows of tokens, and the characters in each row.

    Args:
        text: strings of any shape, in valid UTF-8.
        table: from characters to ids.

    Returns:
        rows of that shape, int64, which count from 1; and ids `(rows + 1, characters)`
        int32, 0 behind the end of a token. Row 0 is padding, and there is at least one
        column: a recurrent loop needs a step.
    """
    tokens, rows = tf.unique(tf.reshape(text, [-1]), tf.int64)
    letters = tf.strings.unicode_split(tokens, "UTF-8")
    ids = tf.ragged.map_flat_values(table.lookup, letters).to_tensor(0)
    missing = tf.maximum(1 - tf.shape(ids)[1], 0)
    ids = tf.pad(tf.cast(ids, tf.int32), [[1, 0], [0, missing]])
    return tf.reshape(rows + 1, tf.shape(text)), ids
