"""Shared parts of the scripts in `data_prep`.

They write all splits or none, print counts beside published ones, show progress, and
report errors in one line.
"""

import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.data import CorpusError, Sentence, write
from keras_tagging.data.readers import WRITTEN
from keras_tagging.data.records import MalformedSentence
from keras_tagging.utils.checks import check_choice

# Parameters of all scripts
Out = Annotated[Path, typer.Argument(help="Folder to write to; created if missing.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the corpus that is in OUT.")
]
SkipMalformed = Annotated[
    bool, typer.Option("--skip-malformed", help="Leave out what cannot be read.")
]


@dataclass
class Counts:
    """The counts of a split, as in `describe`.

    Args:
        sentences, tokens: their numbers.
        types: number of different tokens, letter for letter.
        labels: number of different tags.
        unknown: number of tokens whose form is not in the training split; None for that
            split, and without one.
        more: further figures by name, such as {"concepts": 43078}.
    """

    sentences: int = 0
    tokens: int = 0
    types: int = 0
    labels: int = 0
    unknown: int | None = None
    more: dict[str, int] = field(default_factory=dict)

    def figures(self) -> dict[str, int | None]:
        """All counts by name."""
        names = ("sentences", "tokens", "types", "labels", "unknown")
        return {name: getattr(self, name) for name in names} | self.more


def write_splits(
    out: str | Path,
    splits: Mapping[str, Iterable[Sentence]],
    format: str = "conll",
    *,
    overwrite: bool = False,
) -> dict[str, Counts]:
    """Write `out/train.conll` and so on: all splits or none.

    The splits are consumed one after the other, in order, and need not fit into memory.
    They are written to a temporary folder. When all are complete, it is renamed to
    `out`, or its files are moved there if `out` exists already.

    Args:
        out: the folder; created if missing.
        splits: sentences by the name of the split; "train" first, so that unknown words
            can be counted in the others.
        format: as in `data.write`: "conll", "conllu" or "jsonl".
        overwrite: whether to replace the files of a folder that is not empty. Other
            files there stay, except that an old corpus file beside the new ones is an
            error.

    Returns:
        The counts of each split.

    Raises:
        CorpusError: if the folder is not empty or cannot be written to, if there is no
            training sentence, or, without a training split, no sentence at all.
        ValueError: if the format is unknown, or a column cannot hold a value.
    """
    check_choice("format", format, WRITTEN)
    names = [f"{split}.{format}" for split in splits]
    check_out(out, names, overwrite=overwrite)
    with _folder_for(Path(out).resolve()) as folder:
        words: set[str] | None = None
        counts_of = {}
        for split, sentences in splits.items():
            counts = counts_of[split] = Counts()
            types: set[str] = set()
            counted = _counting(sentences, counts, types, words)
            write(counted, folder / f"{split}.{format}", format)
            if split == "train":
                words = types
        most = max((counts.sentences for counts in counts_of.values()), default=0)
        if not counts_of.get("train", Counts(most)).sentences:
            what = f"no sentence is left for {'train' if most else 'any split'}"
            remedy = "check the source, and the sentences that --skip-malformed skips"
            raise CorpusError(f"{out}: {what}, so nothing is written; {remedy}")
    return counts_of


def check_out(out: str | Path, names: Iterable[str], *, overwrite: bool) -> None:
    """Raise a CorpusError if files with these names cannot be written to the folder.

    `write_splits` calls this before it takes the first sentence. Scripts that read
    everything before that call it themselves at their start.
    """
    out, names = Path(out).resolve(), set(names)
    if out.exists() and not out.is_dir():
        raise CorpusError(f"{out}: is a file; name a folder to write to")
    there = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    there = [name for name in there if not _is_left(name, out)]
    if there and not overwrite:
        shown = ", ".join(there[:3]) + ", ..." * (len(there) > 3)
        remedy = "name another one, or replace its corpus with --overwrite"
        raise CorpusError(f"{out}: the folder is not empty ({shown}); {remedy}")
    for name in there:
        if name in names and (out / name).is_dir():
            raise CorpusError(f"{out / name}: is a folder; remove it")
        if name not in names and name.endswith(tuple(f".{f}" for f in WRITTEN)):
            what = "does not belong to the new files, and would lie beside them"
            raise CorpusError(f"{out / name}: {what}; remove it")


