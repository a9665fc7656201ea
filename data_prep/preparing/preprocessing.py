r"""The normal forms of words in the papers, for files that other programs read.

Models with `recipe="paper"` apply the same forms in TensorFlow, and read suffixes and
capitals from the original words.
"""

import re
from collections.abc import Callable

from keras_tagging.data import Sentence


def kadari(word: str) -> str:
    r"""The form of K18 section 3.1: lower case, digit runs as one 0.

    Only the part after a backslash, which CCGbank writes before a slash, is kept.

    Example:
        >>> [kadari(word) for word in ("Mr.", "1,989", r"Wife\/Mother")]
        ['mr.', '0,0', 'mother']
    """
    word = re.sub(r"\d+", "0", word.lower())
    return re.sub(r"(?s)^.*\\/?(.+)$", r"\1", word)


def wu(word: str) -> str:
    r"""The form of W16 section 6.1.1: lower case, every digit as 9.

    Example:
        >>> [wu(word) for word in ("Mr.", "1,989", r"Wife\/Mother")]
        ['mr.', '9,999', 'wife\\/mother']
    """
    return re.sub(r"\d", "9", word.lower())


PREPROCESSING: dict[str, Callable[[str], str]] = {"k18": kadari, "w16": wu}


def with_words(sentence: Sentence, form: Callable[[str], str]) -> Sentence:
    """The sentence with every token in another form."""
    return Sentence(list(map(form, sentence.tokens)), sentence.tags, sentence.columns)
