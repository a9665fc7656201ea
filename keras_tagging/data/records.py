"""What the parsers of all formats share.

A parser takes an iterator of `(number, line)`, where a line that could not be
decoded is the `UnicodeDecodeError` itself, and one that cannot be read for another
reason the `Malformed` that says so, and yields for every sentence either the
`Sentence` or the `Malformed` that says why there is none; it *raises* `Malformed`
when an option does not fit the file. Its keyword-only arguments are the format's
options.

Lines are cut at ASCII blanks and tabs only, so that a token may be or hold any other
white space (a non-breaking space, a zero-width space, U+2028).
"""

from collections.abc import Callable, Iterable, Iterator
from sys import intern

from keras_tagging.data.normalisation import LimitError, shown, to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits

BLANK = " \t"
MARK = "-DOCSTART-"


class CorpusError(ValueError):
    """One line: `PATH:LINE: what is wrong; how to mend it`."""


class MalformedSentence(CorpusError):
    """A sentence that `errors="skip"` leaves out."""


class Malformed(ValueError):
    """What is wrong with the corpus at a line, and how to mend it."""

    def __init__(self, line: int, what: str, remedy: str):
        super().__init__(line, what, remedy)
        self.line, self.what, self.remedy = line, what, remedy


Line = tuple[int, str | UnicodeDecodeError | Malformed]


def message(name: str, problem: Malformed, hint: str = "") -> str:
    return f"{name}:{problem.line}: {problem.what}; {problem.remedy}{hint}"


def split_blanks(text: str) -> list[str]:
    """The parts of the text between runs of ASCII blanks and tabs."""
    parts = text.replace("\t", " ").split(" ")  # three times as fast as `re.split`
    return list(filter(None, parts)) if "" in parts else parts


def is_blank(line: str | Exception) -> bool:
    return isinstance(line, str) and not line.strip(BLANK)


def is_document_mark(line: str) -> bool:
    """Whether the line is that of CoNLL-2003 between documents."""
    return line.startswith(MARK) and line[len(MARK) : len(MARK) + 1] in BLANK


class Record(list[Line]):
    """The lines of a sentence, or, if they are too many, the `Malformed` that says so,
    so that no file can fill the memory."""

    characters = 0

    def add(self, number: int, line: str | Exception) -> None:
        if self.is_full():
            self.refuse()
        self.append((number, line))
        self.characters += len(line) if isinstance(line, str) else 0

    def is_full(self) -> bool:
        return (
            len(self) >= limits.SENTENCE_TOKENS
            or self.characters >= limits.SENTENCE_CHARACTERS
        )

    def refuse(self) -> None:
        number = self[0][0]
        what = (
            f"the sentence that begins here has more than {limits.SENTENCE_TOKENS:,} "
            f"lines or {limits.SENTENCE_CHARACTERS:,} characters"
        )
        remedy = "mark where sentences end, by blank lines where the format has them"
        self[:] = [(number, Malformed(number, what, remedy))]
        self.characters = 0


def parse_each(records: Iterable[list[Line]], parse: Callable) -> Iterator:
    for record in records:
        try:
            for number, line in record:
                if not isinstance(line, str):
                    raise unread(number, line)
            result = parse(record)
            if isinstance(result, Sentence):
                _check_length(len(result.tokens))
        except LimitError as error:
            lines = (number for number, line in record if error.text in line)
            number = next(lines, record[0][0])
            result = Malformed(number, error.what, error.remedy)
        except Malformed as problem:
            result = problem
        if result is not None:
            yield result


def unread(number: int, error: UnicodeDecodeError | Malformed) -> Malformed:
    if isinstance(error, Malformed):
        return error
    what = f"byte {error.start + 1} of the line is not {error.encoding}"
    own = "pass encoding= with the file's own, such as 'latin-1'"
    return Malformed(number, what, f"convert the file to that, or {own}")


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """What stands between blank lines."""
    lines_left, characters_left = limits.SENTENCE_TOKENS, limits.SENTENCE_CHARACTERS
    block, size = Record(), 0
    for numbered in lines:
        line = numbered[1]
        if isinstance(line, str):  # every line comes through here: no calls
            if not line.strip(BLANK):
                if block:
                    yield block
                    block, size = Record(), 0
                continue
            size += len(line)
        block.append(numbered)
        if size > characters_left or len(block) > lines_left:
            block.refuse()
            size = 0
    if block:
        yield block


def sentence_of(tokens, tags=None, columns=None) -> Sentence:
    """A sentence of these values, its tokens in NFC.

    Raises:
        LimitError: if a token is too long, or has too many combining marks.
    """
    text = "".join(tokens)
    if len(text) > limits.TOKEN_CHARACTERS:
        _check_lengths(tokens)
    if not text.isascii():
        tokens = map(to_nfc, tokens)
    # Tags and words recur: one string object for each keeps large corpora small.
    return Sentence(
        list(map(intern, tokens)),
        None if tags is None else list(map(intern, tags)),
        {name: list(map(intern, values)) for name, values in (columns or {}).items()},
    )


def _check_length(count: int) -> None:
    if count > limits.SENTENCE_TOKENS:
        what = f"a sentence of {count:,} tokens, where {limits.SENTENCE_TOKENS:,} are"
        raise LimitError(f"{what} the most", "cut it where its sentences end")


def _check_lengths(tokens) -> None:
    for token in tokens:
        if len(token) > limits.TOKEN_CHARACTERS:
            what = (
                f"the token {shown(token)} has {len(token):,} characters, where "
                f"{limits.TOKEN_CHARACTERS:,} are the most"
            )
            raise LimitError(what, "cut or remove it", token)