@contextmanager
def _folder_for(out: Path) -> Iterator[Path]:
    """A temporary folder, whose files are moved to `out` unless the block raises."""
    is_there = out.is_dir()  # perhaps a mount, which cannot be replaced
    if not is_there:
        out.parent.mkdir(parents=True, exist_ok=True)
    folder = (out if is_there else out.parent) / f".{os.getpid()}.{out.name}"
    shutil.rmtree(folder, ignore_errors=True)  # left by a process with the same number
    folder.mkdir()
    try:
        yield folder
        if not is_there:
            folder.rename(out)
        else:
            # After a kill there is no old split beside new ones. The training split
            # comes last, so an incomplete corpus has none and is noticed.
            names = sorted((path.name for path in folder.iterdir()), key=_is_training)
            for name in reversed(names):
                (out / name).unlink(missing_ok=True)
            for name in names:
                os.replace(folder / name, out / name)
        for path in folder.parent.iterdir():
            if _is_left(path.name, out):
                shutil.rmtree(path, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_left(name: str, out: Path) -> bool:
    """Whether this is a folder of `_folder_for` that a killed process left."""
    return re.fullmatch(rf"\.[0-9]+\.{re.escape(out.name)}", name) is not None


def _is_training(name: str) -> bool:
    return name.startswith("train.")


def _counting(sentences, counts: Counts, types: set, train: set | None):
    labels: set[str] = set()
    counts.unknown = None if train is None else 0
    for sentence in sentences:
        counts.sentences += 1
        counts.tokens += len(sentence)
        types.update(sentence.tokens)
        labels.update(sentence.tags or ())
        if train is not None:
            counts.unknown += sum(token not in train for token in sentence.tokens)
        yield sentence
    counts.types, counts.labels = len(types), len(labels)


def statistics(
    counts: Mapping[str, Counts],
    published: Mapping[str, Mapping[str, int]],
    source: str,
    *,
    partial: bool = False,
) -> str:
    """A table of the counts beside published ones.

    A line beginning with "warning:" follows for each difference.

    Args:
        counts: the counts of each split, from `write_splits`.
        published: for each split, figures by the names of `Counts.figures`.
        source: where they are printed, such as "D16 Table 1".
        partial: whether parts of the corpus are known to be missing: then there are no
            warnings, and missing splits are left out.

    Example:
        >>> counts = {"train": Counts(sentences=2, tokens=9, types=7, labels=3)}
        >>> print(statistics(counts, {"train": {"sentences": 2, "tokens": 8}}, "X"))
        split  figure     here  X
        train  sentences     2  2
               tokens        9  8
               types         7  -
               labels        3  -
        warning: train has 9 tokens, X has 8
    """
    rows = [("split", "figure", "here", source)]
    warnings = []
    missing = [split for split in published if split not in counts and not partial]
    for split in [*counts, *missing]:
        figures = counts[split].figures() if split in counts else {}
        printed = published.get(split, {})
        for name in [*figures, *(name for name in printed if name not in figures)]:
            here, there = figures.get(name), printed.get(name)
            if here is None and there is None:
                continue
            is_first = all(row[0] != split for row in rows[1:])
            rows.append((split if is_first else "", name, _shown(here), _shown(there)))
            if there is not None and here != there and not partial:
                actual = f"{_shown(here)} {name}" if here is not None else f"no {name}"
                warnings.append(
                    f"warning: {split} has {actual}, {source} has {_shown(there)}"
                )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for split, name, here, there in rows:
        left = f"{split:{widths[0]}}  {name:{widths[1]}}  {here:>{widths[2]}}"
        lines.append(f"{left}  {there:>{widths[3]}}")
    return "\n".join([*lines, *warnings])


def _shown(figure: int | None) -> str:
    return "-" if figure is None else str(figure)


def track(iterable: Iterable, description: str, total: int | None = None) -> Iterator:
    """Iterate, with a progress bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield from iterable
        return
    from rich.console import Console
    from rich.progress import track as track_with_rich

    console = Console(stderr=True)
    yield from track_with_rich(
        iterable, description, total, console=console, transient=True
    )


def run_script(command: Callable, example: str, args: list[str] | None = None) -> None:
    """Run a function as a command line, then exit.

    An error that the user can mend is printed in one line and exits with 1; a wrong
    option exits with 2.

    Args:
        command: a function whose parameters typer understands. Its docstring is the
            help.
        example: lines to show at the end of `--help`.
        args: arguments to use instead of the program's.
    """
    name = Path(command.__code__.co_filename).name
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    epilog = "\n".join(["\b", "Example:", *(f"  {e}" for e in example.splitlines())])
    app.command(epilog=epilog)(command)
    args = sys.argv[1:] if args is None else args
    message = "interrupted"  # typer gives a code and no exception for it
    try:
        code = app(args or ["--help"], prog_name=name, standalone_mode=False) or 0
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except typer.BadParameter.__base__ as error:
        code, message = error.exit_code, error.format_message()
    except (ValueError, OSError) as error:
        code, message = 1, _advice(error, set(inspect.signature(command).parameters))
    if code:
        sys.stderr.write(f"{name}: error: {' '.join(message.split())}\n")
    sys.exit(code)


def _advice(error: Exception, parameters: set[str]) -> str:
    """The message of an error, with advice for the user of a script.

    Advice for Python code, `pass NAME=`, is dropped, unless the script has that option.
    """

    def option(match: re.Match) -> str:
        if match[2] == "encoding" and "encoding" in parameters:
            return match[0].replace("encoding=", "--encoding")
        return ""

    message = re.sub(
        r"(, or|[:;]) pass (\w+)=[^;()]*?(?= \(|[;()]|$)", option, str(error)
    )
    message = message.replace("errors='skip'", "--skip-malformed")
    is_told = "--skip-malformed" in message or "skip_malformed" not in parameters
    if isinstance(error, MalformedSentence) and not is_told:
        message += "; --skip-malformed leaves such sentences out"
    return message
