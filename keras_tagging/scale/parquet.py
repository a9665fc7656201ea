"""Rows of Parquet files, a range of them at a time, in little memory."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

#: rows that are turned into objects at once: each may be as long as a text may be
ROWS = 100
#: the columns that are read, those that there are
COLUMNS = (
    "id",
    "text",
    "tokens",
    "upos",
    "pos",
    "xpos",
    "feats",
    "lemma",
    "word_class",
)


def row_ranges(path: Path, size: int) -> tuple[list[tuple[int, int]], str]:
    """Ranges of rows of about `size` bytes, and a fingerprint of the file.

    The fingerprint is that of the metadata, which tell the place and the extent of all
    values: a file of terabytes is not read for it. No range goes beyond a row group.

    Raises:
        ValueError: if it is no Parquet file, or has neither text nor tokens.
    """
    with _opened(path) as file:
        names = set(file.schema_arrow.names)
        if not names & {"text", "tokens"}:
            raise ValueError(
                f"{path}: has the columns {', '.join(sorted(names))[:200]}, but "
                "neither text nor tokens: rename one of them"
            )
        ranges, begin = [], 0
        for index in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(index)
            rows = group.num_rows
            step = max(1, int(size * rows / max(1, group.total_byte_size)))
            ranges += [
                (begin + first, begin + min(first + step, rows))
                for first in range(0, rows, step)
            ]
            begin += rows
        length = file.metadata.serialized_size
    with path.open("rb") as stream:
        stream.seek(-min(length + 8, path.stat().st_size), 2)
        return ranges, hashlib.sha256(stream.read()).hexdigest()


def rows_of(path: Path, begin: int, end: int) -> Iterator[tuple[int, dict]]:
    """The rows of a range, each with its number, counted from 0.

    Raises:
        ValueError: if the file is damaged.
    """
    import pyarrow

    with _opened(path) as file:
        columns = [name for name in file.schema_arrow.names if name in COLUMNS]
        number = 0
        for index in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(index).num_rows
            if number + rows <= begin or number >= end:
                number += rows
                continue
            try:
                for batch in file.iter_batches(ROWS, [index], columns):
                    if number + len(batch) > begin and number < end:
                        low, high = max(0, begin - number), end - number
                        kept = batch.slice(low, high - low)
                        yield from enumerate(kept.to_pylist(), number + low)
                    number += len(batch)
            except pyarrow.ArrowException as error:
                raise _damaged(path, error) from None


def _opened(path: Path):
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except pyarrow.ArrowException as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())[:200]
    return ValueError(f"{path}: is no Parquet file, or damaged ({reason})")
