"""Strings to ids, in a TensorFlow graph, the same in training and in serving."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from keras_tagging.encoding.feature_settings import FeatureSettings
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, count_vocabulary

# What is a number to D16 is not stated. Here: groups of decimal digits, between every
# two of them one of . , : / \/ - or a no-break space, before them perhaps a sign and a
# point: 7 1,000.5 3/4 -0.3 .5 10:30 1989-90; but 10-year, 1990s, 1., $5 are words.
NUMBER = r"^[-+\x{2212}]?\.?\p{Nd}+((\\/|[.,:/\-\x{A0}\x{202F}])\p{Nd}+)*$"
# (pattern, replacement) pairs, applied in order after lower-casing, which for
# "dinarelli" is that of some words only; RE2 syntax.
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
# The letters that TensorFlow lowers as the process's locale says: the dotless i of
# Turkish, the accents over a kept dot of Lithuanian. Lowered first, they are everywhere
# what they are without a locale.
LOCALE_LETTERS = dict(zip("IJĮİÌÍĨ", ["i", "j", "į", "i̇", "ì", "í", "ĩ"], strict=True))
RESERVED = {"tokens", "tags", "lengths", "spelling"}
RESERVED |= {"word", "vector", "capital", "character"}
SHAPES = [(r"\p{Lu}+", "X"), (r"[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+", "x"), (r"\p{Nd}+", "0")]
CHUNK_TOKENS = 100_000


class TokenFeatures:
    """Turns tokens into a fixed number of integer ids each.

    A plain object, no layer: it computes with `tf.strings` and static hash tables
    on whatever backend Keras runs, once over all tokens in training and as part of
    the exported graph in serving. In every column 0 pads, 1 is unknown, and a real
    token has no 0. Columns, in order, by the keyword that switches them on:

    ==============  =========================================================
    `words`         word id; a word unseen in training is unknown
    `vectors`       row of the pretrained vectors; unseen words find theirs
    `suffixes`      the last n characters of the raw token, for every n given
    `prefixes`      the first n characters of the raw token
    `capitals`      1 or 2: no initial upper case, initial upper case (K18)
    `shapes`        word shape: `Xx`, `X.X.`, `0,0`, `x-0`
    `characters`    first n and last n characters, one column each; "" where the
                    word is shorter (W16: 5, "the same special symbol")
    `columns`       further columns of the sentences, such as `pos`
    ==============  =========================================================

    Suffix, prefix, capital and shape are those of the raw token; a token shorter
    than n gives what it has.

    Args:
        vectors: whether there are pretrained vectors beside the words.
        **keywords: those of `encoding.feature_settings.FeatureSettings`.

    Raises:
        ValueError: for a value that is not possible, two features of one name, or no
            feature at all.

    Source: K18 sections 2.2 and 3.1, W16 section 6.1.1, D16 section 3.2. Departures:
    K18 does not say how a word shorter than the suffix is treated, nor which of the
    two forms of a word the suffix is taken from. W16 and W17 lower all words and map
    all digits before anything else, so their characters are those of the normal form.
    D16 lowers capitalised common nouns, which needs gold tags; "dinarelli" asks the
    words of training, which it keeps as the vocabulary "spelling", and so lowers words
    of any part of speech. D16 does not say what a number is: see `NUMBER`.
    """

    def __init__(self, *, vectors: bool = False, **keywords):
        settings = FeatureSettings(**keywords)
        self.settings = settings
        self.normalise = settings.normalise
        self.lookup = settings.lookup
        self.characters = characters = settings.characters
        self.characters_of = settings.characters_of
        self.columns = settings.columns
        self.affixes = {f"suffix{n}": -n for n in settings.suffixes}
        self.affixes |= {f"prefix{n}": n for n in settings.prefixes}
        self.ends = [f"first{i}" for i in range(characters)]
        self.ends += [f"last{i}" for i in reversed(range(characters))]
        self.names = tuple(
            ["word"] * settings.words
            + ["vector"] * vectors
            + list(self.affixes)
            + ["capital"] * settings.capitals
            + ["shape"] * settings.shapes
            + self.ends
            + list(self.columns)
        )
        if len(set(self.names)) < len(self.names) or RESERVED & set(self.columns):
            raise ValueError(
                f"two features share a name: {', '.join(self.names)} (columns cannot "
                f"be called {', '.join(sorted(RESERVED))})"
            )
        if not self.names:
            raise ValueError("no feature is left: switch on words or another one")
        self.vocabularies: dict[str, list[str]] = {}
        self.tables: dict[str, tf.lookup.StaticHashTable] = {}

    # Vocabularies

    def adapt(
        self,
        strings: dict[str, list[str]],
        vector_words: Iterable[str] = (),
        lengths: Sequence[int] | None = None,
    ) -> None:
        """Counts the vocabularies of all columns.

        Args:
            strings: training tokens under "tokens", end to end, and further columns
                under their names.
            vector_words: the words of the pretrained vectors, in their order.
            lengths: number of tokens of each sentence; only "dinarelli" needs them.

        Raises:
            ValueError: if "dinarelli" has no lengths, or they do not fit the tokens.
        """
        vocabularies = {}
        if self.normalise == "dinarelli":
            vocabularies["spelling"] = _spellings(strings["tokens"], lengths)
            self.set_vocabularies(vocabularies)  # the other ones are counted with it
        counts: dict[str, Counter] = {}
        for chunk in _chunks(strings):
            for name, forms in self._forms(chunk).items():
                values = forms[-1].numpy().tolist()
                counts.setdefault(self.table_of(name), Counter()).update(values)
        for name, counter in counts.items():
            words = Counter({word.decode(): n for word, n in counter.items()})
            least = self.settings.word_min_count if name == "word" else 1
            vocabularies[name] = count_vocabulary(words, least)
        if "vector" in self.names:
            vocabularies["vector"] = list(vector_words)
        self.set_vocabularies(vocabularies)

    def set_vocabularies(self, vocabularies: dict[str, list[str]]) -> None:
        """Takes vocabularies counted earlier, as a saved model brings them."""
        self.vocabularies = vocabularies
        for name, words in vocabularies.items():
            # vectors may have two words that are one in NFC: the first counts
            ids = {}
            for i, word in enumerate(_utf8(words), FIRST_ID):
                ids.setdefault(word, i)
            # a table cannot be empty; no token is this byte
            ids = ids or {b"\xff": UNKNOWN_ID}
            keys = tf.constant(list(ids), tf.string)
            values = tf.constant(list(ids.values()), tf.int64)
            self.tables[name] = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(keys, values), UNKNOWN_ID
            )

    @property
    def sizes(self) -> dict[str, int]:
        """Number of ids of each column, padding and unknown included."""
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

    def __call__(self, strings: dict[str, tf.Tensor]) -> tf.Tensor:
        """Ids of tokens, in a graph or eagerly.

        Args:
            strings: UTF-8 string tensors of one shape, under "tokens" and the names
                of further columns. They should be in NFC, as readers give them.

        Returns:
            int32 tensor of that shape with one more axis, `(..., features)`.
        """
        ids = {}
        for name, forms in self._forms(strings).items():
            table = self.tables[self.table_of(name)]
            found = table.lookup(forms[0])
            for form in forms[1:]:
                found = tf.where(found == UNKNOWN_ID, table.lookup(form), found)
            ids[name] = found
        if "capital" in self.names:
            ids["capital"] = 1 + tf.cast(_is_capital(_raw(strings)), tf.int64)
        return tf.cast(tf.stack([ids[name] for name in self.names], -1), tf.int32)

    def encode(self, strings: dict[str, list[str]]) -> np.ndarray:
        """Ids of a flat list of tokens: `(tokens, features)` int32."""
        parts = [self(chunk).numpy() for chunk in _chunks(strings)]
        return np.concatenate([np.zeros((0, len(self.names)), "int32"), *parts])

    def normal_forms(self, words: list[str]) -> list[str]:
        """The words as word ids are counted on: see `normalise`."""
        strings = dict.fromkeys(("tokens", *self.columns), words)  # no matter which
        return [
            form.decode()
            for chunk in _chunks(strings)
            for form in self._forms(chunk)["word"][-1].numpy().tolist()
        ]

    def table_of(self, name: str) -> str:
        """The vocabulary that a column is looked up in."""
        # characters share one table, whatever their place in the word
        return "character" if name in self.ends else name

    def _forms(self, strings: dict[str, tf.Tensor]) -> dict[str, list[tf.Tensor]]:
        """For each column with a table the strings to look up, first choice first.

        The last of them is the one that vocabularies are counted on.
        """
        raw = _raw(strings)
        length = tf.strings.length(raw, unit="UTF8_CHAR")
        forms = {}
        if {"word", "vector", *self.ends} & set(self.names):
            lower = normalised = lowered(raw)
            if self.normalise == "dinarelli":
                normalised = tf.where(self._is_lowered(raw, lower), lower, raw)
            for pattern, replacement in NORMALISATIONS.get(self.normalise, []):
                normalised = tf.strings.regex_replace(normalised, pattern, replacement)
            words = [normalised]
            if self.lookup == "cascade":
                words = [raw, lower, normalised]
            forms = {name: words for name in ("word", "vector") if name in self.names}
        for name, n in self.affixes.items():
            start = tf.maximum(length + n, 0) if n < 0 else tf.zeros_like(length)
            forms[name] = [_substr(raw, start, abs(n))]
        if "shape" in self.names:
            shape = raw
            for pattern, replacement in SHAPES:
                shape = tf.strings.regex_replace(shape, pattern, replacement)
            forms["shape"] = [shape]
        if self.ends:
            text = raw if self.characters_of == "raw" else normalised
            length = tf.strings.length(text, unit="UTF8_CHAR")
        for i in range(self.characters):
            forms[f"first{i}"] = [_substr(text, tf.minimum(i, length), 1)]
            # "" where the token is too short, at either end
            start = tf.where(length > i, length - 1 - i, length)
            forms[f"last{i}"] = [_substr(text, start, 1)]
        for name in self.columns:
            forms[name] = [strings[name]]
        return forms

    def _is_lowered(self, raw: tf.Tensor, lower: tf.Tensor) -> tf.Tensor:
        spellings = self.tables["spelling"]
        has_lower = spellings.lookup(lower) != UNKNOWN_ID
        return _is_capital(raw) & has_lower & (spellings.lookup(raw) == UNKNOWN_ID)


def _spellings(tokens: list[str], lengths: Sequence[int] | None) -> list[str]:
    """The different words, without those whose capital may be that of a sentence."""
    if lengths is None or sum(lengths) != len(tokens):
        raise ValueError(
            "normalise='dinarelli' asks which words begin a sentence: give adapt the "
            f"lengths of the sentences, which add up to {len(tokens)} tokens"
        )
    begins = np.zeros(len(tokens) + 1, bool)
    begins[np.cumsum([0, *lengths])] = True  # the last of them is no token
    found = set()
    for chunk in _chunks({"tokens": tokens}):
        raw = _raw(chunk)
        first, begins = np.split(begins, [len(raw)])
        found.update(raw.numpy()[~(first & _is_capital(raw).numpy())].tolist())
    return sorted(word.decode() for word in found)


def _is_capital(text: tf.Tensor) -> tf.Tensor:
    return tf.strings.regex_full_match(text, r"(?s)\p{Lu}.*")


def _raw(strings: dict[str, tf.Tensor]) -> tf.Tensor:
    # a served request may hold invalid UTF-8, at which tf.strings would stop
    return tf.strings.unicode_transcode(strings["tokens"], "UTF-8", "UTF-8")


def lowered(text: tf.Tensor) -> tf.Tensor:
    for letter, lower in LOCALE_LETTERS.items():
        text = tf.strings.regex_replace(text, letter, lower)
    return tf.strings.lower(text, encoding="utf-8")


def _substr(text: tf.Tensor, start: tf.Tensor, n: int) -> tf.Tensor:
    return tf.strings.substr(text, start, tf.fill(tf.shape(start), n), "UTF8_CHAR")


def _chunks(strings: dict[str, list[str]]):
    for start in range(0, len(strings["tokens"]), CHUNK_TOKENS):
        yield {
            name: tf.constant(_utf8(values[start : start + CHUNK_TOKENS]), tf.string)
            for name, values in strings.items()
        }


def _utf8(values: list[str]) -> list[bytes]:
    # lone surrogates, which Python's JSON reader lets through, have no UTF-8 form
    return [value.encode("utf-8", "replace") for value in values]
