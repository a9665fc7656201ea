"""Strings to ids: what `encoding.TokenFeatures` computes, in ONNX.

Strings are changed by operations of onnxruntime-extensions, which search with RE2 as
TensorFlow does; which characters a pattern means is in `letters`. A table is a
`LabelEncoder`.
"""

from functools import cached_property

from keras_tagging.encoding.tokens_to_ids import NORMALISATIONS, SHAPES, TokenFeatures
from keras_tagging.encoding.vocabulary import CLUSTER, UNKNOWN_ID, numbered
from keras_tagging.onnx import letters
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import STRINGS
from keras_tagging.onnx.characters import (
    cut,
    distinct,
    in_table,
    replace,
    spelled,
    times,
)
from keras_tagging.runtime.strings import NUL, REPLACEMENT, encodable

ASCII = r"[\x00-\x7F]*"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def clean(xp: Arrays, text: Array) -> Array:
    """The text, or U+FFFD for a string that is no UTF-8, or has a U+0000."""
    return xp.where(matches(xp, text, r"[^\x00]*"), text, REPLACEMENT)


def matches(xp: Arrays, text: Array, pattern: str) -> Array:
    """Which strings a pattern matches as a whole."""
    return xp.node("RegexFullMatch", text, dtype="bool", pattern=pattern)


def look_up(
    xp: Arrays, forms: list[Array], words: list[str], name: str = ""
) -> list[Array]:
    """The ids of strings, in the table `name`; of equal words the first counts."""
    ids = {}
    for word, i in numbered(name, words):
        ids.setdefault(encodable(word), i)
    if not ids:
        return [xp.zeros_like(xp.cast(matches(xp, f, ""), "int64")) + 1 for f in forms]
    found = in_table(xp, xp.stack(forms, 0), ids)
    return [found[i] for i in range(len(forms))]


