"""The output of the program: notes, errors, the log, and tables of figures."""

import logging
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from keras_tagging.utils.tables import aligned

_quiet = False


@dataclass(frozen=True)
class Verbosity:
    """The options of every command.

    Args:
        quiet: Without progress and notes; warnings and errors remain. What train and
            export write is in their files.
        log_level: Write the log of the package to standard error, from this level on.
    """

    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False
    log_level: Literal["debug", "info", "warning", "error"] | None = None

    def begin(self) -> None:
        """Hold until the next command begins."""
        global _quiet
        _quiet = self.quiet
        if self.log_level is not None:
            log = logging.getLogger("keras_tagging")
            log.setLevel(self.log_level.upper())
            handler = logging.StreamHandler()
            handler.setFormatter(
                logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
            )
            log.handlers = [handler]


def is_quiet() -> bool:
    """Whether the command was asked to be."""
    return _quiet


def show(*lines: str) -> None:
    """Print lines about a training or an export, whose results are files."""
    if not _quiet:
        print(*lines, sep="\n", flush=True)


def note(text: str) -> None:
    """Write a line that nobody needs to standard error."""
    if not _quiet:
        sys.stderr.write(f"{text}\n")


def remark(text: str) -> None:
    """Write a note about the input or the model to standard error."""
    note(one_line("note", text).rstrip())


def warn(text: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(one_line("warning", text))


def one_line(kind: str, message) -> str:
    """The line of an error, a warning or a note."""
    return f"keras-tagging: {kind}: {' '.join(str(message).splitlines())}\n"


# Tables

#: figures of `evaluate`, as the shared tasks call them
NAMES = {"tokens": "Tokens", "sentences": "Sentences", "words": "Words"}
NAMES |= {name: name.upper() for name in ("upos", "xpos", "feats", "lemma")}
NAMES |= {"uas": "UAS", "las": "LAS", "entities": "Entities"}
NAMES["entities_of_gold_words"] = "Entities (gold words)"
NAMES |= {"labelled": "Brackets", "unlabelled": "Brackets without labels"}
NAMES |= {"dependencies": "Dependencies", "supertags": "Supertags"}
NAMES["unlabelled_dependencies"] = "Dependencies without labels"
NAMES |= {"exact": "Exact derivations", "coverage": "Coverage"}
MOST_FIGURES = 8  # that stand beside each other


def progress() -> int:
    """`verbose` of Keras: a progress bar on a terminal, a line an epoch elsewhere."""
    return 0 if _quiet else 1 if sys.stdout.isatty() else 2


def summary(corpus) -> str:
    """The name, format and sizes of a corpus, and the files of each split."""
    sizes = (
        f"{len(part):,} {name} ({sum(map(len, part)):,} tokens)"
        for name, part in corpus.splits()
    )
    lines = [f"{corpus.name} ({corpus.format}): sentences {', '.join(sizes)}"]
    for name, files in corpus.files.items():
        if files and files != [corpus.name]:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            lines.append(f"  {name}: {files[0]}{more}")
    return "\n".join(lines)


def records(table) -> list[dict]:
    """The rows of a table for JSON."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def percentages(table, columns: Iterable[str]) -> str:
    """A table as text, with the named columns in per cent."""
    columns = [name for name in columns if name in table]
    table = table.assign(**{name: 100 * table[name] for name in columns})
    table = table.rename(columns={name: f"{name} %" for name in columns})
    return table.to_string(
        index=False,
        float_format="{:.2f}".format,
        formatters={"beta": "{:g}".format},
        na_rep="-",
    )


def figures(scores: dict[str, dict], lower_is_better=()) -> str:
    """The output of `evaluate` for each split, as text: shares in per cent.

    Args:
        scores: the figures of each split.
        lower_is_better: those of the model, which are no shares of what is right.
    """
    names = list(dict.fromkeys(name for values in scores.values() for name in values))
    plain = {name for name in names if name.endswith("loss") or name in lower_is_better}

    def shown(name: str, values: dict) -> str:
        value = values.get(name)
        if value is None or value != value:
            return "-"
        return f"{value:.4f}" if name in plain else f"{100 * value:.2f}"

    titles = [name if name in plain else f"{name} %" for name in names]
    rows = [["", *titles]]
    rows += [
        [split, *(shown(n, values) for n in names)] for split, values in scores.items()
    ]
    if len(names) > MOST_FIGURES:  # below each other, those of a split in a column
        rows = list(map(list, zip(*rows, strict=True)))
    return aligned(rows)


def scores_table(scores: Mapping) -> str:
    """The scores of a pipeline as text, in per cent."""
    rows = [["", "precision %", "recall %", "F1 %"]]
    for name, counts in scores.items():
        values = (counts.precision, counts.recall, counts.f1)
        rows.append([NAMES[name], *(f"{100 * value:.2f}" for value in values)])
    return aligned(rows)
