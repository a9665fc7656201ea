"""Write trees into CoNLL-U and CoNLL-X files; everything else stays as it is."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import IO

from keras_tagging.data.formats.treebanks import (
    ESCAPES,
    FIELDS,
    MISC,
    is_no_word,
    sentence_of_rows,
    word_rows,
)
from keras_tagging.data.lines import content, numbered_lines, source_name
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.records import (
    CorpusError,
    Line,
    Malformed,
    Record,
    is_blank,
    message,
    parse_each,
)
from keras_tagging.data.sentence import NER, Sentence
from keras_tagging.utils.checks import check_known

TAGS = "tags"
_ESCAPES = {character: f"\\{name}" for name, character in ESCAPES.items()}


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence and its lines in a file, from the comments to the blank line after it.

    Args:
        lines: the lines with their ends, and with the file's byte order mark.
        sentence: as the format `conllu` reads it, with unchecked heads and relations.
        words: the indices in `lines` of the words: no ranges, no empty nodes.
    """

    lines: list[str]
    sentence: Sentence
    words: list[int]

    def with_columns(
        self,
        columns: Mapping[str, Sequence[int | str]],
        comments: Mapping[str, str] | None = None,
    ) -> str:
        """The lines with other values in some columns.

        Args:
            columns: for each word a value, by the names of `conllu_field`; "tags" are
                those that CoNLL-U has no column for, `Tag=` in MISC.
            comments: further comments by name, which replace those of the same name.

        Raises:
            ValueError: if there is not one value a word, a value cannot be a field, or
                there is no such column.
            TypeError: if a number is not an integer, such as 2.0.
        """
        fields = [(x, MISC if x == TAGS else conllu_field(x)) for x in columns]
        values = list(map(_fields, columns.values()))
        rows, lines = zip(*values, strict=True), list(self.lines)
        for word, row in zip(self.words, rows, strict=bool(values)):
            cells = lines[word].split("\t")
            for (name, field), value in zip(fields, row, strict=True):
                cell = value if field != MISC else _in_misc(cells[MISC], name, value)
                cells[field] = cell
            lines[word] = "\t".join(cells)
        if comments and self.words:
            lines = _commented(lines, comments)
        return "".join(lines)


def conllu_field(name: str) -> int:
    """The index of the field of CoNLL-U that a column of sentences is.

    Raises:
        ValueError: if there is none; "upos" is a name for `pos`, and entities are in
            MISC.
    """
    if name == NER:
        return MISC
    check_known("column of CoNLL-U", field_of(name), (*FIELDS, NER))
    return FIELDS[field_of(name)]


def entity_attributes(tag: str) -> list[str]:
    """The attributes of MISC for a tag of the column of entities."""
    return [] if tag in ("O", "_", "") else [f"NER={escaped(tag)}"]


