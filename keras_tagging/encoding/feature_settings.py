"""The choice of the features of a token. No TensorFlow here."""

from dataclasses import dataclass
from typing import Annotated, Literal

from keras_tagging.utils import limits
from keras_tagging.utils.checks import Checked, NonNegative, PartsOrNone, Rule

Lengths = Annotated[
    tuple[int, ...],
    Rule(
        lambda x: all(1 <= n <= limits.MODEL_STEPS for n in x),
        f"lengths from 1 to {limits.MODEL_STEPS:,}",
    ),
]

Prefixes = Annotated[
    Lengths, Rule(lambda x: len(x) <= limits.CLASS_PREFIXES, "at most 16 lengths")
]
Classes = Annotated[
    object, Rule(lambda x: x is not None, "a name or a file of word classes")
]


@dataclass(frozen=True, kw_only=True)
class FeatureSettings(Checked):
    r"""The keywords of `TokenFeatures`, which describes each feature.

    Args:
        words: whether words have ids.
        suffixes, prefixes: lengths in characters (not bytes).
        capitals, shapes: whether capitalisation and word shape are features.
        characters: the number of first and of last characters, 0 for none.
        characters_of: "raw", or "normalised" for characters of the word's normal form,
            so that the feature `capitals` alone tells the case (W16, W17). Applies to a
            character network too.
        columns: names of `Sentence.columns`.
        normalise: the normal form of words, by paper:

            * "kadari": lower case, digit runs to 0, the part before `\\/` dropped;
            * "wu": lower case, every digit to 9;
            * "lower", or None: lower case (D16 on ATIS and MEDIA);
            * "dinarelli": numbers to NUM; a word with an initial capital is lowered if
              its lower-case form occurs in training, and the capitalised form does not
              occur there inside a sentence. Other words keep their case (D16 on
              treebanks).
        lookup: "normalised" (the normal form only, as in the papers) or "cascade" (the
            first known form of: as written, lower case, normal form). It matters for
            vectors with cased words; word ids are those of normal forms.
        word_min_count: rarer words have no id of their own.
        word_classes: classes of words, such as Brown clusters: an installed name, a
            file with a word, a tab and the path of its class in each line, or a dict. A
            word has that of the first known form of: as written, lower case, normal
            form.
        class_prefixes: numbers of steps of the paths whose embeddings stand beside that
            of the whole path; () for classes that have names in the place of paths.
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
    word_classes: Classes | None = None
    class_prefixes: Prefixes = (4, 6, 10)
