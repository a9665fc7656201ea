"""Tagged sentences as text: rows of columns, `word|tag`, JSON lines.

A tagger with one column without a name gives its tags under None; others give a list
for each column. An entry is a tag, a pair of a tag and its probability, or a list of
such pairs, the best first: see `Tagger.tag`.
"""

import json
import re
from collections.abc import Mapping, Sequence

from keras_tagging.data.named_columns import output_names

#: what separates items and lines for readers
_SEPARATOR = re.compile("[ \t\r\n]")


def as_line(*columns: Sequence[str]) -> str:
    """The words and their tags on a line: `word|tag word|tag`.

    Args:
        columns: the words, then their tags and any others.

    Raises:
        ValueError: if a word is empty or has a blank, which this format cannot hold.
    """
    for word in columns[0]:
        if not word or _SEPARATOR.search(word):
            what = f"the word {word[:40]!r} has a blank" if word else "a word is empty"
            raise ValueError(
                f"{what}, which text of word|tag cannot hold: use --output jsonl"
            )
    return " ".join(map("|".join, zip(*columns, strict=True))) + "\n"


def as_text(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """The words with the tags of the only column, as `as_line`."""
    return as_line(tokens, *tags.values())


def as_conll(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """A row for each token: the tags of each column, with probabilities if given.

    Raises:
        ValueError: if a token is empty, or has a tab or a line feed.
    """
    text = "".join(tokens)
    if not all(tokens) or "\t" in text or "\n" in text:
        raise ValueError(
            f"{tokens[:20]!r} does not fit this format: use --output jsonl"
        )
    rows = zip(tokens, *map(_cells, tags.values()), strict=True)
    return "".join("\t".join(row) + "\n" for row in rows) + "\n"


def _cells(entries: list) -> list[str]:
    if not entries or isinstance(entries[0], str):
        return entries
    ranked = ([e] if isinstance(e, tuple) else e for e in entries)
    return ["\t".join(f"{t}\t{p:.4g}" for t, p in entry) for entry in ranked]


def as_jsonl(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """An object that `data.read` reads: the tokens, and the tags of each column.

    With probabilities by the names that they have in exported models.
    """
    fields = {"tokens": tokens}
    for column, entries in tags.items():
        names = output_names(column)
        name, probabilities = names["tags"], names["probabilities"]
        fields[name] = entries
        if entries and isinstance(entries[0], tuple):
            fields[name], fields[probabilities] = zip(*entries, strict=True)
        elif entries and isinstance(entries[0], list):
            fields[name] = [[t for t, _ in entry] for entry in entries]
            fields[probabilities] = [[p for _, p in entry] for entry in entries]
    return json_line(fields)


def json_line(fields: Mapping) -> str:
    """An object on a line."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


#: by the --output of `tag`
WRITERS = {"conll": as_conll, "text": as_text, "jsonl": as_jsonl}
