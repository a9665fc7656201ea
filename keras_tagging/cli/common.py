"""Options that several commands have, and what they do first."""

import ast
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.loading import load_treebank
from keras_tagging.data import Corpus
from keras_tagging.utils.startup import start_keras

CORPUS = (
    "A name that `corpora` shows, a directory that holds the splits, a file or a "
    "pattern."
)
CorpusPath = Annotated[str, typer.Option("--corpus", help=CORPUS)]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="Development file.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="Test file.")]
Format = Annotated[str | None, typer.Option(help="Else it is recognised.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Of the format, such as tag_column=4 (columns are counted from 0).",
    ),
]
Errors = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="Stop at a malformed sentence, or leave it out."),
]
Run = Annotated[
    Path, typer.Argument(metavar="DIR", help="What train wrote, or a .keras file.")
]
RunOrOnnx = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="What train wrote, a .keras or an .onnx file."),
]
InputFile = Annotated[
    str, typer.Argument(metavar="[FILE]", help="'-' is standard input.")
]
BeamWidth = Annotated[
    int | None,
    typer.Option(min=1, help="Hypotheses to keep, of a parser or label network."),
]


def one_line(kind: str, message) -> str:
    message = in_options(" ".join(str(message).splitlines()))
    return f"keras-tagging: {kind}: {message}\n"


def in_options(message: str) -> str:
    """A message of `data` with the options of a command for the keywords of Python:
    --format 'text' for format='text', and --option separator= for separator=."""
    own = r"\b(format|dev|test|errors)=(?=$|[' ;,)])('?)"
    message = re.sub(own, lambda m: f"--{m[1]} '" if m[2] else f"--{m[1]}", message)
    return re.sub(r"(?<=pass )(\w+)=|(?<=; )(tag)=", r"--option \1\2=", message)


def pairs(name: str, items: list[str] | None) -> dict:
    """`key=value` items; a value is a Python literal, or else a string."""
    found = {}
    for item in items or ():
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"{name} {item}: write {name} key=value")
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[key] = value
    return found


def text_of_stdin(options: dict) -> str:
    """The format of standard input where none is named, if the options fit it.

    Raises:
        ValueError: for an option of another format.
    """
    if others := set(options) - {"encoding"}:
        raise ValueError(
            f"--option {min(others)}: standard input is read as text, which has no "
            "such option: name its --format, such as conll"
        )
    return "text"


def open_corpus(corpus, format, option, *, trees=False, **kwargs) -> Corpus:
    """A corpus; with `trees` its format checks them, if it can."""
    kwargs |= pairs("--option", option)
    return (load_treebank if trees else load_corpus)(corpus, format, **kwargs)


def open_split(corpus, split, format, option, **kwargs) -> tuple[Corpus, list]:
    """A corpus, which need not have training sentences, and those of a split.

    Raises:
        ValueError: if it has none of that split.
    """
    data = open_corpus(corpus, format, option, require_train=False, **kwargs)
    if sentences := getattr(data, split):
        return data, sentences
    present = ", ".join(name for name, _ in data.splits())
    raise ValueError(f"{corpus} has no {split} sentences, only {present}: --split")


def load_model(run: Path, beam_width: int | None = None, command: str | None = None):
    """A trained model, for any command, or for `tag` or `parse` only.

    For these it may be an ONNX file, which is run without Keras.
    """
    if run.suffix == ".onnx":
        model = load_onnx(run, beam_width, command)
    else:
        refuse_reproduction(run)
        start_keras()
        import keras_tagging

        model = keras_tagging.load(run)
    if command not in (None, model.command):
        raise ValueError(
            f"{run} holds a {model.kind}: keras-tagging {model.command} {run}"
        )
    if beam_width is not None:
        model.beam_width = beam_width
    return model


def load_onnx(run: Path, beam_width: int | None, command: str | None):
    """What `keras_tagging.runtime.load` gives, for `tag` or `parse`."""
    if command is None:
        raise ValueError(
            f"{run} is an ONNX file, which tag and parse read: this command needs the "
            "run, or the .keras file, that it was exported from"
        )
    refuse(f"{run} is an ONNX file, which has no", {"beam_width": beam_width})
    from keras_tagging import runtime

    try:
        return runtime.load(run)
    except ImportError as error:
        raise ValueError(str(error)) from error


def refuse_reproduction(run: Path) -> None:
    """Refuses the folder of a reproduction, whose models are further down.

    Raises:
        ValueError: with the command for one of them.
    """
    if not (run / "reproduction.json").is_file():
        return
    models = sorted(run.glob("jobs/*/model.keras"))
    hint = f", such as {models[0].parent}" if models else "; there are none yet"
    raise ValueError(
        f"{run} holds a reproduction: its models are in {run}/jobs/ROW.SEED{hint}"
    )


def refuse_others(run: Path, model, options: dict) -> dict:
    """The options that were given, if the model has them all.

    Args:
        run: where the model is.
        model: whose `report_options` count.
        options: their values by their names; None or False: not given.
    """
    others = {k: v for k, v in options.items() if k not in model.report_options}
    refuse(f"{run} holds a {model.kind}, which has no", others)
    return {k: v for k, v in options.items() if v is not None and v is not False}


def refuse(what: str, options: dict) -> None:
    """Raises a ValueError for the first option that was given.

    Args:
        what: why there is none of these, such as "a tagger has no".
        options: their values by their names; None or False: not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"{what} --{name.replace('_', '-')}")
