"""Inputs cut into shards, where a document, a paragraph or a sentence ends."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from keras_tagging.data.lines import raw_lines, source_name
from keras_tagging.data.records import CorpusError, message, unread
from keras_tagging.scale.parquet import row_ranges

#: bytes of input after which a shard ends as soon as it can
SIZE = 1_000_000
#: what the endings of names stand for; each but Parquet may be followed by .gz
KINDS = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conllu": "conllu",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Shard:
    """A part of an input that becomes one file.

    Args:
        number: counted from 0 through all inputs.
        path: of the input.
        kind: text, tokens, jsonl, conllu or parquet.
        document: the identifier of the input, by which sentences are named.
        begin, end: the bytes of the input, or for Parquet its rows; `end` is None if
            it is all of the input.
        line: number of the first line, counted from 1.
        character: offset of its first character in the text.
        encoding: of the input; None is UTF-8.
    """

    number: int
    path: str
    kind: str
    document: str
    begin: int = 0
    end: int | None = None
    line: int = 1
    character: int = 0
    encoding: str | None = None

    @property
    def place(self) -> str:
        """The input and where in it the shard begins, for messages."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Plan:
    """The inputs with their fingerprints, and their shards."""

    inputs: list[dict]
    shards: list[Shard]

    def described(self) -> dict:
        """All of it for JSON."""
        return {"inputs": self.inputs, "shards": [asdict(s) for s in self.shards]}


def plan(
    inputs: Sequence[str | Path],
    kind: str | None = None,
    encoding: str | None = None,
    size: int = SIZE,
) -> Plan:
    """Read the inputs once, and cut them into shards.

    Running text is cut between paragraphs, that is at blank lines; CoNLL-U between
    sentences; tokens and JSON lines between lines; Parquet between rows. Text without a
    blank line, and a file that is compressed or not in UTF-8, is a single shard.

    Args:
        inputs: files, or folders of which all files with a known ending are taken.
        kind: "text", "tokens" or "conllu" for all files but JSON lines and Parquet;
            None for what their names say.
        encoding: of the files; by default UTF-8.
        size: bytes after which a shard ends as soon as it can.

    Raises:
        ValueError: if a name says nothing, a file is not what it says, or a line is not
            in this encoding or beyond a limit.
        OSError: if a file cannot be read.
    """
    if size < 1:
        raise ValueError(f"a shard of {size} bytes: give at least 1")
    # workers may run in another folder
    paths = [path.absolute() for given in inputs for path in _files(Path(given))]
    if not paths:
        raise ValueError(f"{', '.join(map(str, inputs))}: no file to annotate")
    described, shards = [], []
    for path, document in zip(paths, _documents(paths), strict=True):
        own = kind_of(path, kind)
        begin = len(shards)
        found = {"path": str(path), "kind": own, "bytes": path.stat().st_size}
        if own == "parquet":
            ranges, found["sha256"] = row_ranges(path, size)
            places = [dict(begin=a, end=b, line=a + 1) for a, b in ranges]
        else:
            digest = hashlib.sha256()
            places = list(_cut(path, own, encoding, size, digest))
            found["sha256"] = digest.hexdigest()
        shards += [
            Shard(number, str(path), own, document, encoding=encoding, **place)
            for number, place in enumerate(places, begin)
        ]
        described.append(found)
    return Plan(described, shards)


def kind_of(path: Path, kind: str | None) -> str:
    """The kind of a file by its name, or the kind given.

    Raises:
        ValueError: if neither says it.
    """
    known = _known(path)
    if known not in ("jsonl", "parquet") and kind is not None:
        return kind
    if known is None:
        raise ValueError(
            f"{path}: its name does not say what it holds: let it end in "
            f"{', '.join(KINDS)}, or give --input text, tokens or conllu"
        )
    return known


def _known(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        inner = KINDS.get(path.with_suffix("").suffix.lower())
        return None if inner == "parquet" else inner
    return KINDS.get(suffix)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(filter(_is_read, path.iterdir()))
    if str(path) == "-":
        raise ValueError("standard input cannot be cut into shards: name files")
    source_name(path)  # which refuses what is no file
    return [path]


def _is_read(path: Path) -> bool:
    return path.is_file() and _known(path) is not None


def _documents(paths: list[Path]) -> list[str]:
    """The names of the files, or their paths if two have the same name."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = list(map(str, paths))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice}: is given twice, and would come out twice")
    return names


def _cut(path: Path, kind: str, encoding, size: int, digest) -> Iterator[dict]:
    """The places of the shards of a file of lines."""
    name = str(path)
    if encoding is not None or path.suffix.lower() == ".gz":
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        yield {"begin": 0, "end": None}
        return
    at_blank = kind in ("text", "conllu")
    begin, start, length, characters = 0, {"line": 1, "character": 0}, 0, 0
    was_blank = False
    for number, line in raw_lines(path, name, None):
        if not isinstance(line, str):
            raise CorpusError(message(name, unread(number, line)))
        is_blank = not line.strip()
        ends = was_blank and not is_blank if at_blank else True
        if length >= size and ends:
            yield {"begin": begin, "end": begin + length, **start}
            begin, length = begin + length, 0
            start = {"line": number, "character": characters}
        content = line.encode()
        digest.update(content)
        length += len(content)
        characters += len(line) - (number == 1 and line.startswith("\ufeff"))
        was_blank = is_blank
    if length:
        yield {"begin": begin, "end": begin + length, **start}
