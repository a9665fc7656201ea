r"""The forms in which papers give words to their models, written into files.

The models' `recipe="paper"` has them too, as graphs of TensorFlow, and reads suffixes
and capitals from the words as they stand; these are for other programs.
"""

import re
from collections.abc import Callable

from keras_tagging.data.sentence import Sentence


def kadari(word: str) -> str:
    r"""K18 section 3.1: lower case, a sequence of digits as one 0, what follows the
    backslash, which CCGbank writes before a slash.

    Example:
        >>> [kadari(word) for word in ("Mr.", "1,989", r"Wife\/Mother")]
        ['mr.', '0,0', 'mother']
    """
    word = re.sub(r"\d+", "0", word.lower())
    return re.sub(r"(?s)^.*\\/?(.+)$", r"\1", word)


def wu(word: str) -> str:
    r"""W16 section 6.1.1: lower case, every digit as 9.

    Example:
        >>> [wu(word) for word in ("Mr.", "1,989", r"Wife\/Mother")]
        ['mr.', '9,999', 'wife\\/mother']
    """
    return re.sub(r"\d", "9", word.lower())


PREPROCESSING: dict[str, Callable[[str], str]] = {"k18": kadari, "w16": wu}


def with_words(sentence: Sentence, form: Callable[[str], str]) -> Sentence:
    """The sentence with every token in another form."""
    return Sentence(list(map(form, sentence.tokens)), sentence.tags, sentence.columns)
