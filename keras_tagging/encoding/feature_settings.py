"""Which features of a token a network reads. No TensorFlow here."""

from dataclasses import dataclass
from typing import Annotated, Literal

from keras_tagging.utils import limits
from keras_tagging.utils.checks import (
    NonNegative,
    PartsOrNone,
    Rule,
    check_fields,
)

Lengths = Annotated[
    tuple[int, ...],
    Rule(
        lambda x: all(1 <= n <= limits.MODEL_STEPS for n in x),
        f"lengths from 1 to {limits.MODEL_STEPS:,}",
    ),
]


@dataclass(frozen=True, kw_only=True)
class FeatureSettings:
    r"""The keywords of `TokenFeatures`, which says what each feature is.

    Args:
        words: whether words have ids.
        suffixes, prefixes: lengths in characters (not bytes).
        capitals, shapes: whether capitalisation and word shape are features.
        characters: how many of the first and last characters, 0 for none.
        characters_of: "raw", or "normalised": of the word's normal form, so that the
            capital alone tells the case (W16, W17); also of the characters that a
            character network reads.
        columns: names of `Sentence.columns`.
        normalise: the normal form of words, by the paper that has it:

            * "kadari": lower case, digit runs to 0, what stands before `\\/` goes;
            * "wu": lower case, every digit to 9;
            * "lower", or None: lower case (D16 on ATIS and MEDIA);
            * "dinarelli": numbers to NUM, and a word with an initial upper case is
              lowered if training has its lower-case form, but never the word as it
              is inside a sentence. All other words keep their case (D16 on treebanks).
        lookup: "normalised" (the normal form only, as in the papers) or "cascade"
            (as written, lower case, normal form: the first that is known). It
            matters for vectors with cased words; word ids are those of normal forms.
        word_min_count: rarer words have no id of their own.
    """

    words: bool = True
    suffixes: Lengths = (2,)
    prefixes: Lengths = ()
    capitals: bool = True
    shapes: bool = False
    characters: PartsOrNone = 0
    characters_of: Literal["raw", "normalised"] = "raw"
    columns: tuple[str, ...] = ()
    normalise: Literal["kadari", "wu", "lower", "dinarelli"] | None = "kadari"
    lookup: Literal["normalised", "cascade"] = "normalised"
    word_min_count: NonNegative = 1

    def __post_init__(self):
        check_fields(self)
