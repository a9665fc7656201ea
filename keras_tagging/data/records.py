"""What the parsers of all formats share.

A parser takes an iterator of `(number, line)`, where a line that could not be
decoded is the `UnicodeDecodeError` itself, and yields for every sentence either the
`Sentence` or the `Malformed` that says why there is none; it *raises* `Malformed`
when an option does not fit the file. Its keyword-only arguments are the format's
options.

Lines are cut at ASCII blanks and tabs only, so that a token may be or hold any other
white space (a non-breaking space, a zero-width space, U+2028).
"""

from collections.abc import Callable, Iterable, Iterator
from sys import intern

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.sentence import Sentence

Line = tuple[int, str | UnicodeDecodeError]
BLANK = " \t"


class CorpusError(ValueError):
    """One line: `PATH:LINE: what is wrong; how to mend it`."""


class MalformedSentence(CorpusError):
    """A sentence that `errors="skip"` leaves out."""


class Malformed(ValueError):
    """What is wrong with the corpus at a line, and how to mend it."""

    def __init__(self, line: int, what: str, remedy: str):
        super().__init__(line, what, remedy)
        self.line, self.what, self.remedy = line, what, remedy


def split_blanks(text: str) -> list[str]:
    """The parts of the text between runs of ASCII blanks and tabs."""
    parts = text.replace("\t", " ").split(" ")  # three times as fast as `re.split`
    return list(filter(None, parts)) if "" in parts else parts


def is_blank(line: str | UnicodeDecodeError) -> bool:
    return isinstance(line, str) and not line.strip(BLANK)


def parse_each(records: Iterable[list[Line]], parse: Callable) -> Iterator:
    for record in records:
        try:
            for number, line in record:
                if isinstance(line, UnicodeDecodeError):
                    what = f"byte {line.start + 1} of the line is not {line.encoding}"
                    own = "pass encoding= with the file's own, such as 'latin-1'"
                    remedy = f"convert the file to that, or {own}"
                    raise Malformed(number, what, remedy)
            result = parse(record)
        except Malformed as problem:
            result = problem
        if result is not None:
            yield result


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """What stands between blank lines."""
    block = []
    for numbered in lines:
        if not is_blank(numbered[1]):
            block.append(numbered)
        elif block:
            yield block
            block = []
    if block:
        yield block


def sentence_of(tokens, tags=None, columns=None) -> Sentence:
    if not "".join(tokens).isascii():
        tokens = map(to_nfc, tokens)
    # Tags and words recur: one string object for each keeps large corpora small.
    return Sentence(
        list(map(intern, tokens)),
        None if tags is None else list(map(intern, tags)),
        {name: list(map(intern, values)) for name, values in (columns or {}).items()},
    )
