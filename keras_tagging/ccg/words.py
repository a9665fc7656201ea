"""Words as `.auto` files have them: without brackets and blanks of their own."""

import re

#: as the Penn Treebank and CCGbank write brackets
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-"}
BRACKETS |= {"{": "-LCB-", "}": "-RCB-"}
_NAMES = {name: bracket for bracket, name in BRACKETS.items()}
_NAMED = re.compile("|".join(_NAMES))
#: some readers end a line at any of these
_SPACE = re.compile(r"\s")
_TABLE = str.maketrans(BRACKETS)


def escaped(word: str) -> str:
    """A word as a field of a file; `unescaped` gives it back.

    Brackets have names, and a no-break space stands for a blank or any other white
    space; an empty word is `_`.

    Example:
        >>> escaped("f(x)"), unescaped("f-LRB-x-RRB-")
        ('f-LRB-x-RRB-', 'f(x)')
    """
    return _SPACE.sub("\u00a0", word).translate(_TABLE) or "_"


def unescaped(word: str) -> str:
    """The word as a text has it; a name of a bracket is that bracket."""
    if "-" in word:
        word = _NAMED.sub(lambda match: _NAMES[match[0]], word)
    return word.replace("\u00a0", " ")


def in_text(word: str) -> str:
    r"""The word of a treebank as a text has it: `unescaped`, without backslashes.

    The Penn Treebank and CCGbank have these before slashes and asterisks.

    Example:
        >>> in_text("-LRB-"), in_text(r"1\/2")
        ('(', '1/2')
    """
    return without_backslashes(unescaped(word))


def without_backslashes(word: str) -> str:
    """The word without those of the Penn Treebank, before a slash or an asterisk."""
    return word.replace("\\/", "/").replace("\\*", "*") if "\\" in word else word
