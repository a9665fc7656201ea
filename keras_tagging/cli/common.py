"""Options and first steps that several commands share."""

import ast
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from keras_tagging import kinds
from keras_tagging.architectures import RECIPES
from keras_tagging.corpora import load_corpus
from keras_tagging.corpora.loading import load_treebank
from keras_tagging.data import Corpus
from keras_tagging.utils.startup import start_program
from keras_tagging.utils.suggestions import check_known

CORPUS = (
    "A name that `corpora` shows, a directory that holds the splits, a file or a "
    "pattern."
)
CorpusPath = Annotated[str, typer.Option("--corpus", help=CORPUS)]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="Development file.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="Test file.")]
Format = Annotated[str | None, typer.Option(help="By default it is recognised.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="For the format, such as tag_column=4 (columns are counted from 0).",
    ),
]
Errors = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="Stop at a malformed sentence, or leave it out."),
]
Run = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The --out of train, a .keras file, or the name of an installed model.",
    ),
]
RunOrOnnx = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The --out of train, a .keras or .onnx file, or the name of an installed "
        "model.",
    ),
]
InputFile = Annotated[
    str, typer.Argument(metavar="[FILE]", help="'-' is standard input.")
]
BeamWidth = Annotated[
    int | None,
    typer.Option(min=1, help="Hypotheses to keep, for parsers and label networks."),
]


def known_recipe(name: str) -> str:
    """The name of a recipe, after a check."""
    check_known("recipe", name, RECIPES)
    return name


Recipe = Annotated[
    str,
    typer.Option(
        callback=known_recipe,
        metavar=f"[{'|'.join(RECIPES)}]",
        help="Fast settings, those of the best figures, or the paper's.",
    ),
]


def one_line(kind: str, message) -> str:
    message = in_options(" ".join(str(message).splitlines()))
    return f"keras-tagging: {kind}: {message}\n"


def in_options(message: str) -> str:
    """A message with Python keywords replaced by options of the command.

    For instance --format 'text' for format='text', --tags None for tags=None, --option
    separator= for separator=, or --set constrained=True.
    """
    own = r"\b(format|dev|test|errors|tags|monitor)=(?=$|[' ;,)])('?)"
    message = re.sub(own, lambda m: f"--{m[1]} '" if m[2] else f"--{m[1]}", message)
    message = re.sub(r"\b(tags|seed)=(?=None\b|-?[0-9])", r"--\1 ", message)
    message = re.sub(r"\b(constrained=(True|False))\b", r"--set \1", message)
    return re.sub(r"(?<=pass )(\w+)=|(?<=; )(tag)=", r"--option \1\2=", message)


def pairs(name: str, items: list[str] | None) -> dict:
    """`key=value` items; a value is a Python literal, or else a string."""
    values = {}
    for item in items or ():
        key, separator, value = item.partition("=")
        if not separator:
            raise ValueError(f"{name} {item}: write {name} key=value")
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[key] = value
    return values


def text_of_stdin(options: dict) -> str:
    """The default format of standard input, if the options fit it.

    Raises:
        ValueError: for an option of another format.
    """
    if others := set(options) - {"encoding"}:
        raise ValueError(
            f"--option {min(others)}: standard input is read as text, which has no "
            "such option: name its --format, such as conll"
        )
    return "text"


def open_corpus(
    corpus, format, option, *, trees=False, surfaces=False, **kwargs
) -> Corpus:
    """Load a corpus; with `trees`, its trees are checked if the format can.

    With `surfaces`, its sentences have their text, which is in CoNLL-U only.
    """
    kwargs |= pairs("--option", option)
    if surfaces:
        if corpus == "demo":
            raise ValueError(
                "the demo corpus has no text: a segmenter learns from CoNLL-U, such as "
                "--corpus ud-en-ewt"
            )
        kwargs["surface"] = True
    return (load_treebank if trees else load_corpus)(corpus, format, **kwargs)


def open_split(corpus, split, format, option, **kwargs) -> tuple[Corpus, list]:
    """Load a corpus, and return it with the sentences of a split.

    Raises:
        ValueError: if the split has no sentences.
    """
    data = open_corpus(corpus, format, option, require_train=False, **kwargs)
    if sentences := getattr(data, split):
        return data, sentences
    present = ", ".join(name for name, _ in data.splits())
    raise ValueError(f"{corpus} has no {split} sentences: give --split {present}")


def load_model(
    run: Path,
    beam_width: int | None = None,
    command: str | None = None,
    *,
    pipeline: bool = False,
    threads: int | None = None,
):
    """Load a trained model; with `command`, refuse one for another command.

    With `command`, it may be an ONNX file, or a pipeline of them, which is run without
    Keras, by this number of threads, or as many as there are cores; and TensorFlow has
    one thread. It may be a pipeline only if `pipeline` is true.
    """
    from keras_tagging.runtime.folder import is_onnx  # with NumPy

    if is_onnx(run):
        refuse_onnx(run, beam_width, command)
        from keras_tagging import runtime

        try:
            model = runtime.load(run, threads=threads)
        except ImportError as error:
            raise ValueError(str(error)) from error
    else:
        refuse_reproduction(run)
        start_program(one_thread=command is not None)
        import keras_tagging

        model = keras_tagging.load(run)
    if command not in (None, model.command, "annotate"):
        raise ValueError(
            f"{run} holds a {model.kind}: keras-tagging {model.command} {run}"
        )
    if kinds.of(model).composed and not pipeline:
        names = " or ".join(f"{run}/{name}.keras" for name in model.parts)
        raise ValueError(f"{run} holds a pipeline: name one of its models, {names}")
    if beam_width is not None:
        model.beam_width = beam_width
    return model


def refuse_onnx(run: Path, beam_width: int | None, command: str | None) -> None:
    """Refuse a model that was exported as ONNX, but for `tag`, `parse`, `annotate`."""
    if command is None:
        raise ValueError(
            f"{run} was exported as ONNX, for tag, parse and annotate: this command "
            "needs the run, or the .keras file, that it was exported from"
        )
    refuse(f"{run} was exported as ONNX, and has no", {"beam_width": beam_width})


def refuse_reproduction(run: Path) -> None:
    """Refuse the folder of a reproduction, whose models are in subfolders.

    Raises:
        ValueError: if it is one; the message names the folder of a model.
    """
    if not (run / "reproduction.json").is_file():
        return
    models = sorted(run.glob("jobs/*/model.keras"))
    hint = f", such as {models[0].parent}" if models else "; there are none yet"
    raise ValueError(
        f"{run} holds a reproduction: its models are in {run}/jobs/ROW.SEED{hint}"
    )


def refuse_others(run: Path, model, options: dict) -> dict:
    """The options that were given; refuse those that the model does not have.

    Args:
        run: the folder of the model.
        model: the model; its `report_options` are allowed.
        options: the values by name; None or False if not given.
    """
    others = {k: v for k, v in options.items() if k not in model.report_options}
    refuse(f"{run} holds a {model.kind}, which has no", others)
    return {k: v for k, v in options.items() if v is not None and v is not False}


def refuse(what: str, options: dict) -> None:
    """Raise a ValueError for the first option that was given.

    Args:
        what: the beginning of the message, such as "a tagger has no".
        options: the values by name; None or False if not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"{what} --{name.replace('_', '-')}")
