"""Tagged sentences as `tag` writes them: one function for each --output."""

import json
from collections.abc import Callable, Mapping, Sequence

from keras_tagging.data import Sentence
from keras_tagging.data.conllu import as_conllu, conllu_field
from keras_tagging.data.named_columns import output_names, with_labels


def as_conll(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """A row for each token: the tags of each column, with probabilities if given."""
    _check(tokens, "\t\n")
    columns = [tokens, *map(_cells, tags.values())]
    rows = zip(*columns, strict=True)
    return "".join("\t".join(row) + "\n" for row in rows) + "\n"


def _cells(entries: list) -> list[str]:
    if not entries or isinstance(entries[0], str):
        return entries
    ranked = ([e] if isinstance(e, tuple) else e for e in entries)  # best first
    return ["\t".join(f"{t}\t{p:.4g}" for t, p in entry) for entry in ranked]


def as_text(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    _check(tokens, " \t\n")
    [only] = tags.values()
    return " ".join(f"{w}|{t}" for w, t in zip(tokens, only, strict=True)) + "\n"


def as_jsonl(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """An object with the tokens, and tags and probabilities by the names of exports."""
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
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _check(tokens: list[str], separators: str) -> None:
    text = "".join(tokens)
    if not all(tokens) or any(character in text for character in separators):
        raise ValueError(
            f"{tokens[:20]!r} does not fit this format: use --output jsonl"
        )


WRITERS = {"conll": as_conll, "text": as_text, "jsonl": as_jsonl}


def filled(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """A sentence of any format as CoNLL-U, with these columns beside its own."""
    unknown = ["_"] * len(sentence)
    whole = with_labels(sentence, columns)
    trees = (whole.columns.get(name, unknown) for name in ("head", "deprel"))
    return as_conllu(whole, *trees)


def check_output(model, output: str, beta) -> None:
    """Refuse an --output that has no place for what the model gives.

    Raises:
        ValueError: naming another one.
    """
    if len(names := model.column_names) < 2:
        return
    if output == "text":
        raise ValueError(
            f"--output text has one tag a word, and this model gives "
            f"{', '.join(names)}: use conll, conllu or jsonl"
        )
    if output == "conll" and beta is not None:
        raise ValueError(
            f"--output conll has no place for several {' and '.join(names)} of a word: "
            "use jsonl"
        )


def fields_of(model, column: str | None, run) -> Callable:
    """The function from what `tag` gives for a sentence to columns of CoNLL-U.

    Args:
        model: the tagger.
        column: of the tags of a tagger whose column has no name; None for that of its
            training corpus.
        run: where the model is, for messages.

    Raises:
        ValueError: if the column is not known, or was given for one with a name.
    """
    if model.column_names[0] is not None:
        if column is not None:
            raise ValueError(
                f"--column {column}: {run} has columns of its own, "
                f"{', '.join(model.column_names)}"
            )
        for name in model.column_names:
            conllu_field(name)
        return lambda tags: {name: _filled(tags[name]) for name in model.column_names}
    corpus = getattr(model, "metadata", {}).get("corpus") or {}
    column = column or corpus.get("tag_column")
    if column is None:
        raise ValueError(
            f"{run} does not say which column of CoNLL-U its tags are: give "
            "--column upos, or xpos, ..."
        )
    conllu_field(str(column))
    return lambda tags: {column: _filled(tags)}


def _filled(tags: list[str]) -> list[str]:
    """The tags, for a format in which no field is empty."""
    return [tag or "_" for tag in tags]
