"""Shared parts of the parsers of all formats.

A parser takes an iterator of `(number, line)`. A line that could not be decoded is
replaced by its `UnicodeDecodeError`, and a line that cannot be read for another reason
by a `Malformed`. For every sentence the parser yields the `Sentence`, or a `Malformed`
that says why there is none. It *raises* `Malformed` if an option does not fit the file.
Its keyword-only arguments are the options of the format.

Lines are split at ASCII blanks and tabs only, so a token may contain any other white
space (a non-breaking space, a zero-width space, U+2028).
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from sys import intern

from keras_tagging.data.normalisation import LimitError, shown, to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits

BLANK = " \t"
BOMS = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
MARK = "-DOCSTART-"
_PART = re.compile("[^ \t]+")


class CorpusError(ValueError):
    """An error in a corpus, as one line: `PATH:LINE: the problem; the remedy`."""


class MalformedSentence(CorpusError):
    """A sentence that `errors="skip"` leaves out."""


class Malformed(ValueError):
    """A problem at a line of a corpus, and its remedy."""

    def __init__(self, line: int, what: str, remedy: str):
        super().__init__(line, what, remedy)
        self.line, self.what, self.remedy = line, what, remedy

    def __str__(self):
        return f"{self.what}; {self.remedy}"


Line = tuple[int, str | UnicodeDecodeError | Malformed]


def message(name: str, problem: Malformed, hint: str = "") -> str:
    return f"{name}:{problem.line}: {problem}{hint}"


def split_blanks(text: str) -> list[str]:
    """The parts of the text between runs of ASCII blanks and tabs.

    They are at most one more than the tokens of a sentence, which readers then refuse.
    """
    if len(text) > 2 * limits.SENTENCE_TOKENS:
        return list(islice(each_part(text), limits.SENTENCE_TOKENS + 1))
    parts = text.replace("\t", " ").split(" ")  # three times as fast as `re.split`
    return list(filter(None, parts)) if "" in parts else parts


def each_part(text: str) -> Iterable[str]:
    """All parts of a text, whether or not they are those of one sentence."""
    if len(text) > 2 * limits.SENTENCE_TOKENS:
        return map(re.Match.group, _PART.finditer(text))
    return split_blanks(text)


def is_blank(line: str | Exception) -> bool:
    return isinstance(line, str) and not line.strip(BLANK)


def is_document_mark(line: str) -> bool:
    """Whether the line is CoNLL-2003's mark between documents."""
    return line.startswith(MARK) and line[len(MARK) : len(MARK) + 1] in BLANK


class Record(list[Line]):
    """The lines of a sentence, within limits, so that no file can fill the memory."""

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
        most = f"{limits.SENTENCE_TOKENS:,} lines or {limits.SENTENCE_CHARACTERS:,}"
        what = f"the sentence that begins here has more than {most} characters"
        remedy = "mark the ends of sentences, with blank lines if the format has them"
        self[:] = [(number, Malformed(number, what, remedy))]
        self.characters = 0


def parse_each(records: Iterable[list[Line]], parse: Callable) -> Iterator:
    for record in records:
        try:
            for number, line in record:
                if not isinstance(line, str):
                    raise unread(number, line)
            result = parse(record)
        except LimitError as error:
            lines = (number for number, line in record if error.text in line)
            number = next(lines, record[0][0])
            result = Malformed(number, error.what, error.remedy)
        except Malformed as problem:
            result = problem
        if result is not None:
            yield result


def left_out(count: int) -> str:
    """How many sentences `errors="skip"` has left out."""
    return f"{count} malformed sentence{'s' * (count != 1)} left out"


def unread(number: int, error: UnicodeDecodeError | Malformed) -> Malformed:
    if isinstance(error, Malformed):
        return error
    data, place, encoding = error.object, error.start, error.encoding
    what = f"byte {place + 1} of the line is not {encoding}: 0x{data[place]:02x}"
    remedy = "convert the file, or pass encoding= with its own, such as "
    return Malformed(number, what, remedy + repr(likely_encoding(data, encoding)))


def likely_encoding(data: bytes, tried: str = "utf-8") -> str:
    """The encoding to try for bytes that are not in another one.

    Windows' quotes and dashes are control characters in Latin-1, where nothing is wrong
    with them: so that one is the last to try.
    """
    if data.startswith(BOMS):
        return "utf-16"
    if b"\0" in data:
        return "utf-16-le"
    return "cp1252" if tried == "utf-8" else "latin-1"


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The blocks of lines between blank lines."""
    lines_left, characters_left = limits.SENTENCE_TOKENS, limits.SENTENCE_CHARACTERS
    block, size = Record(), 0
    for numbered in lines:
        line = numbered[1]
        if isinstance(line, str):  # runs for every line, so no function calls here
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


def sentence_of(
    tokens, tags=None, columns=None, sent_id=None, derivation=None
) -> Sentence:
    """Make a sentence, with its tokens in NFC.

    Raises:
        LimitError: if there are too many tokens, or one is too long or has too many
            combining marks, or a head has too many digits.
    """
    check_count(len(tokens))
    for head in (columns or {}).get("head", ()):
        if len(head) > limits.INTEGER_DIGITS and head.isdecimal():
            what = f"the head {shown(head)} has {len(head):,} digits"
            raise LimitError(what, "give the number of a word", head)
    text = "".join(tokens)
    if len(text) > limits.TOKEN_CHARACTERS:
        for token in tokens:
            if len(token) > limits.TOKEN_CHARACTERS:
                what = f"the token {shown(token)} has {len(token):,} characters"
                most = f"at most {limits.TOKEN_CHARACTERS:,} may be"
                raise LimitError(what, most, token)
    if not text.isascii():
        tokens = map(to_nfc, tokens)
    # Tags and words recur: sharing one string object each keeps large corpora small.
    return Sentence(
        list(map(intern, tokens)),
        None if tags is None else list(map(intern, tags)),
        {name: list(map(intern, values)) for name, values in (columns or {}).items()},
        sent_id=sent_id,
        derivation=derivation,
    )


def sent_id_of(lines: Iterable[str]) -> str | None:
    """The text of the comment `# sent_id` before the first word of a sentence."""
    for line in lines:
        if line.startswith("# sent_id = "):
            return line.removeprefix("# sent_id = ").strip()
        if line[:1].isdigit():
            break
    return None


def check_count(count: int) -> None:
    """Raise a LimitError if a sentence cannot have so many tokens."""
    if count > limits.SENTENCE_TOKENS:
        what = f"a sentence has more than {limits.SENTENCE_TOKENS:,} tokens"
        raise LimitError(what, "split it where its sentences end")


def check_nodes(count: int) -> None:
    """Raise a LimitError if a tree cannot have so many nodes."""
    if count > limits.TREE_NODES:
        what = f"a tree has more than {limits.TREE_NODES:,} brackets"
        raise LimitError(what, "split it where its sentences end")
