"""The table of public corpora, read from `public.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class File:
    """A file of a corpus, or the archive with all files.

    Args:
        name: the name of the file.
        size: its size in bytes.
        sha256: its SHA-256 in hexadecimal.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PublicCorpus:
    """A corpus that can be downloaded.

    Args:
        title: a description in one line.
        licence, citation: the licence and the citation, as shown to the user.
        base: the URL of the folder with the files, or with the archive.
        folder: a folder of KERAS_TAGGING_DATA that may have the files, besides the one
            with the name of the corpus.
        format, options: the format of the files and the options to read them.
        files: the file of each split.
        archive: the `.zip` archive with the files, if there is one.
        inside: the folder of the files in the archive.
        language: a code of ISO 639.
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
    language: str = ""

    @property
    def size(self) -> int:
        """The bytes of all files together."""
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