class TextGraph:
    """The nodes from the strings of one model to its ids.

    Args:
        xp: of the graph.
        features: with vocabularies.
        shared: features that the graph does not look up: whoever takes the ids has
            other values for them.
    """

    def __init__(self, xp: Arrays, features: TokenFeatures, shared=()):
        self.xp, self.features, self.shared = xp, features, shared
        self.vocabularies = features.vocabularies

    def ids(self, strings: dict[str, Array], known: Array | None = None):
        """Ids of tokens, which are found once for each distinct token.

        Args:
            strings: `(batch, time)` under "tokens" and the names of columns.
            known: all ids but those of columns, if these are known: then `strings` need
                have no tokens.

        Returns:
            `(batch, time, features)` int32. With letters a dict of it, "ids", and of
            "letters" `(distinct tokens + 1, characters)` int32.
        """
        xp = self.xp
        if known is not None:
            own = self.of_columns(strings)
            own = [xp.cast(xp.concatenate(own, -1), "int32")] if own else []
            return xp.concatenate([known, *own], -1)
        tokens, numbers = distinct(xp, strings["tokens"])
        tokens = clean(xp, tokens)
        forms, letters = self.forms(tokens), None
        if self.features.letters:
            [text] = forms.pop("letters")
            letters = spelled(xp, text, self.vocabularies["letters"])
        for name in self.shared:
            del forms[name]
        ids = self.look_up_all(forms)
        nothing = xp.zeros([xp.length(tokens, 0)], "int64") + UNKNOWN_ID
        ids |= dict.fromkeys(self.shared, nothing)
        if "capital" in self.features.names:
            ids["capital"] = xp.cast(self.is_capital(tokens), "int64") + 1
        if self.features.letters:
            ids["letters"] = xp.arange(xp.length(tokens, 0), "int64") + 1
        of_tokens = [ids[name] for name in self.features.names if name in ids]
        found = []
        if of_tokens:
            found.append(xp.take(xp.stack(of_tokens, -1), numbers))
        found += self.of_columns(strings)
        found = xp.cast(xp.concatenate(found, -1), "int32")
        return found if letters is None else {"ids": found, "letters": letters}

    def of_columns(self, strings: dict[str, Array]) -> list[Array]:
        """The ids of each further column, `(batch, time, 1)` int64."""
        columns = self.features.columns
        found = self.look_up_all({name: [strings[name]] for name in columns})
        return [self.xp.expand_dims(found[name], -1) for name in columns]

    def look_up_all(self, forms: dict[str, list[Array]]) -> dict[str, Array]:
        """The ids of the forms of each column."""
        xp = self.xp
        tables: dict[str, list] = {}
        for name, found in forms.items():
            tables.setdefault(self.features.table_of(name), []).extend(
                (name, form) for form in found
            )
        ids: dict[str, Array] = {}
        for table, given in tables.items():
            found = look_up(xp, [f for _, f in given], self.vocabularies[table], table)
            for (name, _), here in zip(given, found, strict=True):
                if name in ids:  # the first form that is known counts
                    unknown = xp.equal(ids[name], UNKNOWN_ID)
                    here = xp.where(unknown, here, ids[name])
                ids[name] = here
        return ids

    def forms(self, raw: Array) -> dict[str, list[Array]]:
        """For each feature with a table the strings to look up, first choice first.

        The same as `TokenFeatures` has, but for further columns of the sentences: a
        feature that is added there is added here.

        Args:
            raw: `(tokens,)`.
        """
        xp, features = self.xp, self.features
        forms, text = {}, raw
        normalised = {"word", "vector", CLUSTER}
        if features.characters_of == "normalised":
            normalised |= {"letters", *features.ends}
        if normalised & set(features.names):
            every = self.words(raw)
            words = every if features.lookup == "cascade" else every[-1:]
            if features.characters_of == "normalised":
                text = words[-1]
            found = {"word": words, "vector": words, CLUSTER: every}
            forms = {name: found[name] for name in found if name in features.names}
        for name, n in features.affixes.items():
            # shorter words stay as they are
            pattern = f"^.*({times(-n)})$" if n < 0 else f"^({times(n)}).*$"
            forms[name] = [replace(xp, raw, f"(?s){pattern}", r"\1")]
        if "shape" in features.names:
            shape = raw
            for pattern, replacement in SHAPES:
                shape = self.replace_classes(raw, shape, pattern, replacement)
            forms["shape"] = [shape]
        for i in range(features.characters):
            # "" where the word is too short: what is not matched is empty
            for name, pattern in (
                (f"first{i}", f"{times(i)}(.).*"),
                (f"last{i}", f".*(.){times(i)}"),
            ):
                short = f".{{0,{i}}}" if i else ""
                pattern = f"(?s)^(?:{pattern}|{short})$"
                forms[name] = [replace(xp, text, pattern, r"\1")]
        if features.letters:
            forms["letters"] = [cut(xp, text, features.letters)]
        return forms

    # Words

    def words(self, raw: Array) -> list[Array]:
        """Words as written, in lower case and in their normal form."""
        features = self.features
        lower = normalised = self.lower(raw)
        if features.normalise == "dinarelli":
            normalised = self.xp.where(self.is_lowered(raw, lower), lower, raw)
        for pattern, replacement in NORMALISATIONS.get(features.normalise, []):
            normalised = self.replace_classes(raw, normalised, pattern, replacement)
        return [raw, lower, normalised]

    def is_lowered(self, raw: Array, lower: Array) -> Array:
        """D16 3.2: a capital, if training has the word in lower case only."""
        xp = self.xp
        spellings = self.vocabularies["spelling"]
        of_lower, of_raw = look_up(xp, [lower, raw], spellings)
        known = xp.not_equal(of_lower, UNKNOWN_ID) & xp.equal(of_raw, UNKNOWN_ID)
        return self.is_capital(raw) & known

    def is_capital(self, text: Array) -> Array:
        upper = letters.character_class(letters.members(letters.UPPER))
        return matches(self.xp, text, f"(?s){upper}.*")

    # Lower case

    @cached_property
    def lowered(self) -> dict[str, str]:
        """The characters to lower, and their lower-case forms.

        Of those beyond ASCII they are the ones that the vocabularies have in one of
        both cases: a word with any other is in no vocabulary, lowered or not.
        """
        tables = ("word", "vector", CLUSTER, "spelling", "character", "letters")
        words = [w for name in tables for w in self.vocabularies.get(name, ())]
        alphabet = {c for word in words for c in word}
        if letters.FINAL_SIGMA in alphabet:
            alphabet.add(letters.SIGMA)
        return {
            c: low
            for c, low in letters.lower_forms().items()
            # two characters for one: so many unknown ones are read
            if c in CAPITALS or alphabet & {c, *low} or len(low) > 1
        }

    def lower(self, text: Array) -> Array:
        """In lower case: ASCII at once, the rest letter by letter where there is any.

        `StringLower` alone would do what the locale of the machine says.
        """
        xp = self.xp
        is_ascii = matches(xp, text, ASCII)
        plain = replace(xp, xp.where(is_ascii, text, ""), "I", "i")  # ı in Turkish
        plain = xp.node("StringLower", plain, domain=STRINGS)
        text = xp.where(is_ascii, plain, text)
        upper = f"(?s).*{letters.character_class({NUL, *self.lowered})}.*"
        rest = xp.logical_not(is_ascii) & matches(xp, text, upper)

        def letter_by_letter():
            places = xp.transpose(xp.node("NonZero", rest, dtype="int64"))
            chosen = xp.node("GatherND", text, places)
            # TensorFlow lowers, and keeps, what stands before a U+0000
            chosen = replace(xp, chosen, f"(?s){NUL}.*", "")
            chosen = self.lower_sigma(chosen)
            for character, low in self.lowered.items():
                chosen = replace(xp, chosen, character, low)
            return xp.node("ScatterND", text, places, chosen)

        return xp.branch(xp.any(rest), letter_by_letter, lambda: text, (None,))

    def lower_sigma(self, text: Array) -> Array:
        """The capital sigma of Greek: another letter at the end of a word."""
        xp = self.xp
        if letters.SIGMA not in self.lowered:
            return text
        cased, ignored = map(letters.character_class, letters.sigma_context())
        within = f"{letters.SIGMA}({ignored}*{cased})"
        for _ in range(2):  # the sigma that a match ends with is found the second time
            text = replace(xp, text, within, rf"{letters.LOWER_SIGMA}\1")
        final = f"({cased}{ignored}*){letters.SIGMA}"
        return replace(xp, text, final, rf"\1{letters.FINAL_SIGMA}")

    # Classes of characters

    @cached_property
    def usual(self) -> frozenset[str]:
        """The characters of the vocabularies in both cases, and some around them."""
        seen = {c for words in self.vocabularies.values() for w in words for c in w}
        lower = letters.lower_forms().items()
        return letters.around(seen | {c for c, low in lower if seen & set(low)})

    def replace_classes(self, raw, text, pattern, replacement) -> Array:
        """`replace` with a pattern that has classes of all Unicode.

        Where all characters are usual ones, the classes are cut down to these.

        Args:
            raw: what the text was made of.
        """
        xp = self.xp
        if not any(name in pattern for name in letters.CLASSES):
            return replace(xp, text, pattern, replacement)
        usual = matches(xp, raw, f"{letters.character_class(self.usual)}*")
        unusual = xp.any(xp.logical_not(usual))
        every, few = (
            letters.with_classes(pattern, among) for among in (None, self.usual)
        )
        return xp.branch(
            unusual,
            lambda: replace(xp, text, every, replacement),
            lambda: replace(xp, text, few, replacement),
            (None,),
        )
