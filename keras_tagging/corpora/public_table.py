"""The table of the public corpora, which `public.toml` holds."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class File:
    """One file of a corpus, or the archive of all: its name, its size in bytes and its
    SHA-256 in hexadecimal."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PublicCorpus:
    """A corpus that can be downloaded.

    Args:
        title: what it is, in a line.
        licence, citation: as they are to be shown.
        base: the URL of the folder that holds the files; with `archive`, of that.
        folder: where KERAS_TAGGING_DATA may hold the files, besides the corpus' name.
        format, options: how to read it.
        files: for each split its file.
        archive: the `.zip` the files come in, if they do, and
        inside: their folder in it.
    """

    title: str
    licence: str
    citation: str
    base: str
    folder: str
    format: str
    files: dict[str, File]
    options: Mapping = field(default_factory=dict)
    archive: File | None = None
    inside: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def _table() -> dict[str, PublicCorpus]:
    text = files(__package__).joinpath("public.toml").read_text("utf-8")
    table = tomllib.loads(text)
    for row in table.values():
        row["files"] = {split: File(**file) for split, file in row["files"].items()}
        if "archive" in row:
            row["archive"] = File(**row["archive"])
    return {name: PublicCorpus(**row) for name, row in table.items()}


PUBLIC: dict[str, PublicCorpus] = _table()
