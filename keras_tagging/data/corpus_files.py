"""Sentences of several files, which can be read again and again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from keras_tagging.data.lines import source_name
from keras_tagging.data.readers import CorpusError, detect_format, read
from keras_tagging.data.sentence import Sentence


class CorpusFiles:
    """The sentences of files, one file after another, in constant memory.

    Each iteration reads the files anew. Their format is recognised, as in `read`; where
    the lines fit several, each is a sentence, with blanks between its tokens ("text").

    Args:
        paths: of the files, which may be compressed.

    Raises:
        CorpusError: if there is no such file, and, during the iteration, at a malformed
            sentence.
    """

    def __init__(self, paths: Sequence[str | Path]):
        self.paths = list(paths)
        for path in self.paths:
            if str(path) == "-":
                raise CorpusError("-: the text is read again and again: give a file")
            source_name(path)

    def __iter__(self) -> Iterator[Sentence]:
        for path in self.paths:
            yield from read(path, detect_format(path, default="text"))

    def __repr__(self) -> str:
        return f"CorpusFiles({', '.join(map(str, self.paths))})"