def escaped(text: str) -> str:
    """A value of MISC, without blanks, bars and ends of lines."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def _in_misc(misc: str, name: str, value: str) -> str:
    """MISC, with its line end, with another entity, or another tag."""
    attributes = misc.rstrip("\r\n")
    end = misc[len(attributes) :]
    if name == NER:
        before, new = "NER=", entity_attributes(value)
    else:
        before, new = "Tag=", [f"Tag={escaped(value)}"]
    kept = [x for x in attributes.split("|") if x != "_" and not x.startswith(before)]
    return ("|".join([*new, *kept]) or "_") + end


def _commented(lines: list[str], comments: Mapping[str, str]) -> list[str]:
    """The lines of a sentence with these comments, the last before its rows."""
    mark = "\ufeff" if lines[0].startswith("\ufeff") else ""
    lines = [lines[0].removeprefix(mark), *lines[1:]]
    old = tuple(f"# {name} =" for name in comments)
    kept = [line for line in lines if not line.startswith(old)]
    first = next(i for i, line in enumerate(kept) if line[:1] not in ("#", "\r", "\n"))
    row = kept[first]
    end = row[len(row.rstrip("\r\n")) :] or "\n"
    new = [f"# {name} = {text}{end}" for name, text in comments.items()]
    kept[first:first] = new
    return [mark + kept[0], *kept[1:]]


def read_blocks(path: str | Path | IO, encoding: str | None = None) -> Iterator[Block]:
    """The sentences of a CoNLL-U or CoNLL-X file with their lines, in constant memory.

    HEAD and DEPREL may hold anything, or nothing. The lines of all blocks together are
    the whole file. Lines after the last sentence, such as blank ones, form a last block
    with an empty sentence.

    Args:
        path, encoding: as in `data.read`.

    Raises:
        CorpusError: if there is no such file, or, during the iteration, at the first
            malformed line.
    """
    name = source_name(path)
    return _blocks(numbered_lines(path, name, encoding, raw=True), name)


def _blocks(lines: Generator[Line, None, None], name: str) -> Iterator[Block]:
    with closing(lines):
        for block in parse_each(_records(lines), _block):
            if isinstance(block, Malformed):
                raise CorpusError(message(name, block))
            yield block


def _records(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines up to the first blank one after a word, and so on."""
    record, has_words = Record(), False
    for raw in lines:
        _, line = content(raw)
        if is_blank(line) and (has_words or record.is_full()):
            yield [*record, raw]
            record, has_words = Record(), False
            continue
        record.add(*raw)
        if not is_blank(line):
            has_words |= not (isinstance(line, str) and is_no_word(line))
    if record:
        yield record


def _block(record: list[Line]) -> Block:
    filled = (line for line in map(content, record) if not is_blank(line[1]))
    rows = word_rows(filled, needs_trees=False)
    sentence = sentence_of_rows(rows) if rows else Sentence([])
    first = record[0][0]
    return Block([raw for _, raw in record], sentence, [n - first for n, _ in rows])


def as_conllu(sentence: Sentence) -> str:
    """A sentence of any format as CoNLL-U, with a blank line after it.

    LEMMA, UPOS, XPOS and FEATS are its columns `lemma`, `pos`, `xpos` and `feats`, and
    MISC has the entities of `ner`; a field without a value is `_`. An empty sentence,
    which CoNLL-U does not have, is a blank line.

    Raises:
        ValueError, TypeError: as in `Block.with_columns`.
    """
    rows = conllu_rows(sentence.tokens, sentence.columns)
    misc = map(entity_attributes, sentence.columns.get(NER, ["_"] * len(rows)))
    return "".join([*map(with_misc, rows, misc), "\n"])


def conllu_rows(
    tokens: Sequence[str], by_name: Mapping[str, Sequence[int | str]]
) -> list[str]:
    """The rows of `as_conllu`, without MISC and the ends of their lines.

    Args:
        tokens: the words.
        by_name: the columns of the sentence.

    Raises:
        ValueError, TypeError: as in `Block.with_columns`.
    """
    unknown = ["_"] * len(tokens)
    names = ("lemma", "pos", "xpos", "feats", "head", "deprel")
    columns = (by_name.get(name, unknown) for name in names)
    forms, *fields = map(_fields, (tokens, *columns))
    if "" in forms:
        number = forms.index("") + 1
        raise ValueError(f"word {number} is empty: CoNLL-U cannot hold it")
    fields = [[field or "_" for field in column] for column in fields]
    numbers = map(str, range(1, len(forms) + 1))
    rows = zip(numbers, forms, *fields, unknown, strict=True)
    return ["\t".join(row) for row in rows]


def with_misc(row: str, attributes: Iterable[str]) -> str:
    """The line of a row of `conllu_rows` with these attributes in MISC."""
    return f"{row}\t{'|'.join(attributes) or '_'}\n"


def _fields(column: Sequence[int | str]) -> list[str]:
    """The fields of a column."""
    fields = list(column)
    try:
        whole = "".join(fields)
    except TypeError:  # numbers are among them
        fields = [x if isinstance(x, str) else str(index(x)) for x in fields]
        whole = "".join(fields)
    if "\t" in whole or "\n" in whole:
        value = next(x for x in fields if "\t" in x or "\n" in x)
        raise ValueError(f"{value!r} holds a tab or line feed: CoNLL-U cannot")
    return fields
