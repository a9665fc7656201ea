"""The CCG categories of corpora; what a category is, `keras_tagging.ccg` says."""

from keras_tagging.ccg.categories import CategoryError, as_read
from keras_tagging.data.records import Malformed


def category_at(line: int, text: str, notation: str | None) -> str:
    """The category that a reader returns, in normal form.

    With `notation=None` it is the text as it stands, but for the errors of the
    published treebank.

    Raises:
        Malformed: if the text is not a category, or the notation is unknown.
    """
    try:
        return as_read(text, notation)
    except CategoryError as error:
        raise Malformed(line, error.what, error.remedy) from None
    except ValueError as error:
        raise Malformed(line, str(error), "pass categories= with one") from None
